package storetest

import (
	"context"
	"fmt"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/app/ports"
)

// readsAll is the record of a review that reads all annotations of other Apps.
var readsAll = ports.ScansRead{Agents: []ports.ScanReader{{ID: "code-scanning", Annotations: true, Annotated: []string{"ci/lint"}}}}

// ended is a delivery that says that a check run of another App was completed.
func ended(guid, head string, annotated bool) ports.Delivery {
	return ports.Delivery{GUID: guid, Event: "check_run", Asks: []ports.Ask{ports.ScanNews{RepoID: repoID, HeadSHA: head, App: "ci", Check: "build", Annotated: annotated}}}
}

// reviewed creates a target whose review has read other Apps' findings.
func (f *fixture) reviewed(t *testing.T, g ports.Target, reads ports.ScansRead) {
	t.Helper()
	f.accept(t, push("opened "+g.Key(), g))
	if err := f.SetScans(f.ctx, g.Key(), reads); err != nil {
		t.Fatal(err)
	}
	f.finish(t, g.Key(), false)
}

func (f *fixture) askScans(t *testing.T, key string) time.Duration {
	t.Helper()
	wait, err := f.AskScans(f.ctx, key, time.Minute)
	if err != nil {
		t.Fatalf("AskScans(%s): %v", key, err)
	}
	return wait
}

// scanJobs fails unless this many jobs wait that look at other Apps' findings.
func (f *fixture) scanJobs(t *testing.T, want int) {
	t.Helper()
	var n atomic.Int32
	q, err := store.NewQueue(f.Store, workerFunc(func(_ context.Context, j ports.Job) error {
		if j.Kind == ports.JobScans {
			n.Add(1)
		}
		return nil
	}), store.QueueOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := q.Start(f.ctx); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the jobs are done", func() bool {
		d, err := q.Depth(f.ctx)
		return err == nil && d.Available+d.Running+d.Later == 0
	})
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := q.Stop(ctx); err != nil {
		t.Errorf("stop the queue: %v", err)
	}
	if int(n.Load()) != want {
		t.Errorf("%d jobs for what others found, want %d", n.Load(), want)
	}
}

