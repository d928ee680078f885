package storetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
)

// stored returns a small review in which no part is empty.
func stored(runID string, g ports.Target, generation int64, head string) ports.StoredReview {
	at := time.Date(2026, 11, 21, 9, 0, 0, 123456789, time.UTC)
	finding := pipeline.Finding{Title: "Password in log", Severity: pipeline.SeverityMajor, Confidence: 0.9, Path: "a/b.go", StartLine: 3, ID: "f00d"}
	return ports.StoredReview{
		RunID: runID, Key: g.Key(), Generation: generation, RepoID: g.RepoID, HeadSHA: head, BaseSHA: "base",
		Review: pipeline.Review{
			Facts: pipeline.PRFacts{
				SchemaVersion: 1, Number: g.Number, Title: "naïve \u202e <b>", Head: pipeline.Head{SHA: head}, ObservedAt: at,
				Files: pipeline.List[pipeline.File]{{Path: "a/b.go", Hunks: pipeline.List[pipeline.Hunk]{{Lines: pipeline.List[pipeline.Line]{{Op: pipeline.LineAdded, New: 3, Text: "x"}}}}}},
			},
			Results:  pipeline.List[pipeline.AgentResult]{{Agent: "rules", Status: pipeline.AgentOK, Output: pipeline.AgentOutput{Findings: pipeline.List[pipeline.Finding]{finding}}}},
			Previous: &pipeline.PreviousReport{HeadSHA: "old", Iteration: 2},
			Memory:   pipeline.Memory{Dismissed: pipeline.List[pipeline.Dismissal]{{Fingerprint: "cafe", Path: "a/b.go", Reason: "wanted", By: "alice"}}},
			Report: pipeline.Report{
				Number: g.Number, HeadSHA: head, Decision: pipeline.DecisionNeedsFixes, Findings: pipeline.List[pipeline.Finding]{finding},
				Gate: pipeline.Gate{Condition: "major > 0", Metrics: map[string]float64{"major": 1}}, Iteration: 3,
				Suppressed: pipeline.List[pipeline.Suppressed]{{Finding: pipeline.Finding{ID: "cafe", State: pipeline.StateDismissed}, Reason: "dismissed: wanted"}},
				Changes: pipeline.Changes{
					PreviousReport: "old",
					Unconfirmed:    pipeline.List[pipeline.Finding]{{ID: "beef", Path: "c.go", OriginalPath: "b.go", Fingerprints: pipeline.List[string]{"beef"}}},
					Fixed:          pipeline.List[pipeline.FixedFinding]{{Fingerprint: "dead", HeadSHA: "old", Path: "d.go"}},
				},
			},
		},
		Config: []ports.ConfigBlob{
			{Layer: "defaults", Path: "review-rules.json", BlobSHA: "1", Text: []byte(`{"rules":[]}`)},
			{Layer: "repository", Path: "review-rules.json", BlobSHA: "1", Text: []byte(`{"rules":[]}`)},
			{Layer: "repository", Path: "review-agents.json", BlobSHA: "2", Text: []byte{}},
		},
		Record: pipeline.RunRecord{RunID: runID, StartedAt: at, FinishedAt: at.Add(time.Second), APICalls: 7},
	}
}

// save stores a review under a new lease.
func (f *fixture) save(t *testing.T, r ports.StoredReview, publish bool) {
	t.Helper()
	f.know(t, r)
	if err := f.SaveReview(f.ctx, f.acquire(t, r.Key), r); err != nil {
		t.Fatal(err)
	}
	if publish {
		if err := f.MarkPublished(f.ctx, r.RunID); err != nil {
			t.Fatal(err)
		}
	}
}

// know makes sure that the store knows the review's target.
func (f *fixture) know(t *testing.T, r ports.StoredReview) {
	t.Helper()
	if _, err := f.Target(f.ctx, r.Key); errors.Is(err, ports.ErrNotFound) {
		f.accept(t, push("know-"+r.Key, pull(r.Review.Facts.Number, r.HeadSHA)))
	}
}

func asJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var reviewTests = map[string]func(*testing.T, *fixture){
	"comes back byte for byte": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		want := stored("run-1", g, 4, "aaa")
		f.save(t, want, false)
		got, err := f.UnpublishedReview(f.ctx, g.Key())
		if err != nil || got == nil {
			t.Fatalf("UnpublishedReview = %v, %v", got, err)
		}
		if w, g := asJSON(t, want.Review), asJSON(t, got.Review); !bytes.Equal(w, g) {
			t.Errorf("review\nwant %s\ngot  %s", w, g)
		}
		if w, g := asJSON(t, want.Record), asJSON(t, got.Record); !bytes.Equal(w, g) {
			t.Errorf("record\nwant %s\ngot  %s", w, g)
		}
		if diff := cmp.Diff(want.Config, got.Config, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("config (-want +got):\n%s", diff)
		}
		if got.RunID != want.RunID || got.Key != want.Key || got.Generation != 4 || got.RepoID != repoID || got.HeadSHA != "aaa" || got.BaseSHA != "base" {
			t.Errorf("got %+v", got)
		}
	},
	"is saved once": func(t *testing.T, f *fixture) {
		r := stored("run-1", pull(1, "aaa"), 1, "aaa")
		f.save(t, r, false)
		l := f.acquire(t, r.Key)
		if err := f.SaveReview(f.ctx, l, r); err == nil {
			t.Error("the same run was saved twice")
		}
		if err := f.Renew(f.ctx, l, time.Minute); err != nil {
			t.Errorf("a save that failed took the lease: %v", err)
		}
	},
	"gives the lease back and gets a publish job": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		f.accept(t, push("1", g))
		l := f.acquire(t, g.Key())
		if err := f.SaveReview(f.ctx, l, stored("run-1", g, 1, "aaa")); err != nil {
			t.Fatal(err)
		}
		wantErr(t, "Renew after the save", f.Renew(f.ctx, l, time.Minute), ports.ErrLeaseLost)
		f.wantJobs(t, 2, "after a review was asked for and saved")
		f.accept(t, push("2", g)) // the publish job will see it
		f.wantJobs(t, 2, "after an ask while the publish job waits")
		more, err := f.Finish(f.ctx, f.acquire(t, g.Key()), 1, false)
		if err != nil || !more {
			t.Errorf("Finish = %v, %v; want more", more, err)
		}
	},
	"is unpublished while its generation isn't finished and no newer one was published": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		want := func(run, when string) {
			t.Helper()
			r, err := f.UnpublishedReview(f.ctx, g.Key())
			switch {
			case err != nil:
				t.Fatal(err)
			case run == "" && r != nil, run != "" && (r == nil || r.RunID != run):
				t.Errorf("%s: %+v, want %q", when, r, run)
			}
		}
		for i := range 4 {
			f.accept(t, push(guid(i), g))
		}
		f.save(t, stored("run-1", g, 1, "aaa"), false)
		f.save(t, stored("run-2", g, 2, "aaa"), false)
		want("run-2", "of two")
		if err := f.MarkPublished(f.ctx, "run-2"); err != nil {
			t.Fatal(err)
		}
		want("", "with a newer one that was published")
		f.save(t, stored("run-3", g, 3, "aaa"), false)
		want("run-3", "after a third")
		if _, err := f.Finish(f.ctx, f.acquire(t, g.Key()), 3, false); err != nil {
			t.Fatal(err)
		}
		want("", "with its generation finished")
	},
	"is saved under its own target's lease": func(t *testing.T, f *fixture) {
		r := stored("run-1", pull(1, "aaa"), 1, "aaa")
		f.know(t, r)
		if err := f.SaveReview(f.ctx, f.acquire(t, pull(2, "").Key()), r); err == nil {
			t.Error("saved under another target's lease")
		}
	},
	"is unpublished until it is marked": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		f.save(t, stored("run-1", g, 1, "aaa"), false)
		if r, err := f.UnpublishedReview(f.ctx, pull(2, "").Key()); r != nil || err != nil {
			t.Errorf("another target: %v, %v; want none", r, err)
		}
		if r, err := f.LatestReview(f.ctx, g.Key()); r != nil || err != nil {
			t.Errorf("latest published: %v, %v; want none", r, err)
		}
		if err := f.MarkPublished(f.ctx, "run-1"); err != nil {
			t.Fatal(err)
		}
		if r, err := f.UnpublishedReview(f.ctx, g.Key()); r != nil || err != nil {
			t.Errorf("after it was published: %v, %v; want none", r, err)
		}
		if r, err := f.LatestReview(f.ctx, g.Key()); err != nil || r == nil || r.RunID != "run-1" {
			t.Errorf("latest = %v, %v; want run-1", r, err)
		}
		if r, err := f.ReviewAsOf(f.ctx, g.Key(), f.clock.Now()); err != nil || r == nil || r.RunID != "run-1" {
			t.Errorf("as of now = %v, %v; want run-1", r, err)
		}
		if r, err := f.ReviewAsOf(f.ctx, g.Key(), f.clock.Now().Add(-time.Microsecond)); r != nil || err != nil {
			t.Errorf("as of before it was published: %v, %v; want none", r, err)
		}
		wantErr(t, "MarkPublished of no review", f.MarkPublished(f.ctx, "run-9"), ports.ErrNotFound)
	},
	"can be dropped until it is published": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		f.save(t, stored("run-2", g, 1, "aaa"), true)
		f.save(t, stored("run-1", g, 1, "aaa"), false)
		for _, id := range []string{"run-1", "run-2", "run-9"} {
			if err := f.DropReview(f.ctx, id); err != nil {
				t.Errorf("DropReview(%s): %v", id, err)
			}
		}
		if r, _ := f.UnpublishedReview(f.ctx, g.Key()); r != nil {
			t.Error("the dropped review is still there")
		}
		if r, _ := f.LatestReview(f.ctx, g.Key()); r == nil {
			t.Error("the published review was dropped")
		}
	},
	"the previous report is the newest published one of another head": func(t *testing.T, f *fixture) {
		g := pull(1, "ccc")
		if p, err := f.PreviousReport(f.ctx, g.Key(), "aaa"); p != nil || err != nil {
			t.Errorf("first review: %v, %v; want none", p, err)
		}
		f.save(t, stored("run-1", g, 1, "aaa"), true)
		f.save(t, stored("run-2", g, 2, "bbb"), true)
		f.save(t, stored("run-3", g, 3, "ccc"), true)
		f.save(t, stored("run-4", g, 4, "ddd"), false)
		f.save(t, stored("run-5", pull(2, "eee"), 1, "eee"), true)
		p, err := f.PreviousReport(f.ctx, g.Key(), "ccc")
		if err != nil || p == nil {
			t.Fatalf("PreviousReport = %v, %v", p, err)
		}
		if p.HeadSHA != "bbb" || p.Iteration != 3 || len(p.Findings) != 1 || p.Findings[0].ID != "f00d" {
			t.Errorf("previous report = %+v, want that of bbb", p)
		}
		if len(p.Suppressed) != 1 || p.Suppressed[0].Finding.ID != "cafe" || len(p.Unconfirmed) != 1 || p.Unconfirmed[0].OriginalPath != "b.go" ||
			len(p.Fixed) != 1 || p.Fixed[0] != (pipeline.FixedFinding{Fingerprint: "dead", HeadSHA: "old", Path: "d.go"}) {
			t.Errorf("previous report lacks its memory: %+v", p)
		}
	},
	"decisions on a head are the newest of each open pull request there": func(t *testing.T, f *fixture) {
		for i, n := range []int{1, 2, 3, 4, 5} {
			f.accept(t, push(guid(i), pull(n, "aaa")))
		}
		decided := func(id string, n int, d pipeline.Decision) {
			r := stored(id, pull(n, "aaa"), 1, "aaa")
			r.Review.Report.Decision = d
			f.save(t, r, false)
		}
		decided("1a", 1, pipeline.DecisionPass)
		decided("1b", 1, pipeline.DecisionFail)
		decided("2a", 2, pipeline.DecisionPass)
		decided("3a", 3, pipeline.DecisionPass)
		decided("4a", 4, pipeline.DecisionPass) // 5 has no review
		f.accept(t, push("moved", pull(3, "bbb")))
		if err := f.SetClosed(f.ctx, ports.Close{Target: pull(4, "")}); err != nil {
			t.Fatal(err)
		}
		got, err := f.HeadDecisions(f.ctx, repoID, "aaa")
		if err != nil {
			t.Fatal(err)
		}
		// 3 and 4 left the head, which asked for new reviews of 1, 2 and 5.
		want := []ports.HeadDecision{{Target: pull(1, "aaa"), Pending: true}, {Target: pull(2, "aaa"), Pending: true}, {Target: pull(5, "aaa"), Pending: true}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("decisions (-want +got):\n%s", diff)
		}
		again := func(id string, n int, head string, d pipeline.Decision) {
			r := stored(id, pull(n, head), f.state(t, pull(n, "").Key()).Wanted, head)
			r.Review.Report.Decision = d
			f.save(t, r, false)
		}
		again("1c", 1, "aaa", pipeline.DecisionFail)
		again("1d", 1, "aaa", pipeline.DecisionPass)
		again("2b", 2, "ccc", pipeline.DecisionPass) // on another head
		again("5a", 5, "aaa", pipeline.DecisionPass)
		l := f.acquire(t, pull(5, "").Key())
		if _, err := f.Finish(f.ctx, l, f.state(t, l.Key).Wanted, true); err != nil { // its review is given up
			t.Fatal(err)
		}
		want = []ports.HeadDecision{{Target: pull(1, "aaa"), Decision: pipeline.DecisionPass}, {Target: pull(2, "aaa"), Pending: true}, {Target: pull(5, "aaa")}}
		if got, err = f.HeadDecisions(f.ctx, repoID, "aaa"); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("decisions (-want +got):\n%s", diff)
		}
	},
}

