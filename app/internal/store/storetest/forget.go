package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// manyRuns is more reviews than the store deletes at once.
const manyRuns = 25

// fill stores every kind of data about a target, and finishes its generations. Unless all
// cases run, it stores only a few reviews.
func (f *fixture) fill(t *testing.T, g ports.Target, comment int64) {
	t.Helper()
	f.fillWith(t, g, comment, sample.Size(2, manyRuns))
}

// fillWith is fill with the number of reviews.
func (f *fixture) fillWith(t *testing.T, g ports.Target, comment int64, runs int) {
	t.Helper()
	key := g.Key()
	f.accept(t, push("push "+key, g))
	for i := range runs {
		r := stored(fmt.Sprintf("%s run %d", key, i), g, 1, g.HeadSHA)
		r.Config = append(r.Config, ports.ConfigBlob{Layer: "repository", Path: "own", BlobSHA: key, Text: []byte("of " + key)})
		f.save(t, r, true)
	}
	c := f.acceptedCommand(t, comment, g)
	if err := f.Obey(f.ctx, c, ports.Effect{Audit: &ports.AuditEntry{RepoID: g.RepoID, Key: key, HeadSHA: g.HeadSHA, Actor: "ann", Action: "dismiss", At: f.clock.Now()}}, nil); err != nil {
		t.Fatal(err)
	}
	l := f.acquire(t, key)
	for _, w := range []ports.Write{
		{Kind: ports.WriteCheck, Subject: fmt.Sprintf("%d/%s", g.RepoID, g.HeadSHA), Key: key, HeadSHA: g.HeadSHA},
		{Kind: ports.WriteComment, Subject: key, Key: key},
	} {
		w, err := f.Intend(f.ctx, l, w)
		if err != nil {
			t.Fatal(err)
		}
		w.State = ports.WriteCompleted
		if err := f.Record(f.ctx, w); err != nil {
			t.Fatal(err)
		}
	}
	err := errors.Join(
		f.SaveGoodLayer(f.ctx, g.RepoID, "repository", ports.GoodLayer{Source: "acme/shop", Files: []ports.ConfigBlob{{Layer: "repository", Path: "x", Text: []byte("good of " + key)}}}),
		f.SetConfigBranch(f.ctx, key, "release"),
		f.SaveInline(f.ctx, l, []ports.InlineComment{{Fingerprint: "aa", State: ports.InlineOpen}}),
		f.AddRepositoryNames(f.ctx, g.RepoID, []string{"acme/shop"}),
		f.SaveConfigBacktest(f.ctx, key, ports.ConfigBacktest{HeadSHA: g.HeadSHA}, "backtested"),
		f.NoticesWritten(f.ctx, key, []string{"backtested"}),
		f.Ask(f.ctx, ports.ReviewAsk{Target: g, Once: "again " + key}),
	)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Finish(f.ctx, l, 2, false); err != nil {
		t.Fatal(err)
	}
}

// of returns a pull request of the installation and the repository.
func of(installation, repo int64, number int, head string) ports.Target {
	g := pull(number, head)
	g.Installation, g.RepoID = installation, repo
	return g
}

