package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

var sweepTests = map[string]func(*testing.T, *fixture){
	"a delivery's sweep gets its job once": func(t *testing.T, f *fixture) {
		d := ports.Delivery{GUID: "s", Event: "installation", Action: "created", Asks: []ports.Ask{ports.Sweep{Installation: 5}}}
		if a := f.accept(t, d); a.NoOp || a.Key != "" {
			t.Errorf("sweep = %+v, want one that asks", a)
		}
		if a := f.accept(t, d); !a.Duplicate {
			t.Errorf("its redelivery = %+v, want a duplicate", a)
		}
		f.wantJobs(t, 1, "after a sweep and its redelivery")
	},
	"a redelivery asks for a sweep that was given up": func(t *testing.T, f *fixture) {
		var calls atomic.Int64
		f.work(t, func(_ context.Context, j ports.Job) error {
			calls.Add(1)
			return fmt.Errorf("no such installation %d", args[ports.SweepJob](t, j).Installation)
		})
		d := ports.Delivery{GUID: "s", Event: "installation", Action: "created", Asks: []ports.Ask{ports.Sweep{Installation: 5}}}
		f.accept(t, d)
		eventually(t, "given up, and a redelivery counts", func() bool {
			a, err := f.Accept(f.ctx, d)
			return err == nil && !a.Duplicate
		})
		eventually(t, "worked again", func() bool { return calls.Load() == 2 })
	},
	"at most one sweep waits beside the running one": func(t *testing.T, f *fixture) {
		ask := func(installation int64) {
			t.Helper()
			for range 3 {
				if err := f.AskSweep(f.ctx, ports.Sweep{Installation: installation}); err != nil {
					t.Fatal(err)
				}
			}
		}
		ask(5)
		ask(6)
		f.wantJobs(t, 2, "after asks for two installations")
		began, end := make(chan int64, 10), make(chan struct{})
		f.workWith(t, store.QueueOptions{Workers: 2}, func(_ context.Context, j ports.Job) error {
			began <- args[ports.SweepJob](t, j).Installation
			<-end
			return nil
		})
		if a, b := receive(t, "a sweep began", began), receive(t, "another began", began); a+b != 11 {
			t.Errorf("sweeps of %d and %d began, want 5 and 6", a, b)
		}
		ask(5) // the running sweep may already be past the reason for this ask
		f.wantJobs(t, 1, "after asks beside a sweep that runs")
		close(end)
		if got := receive(t, "a third began", began); got != 5 {
			t.Errorf("a sweep of %d began, want another of 5", got)
		}
	},
	"deliveries are missing until they come": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		var guids []string
		for i := range 1100 { // more than one transaction handles
			guids = append(guids, guid(i))
		}
		f.accept(t, push(guids[0], g))
		f.accept(t, ports.Delivery{GUID: guids[1099], Event: "ping"})
		f.accept(t, push("not asked about", g))
		if diff := cmp.Diff(guids[1:1099], f.lost(t, guids...)); diff != "" {
			t.Errorf("missing (-want +got):\n%s", diff)
		}
		f.finish(t, g.Key(), true)
		if diff := cmp.Diff(guids[:1099], f.lost(t, guids...)); diff != "" {
			t.Errorf("missing after one was given up (-want +got):\n%s", diff)
		}
		f.accept(t, push("again", g))
		f.noteLost(t, ports.LogRead{})
		if diff := cmp.Diff(guids[1:1099], f.missing(t)); diff != "" {
			t.Errorf("missing after one was asked for since (-want +got):\n%s", diff)
		}
		if at, err := f.Mark(f.ctx, ports.MarkDeliveries); err != nil || !at.Equal(f.clock.Now()) {
			t.Errorf("the log was read up to %s, %v", at, err)
		}
	},
	"the most urgent are looked for first, and each after a while": func(t *testing.T, f *fixture) {
		at := f.clock.Now()
		lost := func(guid string, urgency int, ago time.Duration) ports.LostDelivery {
			return ports.LostDelivery{Urgency: urgency, HookAttempt: ports.HookAttempt{
				ID: 5, GUID: guid, Event: "issue_comment", Action: "created", Status: 502, At: at.Add(-ago), Installation: 5, RepoID: 77,
			}}
		}
		command := lost("command", 3, time.Minute)
		f.noteLost(t, ports.LogRead{Lost: []ports.LostDelivery{lost("new", 2, time.Minute), lost("scan", 0, time.Hour), command, lost("old", 2, time.Hour)}})
		if diff := cmp.Diff([]string{"command", "old", "new", "scan"}, f.missing(t)); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
		if err := f.LookedFor(f.ctx, "command", at.Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		// The newest failed attempt is the one to ask for. If the next look reads an
		// older one again, nothing changes.
		newer := command
		newer.ID, newer.Status, newer.At = 9, 504, at
		f.noteLost(t, ports.LogRead{Lost: []ports.LostDelivery{newer, command}})
		if diff := cmp.Diff([]string{"old", "new", "scan"}, f.missing(t)); diff != "" {
			t.Errorf("after one was looked for (-want +got):\n%s", diff)
		}
		f.clock.pass(time.Minute)
		all, err := f.LostDeliveries(f.ctx, f.clock.Now(), 1)
		if err != nil {
			t.Fatal(err)
		}
		want := command
		want.ID, want.Status, want.Looks = 9, 504, 1
		if diff := cmp.Diff([]ports.LostDelivery{want}, all); diff != "" {
			t.Errorf("a minute later (-want +got):\n%s", diff)
		}
		f.noteLost(t, ports.LogRead{Before: at.Add(-time.Hour).Add(time.Second)})
		if diff := cmp.Diff([]string{"command", "new"}, f.missing(t)); diff != "" {
			t.Errorf("after the time in which GitHub sends them again (-want +got):\n%s", diff)
		}
	},
	"the number of lost deliveries is bounded": func(t *testing.T, f *fixture) {
		sample.Variant(t)
		const most, over = 20_000, 5
		read := ports.LogRead{UpTo: f.clock.Now()}
		for i := range most + over {
			read.Lost = append(read.Lost, ports.LostDelivery{Urgency: min(i, 1), HookAttempt: ports.HookAttempt{
				ID: int64(i), GUID: fmt.Sprintf("%06d", i), Event: "push", At: f.clock.Now().Add(time.Duration(i) * time.Second),
			}})
		}
		if dropped, err := f.AddLostDeliveries(f.ctx, read); err != nil || dropped != over {
			t.Errorf("dropped %d, %v; want %d", dropped, err, over)
		}
		all, err := f.LostDeliveries(f.ctx, f.clock.Now(), most+over)
		if err != nil {
			t.Fatal(err)
		}
		if first, last := all[0].GUID, all[len(all)-1].GUID; len(all) != most || first != "000001" || last != "020000" {
			t.Errorf("%d from %s to %s are kept", len(all), first, last)
		}
	},
	"marks move": func(t *testing.T, f *fixture) {
		if at, err := f.Mark(f.ctx, "log"); err != nil || !at.IsZero() {
			t.Errorf("before any: %s, %v; want the zero time", at, err)
		}
		for _, want := range []time.Time{f.clock.Now(), f.clock.Now().Add(-time.Hour)} {
			if err := f.SetMark(f.ctx, "log", want); err != nil {
				t.Fatal(err)
			}
			if at, err := f.Mark(f.ctx, "log"); err != nil || !at.Equal(want) {
				t.Errorf("mark = %s, %v; want %s", at, err, want)
			}
		}
		if at, _ := f.Mark(f.ctx, "other"); !at.IsZero() {
			t.Errorf("another mark is %s", at)
		}
	},
	"orphans are of each repository once": func(t *testing.T, f *fixture) {
		in := func(repo int64, number int, head string) ports.Target {
			g := pull(number, head)
			g.RepoID = repo
			return g
		}
		open := func(g ports.Target, head string) {
			t.Helper()
			l := f.acquire(t, g.Key())
			_, err := f.Intend(f.ctx, l, ports.Write{Kind: ports.WriteCheck, Subject: fmt.Sprintf("%d/%s", g.RepoID, head), Key: g.Key(), HeadSHA: head})
			if err := errors.Join(err, f.Release(f.ctx, l)); err != nil {
				t.Fatal(err)
			}
		}
		for i, g := range []ports.Target{in(1, 1, "aaa"), in(1, 2, "bbb"), in(2, 1, "ccc"), in(3, 1, "ddd"), in(4, 1, "eee")} {
			f.accept(t, push(guid(i), g))
			open(g, g.HeadSHA)
		}
		if got, err := f.Orphans(f.ctx); err != nil || len(got) != 0 {
			t.Errorf("with each head open: %v, %v; want none", got, err)
		}
		for _, g := range []ports.Target{in(1, 1, ""), in(1, 2, ""), in(3, 1, "")} {
			if err := f.SetClosed(f.ctx, ports.Close{Target: g}); err != nil {
				t.Fatal(err)
			}
		}
		open(in(4, 1, ""), "fff") // a head that no target in the store has
		got, err := f.Orphans(f.ctx)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]ports.Target{in(4, 1, "eee"), in(3, 1, "ddd"), in(1, 2, "bbb")}, got); diff != "" {
			t.Errorf("orphans (-want +got):\n%s", diff)
		}
	},
	"refusals hold until their time, and the later one stays": func(t *testing.T, f *fixture) {
		now := f.clock.Now()
		refuse := func(installation int64, d time.Duration) {
			t.Helper()
			if err := f.SetRefused(f.ctx, installation, now.Add(d)); err != nil {
				t.Fatal(err)
			}
		}
		refuse(0, time.Minute)
		refuse(5, time.Hour)
		refuse(5, time.Minute)
		refuse(6, 0)
		got, err := f.Refusals(f.ctx)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[int64]time.Time{0: now.Add(time.Minute), 5: now.Add(time.Hour)}, got); diff != "" {
			t.Errorf("refusals (-want +got):\n%s", diff)
		}
		f.clock.pass(time.Minute)
		refuse(7, 2*time.Minute)
		if got, _ = f.Refusals(f.ctx); len(got) != 2 || got[7].IsZero() || got[5].IsZero() {
			t.Errorf("a minute later: %v, want those of 5 and 7", got)
		}
	},
	"an overdue generation is noted until a result takes its place, or it is finished": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		note := func() {
			t.Helper()
			want := ports.Overdue{Generation: 1, Attempts: 3}
			if err := f.SetOverdue(f.ctx, g.Key(), want); err != nil {
				t.Fatal(err)
			}
			if got := f.state(t, g.Key()); got.Overdue != want || got.Result != "" {
				t.Errorf("noted: %+v, result %q", got.Overdue, got.Result)
			}
		}
		for i, done := range []func(){
			func() { f.finish(t, g.Key(), false) },
			func() { f.finish(t, g.Key(), true) },
			func() {
				if err := f.SetResult(f.ctx, g.Key(), ""); err != nil {
					t.Fatal(err)
				}
			},
		} {
			f.accept(t, push(guid(i), g))
			note()
			done()
			if got := f.state(t, g.Key()).Overdue; got != (ports.Overdue{}) {
				t.Errorf("%d: still noted: %+v", i, got)
			}
		}
		wantErr(t, "SetOverdue", f.SetOverdue(f.ctx, "pull/1/1", ports.Overdue{}), ports.ErrNotFound)
	},
	"what an installation was refused stays unanswered until it is asked for": func(t *testing.T, f *fixture) {
		refused, given := pull(1, "aaa"), pull(2, "bbb")
		for i, g := range []ports.Target{refused, given} {
			f.accept(t, push(guid(i), g))
		}
		if err := f.SetResult(f.ctx, refused.Key(), "the App is suspended"); err != nil {
			t.Fatal(err)
		}
		if got := f.state(t, refused.Key()).Result; got != "the App is suspended" {
			t.Errorf("result = %q", got)
		}
		f.finish(t, refused.Key(), true)
		f.finish(t, given.Key(), true)
		unanswered := func() []ports.Target {
			t.Helper()
			got, err := f.Unanswered(f.ctx, 5)
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		if diff := cmp.Diff([]ports.Target{refused}, unanswered()); diff != "" {
			t.Errorf("unanswered (-want +got):\n%s", diff)
		}
		f.accept(t, push("again", refused))
		if got := unanswered(); len(got) != 0 {
			t.Errorf("unanswered although it was asked for again: %v", got)
		}
		f.finish(t, refused.Key(), false)
		if got := f.state(t, refused.Key()).Result; got != "" {
			t.Errorf("result = %q after it was answered", got)
		}
		wantErr(t, "SetResult", f.SetResult(f.ctx, "pull/1/1", "no"), ports.ErrNotFound)
	},
}

