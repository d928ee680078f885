package app

import (
	"context"
	"time"

	"github.com/reviewgate/reviewgate/app/backtest"
	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// Backtest computes what stored reviews of the database at a URL would have been under a proposal,
// compared with another one or, if that is nil, with the config that each review used. It changes
// nothing; a server may be using the database.
func Backtest(ctx context.Context, databaseURL string, which ports.ReviewFilter, p backtest.Proposal, against *backtest.Proposal) (*backtest.Report, error) {
	reader, err := store.OpenReader(ctx, databaseURL)
	if err != nil {
		return nil, err
	}
	defer reader.Close() //nolint:errcheck // it wrote nothing
	runner, err := run.NewRunner(run.Config{Version: Version(), Now: time.Now})
	if err != nil {
		return nil, err
	}
	return backtest.New(runner, p, against).Run(ctx, reader, which)
}

// Evaluated says what the stored reviews of the database at a URL would have been with what was in
// evaluation, and under the server's shadow config. It changes nothing; a server may be using the
// database.
func Evaluated(ctx context.Context, databaseURL string, which ports.ReviewFilter) (*backtest.Evaluated, error) {
	reader, err := store.OpenReader(ctx, databaseURL)
	if err != nil {
		return nil, err
	}
	defer reader.Close() //nolint:errcheck // it wrote nothing
	return backtest.Evaluate(ctx, reader, which)
}
