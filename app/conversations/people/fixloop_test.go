package people

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// looping starts a world in which every failing review counts as an attempt.
func looping(t *testing.T, settings string) *world {
	t.Helper()
	w := start(t)
	w.GH.Team("acme", "owners", "carol")
	w.Repo.Commit("main", ghtest.Files{apptest.SettingsPath: settings}, "config")
	w.Idle()
	return w
}

const everyFailure = `{"fix_loop": {"when": "always", "team": "acme/owners"}, "labels": {"escalated": true}}`

// fails pushes another change with the same finding.
func (w *world) fails(pr *ghtest.PullRequest, n int) {
	w.Helper()
	pr.Push(apptest.Failing(n), fmt.Sprintf("fix: try %d", n))
	w.Idle()
}

// loop is the state of the fix loop that the App stores for a pull request, as text.
func (w *world) loop(pr *ghtest.PullRequest, want string) {
	w.Helper()
	s, err := w.App.Inside().Store.Target(w.Context(), w.Key(pr))
	if err != nil {
		w.Fatal(err)
	}
	if got := s.FixLoop.Name(); got != want {
		w.Errorf("the fix loop is at %s, want %s: %+v", got, want, s.FixLoop)
	}
}

func TestFixLoopEscalatesAndGoesOn(t *testing.T) {
	t.Parallel()
	w := looping(t, everyFailure)
	pr := w.Open(apptest.Failing(1))
	w.Idle()
	w.Wants(pr, "action_required", "**Fix attempt 1 of 2**: [`store/client.go:10`]", "Fix history")
	w.WantsCheck(pr, "action_required", `"state": "review-fix-1"`, `"max_attempts": 2`)
	w.fails(pr, 2)
	w.Wants(pr, "action_required", "**Fix attempt 2 of 2**")
	w.labels(pr)

	if err := w.Stop(); err != nil {
		t.Fatal(err)
	}
	w.StartApp()
	w.fails(pr, 3)
	w.Wants(pr, "action_required", "Escalated after 2 fix attempts: 1 major", "None of 2 fix attempts succeeded", "TLS")
	w.labels(pr, "review-escalated")
	if got := pr.Reviews.Requested(); !slices.Equal(got, []string{"acme/owners"}) {
		t.Errorf("asked to review: %q", got)
	}
	if c := w.Check(pr); c.Title != "Escalated after 2 fix attempts: 1 major" {
		t.Errorf("title %q", c.Title)
	}

	w.fails(pr, 4)
	w.Wants(pr, "action_required", "Escalated after 2 fix attempts: 1 major", "1 finding neither new nor critical counts as before and is not shown here: 1 major")
	w.WantsNot(pr, "**Fix**")
	w.WantsCheck(pr, "action_required", "**Fix**")
	w.Says(pr, "/review status")
	w.Wants(pr, "action_required", "It is escalated after 2 fix attempts")
	if n := len(w.GH.Calls.To(apptest.RouteRequests)); n != 1 {
		t.Errorf("reviewers were requested %d times", n)
	}

	pr.Comment("bob", "/review resume")
	w.Idle()
	w.loop(pr, "escalated")
	w.Says(pr, "/review resume")
	w.Wants(pr, "action_required", "**Fix attempt 1 of 2**", "resumed", "**Fix**")
	w.labels(pr)
	w.Says(pr, "/review resume")
	w.Wants(pr, "action_required", "Nothing is paused", "**Fix attempt 1 of 2**")
	log, err := w.App.Inside().Store.Audit(t.Context(), w.Key(pr), 10)
	if err != nil || len(log) != 1 || log[0].Action != "resume" || log[0].Actor != "carol" {
		t.Errorf("the audit log is %+v, %v", log, err)
	}

	pr.Push(ghtest.Files{"store/client.go": apptest.Secure}, "fix: verify")
	w.Idle()
	w.Wants(pr, "success", "<b>Fix history</b>: passed")
	w.WantsNot(pr, "Fix attempt")
	w.loop(pr, "complete")
	w.fails(pr, 5)
	w.Wants(pr, "action_required", "**Fix attempt 1 of 2**")
}

// In advisory mode nobody is asked to review.
func TestAdvisoryModeAsksNobody(t *testing.T) {
	t.Parallel()
	w := looping(t, `{"mode": "advisory", "fix_loop": {"when": "always", "team": "acme/owners", "max_fix_iterations": 1}}`)
	pr := w.Open(apptest.Failing(1))
	w.Idle()
	w.fails(pr, 2)
	w.loop(pr, "escalated")
	if got := pr.Reviews.Requested(); len(got) != 0 {
		t.Errorf("asked to review: %q", got)
	}
}