var handOverTests = map[string]func(*testing.T, *fixture){
	"gives the lease and the target to another kind of job": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		f.accept(t, push("1", g))
		for i, kind := range []ports.JobKind{ports.JobPublish, ports.JobReview} {
			l := f.acquire(t, g.Key())
			if err := f.HandOver(f.ctx, l, kind); err != nil {
				t.Fatal(err)
			}
			f.wantJobs(t, i+2, "after a lease was handed over")
			wantErr(t, "Renew", f.Renew(f.ctx, l, time.Minute), ports.ErrLeaseLost)
		}
		if err := f.HandOver(f.ctx, f.acquire(t, g.Key()), ports.JobCommand); err == nil {
			t.Error("handed over to a command")
		}
	},
	"a rescue makes sure of a publish job too": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		f.accept(t, push("1", g))
		f.save(t, stored("run-1", g, 1, "aaa"), false)
		f.clock.pass(2 * time.Minute)
		if n, err := f.Rescue(f.ctx); n != 1 || err != nil {
			t.Fatalf("Rescue = %d, %v; want 1", n, err)
		}
		f.wantJobs(t, 2, "after a rescue of a target whose publish job waits")
	},
	"a finished review is published while all workers are busy": func(t *testing.T, f *fixture) {
		busy, published := make(chan struct{}), make(chan string, 1)
		var running atomic.Int64
		f.work(t, func(ctx context.Context, j ports.Job) error {
			if j.Kind == ports.JobPublish {
				published <- keyOf(j)
				return nil
			}
			running.Add(1)
			select {
			case <-busy:
			case <-ctx.Done():
			}
			return nil
		})
		defer close(busy)
		for i := range 20 {
			f.accept(t, push(guid(i), pull(i, guid(i))))
		}
		eventually(t, "all workers at work", func() bool { return running.Load() == 8 })
		f.save(t, stored("run-1", pull(1, guid(1)), 1, guid(1)), false)
		if got := receive(t, "a publish job began", published); got != pull(1, "").Key() {
			t.Errorf("%s was published, want %s", got, pull(1, "").Key())
		}
	},
	"reviews and publications take turns until all is done": func(t *testing.T, f *fixture) {
		// As in the use cases, review jobs save and publish jobs finish. Meanwhile asks
		// come in. Every tenth publication finds GitHub down once.
		targets, asks := 4, sample.Size(20, 30)
		var runs atomic.Int64
		var failures sync.Map
		down := func(key string, generation int64) bool {
			_, failed := failures.LoadOrStore(fmt.Sprint(key, generation), true)
			return generation%10 == 0 && !failed
		}
		f.work(t, func(ctx context.Context, j ports.Job) error {
			l, ok, err := f.Acquire(ctx, keyOf(j), "worker", time.Minute)
			if err != nil || !ok {
				return err
			}
			r, err := f.UnpublishedReview(ctx, keyOf(j))
			if err != nil {
				return err
			}
			switch {
			case j.Kind == ports.JobReview && r == nil:
				return reviewOnce(ctx, f.Store, l, runs.Add(1))
			case j.Kind == ports.JobReview:
				return f.HandOver(ctx, l, ports.JobPublish)
			case r == nil:
				return f.HandOver(ctx, l, ports.JobReview)
			case down(keyOf(j), r.Generation):
				_, err := f.Failed(ctx, l)
				return &ports.RetryError{After: time.Millisecond, Err: errors.Join(err, errors.New("GitHub is down"))}
			}
			return publishOnce(ctx, f.Store, l, r)
		})
		var wg sync.WaitGroup
		for n := 1; n <= targets; n++ {
			wg.Go(func() {
				for i := range asks {
					f.accept(t, push(guid(n*100+i), pull(n, fmt.Sprint(n))))
					if i%10 == 9 { // let a run go on, so that asks come at any point of it
						time.Sleep(20 * time.Millisecond)
					}
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
	},
}

// reviewOnce reviews a target whose lease is held.
func reviewOnce(ctx context.Context, s *store.Store, l ports.Lease, run int64) error {
	st, err := s.Target(ctx, l.Key)
	if err != nil {
		return err
	}
	if st.Wanted == st.Done {
		_, err := s.Finish(ctx, l, st.Done, st.GaveUp)
		return err
	}
	return s.SaveReview(ctx, l, stored(fmt.Sprint("run-", run), st.Target, st.Wanted, st.HeadSHA))
}

// publishOnce publishes a review under the lease of its target.
func publishOnce(ctx context.Context, s *store.Store, l ports.Lease, r *ports.StoredReview) error {
	if err := s.MarkPublished(ctx, r.RunID); err != nil {
		return err
	}
	more, err := s.Finish(ctx, l, r.Generation, false)
	if err != nil || !more {
		return err
	}
	return s.HandOver(ctx, l, ports.JobReview)
}

var periodicTests = map[string]func(*testing.T, *fixture){
	"begins at the start, and again, and never piles up": func(t *testing.T, f *fixture) {
		end := make(chan struct{})
		var mu sync.Mutex
		begun := map[ports.JobKind]int{}
		f.workWith(t, store.QueueOptions{Periodic: []store.Periodic{
			{Kind: ports.JobDeliveries, Every: time.Second}, {Kind: ports.JobSweep, Every: time.Second},
		}}, func(_ context.Context, j ports.Job) error {
			mu.Lock()
			begun[j.Kind]++
			mu.Unlock()
			if j.Kind == ports.JobSweep { // it still runs when the next one is due
				<-end
			}
			return nil
		})
		defer close(end)
		eventually(t, "the log read three times", func() bool { mu.Lock(); defer mu.Unlock(); return begun[ports.JobDeliveries] >= 3 })
		mu.Lock()
		defer mu.Unlock()
		if begun[ports.JobSweep] != 1 {
			t.Errorf("%d sweeps were begun while one ran, want 1", begun[ports.JobSweep])
		}
	},
	"invalid ones are refused": func(t *testing.T, f *fixture) {
		for _, p := range []store.Periodic{{Kind: ports.JobReview, Every: time.Minute}, {Kind: ports.JobSweep}} {
			if _, err := store.NewQueue(f.Store, nil, store.QueueOptions{Periodic: []store.Periodic{p}}); err == nil {
				t.Errorf("%+v was taken", p)
			}
		}
	},
}

// noteLost stores what the delivery log shows.
func (f *fixture) noteLost(t *testing.T, read ports.LogRead) {
	t.Helper()
	read.UpTo = f.clock.Now()
	if _, err := f.AddLostDeliveries(f.ctx, read); err != nil {
		t.Fatal(err)
	}
}

// missing returns the GUIDs of the deliveries to ask for now.
func (f *fixture) missing(t *testing.T) (guids []string) {
	t.Helper()
	all, err := f.LostDeliveries(f.ctx, f.clock.Now(), 100_000)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		guids = append(guids, d.GUID)
	}
	return guids
}

// lost records deliveries as failed, and returns all that are missing.
func (f *fixture) lost(t *testing.T, guids ...string) []string {
	t.Helper()
	var read ports.LogRead
	for i, g := range guids {
		read.Lost = append(read.Lost, ports.LostDelivery{HookAttempt: ports.HookAttempt{
			ID: int64(i + 1), GUID: g, Event: "push", Status: 502, At: f.clock.Now(), Installation: 5, RepoID: 77,
		}})
	}
	f.noteLost(t, read)
	return f.missing(t)
}
