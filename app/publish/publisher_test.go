package publish_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/access"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/publish"
	"github.com/reviewgate/reviewgate/pipeline"
)

// A review is written only if the pull request still is as it was reviewed.
func TestReviewIsPublishedForItsHeadAndBase(t *testing.T) {
	for name, test := range map[string]struct {
		now   func(*ports.PullState)
		calls []string
		noted []string
		err   error
	}{
		"unchanged":  {func(*ports.PullState) {}, []string{"create check", "create comment"}, []string{"published run"}, nil},
		"new head":   {func(p *ports.PullState) { p.HeadSHA = "bbb" }, nil, []string{"head bbb", "dropped run"}, publish.ErrSuperseded},
		"other base": {func(p *ports.PullState) { p.BaseRef = "release" }, nil, []string{"head aaa", "dropped run"}, publish.ErrSuperseded},
		"closed":     {func(p *ports.PullState) { p.Closed = true }, nil, []string{"closed, merged false"}, publish.ErrClosed},
		"archived":   {func(p *ports.PullState) { p.Archived = true }, []string{"create check"}, []string{"published run"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			test.now(&w.github.now)
			err := w.publisher.Publish(t.Context(), t.Context(), held, known(), reviewed(pipeline.DecisionNeedsFixes))
			if !errors.Is(err, test.err) {
				t.Errorf("error %v, want %v", err, test.err)
			}
			less := func(calls []string) map[string]int { // check and comment are written in parallel
				n := map[string]int{}
				for _, c := range calls {
					n[c]++
				}
				return n
			}
			if diff := cmp.Diff(less(test.calls), less(w.github.calls)); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.noted, w.store.noted); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
		})
	}
}

