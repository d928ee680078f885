package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/learning"
)

// events lists the events of a log, in order.
func events(t *testing.T, f *fixture, key string) (all []string) {
	t.Helper()
	log, err := f.Log(f.ctx, key)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range log {
		all = append(all, e.Event)
	}
	return all
}

func wantEvents(t *testing.T, f *fixture, key string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, events(t, f, key)); diff != "" {
		t.Errorf("the log of %s (-want +got):\n%s", key, diff)
	}
}

// observed is a stored review with an entry for the log.
func observed(runID string, g ports.Target, head string) ports.StoredReview {
	r := stored(runID, g, 1, head)
	r.Entry = &learning.Entry{
		Event: runID, Kind: learning.KindReview, Repository: g.Owner + "/" + g.Name, Number: g.Number,
		Review: &learning.Review{HeadSHA: head, Findings: pipeline.List[learning.Finding]{{ID: "f00d", Agent: "rules", Status: learning.StatusOpen}}},
	}
	return r
}

// entry is the entry of a dismissal of the finding in observed.
func entry(event string, at time.Time) *learning.Entry {
	return &learning.Entry{
		Event: event, Kind: learning.KindJudged, At: at, Repository: "acme/shop",
		Judged: &learning.Judged{Findings: pipeline.List[string]{"f00d"}, Verdict: learning.Dismissed, Class: learning.FalsePositive, Person: "hash"},
	}
}

