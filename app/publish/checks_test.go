package publish_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/publish"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/pipeline"
)

// completed is a completed check with a text.
func completed(conclusion, text string) ports.CheckWrite {
	return ports.CheckWrite{Name: "reviewgate", HeadSHA: "aaa", Conclusion: conclusion, Output: ports.CheckOutput{Title: text, Digest: text}}
}

// conclusions lists those of the checks on GitHub, oldest first; "open" for a check without
// one.
func (w *world) conclusions() (all []string) {
	for _, c := range w.github.checks {
		if !c.Completed {
			c.Conclusion = "open"
		}
		all = append(all, c.Conclusion)
	}
	return all
}

func TestEqualCheckIsNotWrittenAgain(t *testing.T) {
	w := newWorld(t)
	for _, step := range []struct {
		write ports.CheckWrite
		want  []string
	}{
		{completed("success", "fine"), []string{"success"}},
		{completed("success", "fine"), []string{"success"}},
		{completed("success", "fine, with other words"), []string{"success", "success"}},
		{completed("failure", "fine, with other words"), []string{"success", "success", "failure"}},
	} {
		if err := w.checks.Complete(t.Context(), held, target, step.write); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(step.want, w.conclusions()); diff != "" {
			t.Errorf("%s %q: checks (-want +got):\n%s", step.write.Conclusion, step.write.Output.Title, diff)
		}
	}
}

func TestOpenCheckIsCompleted(t *testing.T) {
	w := newWorld(t)
	if err := w.checks.Open(t.Context(), held, known(), "aaa"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"open"}, w.conclusions()); diff != "" {
		t.Fatalf("checks (-want +got):\n%s", diff)
	}
	if err := w.checks.Open(t.Context(), held, known(), "aaa"); err != nil {
		t.Fatal(err)
	}
	if err := w.checks.Complete(t.Context(), held, target, completed("success", "fine")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"success"}, w.conclusions()); diff != "" {
		t.Errorf("checks (-want +got):\n%s", diff)
	}
}

// The answer to a create may not arrive. The next try looks for the check by the mark that
// the stored intent holds.
func TestIntentWithoutOutcomeIsResolvedByLooking(t *testing.T) {
	for name, test := range map[string]struct {
		before  string // the conclusion of a check that was there before, if there was one
		arrives bool   // the first create
		then    ports.CheckWrite
		want    []string
	}{
		"the check is there":                            {"", true, completed("success", "fine"), []string{"success"}},
		"the check was not created":                     {"", false, completed("success", "fine"), []string{"success"}},
		"the check was not created beside an older one": {"success", false, completed("success", "fine"), []string{"success", "success"}},
		"the check is there with another conclusion":    {"", true, completed("failure", "broken"), []string{"success", "failure"}},
		"no check is there with another conclusion":     {"", false, completed("failure", "broken"), []string{"failure"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // GitHub's list is read twice, a moment apart
				w := newWorld(t)
				if test.before != "" {
					if err := w.checks.Complete(t.Context(), held, target, completed(test.before, "before")); err != nil {
						t.Fatal(err)
					}
				}
				if test.arrives {
					w.github.loses = "create check"
				} else {
					w.github.refuses["create check"] = ports.HostTransient
				}
				if err := w.checks.Complete(t.Context(), held, target, completed("success", "fine")); err == nil {
					t.Fatal("no error where the answer is lost")
				}
				delete(w.github.refuses, "create check")
				if err := w.checks.Complete(t.Context(), held, target, test.then); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(test.want, w.conclusions()); diff != "" {
					t.Errorf("checks (-want +got):\n%s", diff)
				}
				last := w.store.writes[len(w.store.writes)-1]
				run := w.github.checks[len(w.github.checks)-1]
				if run.ExternalID == w.github.checks[0].ExternalID && len(test.want) > 1 {
					t.Errorf("two checks have the mark %s", run.ExternalID)
				}
				if last.State != ports.WriteCompleted || last.RemoteID != run.ID || last.ExternalID != run.ExternalID {
					t.Errorf("the store has %+v, GitHub %+v", last, run)
				}
			})
		})
	}
}

