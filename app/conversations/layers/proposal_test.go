package layers

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/backtest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

const editComment = "PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}"

// swapped switches off the rule that blocks Insecure, and forbids the word calm.
var swapped = strings.TrimSuffix(milder[config.FileRules], "]") + ", " + strings.TrimPrefix(stricter[config.FileRules], "[")

// past opens pull requests that a config with swapped decides otherwise: #1 was blocked and
// overridden, #2 passed and was merged.
func (w *world) past(repo *ghtest.Repo) {
	w.Helper()
	repo.Grant("maria", "admin")
	open := func(head, text string) *ghtest.PullRequest {
		pr := repo.OpenPR(ghtest.PR{
			Title: "feat: stock", Body: apptest.GoodBody, Head: head, Author: "mallory", Files: apptest.Tested(ghtest.Files{"store/" + head + ".go": text}),
		})
		w.Idle()
		return pr
	}
	open("insecure", apptest.Insecure).Comment("maria", "/review override the warehouse has its own authority")
	w.Idle()
	open("calm", calm).Merge()
	w.Idle()
}

// proposes opens a pull request that changes the rules.
func (w *world) proposes(repo *ghtest.Repo, rules string) *ghtest.PullRequest {
	w.Helper()
	pr := repo.OpenPR(ghtest.PR{Title: "chore: rules", Body: apptest.GoodBody, Head: "rules", Files: ghtest.Files{apptest.RulesPath: rules}})
	w.Idle()
	return pr
}

const backtestBegins = "of the last 90 days"

// The comment of a change to the config says what the config would have decided before. The
// check does not wait for that.
func TestProposedConfigIsBacktested(t *testing.T) {
	t.Parallel()
	var log apptest.LogBook
	w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, func(w *apptest.World) { w.LogTo = &log })
	computed := func(want int) {
		t.Helper()
		if n := strings.Count(log.String(), "proposed config backtested"); n != want {
			t.Errorf("%d backtests, want %d", n, want)
		}
	}
	w.past(w.Repo)
	var pr *ghtest.PullRequest
	w.At(editComment, 1, func() {
		all := w.Repo.Checks.On(pr.HeadSHA())
		if len(all) != 1 || !all[0].Completed() || all[0].Conclusion != "success" {
			t.Errorf("the check is not complete before the backtest is shown: %+v", all)
		}
		if body := w.Comment(pr).Body; strings.Contains(body, backtestBegins) {
			t.Errorf("the comment has the backtest from the start:\n%s", body)
		}
	})
	pr = w.Repo.OpenPR(ghtest.PR{Title: "chore: rules", Body: apptest.GoodBody, Head: "rules", Files: ghtest.Files{apptest.RulesPath: swapped}})
	w.Idle()
	says := []string{
		"On the 2 reviews of the last 90 days this changes 2 decisions: 1 newly blocked, 1 newly passing (people overrode it).",
		"- `#2` at `", "would have been blocked: Calm code, critical, at store/calm.go:3. It was merged as it was.",
		"- `#1` at `", "was blocked and would have passed. It was blocked by: ", " at store/insecure.go:", "People overrode the gate.",
	}
	w.Wants(pr, "success", says...)
	w.WantsNot(pr, "not listed")
	computed(1)
	edits := w.CallsTo(editComment, 0)

	// Another review of the same head shows it at once.
	w.Says(pr, "/review")
	w.Wants(pr, "success", says...)
	computed(1)
	if n := w.CallsTo(editComment, 0); n > edits+1 {
		t.Errorf("the comment was edited %d times for another review of the same head", n-edits)
	}

	// It belongs to one head.
	pr.Push(ghtest.Files{apptest.RulesPath: milder[config.FileRules]}, "fix: no new rule")
	w.Idle()
	w.Wants(pr, "success", "this changes 1 decision: 1 newly passing (people overrode it).")
	w.WantsNot(pr, "newly blocked")
	computed(2)
	pr.Push(ghtest.Files{apptest.RulesPath: "[\n{"}, "fix: break it")
	w.Idle()
	w.WantsNot(pr, backtestBegins)
	computed(2)

	// A config that changes nothing says so.
	pr.Push(ghtest.Files{apptest.RulesPath: `[{"id": "sec-tls-verify-01", "severity": "critical"}]`}, "fix: change nothing")
	w.Idle()
	w.Wants(pr, "success", "On the 2 reviews of the last 90 days this changes ")
	pr.Push(ghtest.Files{apptest.RulesPath: `[]`}, "fix: no rule")
	w.Idle()
	w.Wants(pr, "success", "On the 2 reviews of the last 90 days this changes no decision.")
}