var configTests = map[string]func(*testing.T, *fixture){
	"a repository keeps the names that it had": func(t *testing.T, f *fixture) {
		for _, names := range [][]string{{"acme/shop"}, {"acme/store", "acme/shop"}, {"acme/bank"}} {
			if err := f.AddRepositoryNames(f.ctx, repoID, names); err != nil {
				t.Fatal(err)
			}
		}
		got, err := f.RepositoryNames(f.ctx, repoID)
		if diff := cmp.Diff([]string{"acme/shop", "acme/store", "acme/bank"}, got); err != nil || diff != "" {
			t.Errorf("names (-want +got), %v:\n%s", err, diff)
		}
		if other, err := f.RepositoryNames(f.ctx, repoID+1); err != nil || len(other) > 0 {
			t.Errorf("another repository has %q, %v", other, err)
		}
	},
	"a target has the config of one branch": func(t *testing.T, f *fixture) {
		g := pull(1, "aaa")
		if branch, err := f.ConfigBranch(f.ctx, g.Key()); branch != "" || err != nil {
			t.Errorf("of a target that is not known: %q, %v", branch, err)
		}
		wantErr(t, "SetConfigBranch", f.SetConfigBranch(f.ctx, g.Key(), "release"), ports.ErrNotFound)
		f.accept(t, push("1", g))
		for _, want := range []string{"release", ""} {
			if err := f.SetConfigBranch(f.ctx, g.Key(), want); err != nil {
				t.Fatal(err)
			}
			if branch, err := f.ConfigBranch(f.ctx, g.Key()); branch != want || err != nil {
				t.Errorf("the branch is %q, want %q (%v)", branch, want, err)
			}
		}
	},
	"the last good layer comes back": func(t *testing.T, f *fixture) {
		if g, err := f.GoodLayer(f.ctx, repoID, "repository"); g != nil || err != nil {
			t.Errorf("before any: %v, %v; want none", g, err)
		}
		text := []byte("same text")
		for _, want := range []ports.GoodLayer{
			{Source: "acme/shop@1", Files: []ports.ConfigBlob{{Layer: "repository", Path: "b", BlobSHA: "1", Text: text}, {Layer: "repository", Path: "a", BlobSHA: "1", Text: text}}},
			{Source: "acme/shop@2", Files: []ports.ConfigBlob{{Layer: "repository", Path: "a", BlobSHA: "2", Text: []byte("other")}}},
			{Source: "acme/shop@3"},
		} {
			if err := f.SaveGoodLayer(f.ctx, repoID, "repository", want); err != nil {
				t.Fatal(err)
			}
			got, err := f.GoodLayer(f.ctx, repoID, "repository")
			if err != nil || got == nil {
				t.Fatalf("GoodLayer = %v, %v", got, err)
			}
			if diff := cmp.Diff(want, *got); diff != "" {
				t.Errorf("layer (-want +got):\n%s", diff)
			}
		}
		if g, _ := f.GoodLayer(f.ctx, repoID+1, "repository"); g != nil {
			t.Error("another repository has it too")
		}
	},
}