func TestOpenCheckWhoseAnswerWasLostIsCompleted(t *testing.T) {
	w := newWorld(t)
	w.github.loses = "create check"
	if err := w.checks.Open(t.Context(), held, known(), "aaa"); err == nil {
		t.Fatal("no error where the answer is lost")
	}
	if err := w.checks.Complete(t.Context(), held, target, completed("failure", "broken")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"failure"}, w.conclusions()); diff != "" {
		t.Errorf("checks (-want +got):\n%s", diff)
	}
}

func TestNoCheckIsCreatedWhereTheListFails(t *testing.T) {
	w := newWorld(t)
	w.github.loses = "create check"
	_ = w.checks.Complete(t.Context(), held, target, completed("success", "fine"))
	w.github.refuses["list checks"] = ports.HostTransient
	if err := w.checks.Complete(t.Context(), held, target, completed("success", "fine")); err == nil {
		t.Error("no error where the list fails")
	}
	if diff := cmp.Diff([]string{"success"}, w.conclusions()); diff != "" {
		t.Errorf("checks (-want +got):\n%s", diff)
	}
}

func TestNoCheckIsWrittenWithoutTheLease(t *testing.T) {
	w := newWorld(t)
	if err := w.checks.Open(t.Context(), held, known(), "aaa"); err != nil {
		t.Fatal(err)
	}
	w.store.lost = true
	calls := w.github.since(func() {
		for _, write := range []func() error{
			func() error { return w.checks.Complete(t.Context(), held, target, completed("success", "fine")) },
			func() error { return w.checks.Open(t.Context(), held, known(), "bbb") },
		} {
			if err := write(); !errors.Is(err, ports.ErrLeaseLost) {
				t.Errorf("error %v", err)
			}
		}
	})
	if len(calls) > 0 {
		t.Errorf("calls %v", calls)
	}
}

// Annotations can't be removed. A second try says that they may have been sent.
func TestManyAnnotationsAreSentOnce(t *testing.T) {
	w := newWorld(t)
	write := completed("failure", "broken")
	write.Output.Annotations = make([]ports.Annotation, 51) // more than go in one request
	w.github.refuses["update check"] = ports.HostTransient
	if err := w.checks.Complete(t.Context(), held, target, write); err == nil {
		t.Fatal("no error where the check was not completed")
	}
	if diff := cmp.Diff([]string{"open"}, w.conclusions()); diff != "" {
		t.Fatalf("checks (-want +got):\n%s", diff)
	}
	delete(w.github.refuses, "update check")
	if err := w.checks.Complete(t.Context(), held, target, write); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"failure"}, w.conclusions()); diff != "" {
		t.Errorf("checks (-want +got):\n%s", diff)
	}
	if n := len(w.github.updates); n != 2 || w.github.updates[0].Repeat || !w.github.updates[1].Repeat {
		t.Errorf("%d updates: %+v", n, w.github.updates)
	}
}

// A completed check stays while the head is reviewed again only if it is the target's own
// answer about this head and nobody asked for a fresh one.
func TestCompletedCheckThatStandsDuringAReview(t *testing.T) {
	for name, test := range map[string]struct {
		answer *ports.PublishedHead
		fresh  bool
		opened bool
	}{
		"the target's own answer":              {&ports.PublishedHead{HeadSHA: "aaa"}, false, false},
		"a fresh check is asked for":           {&ports.PublishedHead{HeadSHA: "aaa"}, true, true},
		"the last answer is for an older head": {&ports.PublishedHead{HeadSHA: "bbb"}, false, true},
		"it answers another pull request":      {nil, false, true},
	} {
		w := newWorld(t)
		if err := w.checks.Complete(t.Context(), held, target, completed("success", "fine")); err != nil {
			t.Fatal(err)
		}
		w.store.answer = test.answer
		state := known()
		state.Fresh = test.fresh
		if err := w.checks.Open(t.Context(), held, state, "aaa"); err != nil {
			t.Fatal(err)
		}
		if opened := len(w.github.checks) == 2; opened != test.opened {
			t.Errorf("%s: checks %v", name, w.conclusions())
		}
	}
}

