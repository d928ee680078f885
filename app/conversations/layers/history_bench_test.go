package layers

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/backtest"
	"github.com/reviewgate/reviewgate/app/inforce"
	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/app/internal/store/sqlitetest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/replay"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/raw"
	"github.com/reviewgate/reviewgate/pipeline/run"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// largeChange is a pull request that adds files of 100 lines each. In each, line is added once more.
type largeChange struct {
	cfg           *config.Config
	number, files int
	line          string
}

func (c largeChange) PullRequest(context.Context) (raw.PullRequest, error) {
	return raw.PullRequest{
		Repository: pipeline.Repository{Owner: "acme", Name: "shop"}, Number: c.number, Title: "feat: totals", Body: "Adds totals.",
		Head: pipeline.Head{SHA: fmt.Sprint("head", c.number)}, Totals: pipeline.Totals{Files: c.files},
	}, nil
}

func (c largeChange) Files(context.Context) (raw.Files, error) {
	var files []raw.ChangedFile
	for i := range c.files {
		var patch strings.Builder
		patch.WriteString("@@ -0,0 +1,101 @@\n")
		for n := range 100 {
			fmt.Fprintf(&patch, "+\tline%d := strings.TrimSpace(lines[%d]) // %d of %d\n", n, n, i, c.number)
		}
		patch.WriteString("+" + c.line)
		files = append(files, raw.ChangedFile{
			Path: fmt.Sprintf("src/file%d.go", i), Status: pipeline.FileAdded, Additions: 101, Patch: strings.TrimSuffix(patch.String(), "\n"),
		})
	}
	return raw.Files{Files: files}, nil
}

func (c largeChange) Commits(context.Context) (raw.Commits, error) { return raw.Commits{}, nil }

func (c largeChange) Config(context.Context) (normalize.ConfigRead, error) {
	return normalize.ConfigRead{Config: c.cfg}, nil
}

var flagReviews = flag.Int("reviews", 200, "stored reviews in the benchmarks")

// stored is a SQLite database with reviews of pull requests of 10 files with 100 added lines each.
func stored(b *testing.B) (*store.Reader, *run.Runner) {
	b.Helper()
	url := sqlitetest.CopyURL(b, apptest.CreateTables)
	reader, runner := reading(b, url)
	cfg, _ := config.Load()
	var all []*ports.StoredReview
	for i := range *flagReviews {
		all = append(all, reviewOf(b, runner, largeChange{cfg, i + 1, 10, ""}))
		if len(all) == 100 || i+1 == *flagReviews { // few in memory
			save(b, url, all)
			all = nil
		}
	}
	return reader, runner
}

// reviewOf reviews a change.
func reviewOf(b *testing.B, runner *run.Runner, c largeChange) *ports.StoredReview {
	b.Helper()
	out, err := runner.Run(b.Context(), c, run.Options{RunID: fmt.Sprint("run", c.number)})
	if err != nil {
		b.Fatal(err)
	}
	return &ports.StoredReview{
		RunID: out.Record.RunID, Key: fmt.Sprint("pull/7/", c.number), Generation: 1, RepoID: 7, HeadSHA: out.Review.Facts.Head.SHA,
		Review: out.Review, Config: inforce.LayerBlobs(config.DefaultLayer()), Record: out.Record,
	}
}

// BenchmarkStoredReview measures what a review of 300 files with a finding in each takes in the
// database: without the changed lines, which the reviews of a pull request share, and these alone.
func BenchmarkStoredReview(b *testing.B) {
	url := sqlitetest.CopyURL(b, apptest.CreateTables)
	_, runner := reading(b, url)
	cfg, _ := config.Load()
	review := reviewOf(b, runner, largeChange{cfg, 1, 300, "\tc := &tls.Config{InsecureSkipVerify: true}"})
	if n := len(review.Review.Report.Findings); n < 100 {
		b.Fatalf("%d findings", n)
	}
	for b.Loop() {
		review.RunID += "x"
		save(b, url, []*ports.StoredReview{review})
	}
	db, err := sql.Open("sqlite", "file:"+strings.TrimPrefix(url, "sqlite://"))
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // it only reads
	var own, lines float64
	err = errors.Join(db.QueryRow(`SELECT max(length(report) + length(inputs) + length(record)) FROM reviews`).Scan(&own),
		db.QueryRow(`SELECT max(length(body)) FROM changed_files`).Scan(&lines))
	if err != nil {
		b.Fatal(err)
	}
	if own+lines > 2e6 {
		b.Errorf("the review takes %.0f KB, and may take 2,000", (own+lines)/1000)
	}
	b.ReportMetric(own/1000, "KB/review")
	b.ReportMetric(lines/1000, "KB/lines")
}

// BenchmarkReplay measures how many stored reviews are read from a SQLite database and computed
// again in a second.
func BenchmarkReplay(b *testing.B) {
	reader, runner := stored(b)
	replayer, n := replay.New(runner), 0
	for b.Loop() {
		for r, err := range replayer.All(b.Context(), reader, ports.ReviewFilter{}) {
			if err != nil || !r.Identical {
				b.Fatal(err, r)
			}
			n++
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "reviews/s")
}

// BenchmarkBacktest measures the same under a config with another rule, and under one with the same
// rules and another gate. It also reports the peak of the heap.
func BenchmarkBacktest(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // as in the command
	reader, runner := stored(b)
	for name, files := range map[string]map[string]string{
		"another rule": stricter,
		"another gate": {config.FileSettings: `{"gate": {"conditions": [{"when": "warning > 0", "decision": "fail"}]}}`},
	} {
		b.Run(name, func(b *testing.B) {
			runtime.GC()
			n, peak := 0, sample.WatchHeap()
			for b.Loop() {
				r, err := backtest.New(runner, proposal(files), nil).Run(b.Context(), reader, ports.ReviewFilter{})
				if err != nil || r.Reviews != *flagReviews || len(r.Failed) > 0 {
					b.Fatal(err, r)
				}
				n += r.Reviews
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "reviews/s")
			b.ReportMetric(float64(peak())/(1<<20), "peak-MB")
		})
	}
}
