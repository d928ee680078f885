package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

var storeOneWorker = store.QueueOptions{Workers: 1}

const aDay = 24 * time.Hour

// prune prunes until nothing is left to prune, and returns how many rows it deleted.
func (f *fixture) prune(t *testing.T, keep, deliveries time.Duration) (all int) {
	t.Helper()
	for {
		n, err := f.Prune(f.ctx, ports.Ages{Reviews: f.clock.Now().Add(-keep), Deliveries: f.clock.Now().Add(-deliveries)})
		if err != nil {
			t.Fatal(err)
		}
		if all += n; n == 0 {
			return all
		}
	}
}

func (f *fixture) outdated(t *testing.T) []string {
	t.Helper()
	keys, err := f.Outdated(f.ctx, f.clock.Now().Add(-30*aDay), 10)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

var pruneTests = map[string]func(*testing.T, *fixture){
	"reviews that a check, a comment or the next review needs stay": func(t *testing.T, f *fixture) {
		g := pull(1, "ccc")
		for i, head := range []string{"aaa", "aaa", "bbb", "bbb", "ccc", "ccc", "ccc"} {
			f.save(t, stored(fmt.Sprintf("run-%d", i), g, int64(i+1), head), i != 5) // run-5 was never published
			f.clock.pass(aDay)
		}
		f.save(t, stored("next", g, 8, "ccc"), false)
		f.clock.pass(100 * aDay)
		f.prune(t, 30*aDay, 10*aDay)
		last, err := f.LatestReview(f.ctx, g.Key())
		if err != nil || last == nil || last.RunID != "run-6" {
			t.Errorf("the newest published is %v, %v; want run-6", last, err)
		}
		next, err := f.UnpublishedReview(f.ctx, g.Key())
		if err != nil || next == nil || next.RunID != "next" || len(next.Config) != 3 {
			t.Errorf("the one to publish is %v, %v", next, err)
		}
		prev, err := f.PreviousReport(f.ctx, g.Key(), "ccc")
		if err != nil || prev == nil || prev.HeadSHA != "bbb" {
			t.Errorf("the report of another head is %v, %v", prev, err)
		}
		for generation, want := range map[int64]bool{1: false, 2: false, 3: false, 4: true, 5: false, 7: true} {
			if got, err := f.Published(f.ctx, g.Key(), generation); err != nil || got != want {
				t.Errorf("generation %d is there: %v, %v; want %v", generation, got, err, want)
			}
		}
		if n := f.prune(t, 30*aDay, 10*aDay); n != 0 {
			t.Errorf("another %d rows were deleted", n)
		}
	},
	"young reviews stay": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		for i := range 3 {
			f.save(t, stored(fmt.Sprintf("run-%d", i), g, int64(i+1), "aaa"), true)
		}
		f.clock.pass(29 * aDay)
		f.prune(t, 30*aDay, 10*aDay)
		for generation := range int64(3) {
			if got, err := f.Published(f.ctx, g.Key(), generation+1); err != nil || !got {
				t.Errorf("generation %d is gone: %v", generation+1, err)
			}
		}
	},
	"deliveries and asks that count once": func(t *testing.T, f *fixture) {
		once := func() {
			t.Helper()
			if err := f.Ask(f.ctx, ports.ReviewAsk{Target: pull(1, "aaa"), Once: "x"}); err != nil {
				t.Fatal(err)
			}
		}
		deliveries := sample.Size(250, 450) // more than one batch; with all cases, more than two
		for i := range deliveries {
			d := ports.Delivery{GUID: guid(i), Event: "star", ReceivedAt: f.clock.Now()}
			f.accept(t, d)
		}
		once()
		f.clock.pass(9 * aDay)
		f.accept(t, ports.Delivery{GUID: "young", Event: "star", ReceivedAt: f.clock.Now()})
		f.prune(t, 30*aDay, 10*aDay)
		once()
		if a := f.accept(t, ports.Delivery{GUID: guid(1), Event: "star"}); !a.Duplicate || f.state(t, pull(1, "").Key()).Wanted != 1 {
			t.Error("forgotten after 9 days")
		}
		f.clock.pass(2 * aDay)
		f.prune(t, 30*aDay, 10*aDay)
		if diff := cmp.Diff([]string{guid(0), guid(deliveries - 1)}, f.lost(t, guid(0), guid(deliveries-1), "young")); diff != "" {
			t.Errorf("unknown after 11 days (-want +got):\n%s", diff)
		}
		once()
		if got := f.state(t, pull(1, "").Key()).Wanted; got != 2 {
			t.Errorf("wanted = %d: an ask of 11 days ago still counts", got)
		}
	},
	"targets that were closed long ago": func(t *testing.T, f *fixture) {
		closed, open, reopened, unfinished := pull(1, "aaa"), pull(2, "bbb"), pull(3, "ccc"), pull(4, "ddd")
		for i, g := range []ports.Target{closed, open, reopened, unfinished, group("eee")} {
			f.accept(t, push(guid(i), g))
			f.finish(t, g.Key(), false)
		}
		for i, g := range []ports.Target{closed, reopened, unfinished} {
			f.accept(t, ports.Delivery{GUID: guid(10 + i), Event: "pull_request", Action: "closed", Asks: []ports.Ask{ports.Close{Target: g}}})
		}
		l := f.acquire(t, unfinished.Key())
		if _, err := f.Intend(f.ctx, l, ports.Write{Kind: ports.WriteCheck, Subject: "77/ddd", Key: unfinished.Key(), HeadSHA: "ddd"}); err != nil {
			t.Fatal(err)
		}
		if err := f.Release(f.ctx, l); err != nil {
			t.Fatal(err)
		}
		f.clock.pass(20 * aDay)
		again := closed
		f.accept(t, ports.Delivery{GUID: "closed again", Event: "pull_request", Action: "closed", Asks: []ports.Ask{ports.Close{Target: again}}}) // the time of the first close counts
		f.accept(t, push("reopened", reopened))
		f.finish(t, reopened.Key(), false)
		f.accept(t, ports.Delivery{GUID: "closed late", Event: "pull_request", Action: "closed", Asks: []ports.Ask{ports.Close{Target: reopened}}})
		if got := f.outdated(t); len(got) != 0 {
			t.Errorf("after 20 days: %v", got)
		}
		f.clock.pass(11 * aDay)
		if diff := cmp.Diff([]string{group("eee").Key(), closed.Key()}, f.outdated(t)); diff != "" {
			t.Errorf("after 31 days (-want +got):\n%s", diff)
		}
		f.accept(t, push("wanted", closed))
		if diff := cmp.Diff([]string{group("eee").Key()}, f.outdated(t)); diff != "" {
			t.Errorf("once it is wanted (-want +got):\n%s", diff)
		}
	},
	"one that is wanted again when it is to go": func(t *testing.T, f *fixture) {
		gone, asked, reopened := pull(1, "aaa"), pull(2, "bbb"), pull(3, "ccc")
		runs := map[ports.Target]int{gone: manyRuns}
		for i, g := range []ports.Target{gone, asked, reopened} {
			f.fillWith(t, g, int64(i+1), max(runs[g], sample.Size(2, manyRuns)))
			f.finish(t, g.Key(), false)
			f.accept(t, ports.Delivery{GUID: "closed " + g.Key(), Event: "pull_request", Action: "closed", Asks: []ports.Ask{ports.Close{Target: g}}})
		}
		f.clock.pass(31 * aDay)
		if got := f.outdated(t); len(got) != 3 {
			t.Fatalf("outdated are %v", got)
		}
		forget := func(l ports.Lease, want bool) {
			t.Helper()
			got, err := f.ForgetOutdated(f.ctx, l, f.clock.Now().Add(-30*aDay))
			if err != nil || got != want {
				t.Errorf("ForgetOutdated(%s) = %v, %v; want %v", l.Key, got, err, want)
			}
		}
		forget(f.acquire(t, gone.Key()), true)
		if _, err := f.Target(f.ctx, gone.Key()); !errors.Is(err, ports.ErrNotFound) {
			t.Errorf("the one that was closed for long is there: %v", err)
		}

		l := f.acquire(t, asked.Key())
		f.accept(t, push("wanted", asked))
		forget(l, false)
		f.wantAll(t, asked)
		if st := f.state(t, asked.Key()); st.Closed || st.Wanted != st.Done+1 {
			t.Errorf("the ask is lost: %+v", st)
		}
		wantErr(t, "Renew of the lease that was handed over", f.Renew(f.ctx, l, time.Minute), ports.ErrLeaseLost)

		f.accept(t, push("reopened", reopened))
		f.finish(t, reopened.Key(), false)
		l = f.acquire(t, reopened.Key())
		forget(l, false)
		f.wantAll(t, reopened)
		if err := f.Renew(f.ctx, l, time.Minute); err != nil {
			t.Errorf("with nothing left to do the lease is kept: %v", err)
		}
	},
	"texts are deleted with the last review that refers to them": func(t *testing.T, f *fixture) {
		one, two := pull(1, "aaa"), pull(2, "bbb")
		f.fill(t, one, 1)
		f.fill(t, two, 2)
		f.prune(t, aDay, aDay)
		f.wantAll(t, one)
		if err := f.ForgetTarget(f.ctx, f.acquire(t, one.Key())); err != nil {
			t.Fatal(err)
		}
		if n := f.prune(t, aDay, aDay); n < 1 { // the texts that only the forgotten target had
			t.Errorf("%d rows were deleted", n)
		}
		f.wantAll(t, two)
		good, err := f.GoodLayer(f.ctx, repoID, "repository")
		if err != nil || good == nil || len(good.Files) != 1 {
			t.Errorf("the good layer is %v, %v", good, err)
		}
	},
	"changed files are stored once and deleted with the last review that has them": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		with := func(run string, generation int64, title, path string) ports.StoredReview {
			r := stored(run, g, generation, "aaa")
			r.Review.Facts.Title, r.Review.Facts.Files = title, pipeline.List[pipeline.File]{{Path: path}}
			return r
		}
		for i, r := range []ports.StoredReview{
			with("one", 1, "a title", "a.go"), with("two", 2, "another title", "a.go"), with("three", 3, "a title", "b.go"), with("four", 4, "a fourth", "b.go"),
		} {
			f.save(t, r, true)
			if i == 1 { // both reviews have one text, which must stay until the second is pruned
				f.clock.pass(100 * aDay)
				if n := f.prune(t, 30*aDay, 200*aDay); n != 1 {
					t.Errorf("%d rows were deleted, want 1 review", n)
				}
			}
			last, err := f.LatestReview(f.ctx, g.Key())
			if err != nil || last == nil || last.RunID != r.RunID || last.Review.Facts.Title != r.Review.Facts.Title || len(last.Review.Facts.Files) != 1 || last.Review.Facts.Files[0].Path != r.Review.Facts.Files[0].Path {
				t.Fatalf("%s reads back as %+v, %v", r.RunID, last, err)
			}
		}
		f.clock.pass(100 * aDay)
		if n := f.prune(t, 30*aDay, 400*aDay); n != 3 {
			t.Errorf("%d rows were deleted, want 2 reviews and the files of both", n)
		}
		if last, err := f.LatestReview(f.ctx, g.Key()); err != nil || last == nil || len(last.Review.Facts.Files) != 1 {
			t.Errorf("the newest review is %+v, %v", last, err)
		}
	},
	"free leases go, and held ones stay": func(t *testing.T, f *fixture) {
		held := f.acquire(t, "check/77/aaa")
		free := f.acquire(t, "check/77/bbb")
		if err := f.Release(f.ctx, free); err != nil {
			t.Fatal(err)
		}
		if n := f.prune(t, aDay, aDay); n != 1 {
			t.Errorf("%d rows were deleted, want 1", n)
		}
		if err := f.Renew(f.ctx, held, time.Minute); err != nil {
			t.Error(err)
		}
		wantErr(t, "Renew of one that was released", f.Renew(f.ctx, free, time.Minute), ports.ErrLeaseLost)
	},
}