// If the database was lost, the head may already have a check.
func TestCheckThatTheStoreLostIsTakenOver(t *testing.T) {
	for name, test := range map[string]struct {
		reason string
		done   int64    // generation
		want   []string // checks, after the review
	}{
		"an older pull request":           {"pushed", 0, []string{"failure"}},
		"the sweep found it":              {publish.ReasonFound, 1, []string{"failure"}},
		"a push to one that is known":     {"pushed", 1, []string{"open", "failure"}},
		"a pull request that is just new": {"opened", 0, []string{"open", "failure"}},
	} {
		w := newWorld(t)
		w.github.checks = []check{{CheckRun: ports.CheckRun{ID: 1, ExternalID: "reviewgate-before"}, head: "aaa"}}
		state := known()
		state.Reason, state.Done = test.reason, test.done
		if err := w.checks.Open(t.Context(), held, state, "aaa"); err != nil {
			t.Fatal(err)
		}
		if err := w.checks.Complete(t.Context(), held, target, completed("failure", "broken")); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, w.conclusions()); diff != "" {
			t.Errorf("%s: checks (-want +got):\n%s", name, diff)
		}
	}
}

// The check of a head that several pull requests share waits for the last of them, and
// shows the worst decision.
func TestSharedHeads(t *testing.T) {
	const pass, warn, fixes, fail = pipeline.DecisionPass, pipeline.DecisionPassWithWarnings, pipeline.DecisionNeedsFixes, pipeline.DecisionFail
	for name, test := range map[string]struct {
		own    pipeline.Decision
		others []ports.HeadDecision
		want   []string
	}{
		"alone":                           {pass, nil, []string{"success"}},
		"its own decision does not count": {pass, []ports.HeadDecision{on(3, fail, true)}, []string{"success"}},
		"another passes":                  {warn, []ports.HeadDecision{on(4, pass, false)}, []string{"neutral"}},
		"another is worse":                {pass, []ports.HeadDecision{on(4, fixes, false), on(5, pass, false)}, []string{"action_required"}},
		"the last is the worst":           {pass, []ports.HeadDecision{on(4, warn, false), on(5, fail, false)}, []string{"failure"}},
		"another was given up":            {pass, []ports.HeadDecision{on(4, "", false)}, []string{"action_required"}},
		"another is still to be reviewed": {pass, []ports.HeadDecision{on(4, fail, false), on(5, "", true)}, nil},
	} {
		w := newWorld(t)
		w.store.decisions = test.others
		if err := w.checks.Publish(t.Context(), publication(known(), reviewed(test.own), settings(t, `{}`), nil)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, w.conclusions()); diff != "" {
			t.Errorf("%s: checks (-want +got):\n%s", name, diff)
		}
	}
}

// Base branches may have their own configs. The check is then left to the pull requests
// with the strictest mode. If it is open, those that are done are asked to complete it.
func TestCheckIsLeftToStricterPullRequests(t *testing.T) {
	for name, test := range map[string]struct {
		own, others string // settings
		open        bool   // the check
		want        []string
		asked       []int // numbers of pull requests
	}{
		"equally strict":                {`{}`, `{}`, false, []string{"failure"}, nil},
		"others are stricter":           {`{"mode": "advisory"}`, `{}`, false, nil, nil},
		"others are stricter, and open": {`{"mode": "advisory"}`, `{}`, true, []string{"open"}, []int{4}},
		"others are milder":             {`{}`, `{"mode": "advisory"}`, false, []string{"success"}, nil},
		"others are switched off":       {`{}`, `{"mode": "off"}`, true, []string{"success"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.store.own = test.others
			if test.open {
				if err := w.checks.Open(t.Context(), held, known(), "aaa"); err != nil {
					t.Fatal(err)
				}
			}
			w.store.decisions = []ports.HeadDecision{on(4, pipeline.DecisionFail, false)}
			if test.own != `{}` { // one that is to be reviewed completes the check by itself
				w.store.decisions = append(w.store.decisions, on(5, "", true))
			}
			if err := w.checks.Publish(t.Context(), publication(known(), reviewed(pipeline.DecisionPass), settings(t, test.own), nil)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, w.conclusions()); diff != "" {
				t.Errorf("checks (-want +got):\n%s", diff)
			}
			var asked []int
			for _, ask := range w.store.asks {
				asked = append(asked, ask.Target.Number)
				if !ask.Rerun.Decide {
					t.Errorf("agents are to run again: %+v", ask)
				}
			}
			if diff := cmp.Diff(test.asked, asked); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
		})
	}
}