// forget deletes data as the use case does.
func (f *fixture) forget(t *testing.T, what ports.Forget) {
	t.Helper()
	held, err := f.Held(f.ctx, what)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range held {
		for _, key := range h.Keys {
			if err := f.ForgetTarget(f.ctx, f.acquire(t, key)); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.ForgetRepository(f.ctx, h.Repository.RepoID); err != nil {
			t.Fatal(err)
		}
	}
	if len(what.Repos) == 0 {
		if err := f.ForgetInstallation(f.ctx, what.Installation); err != nil {
			t.Fatal(err)
		}
	}
}

// wantNothing fails if the store still has data of a target that fill filled.
func (f *fixture) wantNothing(t *testing.T, g ports.Target) {
	t.Helper()
	key := g.Key()
	if _, err := f.Target(f.ctx, key); !errors.Is(err, ports.ErrNotFound) {
		t.Errorf("%s: %v, want ErrNotFound", key, err)
	}
	r, err := f.LatestReview(f.ctx, key)
	w, werr := f.NewestWrite(f.ctx, ports.WriteComment, key)
	c, cerr := f.NewestWrite(f.ctx, ports.WriteCheck, fmt.Sprintf("%d/%s", g.RepoID, g.HeadSHA))
	branch, nerr := f.ConfigBranch(f.ctx, key)
	audit, aerr := f.Audit(f.ctx, key, 10)
	n, serr := f.CommandsSince(f.ctx, ports.Command{Target: g}, time.Unix(1, 0))
	b, berr := f.ConfigBacktest(f.ctx, key)
	if err := errors.Join(err, werr, cerr, nerr, aerr, serr, berr); err != nil {
		t.Fatal(err)
	}
	if r != nil || w != nil || c != nil || b != nil || branch != "" || len(audit) > 0 || n != (ports.CommandCount{}) {
		t.Errorf("%s has a review %v, writes %v and %v, a backtest %v, a branch %q, %d entries of the audit log, commands %+v", key, r != nil, w, c, b, branch, len(audit), n)
	}
}

// wantAll fails unless the store has the data of a target that fill filled.
func (f *fixture) wantAll(t *testing.T, g ports.Target) {
	t.Helper()
	r, err := f.LatestReview(f.ctx, g.Key())
	audit, aerr := f.Audit(f.ctx, g.Key(), 10)
	w, werr := f.NewestWrite(f.ctx, ports.WriteComment, g.Key())
	if err := errors.Join(err, aerr, werr); err != nil {
		t.Fatal(err)
	}
	if r == nil || len(r.Config) != 4 || len(audit) != 1 || w == nil {
		t.Errorf("of %s something is gone: review %v, audit %v, comment %v", g.Key(), r, audit, w)
	}
}

var forgetTests = map[string]func(*testing.T, *fixture){
	"a repository is deleted whole, and no other is": func(t *testing.T, f *fixture) {
		gone, stays := of(5, 77, 1, "aaa"), of(5, 78, 1, "aaa")
		f.fillWith(t, gone, 1, manyRuns)
		f.fill(t, stays, 2)
		for _, name := range []string{"issues refused/77", "issues refused/78"} {
			if err := f.SetMark(f.ctx, name, f.clock.Now()); err != nil {
				t.Fatal(err)
			}
		}
		f.lost(t, "of 77")
		f.forget(t, ports.Forget{Installation: 5, Repos: []int64{77, 99}})
		if left := f.missing(t); len(left) != 0 {
			t.Errorf("%v are still missing", left)
		}
		for name, want := range map[string]bool{"issues refused/77": false, "issues refused/78": true} {
			if at, err := f.Mark(f.ctx, name); err != nil || at.IsZero() == want {
				t.Errorf("mark %s: %v, %v", name, at, err)
			}
		}
		f.wantNothing(t, gone)
		f.wantAll(t, stays)
		if g, err := f.GoodLayer(f.ctx, 77, "repository"); err != nil || g != nil {
			t.Errorf("its good layer: %v, %v", g, err)
		}
		for repo, want := range map[int64]int{77: 0, 78: 1} {
			if names, err := f.RepositoryNames(f.ctx, repo); err != nil || len(names) != want {
				t.Errorf("the names of repository %d: %q, %v", repo, names, err)
			}
		}
		// A redelivery brings nothing back. A new delivery is accepted.
		if a := f.accept(t, push("push "+gone.Key(), gone)); !a.Duplicate {
			t.Errorf("a redelivery = %+v, want a duplicate", a)
		}
		f.fill(t, of(5, 77, 2, "bbb"), 3)
		f.wantAll(t, of(5, 77, 2, "bbb"))
		if a := f.accept(t, push("new", gone)); a.NoOp || a.Duplicate || f.state(t, gone.Key()).Wanted != 1 {
			t.Errorf("installed anew: %+v, %+v", a, f.state(t, gone.Key()))
		}
	},
	"an installation is deleted whole, and asks for nothing any more": func(t *testing.T, f *fixture) {
		gone, stays := of(5, 77, 1, "aaa"), of(6, 78, 1, "aaa")
		f.fill(t, gone, 1)
		f.fill(t, stays, 2)
		for i, installation := range []int64{5, 6} {
			err := errors.Join(
				f.SaveGoodLayer(f.ctx, 0, fmt.Sprintf("organisation:%d/acme", installation), ports.GoodLayer{Source: "acme/.github"}),
				f.SetMark(f.ctx, fmt.Sprintf("sweep/%d", installation), f.clock.Now()),
				f.SetRefused(f.ctx, installation, f.clock.Now().Add(time.Hour)),
			)
			if err != nil {
				t.Fatal(i, err)
			}
		}
		f.lost(t, "of 5")
		f.forget(t, ports.Forget{Installation: 5})
		f.forget(t, ports.Forget{Installation: 5}) // a redelivery
		if left := f.missing(t); len(left) != 0 {
			t.Errorf("%v are still missing", left)
		}
		f.wantNothing(t, gone)
		f.wantAll(t, stays)
		for installation, want := range map[int64]bool{5: false, 6: true} {
			g, err := f.GoodLayer(f.ctx, 0, fmt.Sprintf("organisation:%d/acme", installation))
			at, merr := f.Mark(f.ctx, fmt.Sprintf("sweep/%d", installation))
			refusals, rerr := f.Refusals(f.ctx)
			if err := errors.Join(err, merr, rerr); err != nil {
				t.Fatal(err)
			}
			if _, refused := refusals[installation]; (g != nil) != want || at.IsZero() == want || refused != want {
				t.Errorf("installation %d: layer %v, mark %v, refused %v", installation, g, at, refused)
			}
		}
		late := push("late", gone)
		if a := f.accept(t, late); !a.NoOp {
			t.Errorf("old news of it = %+v, want a no-op", a)
		}
		anew := push("anew", of(7, 77, 1, "aaa"))
		anew.Installation = 7
		if a := f.accept(t, anew); a.NoOp || f.state(t, gone.Key()).Wanted != 1 {
			t.Errorf("installed anew: %+v, %+v", a, f.state(t, gone.Key()))
		}
	},
	"what came to another installation is kept": func(t *testing.T, f *fixture) {
		g := of(5, 77, 1, "aaa")
		f.fill(t, g, 1)
		moved := push("moved", of(6, 77, 1, "aaa"))
		moved.Installation = 6
		f.accept(t, moved)
		f.forget(t, ports.Forget{Installation: 5})
		f.wantAll(t, g)
		if st := f.state(t, g.Key()); st.Installation != 6 || st.Wanted != 3 {
			t.Errorf("target %+v", st)
		}
	},
	"nothing is deleted without the lease": func(t *testing.T, f *fixture) {
		g := of(5, 77, 1, "aaa")
		f.fill(t, g, 1)
		old := f.acquire(t, g.Key())
		f.clock.pass(time.Hour)
		f.acquire(t, g.Key())
		wantErr(t, "ForgetTarget with a lost lease", f.ForgetTarget(f.ctx, old), ports.ErrLeaseLost)
		f.wantAll(t, g)
	},
	"a lease that was deleted is never that of its old holder": func(t *testing.T, f *fixture) {
		g := of(5, 77, 1, "aaa")
		f.fill(t, g, 1)
		l := f.acquire(t, g.Key())
		if err := f.ForgetTarget(f.ctx, l); err != nil {
			t.Fatal(err)
		}
		f.clock.pass(time.Millisecond)
		f.accept(t, push("new", g))
		f.acquire(t, g.Key())
		wantErr(t, "Renew of the old lease", f.Renew(f.ctx, l, time.Minute), ports.ErrLeaseLost)
	},
	"a check that another target still uses stays": func(t *testing.T, f *fixture) {
		for i, tt := range []struct {
			name       string
			repo       int64 // added to the id of the forgotten target's repository
			head       string
			closed     bool
			checkStays bool
		}{
			{"open", 0, "aaa", false, true},
			{"closed", 0, "aaa", true, false},
			{"on another head", 0, "bbb", false, false},
			{"of another repository", 1, "aaa", false, false},
		} {
			repo := int64(100 + 10*i)
			one, two := of(5, repo, 1, "aaa"), of(5, repo+tt.repo, 2, tt.head)
			f.fill(t, one, int64(i+1))
			f.accept(t, push("two "+tt.name, two))
			if tt.closed {
				if err := f.SetClosed(f.ctx, ports.Close{Target: two}); err != nil {
					t.Fatal(err)
				}
			}
			if err := f.ForgetTarget(f.ctx, f.acquire(t, one.Key())); err != nil {
				t.Fatal(err)
			}
			w, err := f.NewestWrite(f.ctx, ports.WriteCheck, fmt.Sprintf("%d/aaa", repo))
			if err != nil || (w != nil) != tt.checkStays {
				t.Errorf("%s: the head's check is %v, %v", tt.name, w, err)
			}
		}
	},
	"the rest of a repository without targets is deleted with its installation": func(t *testing.T, f *fixture) {
		gone, stays := of(5, 77, 1, "aaa"), of(6, 78, 1, "aaa")
		for i, g := range []ports.Target{gone, stays} {
			f.fill(t, g, int64(i+1))
			f.accept(t, ports.Delivery{GUID: "closed " + g.Key(), Event: "pull_request", Action: "closed", Asks: []ports.Ask{ports.Close{Target: g}}})
		}
		f.note(t, f.issuesLease(t), 1, debt("x"))
		f.clock.pass(31 * aDay)
		for _, key := range f.outdated(t) {
			if ok, err := f.ForgetOutdated(f.ctx, f.acquire(t, key), f.clock.Now().Add(-30*aDay)); err != nil || !ok {
				t.Fatalf("%s: %v, %v", key, ok, err)
			}
		}
		f.prune(t, 30*aDay, 10*aDay)
		for _, installation := range []int64{5, 6} {
			held, err := f.Held(f.ctx, ports.Forget{Installation: installation})
			if err != nil || len(held) != 1 || len(held[0].Keys) != 0 || held[0].Repository.Name != "shop" || held[0].Repository.Installation != installation {
				t.Errorf("of installation %d is held %+v, %v", installation, held, err)
			}
		}
		f.forget(t, ports.Forget{Installation: 5})
		live, err := f.LiveDeferred(f.ctx, 77)
		if err != nil || len(live) != 0 {
			t.Errorf("deferred is %+v, %v", live, err)
		}
		for repo, there := range map[int64]bool{77: false, 78: true} {
			if g, err := f.GoodLayer(f.ctx, repo, "repository"); err != nil || (g != nil) != there {
				t.Errorf("the good layer of %d is %v, %v", repo, g, err)
			}
		}
		if held, err := f.Held(f.ctx, ports.Forget{Installation: 5}); err != nil || len(held) != 0 {
			t.Errorf("still held: %+v, %v", held, err)
		}
	},
	"what comes while an installation is being forgotten does not stay": func(t *testing.T, f *fixture) {
		f.accept(t, ports.Delivery{GUID: "gone", Event: "installation", Action: "deleted", Installation: 5, Asks: []ports.Ask{ports.Forget{Installation: 5}}})
		late := of(5, 77, 1, "aaa")
		if a := f.accept(t, push("late", late)); !a.NoOp {
			t.Errorf("%+v, want a no-op", a)
		}
		if err := f.Ask(f.ctx, ports.ReviewAsk{Target: late, Reason: "found", Once: "late"}); err != nil {
			t.Error(err)
		}
		if _, err := f.Target(f.ctx, late.Key()); !errors.Is(err, ports.ErrNotFound) {
			t.Errorf("it is known: %v", err)
		}
		some := ports.Delivery{GUID: "some", Event: "installation_repositories", Action: "removed", Installation: 6, Asks: []ports.Ask{ports.Forget{Installation: 6, Repos: []int64{78}}}}
		f.accept(t, some)
		other := push("other", of(6, 79, 1, "aaa"))
		other.Installation = 6
		if a := f.accept(t, other); a.NoOp {
			t.Error("a repository that was removed takes its installation along")
		}
	},
	"a second removal is not dropped while the job for the first runs": func(t *testing.T, f *fixture) {
		removed := func(guid string) {
			f.accept(t, ports.Delivery{GUID: guid, Event: "installation_repositories", Action: "removed", Installation: 5, Asks: []ports.Ask{ports.Forget{Installation: 5, Repos: []int64{77}}}})
		}
		var runs atomic.Int64
		running, looked := make(chan bool, 2), make(chan bool)
		f.work(t, func(context.Context, ports.Job) error {
			runs.Add(1)
			running <- true
			<-looked
			return nil
		})
		removed("first")
		<-running
		removed("second")
		close(looked)
		eventually(t, "both jobs have run", func() bool { return runs.Load() == 2 })
	},
	"its jobs find nothing": func(t *testing.T, f *fixture) {
		g := of(5, 77, 1, "aaa")
		f.accept(t, push("1", g))
		if err := f.ForgetTarget(f.ctx, f.acquire(t, g.Key())); err != nil {
			t.Fatal(err)
		}
		f.clock.pass(time.Hour)
		if n, err := f.Rescue(f.ctx); err != nil || n != 0 {
			t.Errorf("Rescue = %d, %v", n, err)
		}
	},
}

var configNewsTests = map[string]func(*testing.T, *fixture){
	"known pull requests come newest first": func(t *testing.T, f *fixture) {
		at := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
		for i, g := range []ports.Target{of(5, 77, 1, "a"), of(5, 77, 2, "b"), of(5, 77, 3, "c"), of(5, 78, 4, "d"), of(6, 79, 5, "e")} {
			ago := time.Duration(i%2) * time.Hour // 1, 3 and 5 were pushed to after 2 and 4
			f.accept(t, asking(guid(i), ports.ReviewAsk{Target: g, Reason: "pushed", At: at.Add(-ago)}))
		}
		f.accept(t, push("group", group("g")))
		if err := f.SetClosed(f.ctx, ports.Close{Target: of(5, 77, 3, "")}); err != nil {
			t.Fatal(err)
		}
		numbers := func(repo ports.Target, limit int) (n []int) {
			t.Helper()
			all, err := f.KnownPulls(f.ctx, repo, limit)
			if err != nil {
				t.Fatal(err)
			}
			for _, g := range all {
				n = append(n, g.Number)
			}
			return n
		}
		repo, organisation := of(5, 77, 0, ""), of(5, 1, 0, "")
		organisation.Name, organisation.Owner = ".github", "Acme"
		for _, tt := range []struct {
			of    ports.Target
			limit int
			want  []int
		}{{repo, 9, []int{1, 2}}, {repo, 1, []int{1}}, {organisation, 9, []int{1, 4, 2}}} {
			if diff := cmp.Diff(tt.want, numbers(tt.of, tt.limit)); diff != "" {
				t.Errorf("%s, at most %d (-want +got):\n%s", tt.of.Name, tt.limit, diff)
			}
		}
	},
	"the config of a review is known once nothing else is wanted": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		r := stored("run", g, 1, "aaa")
		f.save(t, r, true)
		used := func() ([]ports.ConfigBlob, bool) {
			t.Helper()
			files, ok, err := f.ConfigUsed(f.ctx, g.Key())
			if err != nil {
				t.Fatal(err)
			}
			return files, ok
		}
		if _, ok := used(); ok {
			t.Error("known while its generation is not done")
		}
		f.finish(t, g.Key(), false)
		files, ok := used()
		if diff := cmp.Diff(r.Config, files, cmpopts.IgnoreFields(ports.ConfigBlob{}, "Text")); !ok || diff != "" {
			t.Errorf("used %v (-want +got):\n%s", ok, diff)
		}
		f.accept(t, push("more", g))
		if _, ok := used(); ok {
			t.Error("known while another is wanted")
		}
	},
	"low asks do not count as waiting": func(t *testing.T, f *fixture) {
		q, err := store.NewQueue(f.Store, nil, store.QueueOptions{})
		if err != nil {
			t.Fatal(err)
		}
		oldest := func(want time.Duration, when string) {
			t.Helper()
			if d, err := q.Depth(f.ctx); err != nil || d.Oldest != want {
				t.Errorf("%s: somebody waits for %s, %v; want %s", when, d.Oldest, err, want)
			}
		}
		g, other := pull(1, "aaa"), pull(2, "bbb")
		low := func() {
			t.Helper()
			if err := f.Ask(f.ctx, ports.ReviewAsk{Target: g, Reason: "config", Low: true}); err != nil {
				t.Fatal(err)
			}
		}
		low()
		f.clock.pass(time.Hour)
		low()
		oldest(0, "after low asks")
		f.accept(t, push("other", other))
		f.clock.pass(time.Minute)
		oldest(time.Minute, "beside another")
		f.finish(t, other.Key(), false)
		f.accept(t, push("pushed", g))
		f.clock.pass(time.Second)
		low() // a person still waits for the review
		oldest(time.Second, "after a push")
		f.finish(t, g.Key(), false)
		low()
		f.clock.pass(time.Hour)
		oldest(0, "after it was answered")
	},
	"low asks give way to others": func(t *testing.T, f *fixture) {
		low := func(g ports.Target) {
			t.Helper()
			if err := f.Ask(f.ctx, ports.ReviewAsk{Target: g, Reason: "config", Low: true}); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 5 {
			low(pull(i+1, guid(i)))
			low(pull(i+1, guid(i))) // the first ask covers it
		}
		f.wantJobs(t, 5, "after low asks")
		f.accept(t, push("news", pull(6, "bbb")))
		f.accept(t, push("pushed", pull(5, "ccc"))) // it must not wait behind the low asks
		f.wantJobs(t, 7, "after asks by people")
		low(pull(6, "bbb")) // the ask above covers it
		f.accept(t, push("pushed again", pull(5, "ddd")))
		f.wantJobs(t, 7, "after asks that are covered")
		done := make(chan int, 20)
		f.workWith(t, storeOneWorker, finishTargets(f.Store, func(st ports.TargetState) { done <- st.Number }))
		first := map[int]bool{receive(t, "one is done", done): true, receive(t, "two are done", done): true}
		if !first[5] || !first[6] {
			t.Errorf("first came %v, want 5 and 6", first)
		}
	},
}
