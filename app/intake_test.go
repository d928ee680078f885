package app_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest/examples"
)

func TestExamplePayloadsOfAllEvents(t *testing.T) {
	t.Parallel()
	w := start(t)
	events := map[string]bool{}
	for _, p := range examples.Payloads() {
		events[p.Event] = true
		if status, answer := w.Post(p.Event, p.Body, nil); status >= 500 {
			t.Errorf("%s %s: %d %s", p.Event, p.Action, status, answer)
		}
	}
	if len(events) < 58 {
		t.Errorf("%d event types, want 58", len(events))
	}
	w.Alive()
}

func TestHostileRequests(t *testing.T) {
	t.Parallel()
	w := start(t)
	pull := []byte(`{"action":"opened","number":1}`)
	header := func(k, v string) func(*http.Request) { return func(r *http.Request) { r.Header.Set(k, v) } }
	for name, tc := range map[string]struct {
		event  string
		body   []byte
		change func(*http.Request)
		status int
	}{
		"forged signature":    {"pull_request", pull, header("X-Hub-Signature-256", "sha256="+strings.Repeat("0", 64)), 401},
		"no signature":        {"pull_request", pull, header("X-Hub-Signature-256", ""), 401},
		"SHA-1 only":          {"pull_request", pull, func(r *http.Request) { r.Header.Del("X-Hub-Signature-256"); r.Header.Set("X-Hub-Signature", "sha1=00") }, 401},
		"truncated JSON":      {"pull_request", pull[:20], nil, 400},
		"no JSON":             {"pull_request", []byte("hello"), nil, 400},
		"empty body":          {"pull_request", nil, nil, 400},
		"form":                {"pull_request", pull, header("Content-Type", "application/x-www-form-urlencoded"), 400},
		"wrongly typed field": {"pull_request", []byte(`{"action":"opened","number":"1"}`), nil, 400},
		"missing fields":      {"pull_request", pull, nil, 400},
		"an array":            {"pull_request", []byte(`[1]`), nil, 400},
		"deep nesting":        {"pull_request", []byte(strings.Repeat(`{"a":`, 100_000)), nil, 400},
		"no event":            {"pull_request", pull, header("X-GitHub-Event", ""), 400},
		"no delivery id":      {"pull_request", pull, header("X-GitHub-Delivery", ""), 400},
		"30 MB":               {"pull_request", bytes.Repeat([]byte(" "), 30<<20), nil, 413},
		"GET":                 {"pull_request", nil, func(r *http.Request) { r.Method = http.MethodGet }, 405},
		"an unknown event":    {"galaxy", []byte(`{"action":"spun"}`), nil, 202},
	} {
		t.Run(name, func(t *testing.T) {
			if status, answer := w.Post(tc.event, tc.body, tc.change); status != tc.status {
				t.Errorf("status %d, want %d: %s", status, tc.status, answer)
			}
		})
	}
	w.Alive()
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.Open(map[string]string{"store/client.go": apptest.Insecure})
	w.Idle()
	text := w.Metrics()
	for _, want := range []string{
		`reviewgate_deliveries_total{event="pull_request",outcome="accepted"} 1`,
		`reviewgate_reviews_total{decision="needs_fixes"} 1`,
		`reviewgate_stage_seconds_count{stage="aggregate"} 1`,
		`reviewgate_agent_seconds_count{agent="secrets",status="ok"} 1`,
		`reviewgate_github_calls_total{route="POST /repos/{owner}/{repo}/check-runs",status="201"} 1`,
		`reviewgate_queue_waiting 0`, `reviewgate_oldest_unanswered_seconds 0`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("metrics lack %s", want)
		}
	}
}
