package people

import (
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/llm/llmtest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/policies/learning"
)

// history is what the log of a pull request says.
func (w *world) history(pr *ghtest.PullRequest) learning.History {
	w.Helper()
	log, err := w.App.Inside().Store.Log(w.Context(), w.Key(pr))
	if err != nil {
		w.Fatal(err)
	}
	return learning.Replay(log)
}

// became fails unless the pull request has one finding that was shown, with this outcome.
func (w *world) became(pr *ghtest.PullRequest, want learning.Outcome) learning.Followed {
	w.Helper()
	var shown []learning.Followed
	for _, f := range w.history(pr).Findings {
		if f.Shown {
			shown = append(shown, f)
		}
	}
	if len(shown) != 1 || shown[0].Outcome != want {
		w.Fatalf("#%d: want one finding, %s; got %+v", pr.Number, want, shown)
	}
	return shown[0]
}

// What became of a finding follows from pushes, commands and how the pull request ends.
func TestOutcomesOfFindings(t *testing.T) {
	t.Parallel()
	w := start(t)
	opened := func(head string) *ghtest.PullRequest {
		t.Helper()
		pr := w.Another(head, ghtest.Files{head + "/client.go": apptest.Insecure, head + "/client_test.go": "package store\n"})
		w.Idle()
		w.became(pr, learning.OutcomeOpen)
		return pr
	}
	for name, tt := range map[string]struct {
		do   func(head string, pr *ghtest.PullRequest)
		want learning.Outcome
	}{
		"fixed": {func(head string, pr *ghtest.PullRequest) {
			pr.Push(ghtest.Files{head + "/client.go": apptest.Secure}, "fix: verify")
		}, learning.OutcomeFixed},
		"moved": {func(head string, pr *ghtest.PullRequest) {
			pr.Push(ghtest.Files{head + "/client.go": apptest.Moved}, "feat: timeout")
		}, learning.OutcomeOpen},
		"renamed": {func(head string, pr *ghtest.PullRequest) {
			pr.Push(ghtest.Files{head + "/client.go": ghtest.Gone, head + "/client_test.go": ghtest.Gone, head + "/http.go": apptest.Insecure, head + "/http_test.go": "package store\n"}, "refactor: rename")
		}, learning.OutcomeOpen},
		"withdrawn": {func(head string, pr *ghtest.PullRequest) {
			pr.Push(ghtest.Files{head + "/client.go": ghtest.Gone, head + "/client_test.go": ghtest.Gone, head + "/b.go": "package store\n\nvar B = 1\n", head + "/b_test.go": "package store\n"}, "revert: client")
		}, learning.OutcomeWithdrawn},
		"fixed and back": {func(head string, pr *ghtest.PullRequest) {
			pr.Push(ghtest.Files{head + "/client.go": apptest.Secure}, "fix: verify")
			w.Idle()
			pr.Push(ghtest.Files{head + "/client.go": apptest.Insecure}, "revert: verify")
		}, learning.OutcomeOpen},
		"accepted": {func(_ string, pr *ghtest.PullRequest) {
			w.Says(pr, "/review accept "+w.Only(pr).ID[:8])
		}, learning.OutcomeAccepted},
		"dismissed": {func(_ string, pr *ghtest.PullRequest) {
			w.Dismiss(pr, w.Only(pr))
		}, learning.OutcomeDismissed},
		"dismissed, restored": {func(_ string, pr *ghtest.PullRequest) {
			w.Dismiss(pr, w.Only(pr))
			w.Says(pr, "/review restore "+w.Only(pr).ID[:8])
		}, learning.OutcomeOpen},
		"dismissed by somebody who may not": {func(_ string, pr *ghtest.PullRequest) {
			pr.Comment("bob", "/review dismiss "+w.Only(pr).ID[:8]+" I don't mind")
		}, learning.OutcomeOpen},
		"overridden": {func(_ string, pr *ghtest.PullRequest) {
			w.Says(pr, "/review override it is an emergency")
			pr.Merge()
		}, learning.OutcomeOverridden},
		"merged open": {func(_ string, pr *ghtest.PullRequest) { pr.Merge() }, learning.OutcomeMergedOpen},
		"closed":      {func(_ string, pr *ghtest.PullRequest) { pr.Close() }, learning.OutcomeClosed},
		"reopened": {func(_ string, pr *ghtest.PullRequest) {
			pr.Close()
			w.Idle()
			pr.Reopen()
		}, learning.OutcomeOpen},
		"merged while the App is away": {func(_ string, pr *ghtest.PullRequest) {
			w.Away(func() { pr.Merge() })
			// A review that comes late finds that it is merged.
			if err := w.App.Inside().Store.Ask(w.Context(), ports.ReviewAsk{Target: w.target(pr), Reason: "look again"}); err != nil {
				t.Fatal(err)
			}
		}, learning.OutcomeMergedOpen},
	} {
		head := strings.NewReplacer(" ", "-", ",", "").Replace(name)
		pr := opened(head)
		tt.do(head, pr)
		w.Idle()
		f := w.became(pr, tt.want)
		if f.Outcome == learning.OutcomeDismissed && (f.Judged.Judged.Person == "" || strings.Contains(f.Judged.Judged.Person, "carol")) {
			t.Errorf("%s: the person is %q", name, f.Judged.Judged.Person)
		}
	}
}

