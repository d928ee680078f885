package app

import (
	"context"
	"time"

	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// withArchive calls f with the stored reviews of the database at a URL, and with a runner to compute
// them again. Nothing is changed; a server may be using the database.
func withArchive[R any](ctx context.Context, databaseURL string, f func(*store.Reader, *run.Runner) (R, error)) (none R, err error) {
	reader, err := store.OpenReader(ctx, databaseURL)
	if err != nil {
		return none, err
	}
	defer reader.Close() //nolint:errcheck // it wrote nothing
	runner, err := run.NewRunner(run.Config{Version: Version(), Now: time.Now})
	if err != nil {
		return none, err
	}
	return f(reader, runner)
}
