package people

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/llm"
	"github.com/reviewgate/reviewgate/app/llm/llmtest"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

func (w *world) openClient(body string) *ghtest.PullRequest {
	w.Helper()
	pr := w.Repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: body, Files: ghtest.Files{"store/client.go": apptest.Unbounded, "store/client_test.go": "package store\n"}})
	w.Idle()
	return pr
}

func isGaps(r *llmtest.Request) bool { return strings.Contains(string(r.Schema), `"gaps"`) }

// What both models find blocks. The comment names both, and their cost is recorded. A finding
// of one model alone only warns.
func TestModelsReview(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		small      llmtest.Reply
		conclusion string
		says       string
	}{
		"agreed":    {apptest.Found("major", "The request can't be cancelled"), "action_required", "The request can't be cancelled"},
		"one alone": {apptest.Found("major"), "neutral", "by one model only"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			models, change := apptest.WithModels(t, `{}`, func(r *llmtest.Request) llmtest.Reply {
				switch {
				case apptest.IsSpec(r):
					return apptest.Found("major")
				case r.Model == "big-1":
					return apptest.Found("major", "The request can't be cancelled")
				}
				return test.small
			})
			w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, change)
			issue := w.Repo.Issues.Open("bob", "Stock is stale", "Read it from the warehouse.")
			pr := w.openClient(fmt.Sprintf("Fixes #%d, fixes #%d.\n\nFixes other/repository#7", issue.Number, 99))
			w.Wants(pr, test.conclusion)
			if text := w.Ours(pr).Body; !strings.Contains(text, test.says) {
				t.Errorf("the comment does not say %q:\n%s", test.says, text)
			}
			if n := len(models.Requests()); n != 4 {
				t.Errorf("%d questions, want one from each agent to each model", n)
			}
			for _, r := range models.Requests() {
				if has := strings.Contains(r.Text, "Read it from the warehouse."); has != apptest.IsSpec(r) {
					t.Errorf("the question contains the linked issue: %t, and it is not from the spec stage: %t", has, !apptest.IsSpec(r))
				}
			}
			use := w.Latest(pr).Record.ModelUse
			if len(use) != 4 || use[0].Agent != "asks-quality" || use[0].Model != "big" || use[0].Input != 1000 || use[0].CostUSD != 0.0045 {
				t.Errorf("model use %+v", use)
			}
			if m := models.Mistakes(); len(m) > 0 {
				t.Errorf("the APIs would refuse these requests: %q", m)
			}
		})
	}
}

// The comment names a model that is down, refuses, stops in the middle or answers nonsense. A
// required agent whose result is unknown does not pass. The other models' findings still
// count.
func TestModelsThatFail(t *testing.T) {
	t.Parallel()
	replies := map[string]llmtest.Reply{
		"down": llmtest.Status(500), "refuses": llmtest.Refusal("no"), "cut off": llmtest.CutOff(`{"findings": [`), "nonsense": llmtest.Text("Looks good to me!"),
		"slow": llmtest.Slow(),
	}
	for _, name := range sample.Keys(t, 3, replies) {
		reply := replies[name]
		for _, required := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, required %t", name, required), func(t *testing.T) {
				t.Parallel()
				_, change := apptest.WithModels(t, `{"limits": {"agent_retries": 0, "agent_timeout_seconds": 3}}`, func(r *llmtest.Request) llmtest.Reply {
					if r.Model == "big-1" {
						return reply
					}
					return apptest.Found("major")
				})
				w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, change, func(w *apptest.World) {
					if required {
						c := &w.Server.Files[2]
						c.Text = bytes.Replace(c.Text, []byte(`"dispatch": {`), []byte(`"dispatch": {"required": true, `), 1)
					}
				})
				pr := w.openClient(apptest.GoodBody)
				conclusion := "success"
				if required {
					conclusion = "action_required"
				}
				w.Wants(pr, conclusion)
				rows := w.Latest(pr).Review.Report.Coverage
				if !slices.ContainsFunc(rows, func(c pipeline.Coverage) bool {
					return c.Agent == "asks-quality" && c.Model == "big" && c.Status != pipeline.AgentOK && c.Note != ""
				}) {
					t.Errorf("the coverage has no row about the model: %+v", rows)
				}
			})
		}
	}
}

