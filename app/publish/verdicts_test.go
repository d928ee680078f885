package publish_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/publish"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/pipeline"
)

// judged is a review in which models took part.
func judged(d pipeline.Decision, auto pipeline.AutoDecision) *ports.StoredReview {
	r := reviewed(d)
	r.Review.Report.Models = &pipeline.ModelsReport{AutoDecision: auto}
	return r
}

func approving() *ports.StoredReview { return judged(pipeline.DecisionPass, pipeline.AutoApprove) }

// automatic are the settings that allow reviews without a person.
const automatic = `{"models": {"auto_approve": true, "auto_reject": true}}`

// decide makes the review on GitHub follow the result of a review.
func (w *world) decide(t *testing.T, r *ports.StoredReview) error {
	t.Helper()
	now := w.github.now
	return w.verdicts.Decide(t.Context(), publication(known(), r, settings(t, automatic), &now))
}

// approved returns a world in which head aaa is approved for main.
func approved(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	if err := w.decide(t, approving()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"APPROVE aaa"}, w.github.standing()); diff != "" {
		t.Fatalf("reviews (-want +got):\n%s", diff)
	}
	return w
}

// An approval stays as long as the newest review leads to one. Otherwise it is dismissed
// before another review replaces it.
func TestApprovalsFollowTheNewestReview(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*ports.StoredReview)
		draft  bool
		why    render.Withdrawn // empty if the approval stays
		then   string           // the review that replaces it
	}{
		"nothing changed":     {func(*ports.StoredReview) {}, false, "", ""},
		"the head is another": {func(r *ports.StoredReview) { r.HeadSHA = "bbb" }, false, render.WithdrawnMoved, "APPROVE bbb"},
		"the head is another, and left to a person": {func(r *ports.StoredReview) {
			r.HeadSHA, r.Review.Report.Models.AutoDecision = "bbb", pipeline.AutoHuman
		}, false, render.WithdrawnMoved, ""},
		"the base is another": {func(r *ports.StoredReview) { r.Review.Facts.Base.Ref = "next" }, false, render.WithdrawnBase, "APPROVE aaa"},
		"a person decided":    {func(r *ports.StoredReview) { r.Review.Report.ByHand = &pipeline.ByHand{} }, false, render.WithdrawnByHand, ""},
		"the models reject it now": {func(r *ports.StoredReview) {
			r.Review.Report.Decision, r.Review.Report.Models.AutoDecision = pipeline.DecisionFail, pipeline.AutoReject
		}, false, render.WithdrawnChanged, "REQUEST_CHANGES aaa"},
		"no models took part":    {func(r *ports.StoredReview) { r.Review.Report.Models = nil }, false, render.WithdrawnChanged, ""},
		"the fix loop is halted": {func(r *ports.StoredReview) { r.FixLoop.Halted = true }, false, render.WithdrawnChanged, ""},
		"it is a draft now":      {func(*ports.StoredReview) {}, true, render.WithdrawnChanged, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := approved(t)
			r := approving()
			test.change(r)
			w.github.now = ports.PullState{HeadSHA: r.HeadSHA, BaseRef: r.Review.Facts.Base.Ref, Draft: test.draft}
			calls := w.github.since(func() {
				if err := w.decide(t, r); err != nil {
					t.Fatal(err)
				}
			})
			var want, standing []string
			if test.why != "" {
				want = append(want, "dismiss review")
				if got := w.github.reviews[0].why; got != render.Dismissal(test.why, "aaa") {
					t.Errorf("it was dismissed because %q", got)
				}
			} else {
				standing = append(standing, "APPROVE aaa")
			}
			if test.then != "" {
				standing = append(standing, test.then)
				want = append(want, "review: "+string(w.github.reviews[len(w.github.reviews)-1].verdict))
			}
			if diff := cmp.Diff(standing, w.github.standing()); diff != "" {
				t.Errorf("reviews (-want +got):\n%s", diff)
			}
			if len(want)+len(calls) > 0 && cmp.Diff(want, calls) != "" {
				t.Errorf("calls %v, want %v", calls, want)
			}
		})
	}
}

