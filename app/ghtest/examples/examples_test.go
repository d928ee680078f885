package examples

import (
	"encoding/json"
	"testing"
)

func TestPayloads(t *testing.T) {
	events := map[string]bool{}
	for _, p := range Payloads() {
		events[p.Event] = true
		var fields struct {
			Action string `json:"action"`
		}
		if err := json.Unmarshal(p.Body, &fields); err != nil {
			t.Errorf("%s: %v", p, err)
		}
		if fields.Action != p.Action {
			t.Errorf("%s: the action in its body is %q", p, fields.Action)
		}
	}
	// GitHub publishes examples of this many events.
	if len(events) != 58 {
		t.Errorf("%d events instead of 58", len(events))
	}
}
