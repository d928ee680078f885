package storetest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

var acceptTests = map[string]func(*testing.T, *fixture){
	"old news moves no head": oldNewsMovesNoHead,
	"raises the generation and inserts a job": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		got := f.accept(t, push("one", g))
		if diff := cmp.Diff(ports.Accepted{Key: g.Key()}, got); diff != "" {
			t.Errorf("accepted (-want +got):\n%s", diff)
		}
		want := ports.TargetState{Target: g, Wanted: 1, Reason: "pushed", AskedAt: f.clock.Now()}
		if diff := cmp.Diff(want, f.state(t, g.Key())); diff != "" {
			t.Errorf("state (-want +got):\n%s", diff)
		}
		f.wantJobs(t, 1, "after the first ask")
	},
	"coalesces asks into one job": func(t *testing.T, f *fixture) {
		for i := range 10 {
			f.accept(t, push(guid(i), pull(1, "aaa")))
		}
		if st := f.state(t, pull(1, "").Key()); st.Wanted != 10 {
			t.Errorf("wanted = %d, want 10", st.Wanted)
		}
		f.wantJobs(t, 1, "after ten asks")
	},
	"tells that the head moved": func(t *testing.T, f *fixture) {
		if a := f.accept(t, push("1", pull(1, "aaa"))); a.HeadMoved {
			t.Error("the first head counts as a move")
		}
		if a := f.accept(t, push("2", pull(1, "aaa"))); a.HeadMoved {
			t.Error("the same head counts as a move")
		}
		if a := f.accept(t, push("3", pull(1, "bbb"))); !a.HeadMoved {
			t.Error("a new head does not count as a move")
		}
		if a := f.accept(t, push("4", pull(1, ""))); a.HeadMoved {
			t.Error("an ask without head counts as a move")
		}
		if st := f.state(t, pull(1, "").Key()); st.HeadSHA != "bbb" {
			t.Errorf("head %q, want bbb", st.HeadSHA)
		}
	},
	"leaving a head asks for reviews of the others on it": func(t *testing.T, f *fixture) {
		for i, n := range []int{1, 2, 3, 4, 5} {
			f.accept(t, push(guid(i), pull(n, "aaa")))
		}
		wanted := func() (all []int64) {
			for n := 1; n <= 5; n++ {
				all = append(all, f.state(t, pull(n, "").Key()).Wanted)
			}
			return all
		}
		f.accept(t, push("pushed", pull(1, "bbb")))
		if diff := cmp.Diff([]int64{2, 2, 2, 2, 2}, wanted()); diff != "" {
			t.Errorf("after a push (-want +got):\n%s", diff)
		}
		closed := pull(2, "aaa")
		f.accept(t, ports.Delivery{GUID: "closed", Event: "pull_request", Asks: []ports.Ask{ports.Close{Target: closed}}})
		if diff := cmp.Diff([]int64{2, 2, 3, 3, 3}, wanted()); diff != "" {
			t.Errorf("after a close (-want +got):\n%s", diff)
		}
		if err := f.SetClosed(f.ctx, ports.Close{Target: pull(3, "")}); err != nil {
			t.Fatal(err)
		}
		if err := f.SetHead(f.ctx, pull(4, "").Key(), "ccc"); err != nil {
			t.Fatal(err)
		}
		if err := f.SetHead(f.ctx, pull(5, "").Key(), "aaa"); err != nil { // stays
			t.Fatal(err)
		}
		if diff := cmp.Diff([]int64{2, 2, 3, 4, 5}, wanted()); diff != "" {
			t.Errorf("after reads (-want +got):\n%s", diff)
		}
	},
	"a late close does not close a reopened pull request": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		closed, reopened := f.clock.Now().Add(time.Second), f.clock.Now().Add(2*time.Second)
		f.accept(t, asking("opened", ports.ReviewAsk{Target: g, Reason: "opened", At: f.clock.Now()}))
		f.accept(t, asking("reopened", ports.ReviewAsk{Target: g, Reason: "reopened", At: reopened, ReopenedAt: reopened}))
		late := ports.Close{Target: g, At: closed}
		if acc := f.accept(t, asking("closed", late)); acc.Closed || acc.NoOp {
			t.Errorf("the outcome is %+v", acc)
		}
		if st := f.state(t, g.Key()); st.Closed || st.Wanted != 3 { // a run looks
			t.Errorf("the target is %+v", st)
		}
		same := ports.Close{Target: g, At: reopened} // in the second in which it was opened again
		if acc := f.accept(t, asking("closed in the same second", same)); acc.Closed || f.state(t, g.Key()).Wanted != 4 {
			t.Errorf("the outcome is %+v", acc)
		}
		if err := f.SetClosed(f.ctx, late); err != nil { // a read is newer than any event
			t.Fatal(err)
		}
		if st := f.state(t, g.Key()); !st.Closed {
			t.Errorf("the target is %+v", st)
		}
		if acc := f.accept(t, asking("closed before the last close", same)); acc.Closed || !acc.NoOp {
			t.Errorf("the outcome is %+v, want a no-op", acc)
		}
		if st := f.state(t, g.Key()); !st.Closed || st.Wanted != 4 { // no run has to look
			t.Errorf("the target is %+v", st)
		}
		f.accept(t, asking("reopened again", ports.ReviewAsk{Target: g, Reason: "reopened", At: reopened}))
		wantEvents(t, f, g.Key(), fmt.Sprint("reopened ", reopened.Unix()), fmt.Sprint("closed ", closed.Unix()), fmt.Sprint("closed ", reopened.Unix()))
		late.Merged = true // nothing can follow a merge
		if acc := f.accept(t, asking("merged", late)); !acc.Closed {
			t.Errorf("the outcome is %+v", acc)
		}
		if st := f.state(t, g.Key()); !st.Closed {
			t.Errorf("the target is %+v", st)
		}
	},
	"keeps names that changed": func(t *testing.T, f *fixture) {
		f.accept(t, push("1", pull(1, "aaa")))
		moved := pull(1, "aaa")
		moved.Owner, moved.Name, moved.Installation = "emca", "store", 6
		f.accept(t, push("2", moved))
		if diff := cmp.Diff(moved, f.state(t, moved.Key()).Target); diff != "" {
			t.Errorf("target (-want +got):\n%s", diff)
		}
	},
	"counts a GUID once": func(t *testing.T, f *fixture) {
		f.accept(t, push("one", pull(1, "aaa")))
		for range 2 {
			if a := f.accept(t, push("one", pull(1, "aaa"))); !a.Duplicate || a.Key != "" {
				t.Errorf("redelivery = %+v, want a duplicate without key", a)
			}
		}
		if st := f.state(t, pull(1, "").Key()); st.Wanted != 1 {
			t.Errorf("wanted = %d, want 1", st.Wanted)
		}
	},
	"counts a GUID once under 100 goroutines": func(t *testing.T, f *fixture) {
		var first atomic.Int64
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				a, err := f.Accept(f.ctx, push("one", pull(1, "aaa")))
				if err != nil {
					t.Error(err)
				}
				if !a.Duplicate {
					first.Add(1)
				}
			})
		}
		wg.Wait()
		if n, st := first.Load(), f.state(t, pull(1, "").Key()); n != 1 || st.Wanted != 1 {
			t.Errorf("%d were no duplicates and wanted = %d, want 1 and 1", n, st.Wanted)
		}
		f.wantJobs(t, 1, "after 100 deliveries of one GUID")
	},
	"a delivery that can't be stored fails alone": func(t *testing.T, f *fixture) {
		all := sample.Size(100, 200)
		var failed atomic.Int64
		var wg sync.WaitGroup
		for i := range all {
			d := push(guid(i), pull(i, "aaa"))
			if i%10 == 3 {
				d.GUID = "" // not allowed
			}
			wg.Go(func() {
				if _, err := f.Accept(f.ctx, d); err != nil {
					failed.Add(1)
				}
			})
		}
		wg.Wait()
		bad := all / 10
		if int(failed.Load()) != bad {
			t.Errorf("%d failed, want %d", failed.Load(), bad)
		}
		f.wantJobs(t, all-bad, fmt.Sprintf("after %d good deliveries of %d", all-bad, all))
	},
	"counts a redelivery if its generation was given up": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		f.accept(t, push("before", g))
		f.finish(t, g.Key(), false)
		f.accept(t, push("one", g))
		f.accept(t, push("two", g))
		f.finish(t, g.Key(), true)
		if !f.state(t, g.Key()).GaveUp {
			t.Error("the target doesn't say that it was given up")
		}
		if a := f.accept(t, push("before", g)); !a.Duplicate {
			t.Error("a redelivery of an ask that was done before counts")
		}
		if a := f.accept(t, push("one", g)); a.Duplicate || a.Key != g.Key() {
			t.Errorf("redelivery of an ask given up = %+v, want it asked again", a)
		}
		if a := f.accept(t, push("two", g)); !a.Duplicate {
			t.Error("a second redelivery counts although the first asked again")
		}
		f.finish(t, g.Key(), true) // given up again: both asks are undone once more
		if a := f.accept(t, push("two", g)); a.Duplicate {
			t.Error("a redelivery is a duplicate although its ask was given up twice")
		}
		f.finish(t, g.Key(), false)
		for _, id := range []string{"one", "two"} {
			if a := f.accept(t, push(id, g)); !a.Duplicate {
				t.Errorf("redelivery of %s counts although a later run was done", id)
			}
		}
	},
	"records what asks nothing": func(t *testing.T, f *fixture) {
		d := ports.Delivery{GUID: "ping", Event: "ping"}
		if a := f.accept(t, d); !a.NoOp || a.Duplicate {
			t.Errorf("ping = %+v, want a no-op", a)
		}
		if a := f.accept(t, d); !a.Duplicate {
			t.Errorf("second ping = %+v, want a duplicate", a)
		}
		f.wantJobs(t, 0, "after pings")
	},
	"takes labels only where they are read": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		labelled := func(id string, kind bool) ports.Accepted {
			return f.accept(t, asking(id, ports.ReviewAsk{Target: g, Reason: "labelled", LabelsOnly: true, TypeLabel: kind}))
		}
		label := func(id string) ports.Accepted { return labelled(id, false) }
		if a := label("1"); !a.NoOp || a.Key != "" {
			t.Errorf("label on an unknown target = %+v, want a no-op", a)
		}
		f.accept(t, push("2", g))
		if a := label("3"); !a.NoOp {
			t.Errorf("label that nothing reads = %+v, want a no-op", a)
		}
		if a := labelled("3 of a type", true); !a.NoOp {
			t.Errorf("label of a type that nothing reads = %+v, want a no-op", a)
		}
		if err := f.SetReadsLabels(f.ctx, g.Key(), pipeline.LabelsOfTypes); err != nil {
			t.Fatal(err)
		}
		if a := label("3 of no type"); !a.NoOp {
			t.Errorf("label of no type where types are read = %+v, want a no-op", a)
		}
		if a := labelled("3 of a type that is read", true); a.NoOp || a.Key != g.Key() {
			t.Errorf("label of a type where types are read = %+v, want it asked", a)
		}
		if err := f.SetReadsLabels(f.ctx, g.Key(), pipeline.LabelsAll); err != nil {
			t.Fatal(err)
		}
		if a := label("4"); a.NoOp || a.Key != g.Key() {
			t.Errorf("label that a policy reads = %+v, want it asked", a)
		}
		if err := f.SetReadsLabels(f.ctx, g.Key(), pipeline.LabelsNone); err != nil {
			t.Fatal(err)
		}
		if a := labelled("5", true); !a.NoOp {
			t.Errorf("a label that is no longer read = %+v, want a no-op", a)
		}
	},
	"closes and opens": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		closing := func(id string) ports.Delivery {
			return ports.Delivery{GUID: id, Event: "pull_request", Asks: []ports.Ask{ports.Close{Target: g}}}
		}
		if a := f.accept(t, closing("0")); a.Closed || !a.NoOp {
			t.Errorf("close of an unknown target = %+v, want a no-op", a)
		}
		f.accept(t, push("1", g))
		if a := f.accept(t, closing("2")); !a.Closed || a.Key != g.Key() || a.NoOp {
			t.Errorf("close = %+v, want closed with its key", a)
		}
		if !f.state(t, g.Key()).Closed {
			t.Error("the target is open after it was closed")
		}
		f.accept(t, push("3", g))
		if f.state(t, g.Key()).Closed {
			t.Error("the target is closed after a new ask")
		}
	},
	"inserts a job for a rerequest": func(t *testing.T, f *fixture) {
		d := ports.Delivery{GUID: "r", Event: "check_run", Asks: []ports.Ask{ports.Rerequest{RepoID: repoID, HeadSHA: "aaa"}}}
		if a := f.accept(t, d); a.NoOp {
			t.Errorf("rerequest = %+v", a)
		}
		f.accept(t, d)
		f.wantJobs(t, 1, "after a rerequest and its redelivery")
	},
	"inserts a job for news of a report": func(t *testing.T, f *fixture) {
		d := ports.Delivery{GUID: "r", Event: "issue_comment", Asks: []ports.Ask{ports.ReportNews{Target: pull(1, ""), Author: "alice"}}}
		if a := f.accept(t, d); a.NoOp {
			t.Errorf("news of a report = %+v", a)
		}
		f.accept(t, d)
		f.wantJobs(t, 1, "after news of a report and its redelivery")
	},
	"takes any text": func(t *testing.T, f *fixture) {
		odd := "a\x00b\xff\u202e'\"?\\"
		g := pull(1, "aaa")
		g.Owner, g.Name, g.HeadRef = odd, odd, odd
		d := asking("odd",
			ports.ReviewAsk{Target: g, Reason: odd},
			ports.Command{Place: ports.PlaceReview, CommentID: 100, Target: g, Sender: odd, Author: odd, Name: odd, Args: odd},
			ports.Rerequest{RepoID: repoID, Owner: odd, Name: odd + `\u0000`, HeadSHA: odd})
		d.Action = odd
		f.accept(t, d)
		f.wantJobs(t, 3, "after a delivery of odd texts")
		if err := f.AddNotice(f.ctx, g.Key(), odd); err != nil {
			t.Error(err)
		}
		// The databases may differ in whether NUL and invalid UTF-8 read back.
		st := f.state(t, g.Key())
		for _, got := range []string{st.Owner, st.Name, st.HeadRef, st.Reason, strings.Join(st.Notices, "|")} {
			if !strings.HasPrefix(got, "a") || !strings.HasSuffix(got, "\u202e'\"?\\") {
				t.Errorf("text %q, want it like %q", got, odd)
			}
		}
		jobs := make(chan ports.Job, 10)
		f.work(t, func(_ context.Context, j ports.Job) error { jobs <- j; return nil })
		for range 4 {
			j := receive(t, "four jobs began", jobs)
			if name := args[ports.RerequestJob](t, j).Rerequest.Name; j.Kind == ports.JobRerequest && !strings.HasSuffix(name, `\\u0000`) {
				t.Errorf("rerequest of %q, want its text", name)
			}
		}
	},
	"ends with its context": func(t *testing.T, f *fixture) {
		ctx, cancel := context.WithCancel(f.ctx)
		cancel()
		_, err := f.Accept(ctx, push("one", pull(1, "aaa")))
		wantErr(t, "Accept with a context that has ended", err, context.Canceled)
	},
}

