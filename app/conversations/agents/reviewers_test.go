package agents

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/pipeline"
)

// A remote reviewer's finding without proof counts as a warning, or in full if the server trusts the
// reviewer. Either way the verdict decides the session.
func TestTrust(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		trusted    string
		conclusion string
		gate       string
	}{
		{"false", "neutral", "warning"},
		{"true", "action_required", "major"},
	} {
		t.Run("trusted "+tt.trusted, func(t *testing.T) {
			own := serve(t, "codex")
			own.says("concerns", "There is no salt.", major)
			w := start(t, setup{
				agents: `,{"id": "codex", "name": "codex", "kind": "webhook", "description": "Reviews.", "session": true,
					"webhook": {"url": "` + own.url + `", "secret_env": "REVIEWER_SECRET", "allow_private": ["127.0.0.1"], "trusted": ` + tt.trusted + `}}`,
				policies: `,"codex"`,
			}, secretOf("codex"))
			pr := w.change("Salt")
			w.speak(pr, "claude", pipeline.TriggerMilestone, "Hashes.")
			s := w.wants(pr, "RUNNING", 3, tt.conclusion)
			if len(s.Findings) != 1 || s.Findings[0].GateSeverity != tt.gate || s.Findings[0].Agent != "codex" || s.Findings[0].Path != "store/Salt.go" || s.Findings[0].Line != 4 {
				t.Errorf("findings %+v", s.Findings)
			}
			if tt.trusted == "false" {
				if body := w.Comment(pr).Body; !strings.Contains(body, "(major, by one reviewer only)") || strings.Contains(body, "one model") || strings.Contains(body, "codex (codex)") {
					t.Errorf("the comment does not say who found it:\n%s", body)
				}
				return
			}
			// A finding still blocks after a push that the reviewer is not asked about.
			pr.Push(ghtest.Files{"store/Other.go": "package store\n"}, "chore: another file")
			w.wants(pr, "RUNNING", 3, "action_required")
			if !strings.Contains(w.Comment(pr).Body, "was not asked about this head") {
				t.Errorf("the comment does not say why:\n%s", w.Comment(pr).Body)
			}
			own.says("approved", "Salted.")
			pr.Comment("alice", "/review")
			w.Idle()
			w.wants(pr, "RUNNING", 4, "success")
		})
	}
}

// A reviewer outside of sessions is asked about each head without an event, and starts no session.
func TestReviewerOfEachHead(t *testing.T) {
	t.Parallel()
	own := serve(t, "lint")
	w := start(t, setup{
		agents: `,{"id": "lint", "name": "lint", "kind": "webhook", "description": "Looks at each head.",
			"webhook": {"url": "` + own.url + `", "secret_env": "REVIEWER_SECRET", "allow_private": ["127.0.0.1"], "trusted": true}}`,
		policies: `,"lint"`,
	}, secretOf("lint"))
	w.reviewers["lint"] = own
	pr := w.Another("Salt", ghtest.Files{"store/Salt.go": "package store\n\n// Salt is new.\nfunc Salt() int { return 2 }\n"})
	q := w.waitFor("lint", 1)
	if q.Cycle != 0 || strings.Join(q.Targets, " ") != "alice" || len(q.Context) != 0 {
		t.Errorf("asked %+v", q)
	}
	if status, body := w.answer(q, result("lint", "concerns", "One.", major), nil); status != http.StatusAccepted {
		t.Fatalf("%d %s", status, body)
	}
	s := w.until(pr, "reviewed with the answer", func(*sessionState) bool {
		c := pr.CheckRuns()
		return len(c) > 0 && c[len(c)-1].Completed() && strings.Contains(c[len(c)-1].Title, "1 major")
	})
	if s.Rule != nil || s.Status != "RUNNING" {
		t.Errorf("there is a session: %+v", s)
	}
	w.Idle()
	w.WantsCheck(pr, "action_required")
	pr.Push(ghtest.Files{"store/Salt.go": "package store\n\n// Salt is salted.\nfunc Salt() int { return 5 }\n"}, "fix: salt it")
	q = w.waitFor("lint", 2)
	if q.HeadSHA != pr.HeadSHA() {
		t.Errorf("asked about %s", q.HeadSHA)
	}
	own.says("approved", "Fine.")
	w.answer(q, result("lint", "approved", "Fine."), nil)
	w.settled(pr)
	w.Idle()
	w.WantsCheck(pr, "success")
}

