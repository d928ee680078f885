package layers

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/app/internal/store/pgtest"
	"github.com/reviewgate/reviewgate/app/internal/store/sqlitetest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/replay"
	"github.com/reviewgate/reviewgate/pipeline"
)

// A review that was made on SQLite is computed again on PostgreSQL, and back on SQLite.
func TestReviewsMoveBetweenDatabases(t *testing.T) {
	t.Parallel()
	w := apptest.Start(t)
	pr := w.Open(ghtest.Files{"store/b.go": apptest.Insecure})
	w.Idle()
	pr.Push(ghtest.Files{"store/c.go": apptest.Insecure, ".github/reviewgate/review-rules.json": `[{"id": "none"`}, "feat: more")
	w.Idle()
	pr.Comment("alice", "/review")
	w.Idle()
	if err := w.Stop(); err != nil {
		t.Fatal(err)
	}
	urls := []string{w.DB, sqlitetest.CopyURL(t, apptest.CreateTables)}
	if !testing.Short() { // with the race detector, another database shows nothing new
		urls = slices.Insert(urls, 1, pgtest.CopyURL(t, apptest.CreateTables))
	}
	want := archived(t, urls[0])
	if len(want) < 3 || !slices.ContainsFunc(want, func(r *ports.StoredReview) bool {
		return slices.ContainsFunc(r.Config, func(c ports.ConfigBlob) bool { return c.Layer == ports.LayerProposed })
	}) {
		t.Fatalf("%d reviews, want three, and in one the config that it proposes", len(want))
	}
	for i, to := range urls[1:] {
		save(t, to, archived(t, urls[i]))
		if got := archived(t, to); !reflect.DeepEqual(want, got) { // cmp looks at texts byte by byte
			t.Errorf("from database %d (-made +moved):\n%s", i, cmp.Diff(want, got))
		}
		apptest.Replays(t, to, nil)
	}
}

// archived reads all reviews of a database.
func archived(t *testing.T, url string) (all []*ports.StoredReview) {
	t.Helper()
	reader, _ := reading(t, url)
	for r, err := range reader.Archived(t.Context(), ports.ReviewFilter{}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// save stores reviews in another database.
func save(t testing.TB, url string, all []*ports.StoredReview) {
	t.Helper()
	s, err := store.Open(context.Background(), url, store.Options{Unsynced: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, r := range all {
		facts := &r.Review.Facts
		owner, name, _ := strings.Cut(facts.Repository.FullName(), "/")
		of := ports.Target{Kind: ports.TargetPull, Installation: 1, RepoID: r.RepoID, Owner: owner, Name: name, Number: facts.Number, HeadSHA: r.HeadSHA}
		if err := s.Ask(t.Context(), ports.ReviewAsk{Target: of, Reason: "opened"}); err != nil {
			t.Fatal(err)
		}
		lease, ok, err := s.Acquire(t.Context(), r.Key, "test", time.Minute)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		if err := s.SaveReview(t.Context(), lease, *r); err != nil {
			t.Fatal(err)
		}
	}
}

// What differs is listed by its place, and findings by their ID.
func TestDifferences(t *testing.T) {
	t.Parallel()
	w := apptest.Start(t)
	w.Open(ghtest.Files{"store/b.go": apptest.Insecure})
	w.Idle()
	if err := w.Stop(); err != nil {
		t.Fatal(err)
	}
	r := archived(t, w.DB)[0]
	_, runner := reading(t, w.DB)
	if got := replay.New(runner).One(t.Context(), r); !got.Identical || len(got.Differs) > 0 || got.Err != nil || got.Pull != "acme/shop#1" {
		t.Fatalf("%+v, want an identical report", got)
	}
	report := &r.Review.Report
	gone := report.Findings[0]
	report.Findings = report.Findings[1:]
	report.Decision = pipeline.DecisionPass
	report.Gate.Metrics["critical"] = 7
	got := replay.New(runner).One(t.Context(), r)
	var lines []string
	for _, d := range got.Differs {
		lines = append(lines, d.String())
	}
	text := strings.Join(lines, "\n")
	for _, want := range []string{
		`decision: "pass", in the replay "`, fmt.Sprintf("findings[%s]: only in the replay: {", gone.ID), "gate.metrics.critical: 7, in the replay ",
	} {
		if got.Identical || !strings.Contains(text, want) {
			t.Errorf("identical %t, %q is not in:\n%s", got.Identical, want, text)
		}
	}
	if len(got.Differs) != 3 {
		t.Errorf("%d differences, want 3:\n%s", len(got.Differs), text)
	}
	r.Config[0].Text = []byte(`{"unknown": 1}`)
	if got := replay.New(runner).One(t.Context(), r); got.Err == nil || !strings.Contains(got.Err.Error(), "can't read the config that the review used") {
		t.Errorf("%+v, want an error about the config", got)
	}
}
