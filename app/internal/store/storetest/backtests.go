package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
)

var backtestTests = map[string]func(*testing.T, *fixture){
	"the newest reviews are chosen": func(t *testing.T, f *fixture) {
		start := f.clock.Now()
		later := func() { f.clock.pass(time.Minute) }
		save := func(run string, g ports.Target, head string) {
			t.Helper()
			later()
			g.HeadSHA = head
			if _, err := f.Target(f.ctx, g.Key()); err != nil {
				f.accept(t, push("push "+g.Key(), g))
			}
			f.save(t, stored(run, g, 1, head), true)
		}
		of := func(repo int64, owner, name string, number int) ports.Target {
			g := pull(number, "head")
			g.RepoID, g.Owner, g.Name = repo, owner, name
			return g
		}
		own, other, branch := pull(1, ""), pull(2, ""), pull(3, "")
		bank, foreign, org := of(repoID+1, "Acme", "bank", 1), of(repoID+2, "umbrella", "lab", 1), of(repoID+3, "acme", ports.OrganisationRepo, 1)
		about := pull(9, "proposes")
		save("run-1", other, "a")
		save("run-2", own, "b")
		save("run-3", own, "c")
		save("run-4", other, "d")
		save("run-5", own, "c") // the same head again
		save("run-6", branch, "e")
		save("run-7", about, "proposes")
		save("run-8", bank, "f")
		save("run-9", foreign, "g")
		save("run-10", org, "h")
		save("run-11", group("i"), "i") // of changes that count already
		if err := f.SetConfigBranch(f.ctx, branch.Key(), "release"); err != nil {
			t.Fatal(err)
		}
		proposer := of(org.RepoID, org.Owner, org.Name, 2)
		for name, c := range map[string]struct {
			about        ports.Target
			organisation bool
			since        time.Duration
			most         int
			want         ports.ChosenReviews
		}{
			"all of a repository": {about, false, 0, 10, ports.ChosenReviews{Stored: 4, Since: start.Add(time.Minute), Heads: []ports.ChosenHead{
				{Key: own.Key(), HeadSHA: "c"}, {Key: other.Key(), HeadSHA: "d"}, {Key: own.Key(), HeadSHA: "b"}, {Key: other.Key(), HeadSHA: "a"},
			}}},
			"the newest": {about, false, 0, 2, ports.ChosenReviews{Stored: 4, Since: start.Add(4 * time.Minute), Heads: []ports.ChosenHead{
				{Key: own.Key(), HeadSHA: "c"}, {Key: other.Key(), HeadSHA: "d"},
			}}},
			"one": {about, false, 0, 1, ports.ChosenReviews{Stored: 4, Since: start.Add(5 * time.Minute), Heads: []ports.ChosenHead{{Key: own.Key(), HeadSHA: "c"}}}},
			"of a time": {about, false, 4 * time.Minute, 10, ports.ChosenReviews{Stored: 2, Since: start.Add(4 * time.Minute), Heads: []ports.ChosenHead{
				{Key: own.Key(), HeadSHA: "c"}, {Key: other.Key(), HeadSHA: "d"},
			}}},
			"of no time": {about, false, time.Hour, 10, ports.ChosenReviews{}},
			"of the organisation's repository": {proposer, false, 0, 10, ports.ChosenReviews{
				Stored: 1, Since: start.Add(10 * time.Minute), Heads: []ports.ChosenHead{{Key: org.Key(), HeadSHA: "h"}},
			}},
			"for a branch": {branch, false, 0, 10, ports.ChosenReviews{}},
			"of an organisation": {proposer, true, 0, 10, ports.ChosenReviews{Stored: 8, Since: start.Add(time.Minute), Heads: []ports.ChosenHead{
				{Key: org.Key(), HeadSHA: "h"}, {Key: bank.Key(), HeadSHA: "f"}, {Key: about.Key(), HeadSHA: "proposes"}, {Key: branch.Key(), HeadSHA: "e"},
				{Key: own.Key(), HeadSHA: "c"}, {Key: other.Key(), HeadSHA: "d"}, {Key: own.Key(), HeadSHA: "b"}, {Key: other.Key(), HeadSHA: "a"},
			}}},
		} {
			got, err := f.ChooseReviews(f.ctx, c.about, c.organisation, start.Add(c.since), c.most)
			if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
				t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
			}
			for _, h := range got.Heads {
				there := false
				for r, err := range f.Archived(f.ctx, ports.ReviewFilter{Key: h.Key, Since: got.Since}) {
					if err != nil || r.Key != h.Key {
						t.Fatalf("%s: read %+v, %v of %s", name, r, err, h.Key)
					}
					there = there || r.HeadSHA == h.HeadSHA
				}
				if !there {
					t.Errorf("%s: no review of %+v is read", name, h)
				}
			}
		}
	},
	"the last backtest is kept, and has the comment written": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		wantErr(t, "SaveConfigBacktest without a target", f.SaveConfigBacktest(f.ctx, g.Key(), ports.ConfigBacktest{}, "n"), ports.ErrNotFound)
		f.accept(t, push("1", g))
		f.finish(t, g.Key(), false)
		if b, err := f.ConfigBacktest(f.ctx, g.Key()); b != nil || err != nil {
			t.Fatalf("a backtest before any: %+v, %v", b, err)
		}
		for i := range 2 {
			want := ports.ConfigBacktest{HeadSHA: fmt.Sprint("head ", i), Proposal: fmt.Sprint("proposal ", i), Result: pipeline.ConfigBacktest{
				Days: 90, Stored: 3, Reviews: 2, Changed: 1, Why: pipeline.List[string]{"naïve \u202e <b>"},
				Named: pipeline.List[pipeline.BacktestedReview]{{Pull: "#1", HeadSHA: "aaa", From: pipeline.DecisionPass, To: pipeline.DecisionFail, Because: "x"}},
			}}
			before := f.jobs(t)
			f.clock.pass(time.Minute)
			if err := f.SaveConfigBacktest(f.ctx, g.Key(), want, "written"); err != nil {
				t.Fatal(err)
			}
			want.SavedAt = f.clock.Now()
			f.wantJobs(t, before+1, "after a backtest")
			f.wantNotices(t, "after a backtest", g, "written")
			got, err := f.ConfigBacktest(f.ctx, g.Key())
			if diff := cmp.Diff(&want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		}
		for i := 1; i < ports.MaxNotices; i++ {
			if err := f.AddNotice(f.ctx, g.Key(), fmt.Sprint(i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.SaveConfigBacktest(f.ctx, g.Key(), ports.ConfigBacktest{HeadSHA: "last"}, "one too many"); err != nil {
			t.Fatal(err)
		}
		if b, err := f.ConfigBacktest(f.ctx, g.Key()); err != nil || b.HeadSHA != "last" {
			t.Errorf("%+v, %v; want it saved when no more notices fit", b, err)
		}
	},
	"an old backtest is deleted": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		f.accept(t, push("1", g))
		if err := f.SaveConfigBacktest(f.ctx, g.Key(), ports.ConfigBacktest{HeadSHA: "aaa"}, "n"); err != nil {
			t.Fatal(err)
		}
		saved := f.clock.Now()
		for _, c := range []struct {
			before time.Time
			want   int
		}{{saved, 0}, {saved.Add(time.Second), 1}} {
			n, err := f.Prune(f.ctx, ports.Ages{Reviews: c.before, Deliveries: saved.Add(-time.Hour)})
			b, berr := f.ConfigBacktest(f.ctx, g.Key())
			if err != nil || berr != nil || n != c.want || (b == nil) != (n == 1) {
				t.Errorf("before %s: %d rows deleted, %v; want %d. Then there is %+v, %v", c.before, n, err, c.want, b, berr)
			}
		}
	},
	"a published review brings the jobs that follow": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		f.save(t, stored("run-1", g, 1, "aaa"), false)
		before := f.jobs(t)
		job := ports.NewJob(ports.JobBacktest, ports.BacktestJob{Key: g.Key(), HeadSHA: "aaa", Proposal: "f00d"})
		wantErr(t, "MarkPublished of no review", f.MarkPublished(f.ctx, "run-9", job), ports.ErrNotFound)
		f.wantJobs(t, before, "without the review")
		for range 2 { // as after a crash
			if err := f.MarkPublished(f.ctx, "run-1", job); err != nil {
				t.Fatal(err)
			}
			f.wantJobs(t, before+1, "after the review was published")
		}
	},
}
