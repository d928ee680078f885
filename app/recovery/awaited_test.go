package recovery

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/ghtest/examples"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/app/webhook"
	"github.com/reviewgate/reviewgate/policies/reviewreport"
)

// ourApp is the App's ID in the payloads that are about its own checks.
const ourApp = 7

// If the webhook handler finds something to do in an event, the event is looked for when its
// delivery is lost. The payloads are GitHub's examples, changed so that they ask for something.
func TestEachEventThatAsksIsAwaited(t *testing.T) {
	asking := map[[2]string]bool{} // by event and action
	for _, p := range examples.Payloads() {
		for _, app := range []int{ourApp, ourApp + 1} {
			for _, action := range []string{p.Action, "deleted", "renamed", "transferred"} {
				asked := asks(t, p, app, action)
				if len(asked) == 0 {
					continue
				}
				asking[[2]string{p.Event, action}], asking[[2]string{p.Event}] = true, true
				a := ports.HookAttempt{Event: p.Event, Action: action}
				onlyScans := !slices.ContainsFunc(asked, func(ask ports.Ask) bool { _, scans := ask.(ports.ScanNews); return !scans })
				if !isOneOf(awaited, a) && !(onlyScans && tellsOfScans(a)) {
					t.Errorf("a lost delivery of %s, action %q, is never looked for: add it to awaited in app/recovery/sweep.go", p.Event, action)
				}
			}
		}
	}
	rows := maps.Clone(awaited)
	for event, actions := range awaitedScans {
		rows[event] = append(slices.Clip(rows[event]), actions...)
	}
	for event, actions := range rows {
		if actions == nil {
			actions = []string{""}
		}
		for _, action := range actions {
			if !asking[[2]string{event, action}] {
				t.Errorf("no example of %s, action %q, asks for anything: remove it from app/recovery/sweep.go, or make adapted give it what the webhook handler reads", event, action)
			}
		}
	}
}

// asks returns what the webhook handler finds to do in an example.
func asks(t *testing.T, p examples.Payload, app int, action string) (found []ports.Ask) {
	t.Helper()
	var body map[string]any
	if err := json.Unmarshal(p.Body, &body); err != nil {
		t.Fatal(err)
	}
	adapted(body, app)
	body["requested_action"] = map[string]any{"identifier": render.ActionReview} // the button on the check
	body["installation"] = map[string]any{"id": 5, "account": map[string]any{"id": 4, "login": "acme"}}
	if p.Action != "" {
		body["action"] = action
	}
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	h, err := webhook.New(webhook.Config{
		Secrets: [][]byte{[]byte("a secret of at least 32 characters")}, AppID: ourApp, Log: zerolog.Nop(),
		Accept: func(_ context.Context, d ports.Delivery) (ports.Accepted, error) {
			found = d.Asks
			return ports.Accepted{}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	a := ports.HookAttempt{ID: 1, GUID: "72d3162e-cc78-11e3-81ab-4c9367dc0958", Event: p.Event, Action: action}
	if err := h.TakeIn(t.Context(), a, text); err != nil {
		t.Errorf("%s with the action %q: %v", p, action, err)
	}
	return found
}

// adapted rewrites a payload so that it asks for something: a person comments with a command and a
// review report on an open pull request, the App's ID is app, and an alert belongs to a pull
// request.
func adapted(v any, app int) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			adapted(e, app)
		}
	case map[string]any:
		for key, e := range v {
			adapted(e, app)
			o, isObject := e.(map[string]any)
			_, isText := e.(string)
			switch {
			case key == "app" && isObject:
				o["id"] = app
			case key == "issue" && isObject:
				o["pull_request"], o["state"] = map[string]any{}, "open"
			case key == "body" && (isText || e == nil):
				v[key] = "/review\n\n" + reviewreport.Heading + "\n"
			case key == "performed_via_github_app":
				v[key] = nil
			case (key == "user" || key == "sender") && isObject:
				v[key] = map[string]any{"id": 3, "login": "ann", "type": "User"}
			case key == "alert" && isObject:
				o["most_recent_instance"] = map[string]any{"ref": "refs/pull/3/merge"}
			}
		}
	}
}
