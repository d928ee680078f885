package pulls

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

func TestOpenedIsReviewed(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	w.Idle()

	w.Wants(pr, "action_required", render.Marker, "store/client.go", "security-reviewer", pr.HeadSHA()[:7])
	if n := len(pr.CheckRuns()); n != 1 {
		t.Errorf("%d check runs on the head, want 1", n)
	}
	c := w.Check(pr)
	if len(c.Annotations) != 1 || c.Annotations[0].Path != "store/client.go" || c.Annotations[0].StartLine != 10 {
		t.Errorf("annotations %+v, want one on store/client.go:10", c.Annotations)
	}
	if c.DetailsURL == "" {
		t.Error("the check has no link")
	}
}

func TestCleanPasses(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Secure, "store/client_test.go": "package store\n"})
	w.Idle()
	w.Wants(pr, "success", "No findings")
	if n := len(pr.AppComments()); n != 0 {
		t.Errorf("%d comments on a clean pull request, want none", n)
	}
}

// A clean pull request gets a comment if a command needs an answer, or if the settings ask for it.
func TestCommentOnACleanPullRequest(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.Open(apptest.Clean())
	w.Idle()
	w.Says(pr, "/review status")
	if body := w.Comment(pr).Body; !strings.Contains(body, render.Marker) {
		t.Errorf("the comment is\n%s", body)
	}
	w.Repo.Commit("main", ghtest.Files{apptest.SettingsPath: `{"comment": {"when": "always"}}`}, "comment always")
	other := w.Another("other", ghtest.Files{"docs/a.md": "# A\n"})
	w.Idle()
	if body := w.Comment(other).Body; !strings.Contains(body, "No findings") {
		t.Errorf("the comment is\n%s", body)
	}
}

func TestPushThatFixes(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure, "store/client_test.go": "package store\n"})
	w.Idle()
	first, old := w.Comment(pr), pr.HeadSHA()

	pr.Push(ghtest.Files{"store/client.go": apptest.Secure}, "fix: verify certificates")
	w.Idle()

	w.Wants(pr, "success", "~~", "1 resolved")
	if now := w.Comment(pr); now.ID != first.ID {
		t.Errorf("the comment has another id: %d, was %d", now.ID, first.ID)
	}
	if c := w.Newest(w.Repo.Checks.On(old)); c.Conclusion != "action_required" {
		t.Errorf("the old head's check became %s", c.Conclusion)
	}
}

func TestReviewCommand(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	w.Idle()
	before := w.Comment(pr)

	asked := pr.Comment("alice", "Fixed upstream.\r\n/review\r\n")
	w.Idle()

	if got := w.Reactions(pr, asked.ID); !slices.Equal(got, []string{"eyes", "rocket"}) {
		t.Errorf("reactions %v, want eyes and rocket", got)
	}
	if n := len(pr.CheckRuns()); n != 2 {
		t.Errorf("%d check runs, want a second one", n)
	}
	w.Wants(pr, "action_required")
	if now := w.Comment(pr); now.Edits != before.Edits {
		t.Error("the comment was written again though nothing changed")
	}
}

func TestReviewCommandRefused(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	w.Idle()

	asked := pr.Comment("bob", "/review")
	w.Idle()

	if got := w.Reactions(pr, asked.ID); !slices.Equal(got, []string{"confused"}) {
		t.Errorf("reactions %v, want confused only", got)
	}
	if n := len(pr.CheckRuns()); n != 1 {
		t.Errorf("%d check runs: a refused command started a review", n)
	}
	w.Wants(pr, "action_required", "write permission")

	pr.Push(ghtest.Files{"store/b.go": "package store\n"}, "more")
	w.Idle()
	if strings.Contains(w.Comment(pr).Body, "write permission") {
		t.Error("the refusal is still shown after the next push")
	}
}

func TestReviewCommandByAuthorWithoutPermission(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	pr := w.Repo.OpenPR(ghtest.PR{Title: "fix: stock", Body: apptest.GoodBody, Author: "carol", Fork: "carol", Files: ghtest.Files{"store/client.go": apptest.Secure}})
	w.Idle()
	asked := pr.Comment("carol", "/review")
	w.Idle()
	if got := w.Reactions(pr, asked.ID); !slices.Equal(got, []string{"eyes", "rocket"}) {
		t.Errorf("reactions %v, want eyes and rocket", got)
	}
}