// What can't be known is counted apart.
func TestProposedConfigWithUnknownResults(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	w.past(w.Repo)
	files := ghtest.Files{}
	for name, text := range scanned {
		files[config.RepositoryDir+"/"+name] = text
	}
	pr := w.Another("scanned", files)
	w.Idle()
	if body := w.Comment(pr).Body; !strings.Contains(body, "On the 2 reviews of the last 90 days this changes no decision. 1 decision can't be known, because this is not stored: what scanner would find.") {
		t.Errorf("the comment does not say what is unknown:\n%s", body)
	}
}

// A change to an organisation's config counts the decisions in all of its repositories, but names
// none but those of its own repository.
func TestProposedConfigOfAnOrganisation(t *testing.T) {
	t.Parallel()
	w := start(t)
	bank, org, foreign := w.GH.Repo("acme/bank"), w.GH.Repo("acme/.github"), w.GH.Repo("umbrella/lab")
	for _, r := range []*ghtest.Repo{bank, org, foreign} {
		r.Commit("main", ghtest.Files{"README.md": "# it\n"}, "start")
		w.past(r)
	}
	w.past(w.Repo)
	pr := w.proposes(org, swapped)
	w.Wants(pr, "success",
		"On the 6 reviews of the last 90 days in the organisation's repositories this changes 3 decisions: 3 newly blocked.", // it may not switch a shipped rule off
		"- `#2` at `", "- 2 of other repositories are not named.")
	w.WantsNot(pr, "not listed")
	// Whoever may not push there learns nothing about the other repositories. The first proposal is
	// one of the three reviews.
	stranger := org.OpenPR(ghtest.PR{Title: "chore: rules", Body: apptest.GoodBody, Author: "mallory", Fork: "mallory", Files: ghtest.Files{apptest.RulesPath: swapped}})
	w.Idle()
	w.Wants(stranger, "success", "On the 3 reviews of the last 90 days this changes 2 decisions: 2 newly blocked.", "- `#2` at `")
	w.WantsNot(stranger, "other repositories")

	stored, err := w.App.Inside().Store.ConfigBacktest(t.Context(), w.Stored(pr).Key)
	if err != nil || stored == nil || len(stored.Result.Named) != 1 {
		t.Fatalf("stored %+v, %v; want one named review", stored, err)
	}
	text, err := json.Marshal(stored)
	if err != nil {
		t.Fatal(err)
	}
	for where, text := range map[string]string{"comment": w.Comment(pr).Body, "stored result": string(text)} {
		for _, name := range []string{"bank", "shop", "lab"} {
			if strings.Contains(text, name) {
				t.Errorf("the %s names %s:\n%s", where, name, text)
			}
		}
	}
}

// Of the changed decisions that are not listed, the comment tells those of the organisation's own
// repository from those of the others.
func TestManyChangedDecisionsOfAnOrganisation(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	org := w.GH.Repo("acme/.github")
	org.Commit("main", ghtest.Files{"README.md": "# it\n"}, "start")
	for i := range 7 {
		head := fmt.Sprint("calm", i)
		org.OpenPR(ghtest.PR{Title: "feat: " + head, Body: apptest.GoodBody, Head: head, Author: fmt.Sprint("dev", i), Files: apptest.Tested(ghtest.Files{"store/" + head + ".go": calm})})
	}
	w.Another("calm", apptest.Tested(ghtest.Files{"store/calm.go": calm}))
	w.Idle()
	pr := w.proposes(org, swapped)
	w.Wants(pr, "success", "this changes 8 decisions: 8 newly blocked.", "\n- 2 more of this repository are not listed.\n- 1 of another repository is not named.\n")
	if n := strings.Count(w.Comment(pr).Body, "would have been blocked"); n != 5 {
		t.Errorf("%d reviews are named, want 5:\n%s", n, w.Comment(pr).Body)
	}
}

// Where nothing blocks, the comment does not say what would have been blocked.
func TestProposedConfigOfAnAdvisoryRepository(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	w.Repo.Commit("main", ghtest.Files{apptest.SettingsPath: `{"mode": "advisory"}`}, "chore: advise")
	w.past(w.Repo)
	pr := w.proposes(w.Repo, swapped)
	w.Wants(pr, "neutral", "With the proposed one")
	w.WantsNot(pr, backtestBegins)
	pr.Push(ghtest.Files{apptest.SettingsPath: `{"mode": "enforce"}`}, "chore: enforce")
	w.Idle()
	w.Wants(pr, "neutral", "On the 2 reviews of the last 90 days this changes 2 decisions")
}

