package storetest

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

var rescueTests = map[string]func(*testing.T, *fixture){
	"gives a target of a dead holder a new job": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		f.accept(t, push("1", g))
		f.acquire(t, g.Key()) // the holder dies
		for range 2 {
			if n, err := f.Rescue(f.ctx); n != 0 || err != nil {
				t.Fatalf("Rescue while the lease holds = %d, %v; want 0", n, err)
			}
			f.clock.pass(30*time.Second - time.Millisecond)
		}
		f.clock.pass(time.Second)
		if n, err := f.Rescue(f.ctx); n != 1 || err != nil {
			t.Fatalf("Rescue = %d, %v; want 1", n, err)
		}
		f.wantJobs(t, 2, "after the rescue") // the dead holder's job is still there
		if st := f.state(t, g.Key()); st.Crashes != 1 {
			t.Errorf("crashes = %d, want 1", st.Crashes)
		}
		if n, err := f.Rescue(f.ctx); n != 0 || err != nil {
			t.Errorf("Rescue again = %d, %v; want 0", n, err)
		}
		f.finish(t, g.Key(), false)
		if st := f.state(t, g.Key()); st.Crashes != 0 {
			t.Errorf("crashes = %d after it was done, want 0", st.Crashes)
		}
	},
	"leaves alone what waits in a queue": func(t *testing.T, f *fixture) {
		f.accept(t, push("1", pull(1, "aaa")))
		for range 3 {
			f.clock.pass(2 * time.Minute)
			if _, err := f.Rescue(f.ctx); err != nil {
				t.Fatal(err)
			}
		}
		f.wantJobs(t, 1, "after three rescues")
	},
	"recovers at start": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		f.accept(t, push("1", g))
		f.accept(t, push("2", pull(2, "aaa")))
		f.finish(t, pull(2, "").Key(), false)
		old := f.acquire(t, g.Key())
		n, err := f.Recover(f.ctx)
		if err != nil {
			t.Fatal(err)
		}
		if !f.lone {
			if n != 0 {
				t.Errorf("Recover = %d on a database that others may be at work on, want 0", n)
			}
			if err := f.Renew(f.ctx, old, time.Minute); err != nil {
				t.Errorf("Renew by a holder that may be alive: %v", err)
			}
			return
		}
		if n != 1 {
			t.Errorf("Recover = %d, want 1", n)
		}
		wantErr(t, "Renew by the dead", f.Renew(f.ctx, old, time.Minute), ports.ErrLeaseLost)
		f.acquire(t, g.Key())
		if st := f.state(t, g.Key()); st.Crashes != 1 {
			t.Errorf("crashes = %d, want 1", st.Crashes)
		}
		f.wantJobs(t, 2, "after it recovered")
	},
}

