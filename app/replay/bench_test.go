package replay_test

import (
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/app/internal/store/sqlitetest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/replay"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// BenchmarkAll measures how many stored reviews are read from a SQLite database and computed again
// in a second.
func BenchmarkAll(b *testing.B) {
	url := sqlitetest.CopyURL(b, apptest.CreateTables)
	runner, err := run.NewRunner(run.Config{Version: "bench", Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	apptest.FillReviews(b, url, runner, 200)
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