func TestUnknownCommand(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Secure})
	w.Idle()
	asked := pr.Comment("alice", "/review frobnicate")
	w.Idle()
	if got := w.Reactions(pr, asked.ID); !slices.Equal(got, []string{"confused"}) {
		t.Errorf("reactions %v, want confused only", got)
	}
	if body := w.Comment(pr).Body; !strings.Contains(body, "frobnicate") {
		t.Errorf("the comment does not name the unknown command:\n%s", body)
	}
}

func TestIrrelevantEventsCostNoCalls(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Secure})
	w.Idle()
	before := len(w.GH.Calls.All())

	pr.Comment("alice", "Looks good, thank you.")
	pr.Comment("alice", "> /review\n\n```\n/review\n```\n<!--\n/review\n-->")
	pr.Label("help wanted")
	w.Idle()

	if calls := w.GH.Calls.All()[before:]; len(calls) > 0 {
		t.Errorf("irrelevant events cost %d calls: %v", len(calls), calls)
	}
}

func TestSameDeliveryManyTimes(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	w.Idle()
	guid := w.GH.Webhook.LastDelivery("pull_request").GUID
	before := w.GH.Calls.Writes()

	for range 2 {
		if _, err := w.GH.Webhook.Redeliver(guid); err != nil {
			t.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if d, err := w.GH.Webhook.Redeliver(guid); err != nil || !d.OK() {
				t.Errorf("redelivery: %v %d", err, d.Status)
			}
		})
	}
	wg.Wait()
	w.Idle()

	if after := w.GH.Calls.Writes(); len(after) != len(before) {
		t.Errorf("redeliveries wrote: %v", after[len(before):])
	}
	w.Wants(pr, "action_required")
}

func TestNewerHeadDuringReview(t *testing.T) {
	t.Parallel()
	w := start(t)
	reading, resume := make(chan bool, 10), make(chan bool)
	remove := w.GH.On("GET /repos/{owner}/{repo}/pulls/{pull_number}/files", ghtest.First(1, func(x *ghtest.Exchange) {
		reading <- true
		select {
		case <-resume:
		case <-x.Context().Done():
		}
	}))
	defer remove()
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	<-reading
	old := pr.HeadSHA()
	w.Until("the check is open", func() bool { return len(pr.CheckRuns()) == 1 })
	pr.Push(ghtest.Files{"store/client.go": apptest.Secure}, "fix: verify certificates")
	w.Until("the new head is answered", func() bool {
		runs := pr.CheckRuns()
		return len(runs) > 0 && runs[len(runs)-1].Completed()
	})
	close(resume)
	w.Idle()

	if c := w.Newest(w.Repo.Checks.On(old)); c.Conclusion != "cancelled" {
		t.Errorf("the old head's check is %s, want cancelled", c.Conclusion)
	}
	if c := w.Check(pr); c.Conclusion != "success" && c.Conclusion != "neutral" {
		t.Errorf("the new head's check is %s (%s)", c.Conclusion, c.Title)
	}
	for _, c := range pr.AppComments() {
		if strings.Contains(c.Body, old[:7]) {
			t.Errorf("a comment is about the superseded head:\n%s", c.Body)
		}
	}
}

func TestEditDuringReview(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	reading, resume := make(chan bool, 10), make(chan bool)
	remove := w.GH.On("PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}", ghtest.First(1, func(x *ghtest.Exchange) {
		reading <- true
		select {
		case <-resume:
		case <-x.Context().Done():
		}
	}))
	defer remove()
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Secure})
	<-reading
	title := "WIP: read stock from the warehouse"
	pr.Edit(ghtest.Edit{Title: &title})
	close(resume)
	w.Idle()

	if body := w.Comment(pr).Body; !strings.Contains(body, "pr-hygiene") {
		t.Errorf("the review ignored the title that was edited during it:\n%s", body)
	}
}

func TestClosedDuringReview(t *testing.T) {
	t.Parallel()
	w := start(t)
	reading := make(chan bool, 10)
	remove := w.GH.On("GET /repos/{owner}/{repo}/pulls/{pull_number}/files", ghtest.First(1, func(x *ghtest.Exchange) {
		reading <- true
		<-x.Context().Done()
	}))
	defer remove()
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	<-reading
	w.Until("the check is open", func() bool { return len(pr.CheckRuns()) == 1 })
	pr.Close()
	w.Idle()

	if c := w.Check(pr); c.Conclusion != "cancelled" {
		t.Errorf("the check is %s, want cancelled", c.Conclusion)
	}
	if n := len(pr.AppComments()); n != 0 {
		t.Errorf("%d comments on a pull request that was closed before its review", n)
	}
}