var learningTests = map[string]func(*testing.T, *fixture){
	"a review enters the log once it is published": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		f.save(t, observed("run-1", g, "aaa"), false)
		wantEvents(t, f, g.Key())
		for range 2 { // as after a crash
			if err := f.MarkPublished(f.ctx, "run-1"); err != nil {
				t.Fatal(err)
			}
			wantEvents(t, f, g.Key(), "run-1")
		}
		f.save(t, observed("run-2", g, "bbb"), false)
		if err := f.DropReview(f.ctx, "run-2"); err != nil {
			t.Fatal(err)
		}
		log, err := f.Log(f.ctx, g.Key())
		want := observed("run-1", g, "aaa").Entry
		want.At, want.RepositoryID = f.clock.Now(), repoID
		if diff := cmp.Diff([]learning.Entry{*want}, log, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	},
	"a merge group has no log": func(t *testing.T, f *fixture) {
		g := group("aaa")
		f.accept(t, push("group", g))
		f.accept(t, asking("gone", ports.Close{Target: g}))
		wantEvents(t, f, g.Key())
	},
	"each event is in the log once": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		closed, reopened, merged := f.clock.Now().Add(time.Hour), f.clock.Now().Add(2*time.Hour), f.clock.Now().Add(3*time.Hour)
		f.accept(t, asking("unknown", ports.Close{Target: g, At: closed})) // nothing was said about it
		wantEvents(t, f, g.Key())
		f.save(t, observed("run-1", g, "aaa"), true)
		for i := range 2 {
			f.accept(t, asking(fmt.Sprint("closed ", i), ports.Close{Target: g, At: closed}))
			f.accept(t, asking(fmt.Sprint("reopened ", i), ports.ReviewAsk{Target: g, Reason: "reopened", ReopenedAt: reopened}))
			f.accept(t, asking(fmt.Sprint("merged ", i), ports.Close{Target: g, Merged: true, At: merged}))
		}
		if err := f.SetClosed(f.ctx, ports.Close{Target: g, Merged: true, At: merged}); err != nil { // a read shows the same
			t.Fatal(err)
		}
		wantEvents(t, f, g.Key(), "run-1", fmt.Sprint("closed ", closed.Unix()), fmt.Sprint("reopened ", reopened.Unix()), "merged")
	},
	"a command enters the log with its effect": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		f.save(t, observed("run-1", g, "aaa"), true)
		c := f.acceptedCommand(t, 5, g)
		for range 2 {
			if err := f.Obey(f.ctx, c, ports.Effect{Entry: entry("command 5", f.clock.Now())}, nil); err != nil {
				t.Fatal(err)
			}
		}
		wantEvents(t, f, g.Key(), "run-1", "command 5")
		if err := f.Obey(f.ctx, f.acceptedCommand(t, 6, g), ports.Effect{Entry: &learning.Entry{Event: "x"}}, nil); err == nil {
			t.Error("an entry without a time was stored")
		}
	},
	"of two commands about a finding, the one that was written later counts": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		f.accept(t, push("1", g))
		say := func(id int64, minute int, e ports.Effect) {
			t.Helper()
			c := command(id, g)
			c.WrittenAt = f.clock.Now().Add(time.Duration(minute) * time.Minute)
			f.accept(t, asking(fmt.Sprint("comment ", id), c))
			c, done, err := f.Command(f.ctx, c.Place, id)
			if err != nil || done {
				t.Fatalf("command %d: %t, %v", id, done, err)
			}
			e.HeadSHA, e.BaseRef = "aaa", "main"
			if err := f.Obey(f.ctx, c, e, nil); err != nil {
				t.Fatal(err)
			}
		}
		want := func(what string, dismissed, accepted int) {
			t.Helper()
			m, err := f.Taught(f.ctx, g.Key(), "aaa", "main")
			if err != nil || len(m.Dismissed) != dismissed || len(m.Accepted) != accepted {
				t.Errorf("%s: %+v, %v", what, m, err)
			}
		}
		dismiss := ports.Effect{Dismiss: []pipeline.Dismissal{{Fingerprint: "f00d", By: "ann", Reason: "no"}}}
		say(1, 10, ports.Effect{Accept: []pipeline.Acceptance{{Fingerprint: "f00d", By: "ann"}}})
		say(2, 5, dismiss)
		want("a late delivery of an earlier dismissal", 0, 1)
		say(3, 8, ports.Effect{Restore: []string{"f00d"}})
		want("a late delivery of an earlier restore", 0, 1)
		say(4, 11, dismiss)
		want("a later dismissal", 1, 0)
		say(5, 12, ports.Effect{Restore: []string{"f00d"}})
		want("a later restore", 0, 0)
	},
	"logs are read one at a time": func(t *testing.T, f *fixture) {
		want := map[string][]string{}
		for n := 1; n <= 3; n++ {
			g := pull(n, "aaa")
			if n == 3 {
				g.RepoID, g.Owner = repoID+1, "umbrella"
			}
			f.accept(t, push("push "+g.Key(), g))
			f.save(t, observed(fmt.Sprint("run-", n), g, "aaa"), true)
			f.clock.pass(time.Hour)
			f.accept(t, asking(fmt.Sprint("merged ", n), ports.Close{Target: g, Merged: true, At: f.clock.Now()}))
			want[g.Key()] = []string{fmt.Sprint("run-", n), "merged"}
		}
		one, two, three := pull(1, "").Key(), pull(2, "").Key(), fmt.Sprintf("pull/%d/3", repoID+1)
		for name, c := range map[string]struct {
			which ports.LogFilter
			keys  []string
		}{
			"all":             {ports.LogFilter{}, []string{one, two, three}},
			"newer":           {ports.LogFilter{Since: f.clock.Now().Add(-time.Hour)}, []string{two, three}},
			"of a repository": {ports.LogFilter{RepoID: repoID}, []string{one, two}},
			"of an owner":     {ports.LogFilter{Concerns: func(name string) bool { return name == "umbrella/shop" }}, []string{three}},
		} {
			var got, expected [][]string
			for log, err := range f.Logs(f.ctx, c.which) {
				if err != nil {
					t.Fatal(err)
				}
				var events []string
				for _, e := range log {
					events = append(events, e.Event)
				}
				got = append(got, events)
			}
			for _, key := range c.keys {
				expected = append(expected, want[key])
			}
			if diff := cmp.Diff(expected, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	},
	"the log outlives the pull request, and goes with its repository": func(t *testing.T, f *fixture) {
		for _, g := range []ports.Target{of(5, 77, 1, "aaa"), of(5, 78, 1, "bbb")} {
			f.accept(t, push("push "+g.Key(), g))
			f.save(t, observed("run "+g.Key(), g, g.HeadSHA), true)
			f.finish(t, g.Key(), false)
			f.accept(t, asking("merged "+g.Key(), ports.Close{Target: g, Merged: true, At: f.clock.Now()}))
			if _, err := f.ForgetOutdated(f.ctx, f.acquire(t, g.Key()), f.clock.Now().Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
			wantEvents(t, f, g.Key(), "run "+g.Key(), "merged")
		}
		f.forget(t, ports.Forget{Installation: 5, Repos: []int64{77}})
		wantEvents(t, f, "pull/77/1")
		wantEvents(t, f, "pull/78/1", "run pull/78/1", "merged")
		f.forget(t, ports.Forget{Installation: 5})
		wantEvents(t, f, "pull/78/1")
	},
	"a late event leaves the log as new as it was": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		f.save(t, observed("run-1", g, "aaa"), true)
		renamed := g
		renamed.Name = "old-name"
		f.accept(t, asking("late", ports.Close{Target: renamed, At: f.clock.Now().Add(-48 * time.Hour)}))
		n := 0
		for log, err := range f.Logs(f.ctx, ports.LogFilter{Since: f.clock.Now(), Concerns: func(name string) bool { return name == "acme/shop" }}) {
			if err != nil || len(log) != 2 {
				t.Errorf("%d entries, %v", len(log), err)
			}
			n++
		}
		if n != 1 {
			t.Errorf("%d logs are as new as the review", n)
		}
	},
	"an old log is pruned whole, but not that of an open pull request": func(t *testing.T, f *fixture) {
		for n := 1; n <= 3; n++ {
			g := pull(n, "aaa")
			f.accept(t, push("push "+g.Key(), g))
			f.save(t, observed(fmt.Sprint("run-", n), g, "aaa"), true)
		}
		f.accept(t, asking("merged 1", ports.Close{Target: pull(1, ""), Merged: true, At: f.clock.Now()}))
		f.clock.pass(24 * time.Hour)
		f.accept(t, asking("merged 2", ports.Close{Target: pull(2, ""), Merged: true, At: f.clock.Now()}))
		prune := func(before time.Time) {
			t.Helper()
			for {
				n, err := f.Prune(f.ctx, ports.Ages{Learning: before})
				if err != nil {
					t.Fatal(err)
				}
				if n == 0 {
					return
				}
			}
		}
		left := func() (keys []int) {
			for n := 1; n <= 3; n++ {
				if len(events(t, f, pull(n, "").Key())) > 0 {
					keys = append(keys, n)
				}
			}
			return keys
		}
		prune(time.Time{})
		if got := left(); !slices.Equal(got, []int{1, 2, 3}) {
			t.Errorf("without a limit, the logs of %v are left", got)
		}
		prune(f.clock.Now())
		if got := left(); !slices.Equal(got, []int{2, 3}) {
			t.Errorf("the logs of %v are left, want 2 (newer) and 3 (open)", got)
		}
	},
}
