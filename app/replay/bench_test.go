package replay_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/apptest"
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
)

// change is a pull request of 10 files with 100 added lines each.
type change struct {
	cfg    *config.Config
	number int
}

func (c change) PullRequest(context.Context) (raw.PullRequest, error) {
	return raw.PullRequest{
		Repository: pipeline.Repository{Owner: "acme", Name: "shop"}, Number: c.number, Title: "feat: totals", Body: "Adds totals.",
		Head: pipeline.Head{SHA: fmt.Sprint("head", c.number)}, Totals: pipeline.Totals{Files: 10},
	}, nil
}

func (c change) Files(context.Context) (raw.Files, error) {
	var files []raw.ChangedFile
	for i := range 10 {
		var patch strings.Builder
		patch.WriteString("@@ -0,0 +1,100 @@\n")
		for n := range 100 {
			fmt.Fprintf(&patch, "+\tresult%d := compute(%d, input[%d]) // of %d\n", n, i, n*i, c.number)
		}
		files = append(files, raw.ChangedFile{
			Path: fmt.Sprintf("src/file%d.go", i), Status: pipeline.FileAdded, Additions: 100, Patch: strings.TrimSuffix(patch.String(), "\n"),
		})
	}
	return raw.Files{Files: files}, nil
}

func (c change) Commits(context.Context) (raw.Commits, error) { return raw.Commits{}, nil }

func (c change) Config(context.Context) (normalize.ConfigRead, error) {
	return normalize.ConfigRead{Config: c.cfg}, nil
}

// fill stores reviews of as many pull requests.
func fill(b *testing.B, url string, runner *run.Runner, n int) {
	b.Helper()
	cfg, _ := config.Load()
	s, err := store.Open(context.Background(), url, store.Options{Unsynced: true})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for i := range n {
		of := ports.Target{Kind: ports.TargetPull, Installation: 1, RepoID: 7, Owner: "acme", Name: "shop", Number: i + 1, HeadSHA: fmt.Sprint("head", i+1)}
		out, err := runner.Run(b.Context(), change{cfg, of.Number}, run.Options{RunID: fmt.Sprint("run", of.Number)})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Ask(b.Context(), ports.ReviewAsk{Target: of, Reason: "opened"}); err != nil {
			b.Fatal(err)
		}
		lease, ok, err := s.Acquire(b.Context(), of.Key(), "bench", time.Minute)
		if err != nil || !ok {
			b.Fatal(ok, err)
		}
		if err := s.SaveReview(b.Context(), lease, ports.StoredReview{
			RunID: out.Record.RunID, Key: of.Key(), Generation: 1, RepoID: of.RepoID, HeadSHA: of.HeadSHA,
			Review: out.Review, Config: inforce.LayerBlobs(config.DefaultLayer()), Record: out.Record,
		}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAll measures how many stored reviews are read from a SQLite database and computed again
// in a second.
func BenchmarkAll(b *testing.B) {
	url := sqlitetest.CopyURL(b, apptest.CreateTables)
	runner, err := run.NewRunner(run.Config{Version: "bench", Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	fill(b, url, runner, 200)
	reader, err := store.OpenReader(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	defer reader.Close()
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
