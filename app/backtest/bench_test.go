package backtest_test

import (
	"flag"
	"runtime"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/backtest"
	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/app/internal/store/sqlitetest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

var flagReviews = flag.Int("reviews", 200, "stored reviews in BenchmarkBacktest")

// BenchmarkBacktest measures how many stored reviews of 10 files with 100 added lines each are
// computed in a second, and the peak of the heap: under a config with another rule, and under one
// with the same rules and another gate.
func BenchmarkBacktest(b *testing.B) {
	url := sqlitetest.CopyURL(b, apptest.CreateTables)
	runner, err := run.NewRunner(run.Config{Version: "bench", Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	apptest.FillReviews(b, url, runner, *flagReviews)
	reader, err := store.OpenReader(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	defer reader.Close()
	for name, files := range map[string]map[string]string{
		"another rule": stricter,
		"another gate": {config.FileSettings: `{"gate": {"conditions": [{"when": "warning > 0", "decision": "fail"}]}}`},
	} {
		b.Run(name, func(b *testing.B) {
			runtime.GC()
			n, peak := 0, apptest.WatchHeap()
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
