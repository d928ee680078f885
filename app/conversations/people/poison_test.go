package people

import (
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/llm/llmtest"
	"github.com/reviewgate/reviewgate/pipeline"
)

// decided is the decision about a pull request, and how many findings block.
func (w *world) decided(pr *ghtest.PullRequest) (pipeline.Decision, int) {
	w.Helper()
	r := &w.Latest(pr).Review.Report
	return r.Decision, r.Counts.Critical + r.Counts.Major
}

// wantBlocked fails unless a pull request is blocked.
func (w *world) wantBlocked(pr *ghtest.PullRequest, when string) {
	w.Helper()
	if decision, n := w.decided(pr); !decision.Blocks() || n == 0 {
		w.Errorf("%s: the decision is %s with %d blocking findings: %+v", when, decision, n, w.Latest(pr).Review.Report.Memory)
	}
}

// A model that believes every note, and is silent about what a note tells of, is not told of what
// blocked.
func TestModelsAreNotTalkedOutOfWhatBlocks(t *testing.T) {
	t.Parallel()
	for severity, found := range map[string]llmtest.Reply{
		"critical": apptest.FoundWith(0.95, "critical", "The payment request is sent twice"),
		"major":    apptest.FoundWith(0.95, "major", "The payment request is sent twice"),
	} {
		_, change := apptest.WithModels(t, `{}`, func(r *llmtest.Request) llmtest.Reply {
			if apptest.IsSpec(r) || strings.Contains(r.Text, "judged wrong here, in files of no service") {
				return apptest.Found("warning")
			}
			return found
		})
		w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, change)
		w.Repo.Grant("mia", "maintain")
		w.Repo.Grant("carol", "write")
		pr := w.client("carol")
		w.wantBlocked(pr, severity+" without a record")
		for i := range w.Latest(pr).Review.Report.Findings {
			w.says(pr, "mia", "/review dismiss %s false_positive the bus removes doubles", w.Latest(pr).Review.Report.Findings[i].ID)
		}
		w.wantRecords(severity+" is dismissed", "M-1 active")
		w.wantBlocked(w.client("dave"), severity+" with the record")
	}
}