// An agent does not review its own work: it is not asked, and the others decide.
func TestTargetsReviewNothing(t *testing.T) {
	t.Parallel()
	w := start(t, setup{reviewers: "claude codex"})
	w.reviewers["claude"].says("blocker", "I am perfect.")
	w.reviewers["codex"].says("approved", "Fine.")
	pr := w.change("Salt")
	w.speak(pr, "claude", pipeline.TriggerMilestone, "Hashes.")
	w.wants(pr, "RUNNING", 4, "success")
	if n := len(w.reviewers["claude"].got("review_request")); n != 0 {
		t.Errorf("claude was asked %d times about its own work", n)
	}
}

// Without reviewers of sessions there is no cycle, and nobody waits for one.
func TestNoReviewerNoCycle(t *testing.T) {
	t.Parallel()
	w := start(t, setup{})
	pr := w.change("Salt")
	w.speak(pr, "claude", pipeline.TriggerMilestone, "Hashes.")
	s := w.wants(pr, "RUNNING", -1, "success")
	if len(s.Reviewers) != 0 {
		t.Errorf("reviewers %+v", s.Reviewers)
	}
}

// A person's /review starts a cycle of its own, although no agent has reported an event. No fallback
// follows it.
func TestReviewByAPerson(t *testing.T) {
	t.Parallel()
	w := start(t, setup{reviewers: "codex", sessions: `{"fallback": 1}`, minute: 100 * time.Millisecond})
	w.reviewers["codex"].says("concerns", "No test.")
	pr := w.change("Salt")
	pr.Comment("alice", "/review")
	w.waitFor("codex", 1)
	w.wants(pr, "RUNNING", 3, "success")
	row := w.session(pr)
	if !row.SpokeAt.IsZero() || !row.FallbackAt.IsZero() || row.Cycle.Number != 1 || row.Cycle.Triggers[0] != pipeline.TriggerPerson {
		t.Errorf("%+v", row)
	}
}

// A repository dispatch with an event starts a cycle, as the API does. Other and malformed dispatches
// change nothing.
func TestRepositoryDispatch(t *testing.T) {
	t.Parallel()
	w := start(t, setup{reviewers: "codex"})
	w.reviewers["codex"].says("approved", "Fine.")
	pr := w.change("Salt")
	w.Repo.Dispatch("alice", "deploy", map[string]any{"id": 7})
	w.Repo.Dispatch("alice", "milestone", map[string]any{"id": "m-1", "pr": pr.Number, "agent": "claude", "summary": "Hashes.", "files": []string{"store/Salt.go"}, "max_words": 50})
	q := w.waitFor("codex", 1)
	if q.Context["claude_summary"] != "Hashes." || q.MaxWords != 50 || len(q.Files) != 1 {
		t.Errorf("%+v", q)
	}
	w.wants(pr, "RUNNING", 4, "success")
	w.Repo.Dispatch("alice", "milestone", map[string]any{"id": "m-1", "pr": pr.Number, "agent": "claude", "summary": "Hashes."})
	w.Repo.Dispatch("alice", "milestone", map[string]any{"id": "m-2", "pr": 4711, "agent": "claude", "summary": "Nowhere."})
	w.Idle()
	if s := w.wants(pr, "RUNNING", 4, "success"); s.Cycle.Number != 1 {
		t.Errorf("cycle %+v", s.Cycle)
	}
}
