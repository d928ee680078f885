package app

import (
	"context"

	"github.com/reviewgate/reviewgate/app/backtest"
	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// Backtest computes what stored reviews of the database at a URL would have been under a proposal,
// compared with another one or, if that is nil, with the config that each review used. It changes
// nothing; a server may be using the database.
func Backtest(ctx context.Context, databaseURL string, which ports.ReviewFilter, p backtest.Proposal, against *backtest.Proposal) (*backtest.Report, error) {
	return withArchive(ctx, databaseURL, func(reader *store.Reader, runner *run.Runner) (*backtest.Report, error) {
		return backtest.New(runner, p, against).Run(ctx, reader, which)
	})
}

// Evaluated says what would have changed in the stored reviews of the database at a URL if everything
// in evaluation had been enforced, and if the server's shadow config had been in force. It changes nothing; a server may be using the
// database.
func Evaluated(ctx context.Context, databaseURL string, which ports.ReviewFilter) (*backtest.Evaluated, error) {
	return withArchive(ctx, databaseURL, func(reader *store.Reader, _ *run.Runner) (*backtest.Evaluated, error) {
		return backtest.Evaluate(ctx, reader, which)
	})
}