// No review is submitted while GitHub refuses to dismiss the old one. A later review
// dismisses it.
func TestReviewThatCanNotBeDismissedIsStuck(t *testing.T) {
	w := approved(t)
	w.github.now.HeadSHA = "bbb"
	r := approving()
	r.HeadSHA = "bbb"
	w.github.refuses["dismiss review"] = ports.HostForbidden
	for range 2 {
		calls := w.github.since(func() {
			if err := w.decide(t, r); err != nil {
				t.Fatal(err)
			}
		})
		if diff := cmp.Diff([]string{"dismiss review"}, calls); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		if have, err := w.verdicts.NewestReview(t.Context(), target.Key()); err != nil || have.State != ports.WriteStuck {
			t.Errorf("the store has %+v", have)
		}
	}
	delete(w.github.refuses, "dismiss review")
	if err := w.decide(t, r); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"APPROVE bbb"}, w.github.standing()); diff != "" {
		t.Errorf("reviews (-want +got):\n%s", diff)
	}
}

// A dismissed review is not reused, even for the same head.
func TestDismissedReviewIsSubmittedAgain(t *testing.T) {
	w := approved(t)
	byHand := approving()
	byHand.Review.Report.ByHand = &pipeline.ByHand{}
	for _, r := range []*ports.StoredReview{byHand, approving()} {
		if err := w.decide(t, r); err != nil {
			t.Fatal(err)
		}
	}
	if len(w.github.reviews) != 2 || !w.github.reviews[0].Dismissed || w.github.reviews[1].Dismissed {
		t.Errorf("reviews %+v", w.github.reviews)
	}
}

func TestStuckReviewThatIsRightAgainStands(t *testing.T) {
	w := approved(t)
	w.github.refuses["dismiss review"] = ports.HostForbidden
	r := approving()
	r.HeadSHA = "bbb"
	if err := w.decide(t, r); err != nil {
		t.Fatal(err)
	}
	calls := w.github.since(func() {
		if err := w.decide(t, approving()); err != nil {
			t.Fatal(err)
		}
	})
	if have, err := w.verdicts.NewestReview(t.Context(), target.Key()); len(calls) > 0 || err != nil || have.State != ports.WriteOpen {
		t.Errorf("calls %v, and the store has %+v", calls, have)
	}
}

func TestDismissalIsTriedAgainWhereGitHubIsDown(t *testing.T) {
	w := approved(t)
	w.github.refuses["dismiss review"] = ports.HostTransient
	r := approving()
	r.Review.Report.ByHand = &pipeline.ByHand{}
	var host *ports.HostError
	if err := w.decide(t, r); !errors.As(err, &host) || !host.Temporary() {
		t.Errorf("error %v", err)
	}
	delete(w.github.refuses, "dismiss review")
	if err := w.decide(t, r); err != nil || len(w.github.standing()) > 0 {
		t.Errorf("reviews %v, error %v", w.github.standing(), err)
	}
}

// The answer to a submission may not arrive. The next try looks for the review by the
// marker that the stored intent holds, among the App's own.
func TestReviewIsSubmittedOnce(t *testing.T) {
	for name, test := range map[string]struct {
		arrives bool
		author  string // of the review that arrived
		want    []string
	}{
		"the review is there":           {true, login, []string{"APPROVE aaa"}},
		"the review was not submitted":  {false, "", []string{"APPROVE aaa"}},
		"another App repeats the words": {true, "parrot[bot]", []string{"APPROVE aaa", "APPROVE aaa"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // GitHub's list is read twice, a moment apart
				w := newWorld(t)
				if test.arrives {
					w.github.loses = "review: APPROVE"
				} else {
					w.github.refuses["review: APPROVE"] = ports.HostTransient
				}
				if err := w.decide(t, approving()); err == nil {
					t.Fatal("no error where the answer is lost")
				}
				delete(w.github.refuses, "review: APPROVE")
				if test.arrives {
					w.github.reviews[0].Author = test.author
				}
				if err := w.decide(t, approving()); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(test.want, w.github.standing()); diff != "" {
					t.Errorf("reviews (-want +got):\n%s", diff)
				}
				have, err := w.verdicts.NewestReview(t.Context(), target.Key())
				if err != nil || have.State != ports.WriteOpen || have.RemoteID != int64(len(test.want)) {
					t.Errorf("the store has %+v", have)
				}
			})
		})
	}
}

