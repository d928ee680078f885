package storetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/fixloop"
)

// looped returns a review that leaves the fix loop at the attempt.
func looped(runID string, g ports.Target, generation int64, attempt int) ports.StoredReview {
	r := stored(runID, g, generation, g.HeadSHA)
	r.FixLoop = fixloop.State{
		Status: fixloop.Fixing, Attempt: attempt, Max: 2, Turns: 3, Failed: []string{"a", "b"}, Resumes: 1,
		Seen:    map[string]int{"0123456789abcdef": 2},
		History: []fixloop.Row{{Attempt: attempt, HeadSHA: g.HeadSHA, Spec: pipeline.VerdictPass, Decision: pipeline.DecisionFail, Note: fixloop.NoteResumed}},
	}
	return r
}

func (f *fixture) wantLoop(t *testing.T, when string, g ports.Target, want fixloop.State, resumes int) {
	t.Helper()
	s := f.state(t, g.Key())
	if diff := cmp.Diff(want, s.FixLoop); diff != "" {
		t.Errorf("%s (-want +got):\n%s", when, diff)
	}
	if s.Resumes != resumes {
		t.Errorf("%s: resumed %d times, want %d", when, s.Resumes, resumes)
	}
}

var fixLoopTests = map[string]func(*testing.T, *fixture){
	"becomes the target's when it is published": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		r := looped("run-1", g, 1, 1)
		f.save(t, r, false)
		f.wantLoop(t, "saved", g, fixloop.State{}, 0)
		got, err := f.UnpublishedReview(f.ctx, g.Key())
		if err != nil || got == nil {
			t.Fatalf("UnpublishedReview = %v, %v", got, err)
		}
		if diff := cmp.Diff(r.FixLoop, got.FixLoop); diff != "" {
			t.Errorf("came back (-want +got):\n%s", diff)
		}
		if err := f.MarkPublished(f.ctx, "run-1"); err != nil {
			t.Fatal(err)
		}
		f.wantLoop(t, "published", g, r.FixLoop, 0)
		f.wantLoop(t, "another target", f.other(t), fixloop.State{}, 0)
	},
	"a review that is dropped leaves none": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		f.save(t, looped("run-1", g, 1, 1), false)
		if err := f.DropReview(f.ctx, "run-1"); err != nil {
			t.Fatal(err)
		}
		wantErr(t, "MarkPublished", f.MarkPublished(f.ctx, "run-1"), ports.ErrNotFound)
		f.wantLoop(t, "dropped", g, fixloop.State{}, 0)
	},
	"the newest published review's stays": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		f.save(t, looped("run-1", g, 1, 1), true)
		second := looped("run-2", g, 2, 2)
		f.save(t, second, true)
		if err := f.MarkPublished(f.ctx, "run-1"); err != nil { // a late retry
			t.Fatal(err)
		}
		f.wantLoop(t, "marked again", g, second.FixLoop, 0)
		f.save(t, stored("run-3", g, 3, "aaa"), true)
		f.wantLoop(t, "after a review without a loop", g, fixloop.State{}, 0)
	},
	"is resumed once for each command": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		r := looped("run-1", g, 1, 1)
		f.save(t, r, true)
		c := f.acceptedCommand(t, 7, g)
		for range 2 { // a job may run twice
			if err := f.Obey(f.ctx, c, ports.Effect{Resume: true}, nil); err != nil {
				t.Fatal(err)
			}
		}
		f.wantLoop(t, "obeyed", g, r.FixLoop, 1)
		f.change(t, 8, g, ports.Effect{})
		f.wantLoop(t, "another command", g, r.FixLoop, 1)
		f.change(t, 9, g, ports.Effect{Resume: true})
		f.wantLoop(t, "resumed again", g, r.FixLoop, 2)
		f.save(t, looped("run-2", g, 2, 2), true)
		f.wantLoop(t, "reviewed", g, looped("run-2", g, 2, 2).FixLoop, 2)
	},
	"goes with its target": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		f.save(t, looped("run-1", g, 1, 1), true)
		f.change(t, 7, g, ports.Effect{Resume: true})
		if err := f.ForgetTarget(f.ctx, f.acquire(t, g.Key())); err != nil {
			t.Fatal(err)
		}
		f.accept(t, push("again", g))
		f.wantLoop(t, "forgotten, and back", g, fixloop.State{}, 0)
	},
}

// other creates a second target, which nothing else happens to.
func (f *fixture) other(t *testing.T) ports.Target {
	t.Helper()
	g := pull(2, "bbb")
	f.accept(t, push("other", g))
	return g
}