var scanTests = map[string]func(*testing.T, *fixture){
	"only targets that read the findings are reviewed again": func(t *testing.T, f *fixture) {
		f.reviewed(t, pull(1, "aaa"), readsAll)
		f.reviewed(t, pull(2, "bbb"), ports.ScansRead{})
		f.reviewed(t, pull(3, "ccc"), readsAll)
		if err := f.SetClosed(f.ctx, ports.Close{Target: pull(3, "ccc")}); err != nil {
			t.Fatal(err)
		}
		for i, tt := range []struct {
			head      string
			annotated bool
			asks      bool
		}{{"aaa", true, true}, {"aaa", false, false}, {"bbb", true, false}, {"ccc", true, false}, {"ddd", true, false}} {
			if a := f.accept(t, ended(fmt.Sprint(i), tt.head, tt.annotated)); a.NoOp == tt.asks {
				t.Errorf("news of a check on %s, annotated %t: no-op %t", tt.head, tt.annotated, a.NoOp)
			}
		}
		if st := f.state(t, pull(1, "aaa").Key()); st.Wanted != 1 || !reflect.DeepEqual(st.Scans, readsAll) {
			t.Errorf("before its time: %+v", st)
		}
	},
	"several events make one job and one review": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		f.reviewed(t, g, readsAll)
		for i := range 5 {
			f.accept(t, ended(fmt.Sprint(i), "aaa", true))
		}
		if wait := f.askScans(t, g.Key()); wait != 0 {
			t.Errorf("the first waits %s", wait)
		}
		if st := f.state(t, g.Key()); st.Wanted != 2 || st.HeadSHA != "aaa" {
			t.Errorf("%+v", st)
		}
		if wait := f.askScans(t, g.Key()); wait != 0 || f.state(t, g.Key()).Wanted != 2 {
			t.Error("what was asked for is asked for again")
		}
		f.scanJobs(t, 1)
	},
	"one review in a while": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		f.reviewed(t, g, readsAll)
		f.accept(t, ended("1", "aaa", true))
		f.askScans(t, g.Key())
		f.clock.pass(20 * time.Second)
		f.accept(t, ended("2", "aaa", true))
		if wait := f.askScans(t, g.Key()); wait != 40*time.Second || f.state(t, g.Key()).Wanted != 2 {
			t.Errorf("waits %s, want 40s", wait)
		}
		f.clock.pass(40 * time.Second)
		if wait := f.askScans(t, g.Key()); wait != 0 || f.state(t, g.Key()).Wanted != 3 {
			t.Errorf("waits %s after its time", wait)
		}
	},
	"a lost job is inserted again": func(t *testing.T, f *fixture) {
		f.reviewed(t, pull(1, "aaa"), readsAll)
		f.accept(t, ended("1", "aaa", true))
		f.clock.pass(time.Hour)
		f.accept(t, ended("2", "aaa", true))
		f.scanJobs(t, 2)
	},
	"news during a review are not missed": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		f.accept(t, push("opened", g))
		if a := f.accept(t, ended("read", "aaa", true)); !a.NoOp {
			t.Errorf("of a review that has not begun: %+v", a)
		}
		if err := f.BeginScans(f.ctx, g.Key()); err != nil {
			t.Fatal(err)
		}
		if err := f.SetScans(f.ctx, g.Key(), readsAll); err != nil {
			t.Fatal(err)
		}
		if wait, err := f.AskScans(f.ctx, g.Key(), time.Minute); wait != 0 || err != nil || f.state(t, g.Key()).Wanted != 1 {
			t.Error("what was read is asked for again")
		}
		if err := f.SetScans(f.ctx, g.Key(), ports.ScansRead{}); err != nil {
			t.Fatal(err)
		}
		if err := f.BeginScans(f.ctx, g.Key()); err != nil {
			t.Fatal(err)
		}
		f.accept(t, ended("no annotation", "aaa", false))
		f.accept(t, ended("missed", "aaa", true))
		if err := f.SetScans(f.ctx, g.Key(), readsAll); err != nil {
			t.Fatal(err)
		}
		f.askScans(t, g.Key())
		if st := f.state(t, g.Key()); st.Wanted != 2 {
			t.Errorf("asked for %d times, want 2", st.Wanted)
		}
	},
	"more news than are kept count as some that matter": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		f.accept(t, push("opened", g))
		for i := range 60 {
			f.accept(t, ended(fmt.Sprint(i), "aaa", false))
		}
		if err := f.SetScans(f.ctx, g.Key(), readsAll); err != nil {
			t.Fatal(err)
		}
		f.askScans(t, g.Key())
		if st := f.state(t, g.Key()); st.Wanted != 2 {
			t.Errorf("asked for %d times, want 2", st.Wanted)
		}
	},
	"refused reads are listed once nothing is wanted": func(t *testing.T, f *fixture) {
		refused := ports.ScansRead{Agents: []ports.ScanReader{{ID: "open"}, {ID: "shut", Refused: true}}}
		f.reviewed(t, pull(1, "aaa"), refused)
		f.reviewed(t, pull(2, "bbb"), readsAll)
		f.reviewed(t, pull(3, "ccc"), refused)
		f.reviewed(t, pull(4, "ddd"), refused)
		f.reviewed(t, of(6, 78, 5, "eee"), refused)
		if err := f.SetClosed(f.ctx, ports.Close{Target: pull(3, "")}); err != nil {
			t.Fatal(err)
		}
		f.accept(t, push("more", pull(4, "fff")))
		all, err := f.RefusedScans(f.ctx, 5)
		if err != nil || len(all) != 1 || all[0].Target != pull(1, "aaa") || !reflect.DeepEqual(all[0].Scans.Refused(), []string{"shut"}) {
			t.Errorf("%+v, %v", all, err)
		}
	},
	"repositories in which they are read": func(t *testing.T, f *fixture) {
		f.reviewed(t, pull(1, "aaa"), readsAll)
		f.reviewed(t, pull(2, "bbb"), readsAll)
		f.reviewed(t, of(5, 78, 1, "ccc"), ports.ScansRead{})
		f.reviewed(t, of(5, 79, 1, "ddd"), readsAll)
		if err := f.SetClosed(f.ctx, ports.Close{Target: of(5, 79, 1, "")}); err != nil {
			t.Fatal(err)
		}
		got, err := f.ScanRepositories(f.ctx)
		if want := map[int64]bool{repoID: true}; err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%v, %v", got, err)
		}
	},
	"alerts are a pull request's": func(t *testing.T, f *fixture) {
		reads := ports.ScansRead{Agents: []ports.ScanReader{{ID: "code-scanning", Alerts: true}}}
		f.reviewed(t, pull(1, "aaa"), reads)
		f.reviewed(t, pull(2, "aaa"), readsAll)
		alert := func(guid string, number int) ports.Accepted {
			return f.accept(t, ports.Delivery{GUID: guid, Event: "code_scanning_alert", Asks: []ports.Ask{ports.ScanNews{RepoID: repoID, Number: number}}})
		}
		if alert("1", 1).NoOp || !alert("2", 2).NoOp || !alert("3", 3).NoOp {
			t.Error("an alert asks for the wrong reviews")
		}
	},
	"events of a closed pull request are dropped": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		f.reviewed(t, g, readsAll)
		f.accept(t, ended("1", "aaa", true))
		if err := f.SetClosed(f.ctx, ports.Close{Target: g}); err != nil {
			t.Fatal(err)
		}
		if wait := f.askScans(t, g.Key()); wait != 0 || !f.state(t, g.Key()).Closed {
			t.Error("a closed pull request is opened")
		}
		f.accept(t, push("reopened", g))
		f.finish(t, g.Key(), false)
		f.accept(t, ended("2", "aaa", true))
		f.askScans(t, g.Key())
		if st := f.state(t, g.Key()); st.Wanted != 3 {
			t.Errorf("of one that is open again it asked %d times, want 3", st.Wanted)
		}
		if wait, err := f.AskScans(f.ctx, "pull/9/9", time.Minute); wait != 0 || err != nil {
			t.Errorf("of one that is not known: %s, %v", wait, err)
		}
	},
}