// finish does what a run does, and ends it at once.
func (f *fixture) finish(t *testing.T, key string, gaveUp bool) {
	t.Helper()
	l := f.acquire(t, key)
	more, err := f.Finish(f.ctx, l, f.state(t, key).Wanted, gaveUp)
	if err != nil || more {
		t.Fatalf("Finish(%s) = %v, %v; want no more", key, more, err)
	}
}

var targetTests = map[string]func(*testing.T, *fixture){
	"an unknown target is not found": func(t *testing.T, f *fixture) {
		_, err := f.Target(f.ctx, "pull/1/1")
		wantErr(t, "Target", err, ports.ErrNotFound)
		wantErr(t, "SetHead", f.SetHead(f.ctx, "pull/1/1", "aaa"), ports.ErrNotFound)
		wantErr(t, "SetClosed", f.SetClosed(f.ctx, ports.Close{Target: ports.Target{Kind: ports.TargetPull, RepoID: 1, Number: 1}}), ports.ErrNotFound)
		wantErr(t, "SetReadsLabels", f.SetReadsLabels(f.ctx, "pull/1/1", pipeline.LabelsAll), ports.ErrNotFound)
		wantErr(t, "BeginScans", f.BeginScans(f.ctx, "pull/1/1"), ports.ErrNotFound)
		wantErr(t, "SetScans", f.SetScans(f.ctx, "pull/1/1", readsAll), ports.ErrNotFound)
		wantErr(t, "AddNotice", f.AddNotice(f.ctx, "pull/1/1", "no"), ports.ErrNotFound)
	},
	"an ask is dropped if somebody has asked since": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		found := func(asked int64) {
			t.Helper()
			if err := f.Ask(f.ctx, ports.ReviewAsk{Target: g, Reason: "found without an answer", Asked: &asked}); err != nil {
				t.Fatal(err)
			}
		}
		found(0)
		if st := f.state(t, g.Key()); st.Wanted != 1 {
			t.Fatalf("a target that nobody knew is asked for %d times", st.Wanted)
		}
		f.accept(t, push("1", g)) // while the sweep was asking GitHub which pull requests are open
		found(1)
		found(0)
		if st := f.state(t, g.Key()); st.Wanted != 2 {
			t.Errorf("generation %d is asked for, want that of the push, 2", st.Wanted)
		}
		found(2)
		if st := f.state(t, g.Key()); st.Wanted != 3 {
			t.Errorf("generation %d is asked for, want 3: nothing came between", st.Wanted)
		}
	},
	"fresh holds until its generation is done": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		ask := ports.ReviewAsk{Target: g, Reason: "asked by ann", Fresh: true}
		if err := f.Ask(f.ctx, ask); err != nil {
			t.Fatal(err)
		}
		f.accept(t, push("1", g)) // the review stays a fresh one
		if st := f.state(t, g.Key()); !st.Fresh || st.Wanted != 2 {
			t.Errorf("state = %+v, want fresh and wanted 2", st)
		}
		l := f.acquire(t, g.Key())
		if err := f.Ask(f.ctx, ask); err != nil { // while generation 2 runs
			t.Fatal(err)
		}
		if more, err := f.Finish(f.ctx, l, 2, false); err != nil || !more {
			t.Fatalf("Finish = %v, %v; want more", more, err)
		}
		if !f.state(t, g.Key()).Fresh {
			t.Error("the second demand for a new check was lost with the first")
		}
		if more, err := f.Finish(f.ctx, l, 3, false); err != nil || more {
			t.Fatalf("Finish = %v, %v; want no more", more, err)
		}
		f.accept(t, push("2", g))
		if f.state(t, g.Key()).Fresh {
			t.Error("fresh outlives its generation")
		}
	},
	"lists the open pull requests on a head": func(t *testing.T, f *fixture) {
		f.accept(t, push("1", pull(3, "aaa")))
		f.accept(t, push("2", pull(1, "aaa")))
		f.accept(t, push("3", pull(2, "aaa")))
		f.accept(t, push("4", pull(4, "bbb")))
		f.accept(t, push("5", group("aaa")))
		if err := f.SetClosed(f.ctx, ports.Close{Target: pull(2, "")}); err != nil {
			t.Fatal(err)
		}
		got, err := f.TargetsOnHead(f.ctx, repoID, "aaa")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]ports.Target{pull(1, "aaa"), pull(3, "aaa")}, got); diff != "" {
			t.Errorf("targets (-want +got):\n%s", diff)
		}
		if err := f.SetHead(f.ctx, pull(1, "").Key(), "ccc"); err != nil {
			t.Fatal(err)
		}
		if got, _ := f.TargetsOnHead(f.ctx, repoID, "ccc"); len(got) != 1 {
			t.Errorf("%d targets on the new head, want 1", len(got))
		}
	},
	"merge groups have their own key": func(t *testing.T, f *fixture) {
		g := group("abc")
		f.accept(t, push("1", g))
		if diff := cmp.Diff(g, f.state(t, "group/77/abc").Target); diff != "" {
			t.Errorf("target (-want +got):\n%s", diff)
		}
	},
	"a new ask forgets failures": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		f.accept(t, push("1", g))
		for want := 1; want <= 2; want++ {
			n, err := f.Failed(f.ctx, f.acquire(t, g.Key()))
			if err != nil || n != want {
				t.Fatalf("Failed = %d, %v; want %d", n, err, want)
			}
		}
		if st := f.state(t, g.Key()); st.Attempts != 2 {
			t.Errorf("attempts = %d, want 2", st.Attempts)
		}
		before := f.jobs(t)
		f.clock.pass(time.Second)
		f.accept(t, push("2", g))
		if st := f.state(t, g.Key()); st.Attempts != 0 {
			t.Errorf("attempts = %d after a new ask, want 0", st.Attempts)
		}
		f.wantJobs(t, before+1, "after an ask for a target whose job was put off")
	},
}

func oldNewsMovesNoHead(t *testing.T, f *fixture) {
	noon := f.clock.Now()
	for i, step := range []struct {
		head, before string
		at           time.Time
		want         string
	}{
		{"a", "", noon, "a"},
		{"b", "a", noon, "b"},                   // in the same second, and its Before is the known head
		{"a", "", noon, "b"},                    // a redelivery of its opening
		{"c", "b", noon.Add(time.Second), "c"},  // later
		{"b", "a", noon.Add(-time.Second), "c"}, // earlier
		{"d", "", time.Time{}, "d"},             // read from GitHub now
	} {
		a := f.accept(t, asking(fmt.Sprint("guid-", i), ports.ReviewAsk{Target: pull(1, step.head), Reason: "pushed", At: step.at, Before: step.before}))
		st := f.state(t, pull(1, "").Key())
		if st.HeadSHA != step.want || a.HeadMoved != (i > 0 && step.want == step.head) {
			t.Errorf("step %d: head %s (moved %v), want %s", i+1, st.HeadSHA, a.HeadMoved, step.want)
		}
	}
}
