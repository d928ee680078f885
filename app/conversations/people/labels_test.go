package people

import (
	"slices"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

func (w *world) labels(pr *ghtest.PullRequest, want ...string) {
	w.Helper()
	got := pr.Labels()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		w.Errorf("labels %q, want %q", got, want)
	}
}

// labelWrites counts the writes of labels since the last reset.
func (w *world) labelWrites() int {
	return len(w.GH.Calls.To(apptest.RouteAddLabel)) + len(w.GH.Calls.To(apptest.RouteRemoveLabel))
}

// risky is a change that touches sensitive code.
var risky = ghtest.Files{
	"db/migrations/1_drop.sql": "DROP TABLE orders;\n", ".github/workflows/ci.yml": "on: push\njobs: {}\n",
	"auth/login.go": "package auth\n" + strings.Repeat("\nfunc f() {}\n", 200), "payments/charge.go": "package payments\n" + strings.Repeat("\nfunc g() {}\n", 200),
}

func TestLabelsAreOffByDefault(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.Another("first", risky)
	w.Idle()
	w.labels(pr)
	if n := w.labelWrites(); n != 0 {
		t.Errorf("%d writes of labels", n)
	}
}

func TestRiskLabelFollowsTheLevel(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	w.Repo.Commit("main", ghtest.Files{apptest.SettingsPath: `{"labels": {"risk": true, "prefix": "Risk/"}}`}, "config")
	w.Idle()
	pr := w.Repo.OpenPR(ghtest.PR{Title: "docs: more", Body: apptest.GoodBody, Labels: []string{"bug", "Risk/unheard of", "risk: low"}, Files: ghtest.Files{"README.md": "# shop\n\nMore.\n"}})
	w.Idle()
	w.labels(pr, "bug", "Risk/unheard of", "risk: low", "Risk/low")
	if n := w.labelWrites(); n != 1 {
		t.Errorf("%d writes of labels for the first label", n)
	}

	w.GH.Calls.Reset()
	pr.Comment("alice", "/review")
	w.Idle()
	if n := w.labelWrites(); n != 0 {
		t.Errorf("%d writes of labels where the level is the same", n)
	}

	w.GH.Calls.Reset()
	pr.Push(risky, "risk it")
	w.Idle()
	level := string(w.Stored(pr).Review.Classification.Risk.Level)
	if level == "low" {
		t.Fatal("the second change has the same risk level as the first")
	}
	w.labels(pr, "bug", "Risk/unheard of", "risk: low", "Risk/"+level)
	if n := w.labelWrites(); n != 2 {
		t.Errorf("%d writes of labels to replace one", n)
	}
}

// A label that GitHub refuses neither fails the check nor repeats the review.
func TestGitHubRefusesTheLabel(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	for name, refuse := range map[string]func(*ghtest.Exchange){
		"for good":       func(x *ghtest.Exchange) { x.Fail(403, "Resource not accessible by integration") },
		"for the moment": ghtest.First(2, func(x *ghtest.Exchange) { x.Fail(502, "bad gateway") }),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			w.Repo.Commit("main", ghtest.Files{apptest.SettingsPath: `{"labels": {"risk": true}}`}, "config")
			w.GH.On(apptest.RouteAddLabel, refuse)
			pr := w.Open(ghtest.Files{"store/client.go": apptest.Secure, "store/client_test.go": "package store\n"})
			w.Idle()
			w.Wants(pr, "success")
			want := []string{"risk: low"}
			if name == "for good" {
				want = nil
			}
			w.labels(pr, want...)
			if n, comments := len(pr.CheckRuns()), len(pr.AppComments()); n != 1 || comments != 0 {
				t.Errorf("%d check runs and %d comments, want one check run alone", n, comments)
			}
		})
	}
}

// If a policy reads labels, the App's own label causes one more review, and not an endless
// loop.
func TestOwnLabelCausesOneMoreReview(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	w.Repo.Commit("main", ghtest.Files{
		apptest.SettingsPath: `{"labels": {"risk": true}}`,
		".github/reviewgate/review-composition.json": `[{"id": "hurry", "description": "d", "priority": 1,
			"trigger": {"type": "expression", "when": "'hurry' in facts.labels"}, "dispatch": {"agents": ["build-reviewer"]}}]`,
	}, "config")
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Secure})
	w.Idle()
	w.labels(pr, "risk: low")
	if s, err := w.App.Inside().Store.Target(t.Context(), w.Stored(pr).Key); err != nil || s.Done != 2 {
		t.Errorf("%d reviews, %v; want one more for the label", s.Done, err)
	}
	if n := w.labelWrites(); n != 1 || len(pr.CheckRuns()) != 1 {
		t.Errorf("%d writes of labels, %d check runs", n, len(pr.CheckRuns()))
	}
}
