package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/reviewgate/reviewgate/app/internal/store/pgtest"
	"github.com/reviewgate/reviewgate/app/internal/store/sqlitetest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
	"github.com/reviewgate/reviewgate/policies/fixloop"
)

// archivedReview is a review in which no stored part is empty.
func archivedReview(runID string, of ports.Target) ports.StoredReview {
	r := ports.StoredReview{
		RunID: runID, Key: of.Key(), Generation: 1, RepoID: of.RepoID, HeadSHA: of.HeadSHA, BaseSHA: "base",
		Config: []ports.ConfigBlob{
			{Layer: "defaults", Path: "review-rules.json", BlobSHA: "1", Text: []byte(`[]`)},
			{Layer: ports.LayerProposed, Path: "review-rules.json", BlobSHA: "2", Text: []byte(`[{}]`)},
		},
		Record:  pipeline.RunRecord{RunID: runID, Version: "v1"},
		FixLoop: fixloop.State{Attempt: 1},
		Session: ports.SessionOutcome{Cycle: 1, State: &pipeline.SessionState{Cycle: 1, Rule: 4}},
	}
	r.Review.Facts.Base.Ref = "main"
	r.Review.Facts.Files = pipeline.List[pipeline.File]{{Path: "a.go"}}
	r.Review.Gaps = pipeline.List[pipeline.GapLogEntry]{{Concern: "finance"}}
	r.Review.Failed = pipeline.StageDispatch
	r.Review.Proposed = &pipeline.ProposedConfig{Note: "tried"}
	r.Review.Report.Decision = pipeline.DecisionPass
	return r
}

// archiveReview saves a review of a new pull request.
func archiveReview(t *testing.T, s *Store, number int, runID string) ports.StoredReview {
	t.Helper()
	return archiveReviewOf(t, s, ports.Target{Kind: ports.TargetPull, Installation: 1, RepoID: 7, Owner: "Acme", Name: "shop", Number: number, HeadSHA: "head"}, runID)
}

// archiveReviewOf saves a review of a new target.
func archiveReviewOf(t *testing.T, s *Store, of ports.Target, runID string) ports.StoredReview {
	t.Helper()
	if err := s.Ask(t.Context(), ports.ReviewAsk{Target: of, Reason: "opened"}); err != nil {
		t.Fatal(err)
	}
	lease, ok, err := s.Acquire(t.Context(), of.Key(), "test", time.Minute)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	r := archivedReview(runID, of)
	if err := s.SaveReview(t.Context(), lease, r); err != nil {
		t.Fatal(err)
	}
	return r
}

// eachDatabase runs a test on an open store of each kind, with a connection beside it.
func eachDatabase(t *testing.T, test func(t *testing.T, s *Store, db *sql.DB, url string)) {
	for kind, on := range map[string]struct {
		url    func(testing.TB, func(string) error) string
		driver string
	}{
		"SQLite":     {sqlitetest.CopyURL, "sqlite"},
		"PostgreSQL": {pgtest.CopyURL, "pgx"},
	} {
		t.Run(kind, func(t *testing.T) {
			url := on.url(t, Prepare)
			s, err := Open(context.Background(), url, Options{Unsynced: true})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
			db, err := sql.Open(on.driver, strings.TrimPrefix(url, "sqlite://"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() }) // the test only reads and writes
			test(t, s, db, url)
		})
	}
}

// runs reads the IDs of the chosen reviews.
func runs(t *testing.T, a ports.Archive, which ports.ReviewFilter) (ids []string) {
	t.Helper()
	for r, err := range a.Archived(t.Context(), which) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, r.RunID)
	}
	return ids
}