// If the branches of pull requests have different modes, those with the strictest mode are
// asked.
func TestCheckIsLeftToTheStrictestPullRequests(t *testing.T) {
	const advisory = `{"mode": "advisory"}`
	w := newWorld(t)
	w.store.own, w.store.release = advisory, `{}`
	w.store.decisions = []ports.HeadDecision{on(4, pipeline.DecisionPass, false), on(5, pipeline.DecisionFail, false), on(6, pipeline.DecisionPass, false)}
	if err := w.checks.Open(t.Context(), held, known(), "aaa"); err != nil {
		t.Fatal(err)
	}
	if err := w.checks.Publish(t.Context(), publication(known(), reviewed(pipeline.DecisionPass), settings(t, advisory), nil)); err != nil {
		t.Fatal(err)
	}
	if len(w.store.asks) != 1 || w.store.asks[0].Target.Number != 5 || w.conclusions()[0] != "open" {
		t.Errorf("checks %v, asks %+v", w.conclusions(), w.store.asks)
	}
}

// Checks on heads that no pull request has any more are completed, unless GitHub refuses.
func TestChecksOfOlderHeads(t *testing.T) {
	for name, test := range map[string]struct {
		trouble ports.HostKind // of the update
		other   bool           // another pull request opened the check
		want    string         // on GitHub
		state   ports.WriteState
		fails   bool
	}{
		"it is cancelled":                   {"", false, "cancelled", ports.WriteCompleted, false},
		"the commit is gone":                {ports.HostNotFound, false, "open", ports.WriteCompleted, false},
		"the permission is missing":         {ports.HostForbidden, false, "open", ports.WriteOpen, false},
		"GitHub is down":                    {ports.HostTransient, false, "open", ports.WriteOpen, true},
		"GitHub is down for another's head": {ports.HostTransient, true, "open", ports.WriteOpen, false},
	} {
		w := newWorld(t)
		if err := w.checks.Open(t.Context(), held, known(), "aaa"); err != nil {
			t.Fatal(err)
		}
		w.github.refuses["update check"] = test.trouble
		now, l := target, held
		now.HeadSHA = "bbb"
		if test.other {
			l.Key = "pull/2/9"
		}
		if err := w.checks.CancelOld(t.Context(), l, now); (err != nil) != test.fails {
			t.Errorf("%s: error %v", name, err)
		}
		if got := w.conclusions()[0]; got != test.want || w.store.writes[0].State != test.state {
			t.Errorf("%s: the check is %s, and the store has %+v", name, got, w.store.writes[0])
		}
	}
}

func TestCheckThatWasNeverCreatedIsNotCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.github.refuses["create check"] = ports.HostTransient
		_ = w.checks.Open(t.Context(), held, known(), "aaa")
		delete(w.github.refuses, "create check")
		calls := w.github.since(func() {
			if err := w.checks.CancelOld(t.Context(), held, target); err != nil {
				t.Fatal(err)
			}
		})
		if len(calls) > 0 || w.store.writes[0].State != ports.WriteCompleted {
			t.Errorf("calls %v, and the store has %+v", calls, w.store.writes[0])
		}
	})
}

// A review that waits says so in the open check of the head. A completed check stays.
func TestWaitingIsSaidInTheOpenCheck(t *testing.T) {
	for name, done := range map[string]bool{"the check is open": false, "the check is completed": true} {
		w := newWorld(t)
		if err := w.checks.Open(t.Context(), held, known(), "aaa"); err != nil {
			t.Fatal(err)
		}
		if done {
			if err := w.checks.Complete(t.Context(), held, target, completed("success", "fine")); err != nil {
				t.Fatal(err)
			}
		}
		waiting := render.WaitingCheck(render.Waiting{})
		if err := w.checks.UpdateOpen(t.Context(), held, known(), waiting); err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(w.github.checks[0].title, waiting.Title); said == done {
			t.Errorf("%s: it is called %q", name, w.github.checks[0].title)
		}
	}
}