// Only failing reviews by models count as attempts, and no model takes part. There is then no
// fix loop and no call for it.
func TestNoFixLoopWithoutModels(t *testing.T) {
	t.Parallel()
	w := looping(t, `{"fix_loop": {"when": "models", "team": "acme/owners"}, "labels": {"escalated": true}}`)
	pr := w.Open(apptest.Failing(1))
	for n := range 4 {
		w.fails(pr, n+2)
	}
	w.Wants(pr, "action_required", "Needs fixes: 1 major")
	w.WantsNot(pr, "attempt")
	w.WantsNot(pr, "Fix history")
	w.loop(pr, "pending")
	if n := w.labelWrites() + len(w.GH.Calls.To(apptest.RouteRequests)); n != 0 {
		t.Errorf("%d calls for a fix loop that does not exist", n)
	}
	w.Says(pr, "/review resume")
	w.Wants(pr, "action_required", "Nothing is paused")
}

// By default every failing review is an attempt, except for drafts. Nobody is asked and no
// label is set unless the settings say so.
func TestFixLoopByDefault(t *testing.T) {
	t.Parallel()
	w := looping(t, `{}`)
	pr := w.Repo.OpenPR(ghtest.PR{Title: "feat: client", Body: apptest.GoodBody, Draft: true, Files: apptest.Failing(1)})
	w.fails(pr, 2)
	w.loop(pr, "pending")
	w.WantsNot(pr, "Fix attempt")
	pr.ReadyForReview()
	w.Idle()
	w.Wants(pr, "action_required", "**Fix attempt 1 of 2**")
	w.Says(pr, "/review status")
	w.Wants(pr, "action_required", "attempt 1 of 2")
	w.fails(pr, 3)
	w.fails(pr, 4)
	w.Wants(pr, "action_required", "Escalated after 2 fix attempts")
	w.loop(pr, "escalated")
	if n := w.labelWrites() + len(w.GH.Calls.To(apptest.RouteRequests)); n != 0 {
		t.Errorf("%d calls that no setting allows", n)
	}
}

// A finding of one model alone waits for a person, and still counts as an attempt.
func TestFixLoopOfModels(t *testing.T) {
	t.Parallel()
	asked := true
	m := &team{say: func(agent string) (pipeline.AgentOutput, error) {
		if agent != "security-reviewer" || !asked {
			return pipeline.AgentOutput{}, nil
		}
		return dangerousBy("model-a"), nil
	}}
	w := withTeam(t, m)
	pr := w.Open(apptest.Clean())
	w.Idle()
	w.Wants(pr, "action_required", "A person must decide", "**Fix attempt 1 of 2**", "| 1 | ", " FAIL | needs fixes |")
	for n := range 2 {
		pr.Push(ghtest.Files{"store/stock.go": fmt.Sprintf("package store\n\nvar Stock = %d\n", n)}, fmt.Sprintf("fix: try %d", n))
		w.Idle()
	}
	w.Wants(pr, "action_required", "Escalated after 2 fix attempts")
	w.loop(pr, "escalated")
	asked = false
	pr.Push(ghtest.Files{"store/stock.go": "package store\n", "store/stock_test.go": "package store\n"}, "fix: lock it")
	w.Idle()
	w.loop(pr, "complete")
}

// Too many commits in one attempt escalate the loop before the attempts are used up.
func TestFixLoopRunsOutOfTurns(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := looping(t, `{"fix_loop": {"when": "always", "max_fix_iterations": 5, "fix_timeout_turns": 5}}`)
	pr := w.Open(apptest.Failing(1))
	w.Idle()
	w.Away(func() {
		for n := range 5 {
			pr.Push(apptest.Failing(n+2), fmt.Sprintf("fix: try %d", n))
		}
	})
	w.fails(pr, 7)
	w.Wants(pr, "action_required", "Escalated after 6 commits in fix attempt 1: 1 major", "Fix attempt 1 of 5 took 6 commits")
}

// None of these events is another attempt, because the head has already counted.
func TestEventsThatAreNotAttempts(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := looping(t, everyFailure)
	w.Repo.Commit("release", ghtest.Files{apptest.SettingsPath: everyFailure}, "branch off")
	pr := w.Open(apptest.Failing(1))
	w.Idle()
	first := pr.HeadSHA()
	w.fails(pr, 2)
	second := pr.HeadSHA()
	base := "release"
	for _, step := range []struct {
		name string
		do   func()
	}{
		{"a full review by command", func() { pr.Comment("alice", "/review full") }},
		{"a re-run of the check", func() { w.Repo.Checks.Rerequest("alice", w.Check(pr).ID) }},
		{"closed and opened again", func() { pr.Close(); w.Idle(); pr.Reopen() }},
		{"another base", func() { pr.Edit(ghtest.Edit{Base: &base}) }},
		{"back to an old head", func() { pr.ForcePushTo(first) }},
		{"forward to the newer head", func() { pr.ForcePushTo(second) }},
		{"dismissed and restored", func() {
			f := w.Only(pr)
			w.Dismiss(pr, f)
			w.loop(pr, "complete")
			w.Says(pr, "/review restore "+f.ID[:8])
		}},
		{"passed by hand and rejected", func() {
			w.Says(pr, "/review override the warehouse burns")
			w.loop(pr, "complete")
			w.Says(pr, "/review reject it does not")
		}},
	} {
		step.do()
		w.Idle()
		w.loop(pr, "review-fix-2")
		if t.Failed() {
			t.Fatal(step.name)
		}
	}
	w.labels(pr)
}