// A merge group's head can't move, so it is not read again.
func TestGroupIsPublishedWithoutALook(t *testing.T) {
	w := newWorld(t)
	w.github.refuses["read the pull request"] = ports.HostTransient
	group := known()
	group.Kind, group.Number = ports.TargetGroup, 0
	if err := w.publisher.Publish(t.Context(), t.Context(), held, group, reviewed(pipeline.DecisionPass)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"create check"}, w.github.calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// A push stops the look at the head, but nothing after the first write.
func TestPushStopsOnlyTheLook(t *testing.T) {
	w := newWorld(t)
	pushed, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.publisher.Publish(t.Context(), pushed, held, known(), reviewed(pipeline.DecisionPass)); err != nil {
		t.Errorf("after the look: %v", err)
	}
}

// A comment that fails keeps its check. The error names the run, so that the caller can
// count the review as published.
func TestCheckStandsWithoutItsComment(t *testing.T) {
	w := newWorld(t)
	w.github.refuses["create comment"] = ports.HostTransient
	err := w.publisher.Publish(t.Context(), t.Context(), held, known(), reviewed(pipeline.DecisionNeedsFixes))
	var failed *publish.AfterCheckError
	if !errors.As(err, &failed) || failed.RunID != "run" || failed.ActionsFailed {
		t.Errorf("error %v", err)
	}
	if len(w.github.checks) != 1 || w.github.checks[0].Conclusion != "action_required" {
		t.Errorf("checks %+v", w.github.checks)
	}
	w = newWorld(t)
	w.github.refuses["create comment"] = ports.HostForbidden
	if err := w.publisher.Publish(t.Context(), t.Context(), held, known(), reviewed(pipeline.DecisionNeedsFixes)); err != nil {
		t.Errorf("where comments are forbidden: %v", err)
	}
}

// Automatic actions come between the check and the comment, which reports them.
func TestVerdictComesBetweenCheckAndComment(t *testing.T) {
	w := newWorld(t)
	r := approving()
	r.Config = []ports.ConfigBlob{{Layer: "repository", Path: ".reviewgate/review-settings.json", Text: []byte(automatic)}}
	r.Review.Facts.Config.Layers = pipeline.List[pipeline.ConfigLayer]{{Name: "repository", Used: true}}
	if err := w.publisher.Publish(t.Context(), t.Context(), held, known(), r); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"create check", "review: APPROVE", "create comment"}, w.github.calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// A draft that the settings skip has a check that does not satisfy a required one.
func TestSkippedDraft(t *testing.T) {
	for name, test := range map[string]struct {
		now        ports.PullState
		conclusion string
		err        error
	}{
		"draft":    {ports.PullState{HeadSHA: "aaa", Draft: true}, "action_required", nil},
		"ready":    {ports.PullState{HeadSHA: "aaa"}, "", publish.ErrSuperseded},
		"new head": {ports.PullState{HeadSHA: "bbb", Draft: true}, "", publish.ErrSuperseded},
		"closed":   {ports.PullState{HeadSHA: "aaa", Draft: true, Closed: true}, "", publish.ErrClosed},
	} {
		w := newWorld(t)
		w.github.now = test.now
		if err := w.publisher.Draft(t.Context(), held, known(), "review"); !errors.Is(err, test.err) {
			t.Errorf("%s: error %v, want %v", name, err, test.err)
		}
		conclusion := ""
		for _, c := range w.github.checks {
			conclusion = c.Conclusion
		}
		if conclusion != test.conclusion {
			t.Errorf("%s: conclusion %q, want %q", name, conclusion, test.conclusion)
		}
	}
}

// If reviewgate is switched off, only a check that is open already is completed, unless
// another pull request on the head needs it.
func TestSwitchedOff(t *testing.T) {
	for name, test := range map[string]struct {
		open       bool
		others     []ports.HeadDecision
		conclusion string
	}{
		"nothing was posted":            {conclusion: ""},
		"the check was opened":          {open: true, conclusion: "neutral"},
		"another pull request needs it": {open: true, others: []ports.HeadDecision{on(4, pipeline.DecisionPass, true)}, conclusion: ""},
	} {
		w := newWorld(t)
		if test.open {
			if err := w.checks.Open(t.Context(), held, known(), "aaa"); err != nil {
				t.Fatal(err)
			}
		}
		w.store.decisions = test.others
		if err := w.publisher.Off(t.Context(), held, known(), "acme/shop"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		conclusion := ""
		for _, c := range w.github.checks {
			conclusion = c.Conclusion
		}
		if conclusion != test.conclusion || (len(w.github.checks) > 0) != test.open {
			t.Errorf("%s: %d checks, conclusion %q, want %q", name, len(w.github.checks), conclusion, test.conclusion)
		}
	}
}

// A review that is given up has a failed check that says why, and the comment of an older
// review says so. A target that can't be written to only has its result recorded.
func TestGivenUp(t *testing.T) {
	internal := errors.New("boom")
	for name, test := range map[string]struct {
		cause      error
		older      bool
		conclusion string
		noted      []string
	}{
		"first review":    {cause: internal, conclusion: "failure"},
		"later review":    {cause: internal, older: true, conclusion: "failure", noted: []string{"notice"}},
		"no access":       {cause: &access.RefusedError{Result: "the App is suspended", Mute: true}, noted: []string{`result "the App is suspended"`}},
		"no write access": {cause: &access.RefusedError{Result: "reviews are off"}, conclusion: "failure", noted: []string{`result "reviews are off"`}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if test.older {
				w.store.latest = reviewed(pipeline.DecisionPass)
			}
			if err := w.publisher.GiveUp(t.Context(), held, known(), test.cause); err != nil {
				t.Fatal(err)
			}
			conclusion := ""
			for _, c := range w.github.checks {
				conclusion = c.Conclusion
			}
			if conclusion != test.conclusion {
				t.Errorf("conclusion %q, want %q", conclusion, test.conclusion)
			}
			if diff := cmp.Diff(test.noted, w.store.noted); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
		})
	}
}