func TestClosedAndReopened(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	w.Idle()
	pr.Close()
	w.Idle()
	writes := len(w.GH.Calls.Writes())
	pr.Reopen()
	w.Idle()
	w.Wants(pr, "action_required")
	// The check may have been written while it was closed, so there is another.
	for _, call := range w.GH.Calls.Writes()[writes:] {
		if !strings.Contains(call.Path, "/check-runs") {
			t.Errorf("reopening without a change wrote %v", call)
		}
	}
}

func TestDraftIsReviewed(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.Repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Draft: true, Files: ghtest.Files{"store/client.go": apptest.Insecure}})
	w.Idle()
	w.Wants(pr, "action_required")
}

func TestDraftSkippedWhereConfigured(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.Repo.Commit("main", ghtest.Files{".github/reviewgate/review-settings.json": `{"drafts": "skip"}`}, "skip drafts")
	w.Idle()
	pr := w.Repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Draft: true, Files: ghtest.Files{"store/client.go": apptest.Secure, "store/client_test.go": "package store\n"}})
	w.Idle()
	if c := w.Check(pr); c.Conclusion != "action_required" || c.Title != "Draft: not reviewed" {
		t.Errorf("the check is %s (%s)", c.Conclusion, c.Title)
	}
	pr.ReadyForReview()
	w.Idle()
	w.Wants(pr, "success")
}

func TestEmptyPullRequest(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.Open(ghtest.Files{})
	w.Idle()
	if c := w.Check(pr); c.Conclusion != "success" {
		t.Errorf("the check is %s (%s)", c.Conclusion, c.Title)
	}
}

func TestFork(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.Repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Author: "carol", Fork: "carol", Files: ghtest.Files{"store/client.go": apptest.Insecure}})
	w.Idle()
	w.Wants(pr, "action_required", "/carol/shop/blob/"+pr.HeadSHA())

	w.Repo.Checks.Rerequest("alice", w.Check(pr).ID)
	w.Idle()
	if n := len(pr.CheckRuns()); n != 2 {
		t.Errorf("%d check runs after a requested re-run, want 2", n)
	}
}

func TestOnlyRenamesAndDeletions(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	pr := w.Open(ghtest.Files{
		"stock/a.go": ghtest.MovedFrom("store/a.go"),
		"README.md":  ghtest.Gone,
	})
	w.Idle()
	if c := w.Check(pr); c.Conclusion != "success" {
		t.Errorf("the check is %s (%s): %s", c.Conclusion, c.Title, c.Summary)
	}
}

func TestBinaryFiles(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	pr := w.Open(ghtest.Files{"logo.png": "\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00\x00"})
	w.Idle()
	if c := w.Check(pr); c.Conclusion != "success" {
		t.Errorf("the check is %s (%s): %s", c.Conclusion, c.Title, c.Summary)
	}
}

func TestTwoPullRequestsWithOneHead(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.Repo.Commit("release", ghtest.Files{"RELEASE": "1.0\n"}, "branch off")
	one := w.Open(ghtest.Files{"store/client.go": apptest.Secure, "store/client_test.go": "package store\n"})
	w.Idle()
	w.Wants(one, "success")

	two := w.Repo.OpenPR(ghtest.PR{Title: "WIP: backport", Body: apptest.GoodBody, Base: "release"})
	w.Idle()
	c := w.Check(two)
	if c.Conclusion != "neutral" {
		t.Errorf("the shared check is %s (%s), want the worse of the two", c.Conclusion, c.Title)
	}
	if !strings.Contains(c.Summary+c.Text, "pull request 1 (passed)") {
		t.Errorf("the check does not name the other pull request:\n%s\n%s", c.Summary, c.Text)
	}
	for _, run := range two.CheckRuns() {
		if !run.Completed() {
			t.Errorf("check run %d is still open", run.ID)
		}
	}
}

func TestMergeGroup(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Secure, "store/client_test.go": "package store\n"})
	bad := w.Repo.OpenPR(ghtest.PR{Title: "feat: insecure", Body: apptest.GoodBody, Head: "bad", Files: ghtest.Files{"store/tls.go": apptest.Insecure}})
	w.Idle()

	good := w.Repo.MergeGroup(pr)
	w.Idle()
	if c := w.Newest(good.CheckRuns()); c.Conclusion != "success" {
		t.Errorf("the group's check is %s (%s)", c.Conclusion, c.Title)
	}
	both := w.Repo.MergeGroup(bad, pr)
	w.Idle()
	if c := w.Newest(both.CheckRuns()); c.Conclusion != "action_required" {
		t.Errorf("the check of a group with a bad pull request is %s (%s)", c.Conclusion, c.Title)
	}
}

