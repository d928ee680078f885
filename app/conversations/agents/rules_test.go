package agents

import (
	"slices"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
)

const major = `{"severity": "high", "description": "The hash has no salt.", "file": "store/Salt.go", "line": 4}`

// Each rule decides from the answers of two remote reviewers to real requests.
func TestRules(t *testing.T) {
	t.Parallel()
	w := start(t, setup{reviewers: "codex gemini", sessions: `{"deadline": 2}`, minute: 1e9})
	codex, gemini := w.reviewers["codex"], w.reviewers["gemini"]
	for _, tt := range []struct {
		name       string
		codex      string // verdict; "" for no answer
		gemini     string
		status     string
		rule       int
		conclusion string
	}{
		{"Four", "approved", "approved", "RUNNING", 4, "success"},
		{"Three", "concerns", "approved", "RUNNING", 3, "success"},
		{"Two", "concerns", "concerns", "PAUSED", 2, "action_required"},
		{"One", "approved", "blocker", "PAUSED", 1, "action_required"},
		{"Zero", "approved", "", "PAUSED", 0, "action_required"},
		{"Both", "concerns", "", "PAUSED", 0, "action_required"},
	} {
		for r, verdict := range map[*reviewer]string{codex: tt.codex, gemini: tt.gemini} {
			r.says(verdict, r.name+" says "+verdict)
			if verdict == "" {
				r.replies(nil)
			}
		}
		pr := w.change(tt.name)
		w.WantsCheck(pr, "success")
		w.speak(pr, "claude", pipeline.TriggerMilestone, "Added "+tt.name)
		s := w.wants(pr, tt.status, tt.rule, tt.conclusion)
		body := w.Comment(pr).Body
		if tt.rule == 0 && !strings.Contains(body, "no answer from gemini") {
			t.Errorf("%s: the comment does not name who did not answer:\n%s", tt.name, body)
		}
		if (tt.rule == 0 || tt.rule == 2) == (s.Clarification == "") {
			t.Errorf("%s: clarification %q", tt.name, s.Clarification)
		}
		// Under load the earlier pull requests may have got their fallback cycles meanwhile.
		q := slices.DeleteFunc(codex.got("review_request"), func(q request) bool { return q.Number != pr.Number })
		if len(q) == 0 {
			t.Fatalf("%s: codex was not asked", tt.name)
		}
		last := q[len(q)-1]
		if last.Context["claude_summary"] != "Added "+tt.name || len(last.Targets) != 1 || last.Targets[0] != "claude" || last.HeadSHA != pr.HeadSHA() || last.Number != pr.Number || len(last.FocusAreas) != 3 || last.MaxWords != 200 {
			t.Errorf("%s: %+v", tt.name, last)
		}
	}
}