func TestArchived(t *testing.T) {
	eachDatabase(t, func(t *testing.T, s *Store, _ *sql.DB, url string) {
		want := archiveReview(t, s, 1, "run-1")
		for i := range archivedAtOnce { // more than one page
			archiveReview(t, s, i+2, fmt.Sprint("run-", i+2))
		}
		archiveReviewOf(t, s, ports.Target{Kind: ports.TargetGroup, Installation: 1, RepoID: 8, Owner: "acme", Name: "store", HeadSHA: "head"}, "run-group")
		reader, err := OpenReader(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		defer reader.Close()
		for _, a := range []ports.Archive{s, reader} {
			if got := runs(t, a, ports.ReviewFilter{}); len(got) != archivedAtOnce+2 || len(slices.Compact(slices.Sorted(slices.Values(got)))) != len(got) {
				t.Errorf("%d reviews, want each of %d once", len(got), archivedAtOnce+2)
			}
			for name, c := range map[string]struct {
				which ports.ReviewFilter
				want  int
			}{
				"run":                    {ports.ReviewFilter{RunID: "run-1"}, 1},
				"unknown run":            {ports.ReviewFilter{RunID: "run"}, 0},
				"pull request":           {ports.ReviewFilter{Repository: "acme/SHOP", Number: 3}, 1},
				"repository":             {ports.ReviewFilter{Repository: "acme/shop"}, archivedAtOnce + 1},
				"other repository":       {ports.ReviewFilter{Repository: "acme/bank"}, 0},
				"since before it":        {ports.ReviewFilter{Since: time.Now().Add(-time.Hour)}, archivedAtOnce + 2},
				"pull requests":          {ports.ReviewFilter{OnlyPulls: true}, archivedAtOnce + 1},
				"merge groups, too":      {ports.ReviewFilter{Repository: "acme/store"}, 1},
				"no merge groups":        {ports.ReviewFilter{Repository: "acme/store", OnlyPulls: true}, 0},
				"since after it":         {ports.ReviewFilter{Since: time.Now().Add(time.Hour)}, 0},
				"run of another request": {ports.ReviewFilter{RunID: "run-1", Repository: "acme/shop", Number: 3}, 0},
			} {
				if got := runs(t, a, c.which); len(got) != c.want {
					t.Errorf("%s: %d reviews, want %d", name, len(got), c.want)
				}
			}
			for got, err := range a.Archived(t.Context(), ports.ReviewFilter{RunID: "run-1"}) {
				if diff := cmp.Diff(want, *got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(ports.StoredReview{}, "Session")); err != nil || diff != "" {
					t.Errorf("%v (-saved +read):\n%s", err, diff)
				}
			}
		}
	})
}

// One changed byte in anything that is stored of a review is noticed, and hides no other review.
func TestAlteredReviewIsNoticed(t *testing.T) {
	eachDatabase(t, func(t *testing.T, s *Store, db *sql.DB, _ string) {
		archiveReview(t, s, 1, "run-1")
		archiveReview(t, s, 2, "run-2")
		noticed := func() bool {
			n, others := 0, 0
			for _, err := range s.Archived(t.Context(), ports.ReviewFilter{}) {
				var altered *ports.AlteredError
				switch {
				case errors.As(err, &altered) && altered.RunID == "run-1":
					n++
				case err == nil:
					others++
				default:
					t.Fatal(err)
				}
			}
			return n == 1 && others == 1
		}
		for place, where := range map[string]string{
			"reviews.report": "run_id = 'run-1'", "reviews.inputs": "run_id = 'run-1'", "reviews.record": "run_id = 'run-1'", "reviews.digest": "run_id = 'run-1'",
			"reviews.fix_loop": "run_id = 'run-1'", "reviews.session": "run_id = 'run-1'", "reviews.head_sha": "run_id = 'run-1'", "reviews.base_sha": "run_id = 'run-1'", "reviews.base_ref": "run_id = 'run-1'",
			"reviews.decision": "run_id = 'run-1'", "reviews.generation": "run_id = 'run-1'", "reviews.repo_id": "run_id = 'run-1'", "reviews.saved_at": "run_id = 'run-1'", "reviews.target_key": "run_id = 'run-1'",
			"review_configs.layer": "run_id = 'run-1' AND position = 0", "review_configs.path": "run_id = 'run-1' AND position = 0", "review_configs.blob_sha": "run_id = 'run-1' AND position = 0",
			"changed_files.body": "target_key = 'pull/7/1'",
		} {
			table, column, _ := strings.Cut(place, ".")
			var was []byte
			if err := db.QueryRow(fmt.Sprintf(`SELECT %s FROM %s WHERE %s`, column, table, where)).Scan(&was); err != nil || len(was) == 0 {
				t.Fatalf("%s: %d bytes, %v", place, len(was), err)
			}
			set := func(text []byte) {
				t.Helper()
				value := fmt.Sprintf("'%s'", strings.ReplaceAll(string(text), "'", "''"))
				if strings.HasSuffix(place, ".body") || slices.Contains([]string{"report", "inputs", "record", "digest"}, column) {
					value = fmt.Sprintf(map[bool]string{true: "X'%x'", false: `'\x%x'`}[s.db.lone()], text)
				}
				if _, err := db.Exec(fmt.Sprintf(`UPDATE %s SET %s = %s WHERE %s`, table, column, value, where)); err != nil {
					t.Fatalf("%s: %v", place, err)
				}
			}
			all := make([]int, len(was))
			for i := range all {
				all[i] = i
			}
			for _, i := range sample.Of(t, 20, all) {
				now := slices.Clone(was)
				now[i] ^= 1
				set(now)
				if !noticed() {
					t.Errorf("%s: byte %d of %d was changed, and nobody noticed", place, i, len(was))
				}
			}
			set(was)
		}
		if _, err := db.Exec(`UPDATE reviews SET lacks = 'much' WHERE run_id = 'run-1'`); err != nil || !noticed() {
			t.Errorf("a review says that it lacks something, and nobody noticed: %v", err)
		}
		if _, err := db.Exec(`DELETE FROM review_configs WHERE run_id = 'run-1' AND position = 1`); err != nil || !noticed() {
			t.Errorf("a file of the config is gone, and nobody noticed: %v", err)
		}
		// Both share this text.
		if _, err := db.Exec(map[bool]string{true: `UPDATE texts SET body = X'5b205d'`, false: `UPDATE texts SET body = '\x5b205d'`}[s.db.lone()]); err != nil {
			t.Fatal(err)
		}
		for r, err := range s.Archived(t.Context(), ports.ReviewFilter{}) {
			if altered := (*ports.AlteredError)(nil); !errors.As(err, &altered) {
				t.Errorf("run %s: %v, want an error that its config was altered", r.RunID, err)
			}
		}
	})
}

func TestEnded(t *testing.T) {
	eachDatabase(t, func(t *testing.T, s *Store, db *sql.DB, _ string) {
		of := ports.Target{Kind: ports.TargetPull, Installation: 1, RepoID: 7, Owner: "acme", Name: "shop", Number: 1, HeadSHA: "head"}
		n := 0
		accept := func(ask ports.Ask) {
			t.Helper()
			n++
			if _, err := s.Accept(t.Context(), ports.Delivery{GUID: fmt.Sprint(n), Event: "pull_request", Installation: 1, RepoID: 7, ReceivedAt: time.Now(), Asks: []ports.Ask{ask}}); err != nil {
				t.Fatal(err)
			}
		}
		for i, c := range []struct {
			ask  ports.Ask
			want ports.PullEnd
		}{
			{nil, ports.PullOpen},
			{ports.ReviewAsk{Target: of, Reason: "opened"}, ports.PullOpen},
			{ports.Close{Target: of}, ports.PullClosed},
			{ports.ReviewAsk{Target: of, Reason: "reopened"}, ports.PullOpen},
			{ports.Close{Target: of, Merged: true}, ports.PullMerged},
			{ports.ReviewAsk{Target: of, Reason: "open after all"}, ports.PullOpen},
		} {
			if c.ask != nil {
				accept(c.ask)
			}
			if got, err := s.Ended(t.Context(), of.Key()); got != c.want || err != nil {
				t.Errorf("%d: %s, %v, want %s", i, got, err, c.want)
			}
		}
		if err := s.SetClosed(t.Context(), ports.Close{Target: of, Merged: true}); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Ended(t.Context(), of.Key()); got != ports.PullMerged || err != nil {
			t.Errorf("found merged: %s, %v", got, err)
		}
		if _, err := db.ExecContext(t.Context(), `UPDATE targets SET merged = -1`); err != nil { // as an older version left it
			t.Fatal(err)
		}
		if got, err := s.Ended(t.Context(), of.Key()); got != ports.PullEnded || err != nil {
			t.Errorf("closed by an older version: %s, %v, want that it is unknown how", got, err)
		}
	})
}

// A backtest that can't be decoded is told apart from a database that can't be read.
func TestUnreadableBacktest(t *testing.T) {
	eachDatabase(t, func(t *testing.T, s *Store, db *sql.DB, _ string) {
		r := archiveReview(t, s, 1, "run-1")
		if err := s.SaveConfigBacktest(t.Context(), r.Key, ports.ConfigBacktest{HeadSHA: "head"}, "n"); err != nil {
			t.Fatal(err)
		}
		if _, err := db.ExecContext(t.Context(), `UPDATE config_backtests SET result = 'no JSON'`); err != nil {
			t.Fatal(err)
		}
		if b, err := s.ConfigBacktest(t.Context(), r.Key); b != nil || !errors.Is(err, ports.ErrUnreadable) {
			t.Errorf("read %+v, %v; want %v", b, err, ports.ErrUnreadable)
		}
	})
}

func TestReadsWhatIsOnProbation(t *testing.T) {
	eachDatabase(t, func(t *testing.T, s *Store, _ *sql.DB, url string) {
		want := map[string][]ports.Probation{}
		for i, name := range []string{"shop", "web", "none"} {
			g := ports.Target{Kind: ports.TargetPull, Installation: 1, RepoID: int64(20 - i), Owner: "acme", Name: name, Number: 1, HeadSHA: "head"}
			if _, err := s.Accept(t.Context(), ports.Delivery{GUID: name, Event: "pull_request", Installation: 1, RepoID: g.RepoID, Asks: []ports.Ask{ports.ReviewAsk{Target: g}}}); err != nil {
				t.Fatal(err)
			}
			if name == "none" {
				continue
			}
			rows := []ports.Probation{{Kind: ports.ProbationRule, ID: "R" + name, Judged: 25, People: 4, Precision: 0.2, High: 0.391}}
			if err := s.SetProbations(t.Context(), g, rows, false); err != nil {
				t.Fatal(err)
			}
			stored, err := s.OnProbation(t.Context(), g.RepoID)
			if err != nil {
				t.Fatal(err)
			}
			want["acme/"+name] = stored
		}
		reader, err := OpenReader(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		defer reader.Close()
		for _, chosen := range [][]string{{"acme/shop", "acme/web"}, {"acme/web"}, {}} {
			all, err := reader.Probations(t.Context(), func(repository string) bool { return slices.Contains(chosen, repository) })
			if err != nil || len(all) != len(chosen) {
				t.Fatalf("of %v: %+v, %v", chosen, all, err)
			}
			for i, name := range chosen {
				if diff := cmp.Diff(want[name], []ports.Probation{all[i].Probation}); diff != "" || all[i].Repository != name {
					t.Errorf("%s (-stored +read):\n%s", all[i].Repository, diff)
				}
			}
		}
		if all, err := reader.Probations(t.Context(), nil); err != nil || len(all) != 2 {
			t.Errorf("everywhere: %+v, %v", all, err)
		}
	})
}
