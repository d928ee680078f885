package storetest

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
)

var leaseTests = map[string]func(*testing.T, *fixture){
	"has one holder": func(t *testing.T, f *fixture) {
		var held atomic.Int64
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				_, ok, err := f.Acquire(f.ctx, "pull/77/1", "process-1", time.Minute)
				if err != nil {
					t.Error(err)
				}
				if ok {
					held.Add(1)
				}
			})
		}
		wg.Wait()
		if held.Load() != 1 {
			t.Errorf("%d hold it, want 1", held.Load())
		}
	},
	"is free again once released, and its token grows": func(t *testing.T, f *fixture) {
		var last int64
		for range 3 {
			l := f.acquire(t, "pull/77/1")
			if l.Token <= last {
				t.Errorf("token %d after %d", l.Token, last)
			}
			last = l.Token
			if err := f.Release(f.ctx, l); err != nil {
				t.Fatal(err)
			}
		}
	},
	"expires": func(t *testing.T, f *fixture) {
		old := f.acquire(t, "pull/77/1")
		f.clock.pass(59 * time.Second)
		if _, ok, _ := f.Acquire(f.ctx, "pull/77/1", "process-2", time.Minute); ok {
			t.Fatal("taken before it expired")
		}
		if err := f.Renew(f.ctx, old, time.Minute); err != nil {
			t.Fatal(err)
		}
		f.clock.pass(59 * time.Second)
		if _, ok, _ := f.Acquire(f.ctx, "pull/77/1", "process-2", time.Minute); ok {
			t.Fatal("taken although it was renewed")
		}
		f.clock.pass(time.Second)
		l, ok, err := f.Acquire(f.ctx, "pull/77/1", "process-2", time.Minute)
		if err != nil || !ok || l.Token <= old.Token {
			t.Fatalf("Acquire = %+v, %v, %v; want a greater token", l, ok, err)
		}
		if err := f.Release(f.ctx, old); err != nil {
			t.Errorf("Release of a lost lease: %v", err)
		}
		if err := f.Renew(f.ctx, l, time.Minute); err != nil {
			t.Errorf("the new holder lost it to the old one's release: %v", err)
		}
	},
	"once lost stores nothing": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		f.accept(t, push("1", g))
		stale := f.acquire(t, g.Key())
		f.clock.pass(2 * time.Minute)
		now := f.acquire(t, g.Key())

		wantErr(t, "Renew", f.Renew(f.ctx, stale, time.Minute), ports.ErrLeaseLost)
		wantErr(t, "SaveReview", f.SaveReview(f.ctx, stale, stored("run-1", g, 1, "aaa")), ports.ErrLeaseLost)
		_, err := f.Intend(f.ctx, stale, ports.Write{Kind: ports.WriteComment, Subject: g.Key(), Key: g.Key()})
		wantErr(t, "Intend", err, ports.ErrLeaseLost)
		_, err = f.Finish(f.ctx, stale, 1, false)
		wantErr(t, "Finish", err, ports.ErrLeaseLost)
		_, err = f.Failed(f.ctx, stale)
		wantErr(t, "Failed", err, ports.ErrLeaseLost)
		wantErr(t, "HandOver", f.HandOver(f.ctx, stale, ports.JobReview), ports.ErrLeaseLost)

		if st := f.state(t, g.Key()); st.Done != 0 || st.Attempts != 0 || st.Crashes != 1 {
			t.Errorf("state = %+v, want nothing done and one crash", st)
		}
		if w, _ := f.NewestWrite(f.ctx, ports.WriteComment, g.Key()); w != nil {
			t.Errorf("a stale intent was stored: %+v", w)
		}
		if err := f.SaveReview(f.ctx, now, stored("run-2", g, 1, "aaa")); err != nil {
			t.Errorf("the holder can't save: %v", err)
		}
	},
	"outlives its expiry if nobody takes it": func(t *testing.T, f *fixture) {
		l := f.acquire(t, "pull/77/1")
		f.clock.pass(time.Hour)
		if err := f.Renew(f.ctx, l, time.Minute); err != nil {
			t.Error(err)
		}
	},
	"does not finish what was not asked for": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		f.accept(t, push("1", g))
		if _, err := f.Finish(f.ctx, f.acquire(t, g.Key()), 2, false); err == nil {
			t.Error("generation 2 of 1 finished")
		}
	},
	"finish sees each ask or leaves it to a job": func(t *testing.T, f *fixture) {
		// Asks race with a run that finishes again and again. No worker takes jobs, so
		// an ask that the last Finish did not see must have added a job.
		g := pull(1, "aaa")
		f.accept(t, push("first", g))
		var asks sync.WaitGroup
		for i := range 50 {
			asks.Go(func() { f.accept(t, push(guid(i), g)) })
		}
		var jobs int
		for range 20 {
			l := f.acquire(t, g.Key())
			for more := true; more; {
				jobs = f.jobs(t)
				var err error
				if more, err = f.Finish(f.ctx, l, f.state(t, g.Key()).Wanted, false); err != nil {
					t.Fatal(err)
				}
			}
		}
		asks.Wait()
		st := f.state(t, g.Key())
		if st.Wanted != 51 {
			t.Errorf("wanted = %d, want 51", st.Wanted)
		}
		if now := f.jobs(t); st.Wanted > st.Done && now <= jobs {
			t.Errorf("generation %d is wanted, %d is done, and %d jobs are there as before", st.Wanted, st.Done, now)
		}
	},
}