// A server that is killed while it shows a backtest shows it after its next start, in the one
// comment.
func TestKilledWhileItShowsABacktest(t *testing.T) {
	t.Parallel()
	for _, at := range sample.Of(t, 1, []apptest.Request{apptest.At(editComment, 1, false), apptest.At(editComment, 1, true)}) {
		t.Run(at.String(), func(t *testing.T) {
			t.Parallel()
			gh := ghtest.Start(t, ghtest.Options{WebhookSecret: apptest.Secret})
			repo := gh.Repo("acme/shop")
			repo.Commit("main", ghtest.Files{"README.md": "# shop\n"}, "start")
			server := apptest.NewChild(t, gh)
			server.Start()
			open := func(head string, files ghtest.Files) *ghtest.PullRequest {
				return repo.OpenPR(ghtest.PR{Title: "feat: " + head, Body: apptest.GoodBody, Head: head, Files: apptest.Tested(files)})
			}
			server.Answers(gh, open("calm", ghtest.Files{"store/calm.go": calm}))
			var pr *ghtest.PullRequest
			server.DiesAt(gh, at, func() { pr = open("rules", ghtest.Files{apptest.RulesPath: swapped}) })
			server.Start()
			server.Answers(gh, pr)
			all := pr.AppComments()
			if len(all) != 1 || !strings.Contains(all[0].Body, "On the one review of the last 90 days this changes 1 decision: 1 newly blocked.") {
				t.Errorf("%d comments, the first:\n%s", len(all), all[0].Body)
			}
			if runs := pr.CheckRuns(); len(runs) != 1 || runs[0].Conclusion != "success" {
				t.Errorf("%d check runs, the first %s", len(runs), runs[0].Conclusion)
			}
		})
	}
}

// slowArchive is an archive with which a backtest takes a second for each pull request.
type slowArchive struct {
	ports.Archive
	passed time.Duration
}

func (a *slowArchive) Ended(ctx context.Context, key string) (ports.PullEnd, error) {
	a.passed += time.Second
	return a.Archive.Ended(ctx, key)
}

// A backtest computes a bounded number of reviews, and begins none when its time is over.
func TestBacktestOfAProposalIsBounded(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	w.past(w.Repo)
	for i := range 4 {
		pr := w.Another(fmt.Sprint("calm", i), apptest.Tested(ghtest.Files{fmt.Sprintf("store/calm%d.go", i): calm}))
		w.Idle()
		w.Repo.MergeGroup(pr) // the review of a group counts nowhere, because that of its pull request does
		w.Idle()
	}
	pr := w.proposes(w.Repo, swapped)
	s, r := w.App.Inside().Store, w.Stored(pr)
	backtested, err := s.ConfigBacktest(t.Context(), r.Key)
	if err != nil || backtested == nil {
		t.Fatalf("no backtest: %v", err)
	}
	want := func(most int, limit time.Duration, want pipeline.ConfigBacktest) {
		t.Helper()
		begun := time.Now()
		archive := &slowArchive{Archive: s.Archive}
		p := &backtest.Previewer{
			Targets: s.Targets, History: s.History, Archive: archive, Backtests: s.Backtests, Version: r.Record.Version, Log: zerolog.Nop(),
			Now: func() time.Time { return begun.Add(archive.passed) }, Most: most, For: limit,
		}
		if err := p.Work(t.Context(), ports.BacktestJob{Key: r.Key, HeadSHA: r.HeadSHA, Proposal: backtested.Proposal}, 1); err != nil {
			t.Fatal(err)
		}
		got, err := s.ConfigBacktest(t.Context(), r.Key)
		if err != nil {
			t.Fatal(err)
		}
		named := len(got.Result.Named)
		got.Result.Named, want.Days, want.Stored = nil, 90, 6
		if diff := cmp.Diff(want, got.Result, cmpopts.EquateEmpty()); diff != "" || named != min(want.Changed, 5) {
			t.Errorf("%d reviews, %s: %d named (-want +got):\n%s", most, limit, named, diff)
		}
	}
	want(100, time.Hour, pipeline.ConfigBacktest{Reviews: 6, Changed: 6, Blocked: 5, Passing: 1, PassingOverridden: 1})
	want(3, time.Hour, pipeline.ConfigBacktest{Reviews: 3, Changed: 3, Blocked: 3})
	want(100, time.Second, pipeline.ConfigBacktest{Reviews: 2, OutOfTime: true, Changed: 2, Blocked: 2})
}
