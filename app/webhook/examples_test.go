package webhook

import (
	"net/http"
	"testing"

	"github.com/reviewgate/reviewgate/app/ghtest/examples"
)

// Every event that GitHub has. Some examples were sent to a repository's
// webhook and have no installation: those that we route are refused, none is
// an error of ours, and what nothing is done for is recorded.
func TestGitHubsExamples(t *testing.T) {
	events := map[string]bool{}
	routed := map[string]bool{
		"pull_request": true, "issue_comment": true, "check_run": true, "merge_group": true,
		"installation": true, "installation_repositories": true,
	}
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
		if asks := d.Review != nil || d.Close != nil || d.Command != nil || d.Rerequest != nil || d.Sweep != nil; asks && !routed[p.Event] {
			t.Errorf("%s: asks for %+v", p, d)
		}
		checkRoutable(t, d)
	}
	if len(events) != 58 {
		t.Errorf("%d events, want GitHub's 58", len(events))
	}
}