func TestBrokenConfig(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.Repo.Commit("main", ghtest.Files{".github/reviewgate/review-settings.json": "{\n  \"check\": {\"annotations\": false}\n}\n"}, "config")
	w.Idle()
	first := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	w.Idle()
	if c := w.Check(first); len(c.Annotations) != 0 {
		t.Errorf("the repository's config was not used: %d annotations", len(c.Annotations))
	}

	w.Repo.Commit("main", ghtest.Files{".github/reviewgate/review-settings.json": "{\n  \"check\": {\"anotations\": false}\n}\n"}, "break it")
	w.Idle()
	pr := w.Repo.OpenPR(ghtest.PR{Title: "feat: more", Body: apptest.GoodBody, Head: "more", Files: ghtest.Files{"store/tls.go": apptest.Insecure}})
	w.Idle()
	c := w.Check(pr)
	if len(c.Annotations) != 0 {
		t.Error("the last good config is not in force")
	}
	w.Wants(pr, "action_required", "review-settings.json:2", "anotations")
	if !strings.Contains(c.Summary, "review-settings.json:2") {
		t.Errorf("the check does not name file and line:\n%s", c.Summary)
	}
}

func TestConfigOfTheHeadIsNotUsed(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.Open(ghtest.Files{
		"store/client.go":                         apptest.Insecure,
		".github/reviewgate/review-settings.json": `{"mode": "off"}`,
	})
	w.Idle()
	w.Wants(pr, "action_required")
}

func TestFilesThatCannotBeRead(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	for _, status := range []int{403, 404, 422} {
		w := start(t)
		w.GH.On("GET /repos/{owner}/{repo}/pulls/{pull_number}/files", func(x *ghtest.Exchange) { x.Fail(status, "no") })
		pr := w.Open(ghtest.Files{"store/client.go": apptest.Secure})
		w.Idle()
		c := w.Check(pr)
		if c.Conclusion != "failure" || !strings.Contains(c.Title, "ould not") {
			t.Errorf("status %d: the check is %s (%s)", status, c.Conclusion, c.Title)
		}
	}
}

func TestOmittedPatchDoesNotPass(t *testing.T) {
	t.Parallel()
	limits := ghtest.GitHubLimits()
	limits.PatchLines = 5
	w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret, Limits: &limits})
	w.HideContents()
	pr := w.Open(ghtest.Files{"store/big.go": "package store\n" + strings.Repeat("// a line of text\n", 20)})
	w.Idle()
	w.Wants(pr, "action_required", "Review incomplete", "store/big.go")
}

func TestTemporaryFailureIsWaitedOut(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.GH.On("GET /repos/{owner}/{repo}/pulls/{pull_number}/files", ghtest.First(8, func(x *ghtest.Exchange) { x.Fail(502, "bad gateway") }))
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	w.Until("the check is completed", func() bool {
		runs := pr.CheckRuns()
		return len(runs) > 0 && runs[0].Completed()
	})
	w.Idle()
	if n := len(pr.CheckRuns()); n != 1 {
		t.Errorf("%d check runs, want the one that was opened first", n)
	}
	w.Wants(pr, "action_required", "store/client.go")
}

func TestPastedMarkerIsIgnored(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.Repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Files: ghtest.Files{"store/client.go": apptest.Secure}})
	pr.Comment("bob", render.Marker+"\nall good")
	pr.Push(ghtest.Files{"store/client.go": apptest.Insecure}, "more")
	w.Idle()
	for _, c := range pr.Comments() {
		if c.Author == "bob" && c.Edits > 0 {
			t.Error("a person's comment was taken for ours")
		}
	}
	w.Wants(pr, "action_required")
}

func TestCheckIsWrittenOnLockedConversation(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Secure})
	w.Idle()
	pr.Lock()
	pr.Push(ghtest.Files{"store/client.go": apptest.Insecure}, "more")
	w.Idle()
	if c := w.Check(pr); c.Conclusion != "action_required" {
		t.Errorf("the check is %s", c.Conclusion)
	}
}

func TestSecretIsNeverShown(t *testing.T) {
	t.Parallel()
	token := "ghp_" + "x7Kq2mVb9ZtR4sWc8YhJ1nDf6LgP3aEuT5oQ"
	w := start(t)
	pr := w.Repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: "Token: " + token, Files: ghtest.Files{
		"store/token.go": "package store\n\nconst token = \"" + token + "\"\n",
	}})
	w.Idle()
	w.Wants(pr, "failure", "secrets", "store/token.go")
	c := w.Check(pr)
	for what, text := range map[string]string{"comment": w.Comment(pr).Body, "summary": c.Summary, "text": c.Text, "title": c.Title} {
		if strings.Contains(text, token) {
			t.Errorf("the %s shows the secret", what)
		}
	}
	for _, a := range c.Annotations {
		if strings.Contains(a.Message+a.RawDetails+a.Title, token) {
			t.Error("an annotation shows the secret")
		}
	}
}