var queueTests = map[string]func(*testing.T, *fixture){
	"works each kind of job": func(t *testing.T, f *fixture) {
		rr := ports.Rerequest{Installation: 5, RepoID: repoID, Owner: "acme", Name: "shop", HeadSHA: "aaa", Numbers: []int{1, 2}}
		f.accept(t, push("1", pull(1, "aaa")))
		f.accept(t, comment("2", 100, pull(2, "bbb")))
		f.accept(t, ports.Delivery{GUID: "3", Event: "check_run", Asks: []ports.Ask{rr}})
		news := ports.ReportNews{Target: pull(3, ""), Author: "alice"}
		f.accept(t, ports.Delivery{GUID: "4", Event: "issue_comment", Asks: []ports.Ask{news}})
		var mu sync.Mutex
		got := map[ports.JobKind]ports.Job{}
		f.work(t, func(ctx context.Context, j ports.Job) error {
			mu.Lock()
			defer mu.Unlock()
			got[j.Kind] = j
			return nil
		})
		eventually(t, "four jobs done", func() bool { mu.Lock(); defer mu.Unlock(); return len(got) == 4 })
		read := map[ports.JobKind]any{
			ports.JobReview:    args[ports.TargetJob](t, got[ports.JobReview]),
			ports.JobCommand:   args[ports.CommandJob](t, got[ports.JobCommand]),
			ports.JobRerequest: args[ports.RerequestJob](t, got[ports.JobRerequest]),
			ports.JobReport:    args[ports.ReportJob](t, got[ports.JobReport]),
		}
		want := map[ports.JobKind]any{
			ports.JobReview:    ports.TargetJob{Key: pull(1, "").Key(), Seq: 1},
			ports.JobCommand:   ports.CommandJob{Place: ports.PlaceConversation, CommentID: 100, Delivery: "2"},
			ports.JobRerequest: ports.RerequestJob{Rerequest: rr, Delivery: "3"},
			ports.JobReport:    ports.ReportJob{Report: news, Delivery: "4"},
		}
		if diff := cmp.Diff(want, read); diff != "" {
			t.Errorf("args of jobs (-want +got):\n%s", diff)
		}
		for kind, j := range got {
			if j.Attempt != 1 {
				t.Errorf("%s: attempt %d, want 1", kind, j.Attempt)
			}
		}
	},
	"wakes at once": func(t *testing.T, f *fixture) {
		worked := make(chan time.Time, 1)
		f.work(t, func(context.Context, ports.Job) error { worked <- time.Now(); return nil })
		fastest := time.Hour
		for i := range 20 {
			start := time.Now()
			f.accept(t, push(guid(i), pull(i, "aaa")))
			fastest = min(fastest, (<-worked).Sub(start))
		}
		// If the queue only polled, a job would wait half a second on average.
		if fastest > 100*time.Millisecond {
			t.Errorf("the fastest of 20 jobs began %s after its delivery", fastest)
		}
	},
	"does all that was asked, one run at a time": func(t *testing.T, f *fixture) {
		const targets = 5
		asks := sample.Size(20, 40)
		var busy [targets + 1]atomic.Int64
		var runs atomic.Int64
		f.work(t, finishTargets(f.Store, func(st ports.TargetState) {
			if busy[st.Number].Add(1) > 1 {
				t.Errorf("two runs at work on %s", st.Key())
			}
			runs.Add(1)
			time.Sleep(2 * time.Millisecond)
			busy[st.Number].Add(-1)
		}))
		var wg sync.WaitGroup
		for i := range asks {
			wg.Go(func() {
				for n := 1; n <= targets; n++ {
					f.accept(t, push(guid(i*100+n), pull(n, guid(i*100+n)))) // a head of its own: leaving a shared head would ask for reviews of the others
				}
			})
		}
		wg.Wait()
		for n := 1; n <= targets; n++ {
			eventually(t, "all generations done", func() bool {
				st := f.state(t, pull(n, "").Key())
				return st.Wanted == int64(asks) && st.Done == int64(asks)
			})
		}
		if int(runs.Load()) >= targets*asks {
			t.Errorf("%d runs for %d asks: nothing was coalesced", runs.Load(), targets*asks)
		}
	},
	"tries again after the delay that the worker asks for": func(t *testing.T, f *fixture) {
		var mu sync.Mutex
		var attempts []int
		f.work(t, func(ctx context.Context, j ports.Job) error {
			mu.Lock()
			defer mu.Unlock()
			attempts = append(attempts, j.Attempt)
			if len(attempts) < 3 {
				return &ports.RetryError{After: time.Millisecond, Err: errors.New("limited")}
			}
			return nil
		})
		f.accept(t, comment("1", 100, pull(1, "")))
		eventually(t, "three attempts", func() bool { mu.Lock(); defer mu.Unlock(); return len(attempts) == 3 })
		if diff := cmp.Diff([]int{1, 2, 3}, attempts); diff != "" {
			t.Errorf("attempts (-want +got):\n%s", diff)
		}
	},
	"a new ask does not wait for a retry": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		var calls atomic.Int64
		finish := finishTargets(f.Store, func(ports.TargetState) {})
		f.work(t, func(ctx context.Context, j ports.Job) error {
			if calls.Add(1) > 1 {
				return finish(ctx, j)
			}
			l, _, err := f.Acquire(ctx, keyOf(j), "worker", time.Minute)
			if err == nil {
				_, err = f.Failed(ctx, l)
			}
			return &ports.RetryError{After: time.Hour, Err: errors.Join(err, errors.New("GitHub is down"))}
		})
		f.accept(t, push("1", g))
		eventually(t, "a failed attempt", func() bool { return f.state(t, g.Key()).Attempts == 1 })
		eventually(t, "put off", func() bool { f.clock.pass(2 * time.Minute); _, err := f.Rescue(f.ctx); return err == nil })
		if n := calls.Load(); n != 1 {
			t.Errorf("%d attempts, want 1: the rescue defeats the backoff", n)
		}
		f.accept(t, push("2", g))
		eventually(t, "done", func() bool { st := f.state(t, g.Key()); return st.Done == st.Wanted })
	},
	"gives up on other errors, and a redelivery asks again": func(t *testing.T, f *fixture) {
		var calls atomic.Int64
		f.work(t, func(context.Context, ports.Job) error {
			calls.Add(1)
			return errors.New("no such comment")
		})
		d := comment("1", 100, pull(1, ""))
		f.accept(t, d)
		eventually(t, "given up, and a redelivery counts", func() bool {
			a, err := f.Accept(f.ctx, d)
			return err == nil && !a.Duplicate
		})
		eventually(t, "worked again", func() bool { return calls.Load() == 2 })
	},
	"survives a panic": func(t *testing.T, f *fixture) {
		done := make(chan struct{})
		f.work(t, func(_ context.Context, j ports.Job) error {
			if j.Kind == ports.JobCommand {
				panic("at the disco")
			}
			close(done)
			return nil
		})
		f.accept(t, comment("1", 100, pull(1, "")))
		f.accept(t, push("2", pull(2, "aaa")))
		<-done
	},
	"takes up a target whose holder died while it runs": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		f.accept(t, push("1", g))
		f.work(t, func(ctx context.Context, j ports.Job) error {
			return finishTargets(f.Store, func(ports.TargetState) {})(ctx, j)
		})
		eventually(t, "first done", func() bool { return f.state(t, g.Key()).Done == 1 })
		dead := f.acquire(t, g.Key())
		f.accept(t, push("2", g)) // its job ends because the lease is taken
		f.clock.pass(2 * time.Minute)
		eventually(t, "second done", func() bool { return f.state(t, g.Key()).Done == 2 })
		wantErr(t, "Renew by the dead", f.Renew(f.ctx, dead, time.Minute), ports.ErrLeaseLost)
	},
	"stop waits, then cancels, and nothing is lost": func(t *testing.T, f *fixture) {
		started := make(chan struct{}, 1)
		q, err := store.NewQueue(f.Store, workerFunc(func(ctx context.Context, j ports.Job) error {
			started <- struct{}{}
			<-ctx.Done()
			return ctx.Err()
		}), store.QueueOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := q.Start(f.ctx); err != nil {
			t.Fatal(err)
		}
		f.accept(t, push("1", pull(1, "aaa")))
		<-started
		ctx, cancel := context.WithTimeout(f.ctx, 50*time.Millisecond)
		defer cancel()
		if err := q.Stop(ctx); err != nil {
			t.Fatal(err)
		}
		f.wantJobs(t, 1, "after a hard stop")
		f.work(t, finishTargets(f.Store, func(ports.TargetState) {}))
		eventually(t, "done after a new start", func() bool { return f.state(t, pull(1, "").Key()).Done == 1 })
	},
	"tells its depth": func(t *testing.T, f *fixture) {
		q, err := store.NewQueue(f.Store, nil, store.QueueOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if d, err := q.Depth(f.ctx); err != nil || d != (store.Depth{}) {
			t.Errorf("empty: %+v, %v", d, err)
		}
		f.accept(t, push("1", pull(1, "aaa")))
		f.clock.pass(time.Minute)
		f.accept(t, push("2", pull(2, "aaa")))
		f.accept(t, push("3", pull(1, "bbb")))
		if d, err := q.Depth(f.ctx); err != nil || d != (store.Depth{Available: 2, Oldest: time.Minute}) {
			t.Errorf("depth = %+v, %v; want two jobs, the oldest ask a minute old", d, err)
		}
		if err := q.Ready(f.ctx); err != nil {
			t.Errorf("Ready: %v", err)
		}
	},
}