// A title can be mended without a push.
func TestOutcomeOfATitle(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.Repo.Commit("main", ghtest.Files{apptest.SettingsPath: `{"profile": "strict"}`}, "look at titles, too")
	pr := w.Repo.OpenPR(ghtest.PR{Title: "Update", Body: apptest.GoodBody, Files: ghtest.Files{"docs/a.md": "# Stock\n"}})
	w.Idle()
	w.became(pr, learning.OutcomeOpen)
	title := "docs: say where stock is read from"
	pr.Edit(ghtest.Edit{Title: &title})
	w.Idle()
	w.became(pr, learning.OutcomeFixed)
	title = "Update"
	pr.Edit(ghtest.Edit{Title: &title})
	w.Idle()
	w.became(pr, learning.OutcomeOpen)
}

// A finding that is gone because the config changed, or that a model does not repeat, is not fixed.
func TestOutcomesWithoutAFix(t *testing.T) {
	t.Parallel()
	t.Run("another config", func(t *testing.T) {
		t.Parallel()
		w := start(t)
		pr := w.Open(apptest.Tested(ghtest.Files{"store/client.go": apptest.Insecure}))
		w.Idle()
		rule := w.became(pr, learning.OutcomeOpen).Rule
		w.Repo.Commit("main", ghtest.Files{".github/reviewgate/review-rules.json": `[{"id": "` + rule + `", "enabled": false}]`}, "chore: switch the rule off")
		w.Idle()
		w.Says(pr, "/review")
		w.became(pr, learning.OutcomeObsolete)
		// When both the rule and the lines change, the lines count.
		w.Repo.Commit("main", ghtest.Files{".github/reviewgate/review-rules.json": `[]`}, "chore: switch it on")
		w.Idle()
		w.Says(pr, "/review")
		w.became(pr, learning.OutcomeOpen)
	})
	t.Run("a model that is silent", func(t *testing.T) {
		t.Parallel()
		silent := false
		_, change := apptest.WithModels(t, `{"models": {"strategy": "single"}}`, func(r *llmtest.Request) llmtest.Reply {
			if apptest.IsSpec(r) || silent {
				return apptest.Found("major")
			}
			return apptest.Found("warning", "The request can't be cancelled")
		})
		w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, change)
		pr := w.openClient(apptest.GoodBody)
		f := w.became(pr, learning.OutcomeOpen)
		if len(f.Models) != 1 || f.Models[0].Confidence != 0.9 || f.Prompt == "" || f.Stage != "quality" {
			t.Errorf("the finding is %+v", f.Finding)
		}
		silent = true
		w.Says(pr, "/review full")
		w.became(pr, learning.OutcomeNotRaised)
		silent = false
		w.Says(pr, "/review full")
		w.became(pr, learning.OutcomeOpen)
		silent = true
		pr.Push(ghtest.Files{"store/client.go": strings.Replace(apptest.Unbounded, "http.DefaultClient.Get(url)", "client.Get(url)", 1)}, "fix: a client")
		w.Idle()
		w.became(pr, learning.OutcomeFixed)
	})
}
