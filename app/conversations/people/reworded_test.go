package people

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/llm/llmtest"
	"github.com/reviewgate/reviewgate/pipeline"
)

func isComparison(r *llmtest.Request) bool { return strings.Contains(string(r.Schema), `"pairs"`) }

// wordings hold what each of the two models reports about one defect. A test changes them as
// it goes on.
type wordings struct {
	mu         sync.Mutex
	small, big []string
	severity   string
	same       bool
	compared   int
}

func (w *wordings) set(severity string, small, big []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.severity, w.small, w.big = severity, small, big
}

func (w *wordings) reply(r *llmtest.Request) llmtest.Reply {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case isComparison(r):
		w.compared++
		same := "false"
		if w.same {
			same = "true"
		}
		return llmtest.Text(`{"pairs": [{"pair": 1, "one": "a", "other": "b", "same": ` + same + `}]}`)
	case apptest.IsSpec(r):
		return apptest.Found("major")
	case r.Model == "big-1":
		return apptest.Found(w.severity, w.big...)
	}
	return apptest.Found(w.severity, w.small...)
}

// Two models describe one defect in different words, and in new words on every push. It stays
// one finding. Another review of the same head does not remove it. A dismissed finding comes
// back only where its severity rose, so that somebody must confirm the dismissal.
func TestModelsRewordTheirFindings(t *testing.T) {
	t.Parallel()
	said := &wordings{same: true}
	said.set("major", []string{"The request can't be cancelled"}, []string{"No deadline on the call to the warehouse"})
	_, change := apptest.WithModels(t, `{"models": {"speculative_quality": true}}`, said.reply)
	w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, change)
	pr := w.openClient(apptest.GoodBody)
	w.Wants(pr, "action_required", "both models, confidence 0.95")
	first := w.Only(pr)
	if len(first.FoundBy) != 2 || len(first.Fingerprints) != 2 || said.compared != 1 {
		t.Fatalf("%d comparisons, %+v", said.compared, first)
	}

	// On the same head no model reports it any more.
	said.set("major", nil, nil)
	w.Says(pr, "/review full")
	w.Wants(pr, "action_required", string(pipeline.ReasonNotRaised))
	if f := w.Only(pr); f.ID != first.ID || len(f.FoundBy) != 2 {
		t.Errorf("%+v", f)
	}

	// Another push leaves its lines alone, and both models use new words.
	said.set("major", []string{"Cancelled requests go on"}, []string{"Calls have no deadline"})
	pr.Push(ghtest.Files{"store/more.go": "package store\n\nfunc More() int { return 2 }\n"}, "feat: more")
	w.Idle()
	w.Wants(pr, "action_required", "open since")
	if f := w.Only(pr); f.ID != first.ID || f.State != pipeline.StateOpen {
		t.Errorf("%+v", f)
	}

	// A maintainer dismisses it, and no new words bring it back.
	w.Dismiss(pr, w.Only(pr))
	w.Wants(pr, "success")
	said.set("major", []string{"Requests go on when cancelled"}, []string{"The calls lack a deadline"})
	pr.Push(ghtest.Files{"store/most.go": "package store\n\nfunc Most() int { return 3 }\n"}, "feat: most")
	w.Idle()
	w.Wants(pr, "success")

	// When the models call it more severe, somebody must confirm the dismissal.
	said.set("critical", []string{"Requests go on when cancelled"}, []string{"The calls lack a deadline"})
	pr.Push(ghtest.Files{"store/last.go": "package store\n\nfunc Last() int { return 4 }\n"}, "feat: last")
	w.Idle()
	w.Wants(pr, "failure", "a model holds it to be critical now, and it was dismissed as major, which somebody must confirm")
	report := w.Latest(pr).Review.Report
	if len(report.Findings) != 1 || !report.Findings[0].HasReason(pipeline.ReasonNotDismissed) {
		t.Errorf("%+v", report.Findings)
	}
}

// Two models that report two different defects at one place do not count as agreeing.
func TestModelsReportDifferentDefects(t *testing.T) {
	t.Parallel()
	said := &wordings{}
	said.set("major", []string{"The request can't be cancelled"}, []string{"The default client follows any redirect"})
	_, change := apptest.WithModels(t, `{}`, said.reply)
	w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, change)
	pr := w.openClient(apptest.GoodBody)
	w.Wants(pr, "neutral", "small only, confidence 0.90", "big only, confidence 0.90")
	w.WantsCheck(pr, "neutral", "matcher (small) said which findings are about one thing")
	use := w.Latest(pr).Record.ModelUse
	if !slices.ContainsFunc(use, func(u pipeline.ModelUse) bool {
		return u.Agent == pipeline.Matcher && u.Model == "small" && u.Asked == 1
	}) {
		t.Errorf("%+v", use)
	}
}

// The verifying model sees what only one model found. A finding that it confirms blocks. A
// finding that it refutes is shown with the reason and blocks nothing.
func TestModelsFindingIsVerified(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ verdict, conclusion, says string }{
		{"confirmed", "action_required", "big, confirmed by small, confidence 0.90"},
		{"refuted", "neutral", "small disagrees: The client has a timeout (quoting `return http.DefaultClient.Get(url)`)"},
		{"unclear", "neutral", "big only, confidence 0.90"},
	} {
		t.Run(tt.verdict, func(t *testing.T) {
			t.Parallel()
			models, change := apptest.WithModels(t, `{"models": {"verify": "small"}}`, func(r *llmtest.Request) llmtest.Reply {
				switch {
				case strings.Contains(string(r.Schema), `"verdict"`):
					return llmtest.Text(`{"quote": "return http.DefaultClient.Get(url)", "why": "The client has a timeout.", "verdict": "` + tt.verdict + `"}`)
				case r.Model == "big-1" && !apptest.IsSpec(r):
					return apptest.Found("major", "The request can't be cancelled")
				}
				return apptest.Found("major")
			})
			w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, change)
			pr := w.openClient(apptest.GoodBody)
			w.Wants(pr, tt.conclusion, tt.says)
			w.WantsCheck(pr, tt.conclusion, "verifier (small) checked what one model alone found: confirmed")
			// Another review asks the verifier again.
			w.Says(pr, "/review")
			w.Wants(pr, tt.conclusion, tt.says)
			asked := 0
			for _, r := range models.Requests() {
				if strings.Contains(string(r.Schema), `"verdict"`) {
					asked++
					if r.Model != "small-1" || !strings.Contains(r.Text, "The request can't be cancelled") {
						t.Errorf("asked %s:\n%s", r.Model, r.Text)
					}
				}
			}
			if asked != 2 {
				t.Errorf("asked %d times, want 2", asked)
			}
			if m := models.Mistakes(); len(m) > 0 {
				t.Errorf("the APIs would refuse these requests: %q", m)
			}
		})
	}
}
