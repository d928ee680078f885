package webhook

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ghtest/examples"
	"github.com/reviewgate/reviewgate/app/ports"
)

// All of GitHub's events. Some examples were sent to a repository's webhook and have no
// installation. The handler refuses those that it routes. None is a server error, and an
// event that asks for nothing is recorded.
func TestGitHubsExamples(t *testing.T) {
	events := map[string]bool{}
	routed := map[string]bool{
		"pull_request": true, "issue_comment": true, "check_run": true, "merge_group": true,
		"installation": true, "installation_repositories": true,
	}
	alwaysTaken := map[string]bool{"check_suite": true, "push": true}
	for _, p := range examples.Payloads() {
		events[p.Event] = true
		var b inbox
		w := serve(newHandler(t, &b, nil), delivery(p.Event, string(p.Body)))
		switch {
		case w.Code == http.StatusBadRequest && routed[p.Event]:
			continue
		case w.Code != http.StatusAccepted && w.Code != http.StatusOK:
			t.Errorf("%s: status %d: %s", p, w.Code, w.Body)
			continue
		}
		d := b.got[0]
		if d.Event != p.Event || d.Action != p.Action {
			t.Errorf("%s: recorded as %s/%s", p, d.Event, d.Action)
		}
		if len(d.Asks) > 0 && !routed[p.Event] && !alwaysTaken[p.Event] {
			t.Errorf("%s: asks for %+v", p, d)
		}
		checkRoutable(t, d)
		var again inbox
		a := ports.HookAttempt{ID: 5, GUID: d.GUID, Event: p.Event, Status: 502}
		if err := newHandler(t, &again, nil).TakeIn(t.Context(), a, p.Body); err != nil {
			t.Errorf("%s: from the delivery log: %v", p, err)
		} else if diff := cmp.Diff(d, again.got[0]); diff != "" {
			t.Errorf("%s: the delivery log gives another result (-webhook +log):\n%s", p, diff)
		}
	}
	if len(events) != 58 {
		t.Errorf("%d events, want GitHub's 58", len(events))
	}
}

// Deliveries from the log are read as strictly as incoming ones, and are counted in the same
// way.
func TestAcceptFromTheLog(t *testing.T) {
	good := ports.HookAttempt{GUID: "72d3162e-cc78-11e3-81ab-4c9367dc0958", Event: "star"}
	for name, tt := range map[string]struct {
		attempt func(*ports.HookAttempt)
		payload string
		store   error
		want    error
		outcome string
	}{
		"accepted":          {payload: `{"action": "created"}`, outcome: "accepted"},
		"not JSON":          {payload: `{`, want: ports.ErrRefused},
		"a malformed event": {attempt: func(a *ports.HookAttempt) { a.Event = "a b" }, payload: `{}`, want: ports.ErrRefused},
		"a malformed id":    {attempt: func(a *ports.HookAttempt) { a.GUID = "../" }, payload: `{}`, want: ports.ErrRefused},
		"the store fails":   {payload: `{}`, store: errors.New("disk full"), want: nil},
	} {
		b := inbox{err: tt.store}
		var outcomes []string
		h := newHandler(t, &b, func(c *Config) {
			c.Observe = func(_ context.Context, _ ports.Delivery, _, outcome string, _ time.Duration) {
				outcomes = append(outcomes, outcome)
			}
		})
		a := good
		if tt.attempt != nil {
			tt.attempt(&a)
		}
		err := h.TakeIn(t.Context(), a, []byte(tt.payload))
		switch {
		case tt.store != nil:
			if !errors.Is(err, tt.store) || errors.Is(err, ports.ErrRefused) {
				t.Errorf("%s: %v", name, err)
			}
		case !errors.Is(err, tt.want) || err != nil && len(b.got) > 0:
			t.Errorf("%s: %v, stored %v", name, err, b.got)
		case tt.outcome != "" && !slices.Equal(outcomes, []string{tt.outcome}):
			t.Errorf("%s: outcomes %v", name, outcomes)
		}
	}
}