// GitHub may reject a review, for example of the App's own pull request. The next review
// tries again.
func TestGitHubRejectsAReview(t *testing.T) {
	w := newWorld(t)
	w.github.refuses["review: APPROVE"] = ports.HostInvalid
	for range 2 {
		calls := w.github.since(func() {
			if err := w.decide(t, approving()); err != nil {
				t.Fatal(err)
			}
		})
		if diff := cmp.Diff([]string{"review: APPROVE"}, calls); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		if have, err := w.verdicts.NewestReview(t.Context(), target.Key()); err != nil || have.State != ports.WriteRefused {
			t.Errorf("the store has %+v", have)
		}
	}
	calls := w.github.since(func() {
		if err := w.decide(t, judged(pipeline.DecisionPass, pipeline.AutoHuman)); err != nil {
			t.Fatal(err)
		}
	})
	if have, err := w.verdicts.NewestReview(t.Context(), target.Key()); len(calls) > 0 || err != nil || have.State != ports.WriteCompleted {
		t.Errorf("without a verdict: calls %v, and the store has %+v", calls, have)
	}
}

// GitHub may count an approval for a head that was pushed while the request was on its way.
// After a merge there is nothing to dismiss.
func TestPushBesideAnApproval(t *testing.T) {
	for name, test := range map[string]struct {
		now   ports.PullState // after the review was submitted
		stays bool
	}{
		"nothing happened":    {ports.PullState{HeadSHA: "aaa", BaseRef: "main"}, true},
		"a push came":         {ports.PullState{HeadSHA: "bbb", BaseRef: "main"}, false},
		"the base is another": {ports.PullState{HeadSHA: "aaa", BaseRef: "next"}, false},
		"it was merged":       {ports.PullState{HeadSHA: "bbb", BaseRef: "main", Closed: true}, true},
	} {
		w := newWorld(t)
		before := w.github.now
		w.github.now = test.now
		err := w.verdicts.Decide(t.Context(), publication(known(), approving(), settings(t, automatic), &before))
		var moved *publish.MovedError
		if errors.As(err, &moved); (moved == nil) != test.stays || moved != nil && moved.HeadSHA != test.now.HeadSHA {
			t.Errorf("%s: error %v", name, err)
		}
		if stays := len(w.github.standing()) == 1; stays != test.stays {
			t.Errorf("%s: reviews %v", name, w.github.standing())
		}
	}
}

func TestNoReviewWithoutTheLease(t *testing.T) {
	w := newWorld(t)
	w.store.lost = true
	if err := w.decide(t, approving()); !errors.Is(err, ports.ErrLeaseLost) || len(w.github.calls) > 0 {
		t.Errorf("submission: calls %v, error %v", w.github.calls, err)
	}
	w = approved(t)
	w.store.lost = true
	err := w.verdicts.WithdrawAny(t.Context(), held, known(), render.WithdrawnOff)
	if !errors.Is(err, ports.ErrLeaseLost) || len(w.github.standing()) != 1 {
		t.Errorf("dismissal: reviews %v, error %v", w.github.standing(), err)
	}
}

