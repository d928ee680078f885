package webhook

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/ports"
)

// dispatched reads a repository_dispatch with a client_payload.
func dispatched(t *testing.T, action, payload string) (ports.Delivery, error) {
	t.Helper()
	d := ports.Delivery{GUID: "guid-1", Event: "repository_dispatch"}
	body := fmt.Sprintf(`{"action": %q, "branch": "main", "client_payload": %s, "installation": {"id": 5}, "repository": {"id": 7, "name": "shop", "owner": {"login": "acme"}}}`, action, payload)
	h := &Handler{}
	err := h.read(&d, []byte(body))
	return d, err
}

func TestDispatchOfAnAgent(t *testing.T) {
	d, err := dispatched(t, "milestone", `{"id": "m-1", "pr": 104, "agent": "claude", "summary": "One.\nTwo.", "files": ["a.go"], "focus_areas": ["tests"], "max_words": 50, "more": {}}`)
	if err != nil || len(d.Asks) != 1 {
		t.Fatalf("%v %v", d.Asks, err)
	}
	e := d.Asks[0].(ports.EventNews).Event
	if e.ID != "m-1" || e.Kind != "milestone" || e.Target.Key() != "pull/7/104" || e.Agent != "claude" || e.Summary != "One.\nTwo." || len(e.Files) != 1 || len(e.FocusAreas) != 1 || e.MaxWords != 50 {
		t.Errorf("%+v", e)
	}
	if d, err = dispatched(t, "blocker", `{"pr": 104, "agent": "claude", "summary": "Stuck."}`); err != nil || d.Asks[0].(ports.EventNews).Event.ID != "guid-1" {
		t.Errorf("without an id: %v %v", d.Asks, err)
	}
}

// Dispatches of other types are ignored, whatever they contain.
func TestDispatchesOfOthers(t *testing.T) {
	for _, payload := range []string{`{}`, `{"id": 5, "pr": "x"}`, `null`, `[]`, `"x"`} {
		if d, err := dispatched(t, "deploy", payload); err != nil || len(d.Asks) != 0 {
			t.Errorf("%s: %v %v", payload, d.Asks, err)
		}
	}
}

func TestMalformedDispatches(t *testing.T) {
	texts := func(n int) string {
		b, err := json.Marshal(strings.Split(strings.Repeat("a ", n)+"a", " "))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	with := func(field, value string) string {
		fields := map[string]string{"id": `"m-1"`, "pr": "104", "agent": `"claude"`, "summary": `"Done."`}
		fields[field] = value
		var all []string
		for name, v := range fields {
			all = append(all, fmt.Sprintf("%q: %s", name, v))
		}
		return "{" + strings.Join(all, ", ") + "}"
	}
	for name, tt := range map[string]struct{ payload, want string }{
		"no object":         {`[]`, "client_payload"},
		"null":              {`null`, "client_payload"},
		"no number":         {with("pr", "0"), "client_payload.pr"},
		"number as text":    {with("pr", `"104"`), "pr has the wrong type"},
		"id":                {with("id", `"a b"`), "client_payload.id"},
		"agent":             {with("agent", `""`), "client_payload.agent"},
		"no summary":        {with("summary", `""`), "empty or has control characters"},
		"NUL":               {with("summary", `"a\u0000b"`), "empty or has control characters"},
		"long summary":      {with("summary", `"`+strings.Repeat("a", 4001)+`"`), "client_payload.summary is longer"},
		"lines in a path":   {with("files", `["a\nb"]`), "empty or has control characters"},
		"too many files":    {with("files", texts(100)), "client_payload.files is longer"},
		"long path":         {with("files", `["`+strings.Repeat("a", 501)+`"]`), "a path is longer"},
		"too many areas":    {with("focus_areas", texts(10)), "client_payload.focus_areas is longer"},
		"words":             {with("max_words", "5"), "client_payload.max_words"},
		"words in a string": {with("max_words", `"50"`), "max_words has the wrong type"},
	} {
		d, err := dispatched(t, "request_review", tt.payload)
		if err == nil || !strings.Contains(err.Error(), tt.want) || len(d.Asks) != 0 {
			t.Errorf("%s: %v, want %q; asks %v", name, err, tt.want, d.Asks)
		}
	}
}