// Over budget no model is asked any more, and the row says so.
func TestModelsOverBudget(t *testing.T) {
	t.Parallel()
	models, change := apptest.WithModels(t, `{"model_budget": {"per_pull_request": 60000}}`, func(*llmtest.Request) llmtest.Reply {
		return apptest.Found("major").Took(llm.Use{Input: 14000, Output: 500})
	})
	w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, change)
	pr := w.openClient(apptest.GoodBody)
	pr.Push(ghtest.Files{"store/more.go": "package store\n\nfunc More() int { return 2 }\n"}, "feat: more")
	w.Idle()
	pr.Push(ghtest.Files{"store/most.go": "package store\n\nfunc Most() int { return 3 }\n"}, "feat: most")
	w.Idle()
	if n := len(models.Requests()); n == 0 || n > 4 {
		t.Errorf("%d questions of 14,500 tokens within a budget of 60,000", n)
	}
	rows := w.Latest(pr).Review.Report.Coverage
	if !slices.ContainsFunc(rows, func(c pipeline.Coverage) bool {
		return c.Status == pipeline.AgentSkipped && strings.Contains(c.Note, "over budget")
	}) {
		t.Errorf("no row mentions the budget: %+v", rows)
	}
}

// Secrets never leave: neither those that people wrote into the change nor the App's own
// appear in any request.
func TestModelsNeverSeeSecrets(t *testing.T) {
	t.Parallel()
	models, change := apptest.WithModels(t, `{"models": {"gap_detector": "big"}}`, func(r *llmtest.Request) llmtest.Reply {
		if isGaps(r) {
			return llmtest.Text(`{"gaps": []}`)
		}
		return apptest.Found("major")
	})
	w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, change)
	// A secret that only its place in one file shows to be one.
	password := "zR8" + "kQ4xTn6Wp1Lv9YbQ3"
	issue := w.Repo.Issues.Open("bob", "Stock is stale "+apptest.Token, "Read it with "+apptest.Token+" <!-- "+apptest.Token+" -->\n\nLog in with "+password)
	pr := w.Repo.OpenPR(ghtest.PR{
		Title: "feat: stock " + apptest.Token, Body: apptest.GoodBody + "\n\n" + apptest.Token + fmt.Sprintf("\n\nFixes #%d", issue.Number),
		Files: ghtest.Files{"store/client.go": apptest.Unbounded, "store/token.go": "package store\n\nconst token = \"" + apptest.Token + "\"\n", apptest.Token + "/x.go": "package x\n",
			"store/login.go": "package store\n\nconst password = \"" + password + "\"\n", password + "/y.go": "package y\n"},
	})
	w.Idle()
	pr.Push(ghtest.Files{"store/more.go": "package store\n"}, "use "+apptest.Token)
	w.Idle()
	sent := models.Sent()
	gaps, issues := 0, 0
	for _, r := range models.Requests() {
		if isGaps(r) {
			gaps++
		}
		if strings.Contains(r.Text, "Stock is stale [redacted:") {
			issues++
		}
	}
	if gaps == 0 || issues == 0 || len(models.Requests()) <= gaps {
		t.Fatalf("of %d questions %d were for gaps, and %d had the linked issue", len(models.Requests()), gaps, issues)
	}
	for what, text := range map[string]string{
		"a secret of the change": apptest.Token, "a password of the change": password, "the webhook's secret": apptest.Secret, "a token of GitHub's": w.GH.Token("acme"),
		"the private key": strings.Split(string(w.GH.AppPrivateKeyPEM()), "\n")[3],
	} {
		if bytes.Contains(sent, []byte(text)) {
			t.Errorf("%s went to a model", what)
		}
	}
}

// A model's raw answer is stored with the review, whether or not it could be parsed, and
// without secrets. A result that is carried over keeps its answer.
func TestRawAnswersAreStored(t *testing.T) {
	t.Parallel()
	_, change := apptest.WithModels(t, `{"limits": {"agent_retries": 0}}`, func(r *llmtest.Request) llmtest.Reply {
		if r.Model == "big-1" {
			return llmtest.Text("Looks good to me! " + apptest.Token)
		}
		return apptest.Found("warning", "The request can't be cancelled")
	})
	w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, change)
	pr := w.openClient(apptest.GoodBody)
	check := func(when string) {
		t.Helper()
		kept := map[string]string{}
		for _, r := range w.Latest(pr).Review.Results {
			if r.Model == "" {
				continue
			}
			if len(r.Answers) != 1 || len(r.Answers[0].SHA256) != 64 || r.Answers[0].Cut {
				t.Errorf("%s: %s by %s: %+v", when, r.Agent, r.Model, r.Answers)
				continue
			}
			kept[r.Model] = string(r.Status) + " " + r.Answers[0].Text
		}
		if !strings.HasPrefix(kept["big"], "malformed Looks good to me! [redacted:") || !strings.HasPrefix(kept["small"], `ok {"findings":`) {
			t.Errorf("%s: %q", when, kept)
		}
	}
	check("at first")
	title := "feat: stock, read live"
	pr.Edit(ghtest.Edit{Title: &title})
	w.Idle()
	check("after an edit")
}