// Before a pull request is reviewed again, an approval of another head or base is
// dismissed.
func TestOutdatedReviewsAreWithdrawn(t *testing.T) {
	group := known()
	group.Kind = ports.TargetGroup
	pushed := known()
	pushed.HeadSHA = "bbb"
	for name, test := range map[string]struct {
		state   ports.TargetState
		now     ports.PullState
		trouble ports.HostKind // of the look at the pull request
		why     render.Withdrawn
		fails   bool
	}{
		"it is up to date":               {known(), ports.PullState{HeadSHA: "aaa", BaseRef: "main"}, "", "", false},
		"an event reported a push":       {pushed, ports.PullState{HeadSHA: "aaa", BaseRef: "main"}, "", render.WithdrawnMoved, false},
		"GitHub has another head":        {known(), ports.PullState{HeadSHA: "bbb", BaseRef: "main"}, "", render.WithdrawnMoved, false},
		"GitHub has another base":        {known(), ports.PullState{HeadSHA: "aaa", BaseRef: "next"}, "", render.WithdrawnBase, false},
		"it was closed":                  {known(), ports.PullState{HeadSHA: "bbb", BaseRef: "main", Closed: true}, "", "", false},
		"GitHub refuses to show it":      {known(), ports.PullState{}, ports.HostForbidden, "", false},
		"GitHub is down":                 {known(), ports.PullState{}, ports.HostTransient, "", true},
		"merge groups have no approvals": {group, ports.PullState{}, ports.HostTransient, "", false},
	} {
		w := approved(t)
		w.github.now = test.now
		w.github.refuses["read the pull request"] = test.trouble
		if err := w.verdicts.WithdrawOutdated(t.Context(), held, test.state); (err != nil) != test.fails {
			t.Errorf("%s: error %v", name, err)
		}
		r := w.github.reviews[0]
		if r.Dismissed != (test.why != "") || r.Dismissed && r.why != render.Dismissal(test.why, "aaa") {
			t.Errorf("%s: dismissed %t because %q", name, r.Dismissed, r.why)
		}
	}
}

func TestReviewIsWithdrawnWithoutReplacement(t *testing.T) {
	w := approved(t)
	for _, calls := range []int{1, 0} {
		made := w.github.since(func() {
			if err := w.verdicts.WithdrawAny(t.Context(), held, known(), render.WithdrawnDraft); err != nil {
				t.Fatal(err)
			}
		})
		if len(made) != calls || len(w.github.standing()) > 0 {
			t.Errorf("calls %v, and %v stands", made, w.github.standing())
		}
	}
	if want := render.Dismissal(render.WithdrawnDraft, "aaa"); w.github.reviews[0].why != want {
		t.Errorf("it was dismissed because %q", w.github.reviews[0].why)
	}
}

// Approvals from before the database was lost are dismissed, because their base is unknown.
func TestReviewsOfALostStoreAreWithdrawn(t *testing.T) {
	for name, test := range map[string]struct {
		reason, own string
		want        int // reviews that are dismissed
	}{
		"an older pull request":          {"pushed", automatic, 2},
		"a new pull request":             {"opened", automatic, 0},
		"the settings submit no reviews": {"pushed", `{}`, 0},
	} {
		w := newWorld(t)
		w.store.own = test.own
		for i, r := range []ports.PullReview{
			{Author: login, Bot: true, Body: render.ReviewMarker("x")}, {Author: login, Bot: true, Body: render.ReviewMarker("y")},
			{Author: login, Bot: true, Body: render.ReviewMarker("z"), Dismissed: true}, {Author: "bob", Body: render.ReviewMarker("x")},
			{Author: "other[bot]", Bot: true, Body: render.ReviewMarker("x")}, {Author: login, Bot: true, Body: "by hand"},
		} {
			r.ID = int64(i + 1)
			w.github.reviews = append(w.github.reviews, review{PullReview: r})
		}
		state := known()
		state.Reason = test.reason
		if err := w.verdicts.WithdrawOutdated(t.Context(), held, state); err != nil {
			t.Fatal(err)
		}
		if len(w.github.calls) != test.want || (w.github.reviews[0].Dismissed && w.github.reviews[1].Dismissed) != (test.want == 2) {
			t.Errorf("%s: calls %v", name, w.github.calls)
		}
	}
}
