package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ports"
)

func debt(key string) ports.Deferred {
	return ports.Deferred{Kind: ports.DeferredDebt, Key: key, Path: "a.go", Subject: "s", Title: "t " + key, Body: "b"}
}

// issuesLease takes the lease of a repository's issues.
func (f *fixture) issuesLease(t *testing.T) ports.Lease {
	t.Helper()
	l, ok, err := f.Acquire(f.ctx, "issues/77", "me", time.Minute)
	if err != nil || !ok {
		t.Fatalf("Acquire = %v, %v", ok, err)
	}
	return l
}

func (f *fixture) note(t *testing.T, l ports.Lease, number int, seen ...ports.Deferred) {
	t.Helper()
	if _, err := f.NoteDeferred(f.ctx, l, ports.DeferredNews{RepoID: repoID, Number: number, Seen: seen}); err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) changed(t *testing.T) []ports.Deferred {
	t.Helper()
	all, _, err := f.ChangedDeferred(f.ctx, repoID)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var deferredTests = map[string]func(*testing.T, *fixture){
	"is taken in once and counted up by other merges": func(t *testing.T, f *fixture) {
		l := f.issuesLease(t)
		for range 2 {
			f.note(t, l, 1, debt("x"), debt("y"))
		}
		again := debt("x")
		again.Path, again.Subject, again.Title, again.Body = "b.go", "s2", "t2", "b2"
		for range 2 {
			f.note(t, l, 2, again)
		}
		got := f.changed(t)
		if len(got) != 2 {
			t.Fatalf("%d are deferred, want 2: %+v", len(got), got)
		}
		want := again
		want.ID, want.RepoID, want.State, want.Changed, want.Seen, want.Pulls = got[0].ID, repoID, ports.DeferredWaiting, true, 2, []int{1, 2}
		if diff := cmp.Diff(want, got[0]); diff != "" {
			t.Errorf("deferred (-want +got):\n%s", diff)
		}
		for n := range 12 {
			f.note(t, l, 10+n, again)
		}
		got = f.changed(t)
		if got[0].Seen != 14 || len(got[0].Pulls) != ports.MaxDeferredPulls || got[0].Pulls[ports.MaxDeferredPulls-1] != 21 {
			t.Errorf("seen %d times, last in %v", got[0].Seen, got[0].Pulls)
		}
	},
	"what no merge adds is renewed and resolved": func(t *testing.T, f *fixture) {
		l := f.issuesLease(t)
		d := ports.Deferred{Kind: ports.DeferredProbation, Key: "x", Title: "t", Body: "b"}
		for range 2 {
			f.note(t, l, 0, d)
		}
		got := f.changed(t)
		if len(got) != 1 || got[0].Seen != 1 || len(got[0].Pulls) != 0 || got[0].ResolvedIn != 0 {
			t.Fatalf("deferred %+v", got)
		}
		settled := got[0]
		settled.State, settled.Changed, settled.Number = ports.DeferredOpen, false, 4
		if err := f.RecordDeferred(f.ctx, settled); err != nil {
			t.Fatal(err)
		}
		f.note(t, l, 0, d)
		if got := f.changed(t); len(got) != 0 {
			t.Errorf("the same again: %+v", got)
		}
		if _, err := f.NoteDeferred(f.ctx, l, ports.DeferredNews{RepoID: repoID, Gone: []int64{settled.ID}}); err != nil {
			t.Fatal(err)
		}
		if got := f.changed(t); len(got) != 1 || got[0].ResolvedIn != ports.ResolvedOtherwise {
			t.Errorf("resolved: %+v", got)
		}
		d.Body = "b2"
		f.note(t, l, 0, d)
		if got := f.changed(t); len(got) != 1 || got[0].ResolvedIn != 0 || got[0].Body != "b2" || got[0].Seen != 1 {
			t.Errorf("again: %+v", got)
		}
	},
	"goes from waiting to closed, and open again": func(t *testing.T, f *fixture) {
		l := f.issuesLease(t)
		f.note(t, l, 1, debt("x"))
		d := f.changed(t)[0]
		if ok, err := f.IntendDeferred(f.ctx, l, d, 1, f.clock.Now().Add(-time.Hour)); err != nil || !ok {
			t.Fatalf("IntendDeferred = %v, %v", ok, err)
		}
		d = f.changed(t)[0]
		if d.State != ports.DeferredIntended || !d.IntendedAt.Equal(f.clock.Now()) {
			t.Errorf("after the intent: %+v", d)
		}
		if _, newest, err := f.ChangedDeferred(f.ctx, repoID); err != nil || !newest.IsZero() {
			t.Errorf("one that may not be there is the newest, of %s, %v", newest, err)
		}
		d.State, d.Number, d.Digest, d.Changed = ports.DeferredOpen, 12, "d", false
		if err := f.RecordDeferred(f.ctx, d); err != nil {
			t.Fatal(err)
		}
		if all, newest, _ := f.ChangedDeferred(f.ctx, repoID); len(all) != 0 || !newest.Equal(f.clock.Now()) {
			t.Errorf("after it was written: %+v, the newest of %s", all, newest)
		}
		gone := ports.DeferredNews{RepoID: repoID, Number: 2, Gone: []int64{d.ID}, Moved: map[int64]string{d.ID: "moved.go"}}
		if _, err := f.NoteDeferred(f.ctx, l, gone); err != nil {
			t.Fatal(err)
		}
		if d = f.changed(t)[0]; d.ResolvedIn != 2 || d.Path != "moved.go" {
			t.Errorf("after it was resolved: %+v", d)
		}
		d.State, d.Changed = ports.DeferredClosed, false
		if err := f.RecordDeferred(f.ctx, d); err != nil {
			t.Fatal(err)
		}
		if live, _ := f.LiveDeferred(f.ctx, repoID); len(live) != 0 {
			t.Errorf("a closed one is live: %+v", live)
		}
		f.note(t, l, 3, debt("x"))
		if d = f.changed(t)[0]; d.ResolvedIn != 0 || d.Number != 12 || d.Seen != 2 || d.State != ports.DeferredClosed {
			t.Errorf("seen again: %+v", d)
		}
		d.State = ports.DeferredLeft
		if err := f.RecordDeferred(f.ctx, d); err != nil {
			t.Fatal(err)
		}
		f.note(t, l, 4, debt("x"))
		if all := f.changed(t); len(all) != 0 {
			t.Errorf("what was left is to be told: %+v", all)
		}
		wantErr(t, "RecordDeferred of nothing", f.RecordDeferred(f.ctx, ports.Deferred{ID: 12345}), ports.ErrNotFound)
	},
	"what waits is forgotten when it is resolved": func(t *testing.T, f *fixture) {
		l := f.issuesLease(t)
		f.note(t, l, 1, debt("x"))
		id := f.changed(t)[0].ID
		if _, err := f.NoteDeferred(f.ctx, l, ports.DeferredNews{RepoID: repoID, Number: 2, Gone: []int64{id}}); err != nil {
			t.Fatal(err)
		}
		if live, _ := f.LiveDeferred(f.ctx, repoID); len(live) != 0 {
			t.Errorf("left over: %+v", live)
		}
	},
	"no more are intended in a day than the limit": func(t *testing.T, f *fixture) {
		l := f.issuesLease(t)
		f.note(t, l, 1, debt("x"), debt("y"), debt("z"))
		all := f.changed(t)
		intend := func(i int) bool {
			ok, err := f.IntendDeferred(f.ctx, l, all[i], 2, f.clock.Now().Add(-24*time.Hour))
			if err != nil {
				t.Fatal(err)
			}
			return ok
		}
		if !intend(0) || !intend(1) || intend(2) {
			t.Error("not two of three were intended")
		}
		f.clock.pass(24*time.Hour + time.Second)
		l = f.issuesLease(t)
		if !intend(2) {
			t.Error("the third can't be intended a day later")
		}
	},
	"is bounded": func(t *testing.T, f *fixture) {
		l := f.issuesLease(t)
		news := ports.DeferredNews{RepoID: repoID, Number: 1}
		for i := range ports.MaxDeferred + 2 {
			news.Seen = append(news.Seen, debt(fmt.Sprint(i)))
		}
		if dropped, err := f.NoteDeferred(f.ctx, l, news); err != nil || dropped != 2 {
			t.Errorf("%d dropped, %v; want 2", dropped, err)
		}
		if live, _ := f.LiveDeferred(f.ctx, repoID); len(live) != ports.MaxDeferred {
			t.Errorf("%d are live", len(live))
		}
	},
	"needs the lease": func(t *testing.T, f *fixture) {
		l := f.issuesLease(t)
		f.note(t, l, 1, debt("x"))
		d := f.changed(t)[0]
		f.clock.pass(time.Hour)
		f.issuesLease(t)
		_, err := f.NoteDeferred(f.ctx, l, ports.DeferredNews{RepoID: repoID, Number: 2, Seen: []ports.Deferred{debt("y")}})
		wantErr(t, "NoteDeferred", err, ports.ErrLeaseLost)
		_, err = f.IntendDeferred(f.ctx, l, d, 5, f.clock.Now())
		wantErr(t, "IntendDeferred", err, ports.ErrLeaseLost)
	},
	"repositories with something to tell are listed once": func(t *testing.T, f *fixture) {
		for n := range 3 {
			f.accept(t, push(guid(n), pull(n+1, fmt.Sprintf("head%d", n))))
		}
		if all, err := f.DeferredRepositories(f.ctx); err != nil || len(all) != 0 {
			t.Errorf("before any: %+v, %v", all, err)
		}
		f.note(t, f.issuesLease(t), 1, debt("x"))
		all, err := f.DeferredRepositories(f.ctx)
		if err != nil {
			t.Fatal(err)
		}
		want := pull(0, "")
		if diff := cmp.Diff([]ports.Target{want}, all); diff != "" {
			t.Errorf("repositories (-want +got):\n%s", diff)
		}
		before := f.jobs(t)
		for range 2 {
			if err := f.AskIssues(f.ctx, ports.IssuesAsk{Target: want}); err != nil {
				t.Fatal(err)
			}
		}
		f.wantJobs(t, before+1, "after asks for one repository")
	},
	"a repository without targets is listed as it was known last": func(t *testing.T, f *fixture) {
		for n := range 2 {
			g := pull(n+1, fmt.Sprintf("head%d", n))
			f.accept(t, push(guid(n), g))
			f.finish(t, g.Key(), false)
			f.accept(t, ports.Delivery{GUID: "closed " + g.Key(), Event: "pull_request", Action: "closed", Asks: []ports.Ask{ports.Close{Target: g}}})
		}
		f.note(t, f.issuesLease(t), 1, debt("x"))
		f.clock.pass(31 * aDay)
		for left := range 2 {
			if ok, err := f.ForgetOutdated(f.ctx, f.acquire(t, f.outdated(t)[0]), f.clock.Now().Add(-30*aDay)); err != nil || !ok {
				t.Fatalf("%v, %v", ok, err)
			}
			all, err := f.DeferredRepositories(f.ctx)
			if diff := cmp.Diff([]ports.Target{pull(0, "")}, all); err != nil || diff != "" {
				t.Errorf("repositories, %d targets gone, %v (-want +got):\n%s", left+1, err, diff)
			}
		}
	},
	"a merge of what is known asks for issues": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		merged := ports.Close{Target: g, Merged: true}
		f.accept(t, asking("c", merged))
		f.wantJobs(t, 0, "after the merge of what is not known")
		f.accept(t, push("p", g))
		f.accept(t, asking("d", ports.Close{Target: g}))
		f.wantJobs(t, 1, "after a close without a merge")
		f.accept(t, asking("e", merged))
		f.wantJobs(t, 2, "after a merge")
	},
	"the newest review of a head counts, published or not": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		f.save(t, stored("1", g, 1, "aaa"), true)
		f.save(t, stored("2", g, 2, "bbb"), false)
		for head, want := range map[string]string{"aaa": "1", "bbb": "2"} {
			r, err := f.ReviewOfHead(f.ctx, g.Key(), head, "")
			if err != nil || r == nil || r.RunID != want {
				t.Errorf("%s: %+v, %v", head, r, err)
			}
		}
		main, release := stored("3", g, 3, "ccc"), stored("4", g, 4, "ccc")
		main.Review.Facts.Base.Ref, release.Review.Facts.Base.Ref = "main", "release"
		f.save(t, main, true)
		f.save(t, release, true)
		for base, want := range map[string]string{"main": "3", "release": "4", "": "4"} {
			r, err := f.ReviewOfHead(f.ctx, g.Key(), "ccc", base)
			if err != nil || r == nil || r.RunID != want {
				t.Errorf("into %q: %+v, %v", base, r, err)
			}
		}
		if r, err := f.ReviewOfHead(f.ctx, g.Key(), "ccc", "other"); r != nil || err != nil {
			t.Errorf("into no base: %+v, %v", r, err)
		}
		if r, err := f.ReviewOfHead(f.ctx, g.Key(), "ddd", ""); r != nil || err != nil {
			t.Errorf("of no head: %+v, %v", r, err)
		}
	},
}
