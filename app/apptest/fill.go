package apptest

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/inforce"
	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/raw"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// tenFiles is a pull request of 10 files with 100 added lines each.
type tenFiles struct {
	cfg    *config.Config
	number int
}

func (c tenFiles) PullRequest(context.Context) (raw.PullRequest, error) {
	return raw.PullRequest{
		Repository: pipeline.Repository{Owner: "acme", Name: "shop"}, Number: c.number, Title: "feat: totals", Body: "Adds totals.",
		Head: pipeline.Head{SHA: fmt.Sprint("head", c.number)}, Totals: pipeline.Totals{Files: 10},
	}, nil
}

func (c tenFiles) Files(context.Context) (raw.Files, error) {
	var files []raw.ChangedFile
	for i := range 10 {
		var patch strings.Builder
		patch.WriteString("@@ -0,0 +1,100 @@\n")
		for n := range 100 {
			fmt.Fprintf(&patch, "+\tline%d := strings.TrimSpace(lines[%d]) // %d of %d\n", n, n, i, c.number)
		}
		files = append(files, raw.ChangedFile{
			Path: fmt.Sprintf("src/file%d.go", i), Status: pipeline.FileAdded, Additions: 100, Patch: strings.TrimSuffix(patch.String(), "\n"),
		})
	}
	return raw.Files{Files: files}, nil
}

func (c tenFiles) Commits(context.Context) (raw.Commits, error) { return raw.Commits{}, nil }

func (c tenFiles) Config(context.Context) (normalize.ConfigRead, error) {
	return normalize.ConfigRead{Config: c.cfg}, nil
}

// FillReviews stores reviews of as many pull requests of 10 files with 100 added lines each.
func FillReviews(b testing.TB, url string, runner *run.Runner, n int) {
	b.Helper()
	cfg, _ := config.Load()
	s, err := store.Open(context.Background(), url, store.Options{Unsynced: true})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for i := range n {
		of := ports.Target{Kind: ports.TargetPull, Installation: 1, RepoID: 7, Owner: "acme", Name: "shop", Number: i + 1, HeadSHA: fmt.Sprint("head", i+1)}
		out, err := runner.Run(b.Context(), tenFiles{cfg, of.Number}, run.Options{RunID: fmt.Sprint("run", of.Number)})
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

// WatchHeap samples the heap in use, including garbage. It returns a function that stops the
// sampling and returns the peak in bytes.
func WatchHeap() func() uint64 {
	stop, peak := make(chan bool), make(chan uint64)
	go func() {
		most := uint64(0)
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
			select {
			case <-stop:
				peak <- most
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return func() uint64 {
		close(stop)
		return <-peak
	}
}