// A rebase makes another head, and its failing review counts, but it brings no new commit.
func TestRebaseAddsNoTurns(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := looping(t, everyFailure)
	pr := w.Repo.OpenPR(ghtest.PR{Title: "feat: read stock from the warehouse", Body: apptest.GoodBody, Files: apptest.Failing(1)})
	w.Idle()
	message := w.Stored(pr).Review.Facts.Commits[0].Message
	w.Repo.Commit("main", ghtest.Files{"docs/a.md": "# A\n"}, "docs: a")
	pr.ForcePush(apptest.Failing(1), message)
	w.Idle()
	s, err := w.App.Inside().Store.Target(t.Context(), w.Key(pr))
	if err != nil || s.FixLoop.Name() != "review-fix-2" || len(s.FixLoop.Seen) != 1 {
		t.Errorf("%+v, %v", s.FixLoop, err)
	}
}

// An incomplete review is not an attempt, and the comment says so.
func TestIncompleteReviewIsNotAnAttempt(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	limits := ghtest.GitHubLimits()
	limits.PatchLines = 30
	w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret, Limits: &limits})
	w.Repo.Commit("main", ghtest.Files{apptest.SettingsPath: everyFailure}, "config")
	w.Idle()
	pr := w.Open(apptest.Failing(1))
	w.Idle()
	w.HideContents()
	pr.Push(ghtest.Files{"store/big.go": "package store\n" + strings.Repeat("// a line of text\n", 40)}, "feat: more")
	w.Idle()
	w.Wants(pr, "action_required", "**Fix attempt 1 of 2**", "This review opens no attempt, since it is incomplete.", "incomplete, does not count")
	w.loop(pr, "review-fix-1")
}

// When the team can't be asked, the check and the comment are still written. After a
// temporary failure the team is asked again.
func TestTeamCannotBeAsked(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	for name, refuse := range map[string]func(*ghtest.Exchange){
		"for good":       func(x *ghtest.Exchange) { x.Fail(422, "Reviews may only be requested from collaborators.") },
		"for the moment": ghtest.First(2, func(x *ghtest.Exchange) { x.Fail(502, "bad gateway") }),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := looping(t, `{"fix_loop": {"when": "always", "team": "acme/owners", "max_fix_iterations": 1}}`)
			w.GH.On(apptest.RouteRequests, refuse)
			pr := w.Open(apptest.Failing(1))
			w.Idle()
			w.fails(pr, 2)
			w.Wants(pr, "action_required", "Escalated after 1 fix attempt")
			w.loop(pr, "escalated")
			if got := len(pr.Reviews.Requested()); name == "for good" && got != 0 || name == "for the moment" && got != 1 {
				t.Errorf("%d are asked to review", got)
			}
		})
	}
}

// While a pull request is escalated, the App requests no changes on its own, and it takes
// back a request that it made before.
func TestEscalatedIsNotRejectedAutomatically(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	m := &team{}
	m.say = func(agent string) (pipeline.AgentOutput, error) {
		model := map[string]string{"security-reviewer": "model-a", "build-reviewer": "model-b"}[agent]
		return dangerousBy(model), nil
	}
	w := withTeam(t, m)
	w.Repo.Commit("main", ghtest.Files{apptest.SettingsPath: `{"models": {"auto_reject": true}, "fix_loop": {"max_fix_iterations": 1}}`}, "config")
	pr := w.Open(apptest.Clean())
	w.Idle()
	w.Wants(pr, "failure", "**Fix attempt 1 of 1**")
	w.wantReviews(pr, "changes_requested")
	for n := range 2 {
		pr.Push(ghtest.Files{"store/stock.go": fmt.Sprintf("package store\n\nvar Stock = %d\n", n)}, fmt.Sprintf("fix: try %d", n))
		w.Idle()
		w.Wants(pr, "failure", "Escalated after 1 fix attempt")
		w.wantReviews(pr, "dismissed")
	}
	w.Says(pr, "/review resume")
	w.wantReviews(pr, "dismissed", "changes_requested")
}