// The App finds and replaces a secret wherever a change contains it and however it is
// written.
func TestSecretsInOddPlaces(t *testing.T) {
	t.Parallel()
	const rest = "x7Kq2mVb9ZtR4sWc8YhJ1nDf6LgP3aEuT5oQ"
	pat := "ghp_" + rest
	installation := "ghs_1234567_eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiIxMjM0NTY3In0." + strings.Repeat(rest, 3)
	escaped := ""
	for _, c := range pat {
		escaped += fmt.Sprintf(`\x%02x`, c)
	}
	for name, tt := range map[string]struct{ path, text, secret string }{
		"an installation token":      {"a.txt", "token " + installation, installation},
		"a lock file":                {"package-lock.json", `{"resolved": "https://x/?t=` + pat + `"}`, pat},
		"an image that is text":      {"logo.svg", "<svg><!-- " + pat + " --></svg>", pat},
		"vendored code":              {"vendor/github.com/x/y/z.go", "package z // " + pat, pat},
		"a sum file":                 {"go.sum", "example.org/x v1.0.0 " + pat, pat},
		"a test":                     {"spec/a_spec.rb", "t = '" + pat + "'", pat},
		"a token with a word beside": {"docs/plans/a.md", pat + "_example", pat},
		"a token in two pieces":      {"a.js", `const t = "ghp_" + "` + rest + `"`, rest},
		"escapes":                    {"a.py", `t = "` + escaped + `"`, escaped},
		"base64":                     {"a.yaml", "data: " + base64.StdEncoding.EncodeToString([]byte("token: "+pat)), base64.StdEncoding.EncodeToString([]byte("token: " + pat))},
		"an invisible character":     {"a.sh", "T=ghp_\u200b" + rest, rest},
		"a comment that allows it":   {"b.py", "t = '" + pat + "' # gitleaks:allow reviewgate:ignore secret-github-pat made up", pat},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			pr := w.Open(ghtest.Files{tt.path: tt.text + "\n"})
			w.Idle()
			w.Wants(pr, "failure", "secret")
			c := w.Check(pr)
			said := w.Comment(pr).Body + c.Title + c.Summary + c.Text
			for _, a := range c.Annotations {
				said += a.Title + a.Message + a.RawDetails
			}
			r, err := w.App.Inside().Store.LatestReview(t.Context(), fmt.Sprintf("pull/%d/%d", w.Repo.ID(), pr.Number))
			if err != nil || r == nil {
				t.Fatalf("no stored review: %v", err)
			}
			stored, err := json.Marshal(r.Review)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(said, tt.secret) || strings.Contains(string(stored), tt.secret) {
				t.Error("the secret is shown or stored")
			}
		})
	}
}

// A token in a file name blocks.
func TestTokenInTheNameOfAFile(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.Open(ghtest.Files{"keys/" + token + ".md": "# Keys\n"})
	w.Idle()
	w.Wants(pr, "failure", "in the name of a file")
}

// A stored review holds everything that is needed to compute it again.
func TestReviewIsStoredCompletely(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.Repo.Commit("main", ghtest.Files{".github/reviewgate/review-settings.json": `{"check": {"annotations": true}}`}, "config")
	w.Idle()
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	w.Idle()
	r, err := w.App.Inside().Store.LatestReview(t.Context(), fmt.Sprintf("pull/%d/%d", w.Repo.ID(), pr.Number))
	if err != nil || r == nil {
		t.Fatalf("no stored review: %v", err)
	}
	if r.Review.Facts.Head.SHA != pr.HeadSHA() || len(r.Review.Results) == 0 || len(r.Review.Report.Findings) != 1 || r.Record.RunID != r.RunID || r.Record.APICalls == 0 {
		t.Errorf("the stored review is not complete: %+v", r.Record)
	}
	layers := map[string]int{}
	for _, b := range r.Config {
		if len(b.Text) == 0 {
			t.Errorf("%s of %s is stored without its text", b.Path, b.Layer)
		}
		layers[b.Layer]++
	}
	if layers["defaults"] != 14 || layers["repository"] != 1 {
		t.Errorf("config stored: %v", layers)
	}
}
