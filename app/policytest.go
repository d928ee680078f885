package app

import (
	"context"
	"fmt"

	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/app/policytest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/replay"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// RecordTest writes a policy test from the stored review of a run in the database at a URL. It
// changes nothing; a server may be using the database.
func RecordTest(ctx context.Context, databaseURL, runID string) (*policytest.Recorded, error) {
	return withArchive(ctx, databaseURL, func(reader *store.Reader, runner *run.Runner) (*policytest.Recorded, error) {
		for review, err := range reader.Archived(ctx, ports.ReviewFilter{RunID: runID}) {
			if err != nil {
				return nil, err
			}
			cfg, err := replay.New(runner).ConfigOf(review)
			if err != nil {
				return nil, err
			}
			return policytest.Record(ctx, review, cfg, policytest.Options{Engines: runner.Engines})
		}
		return nil, fmt.Errorf("the database has no run %s: the last line of a comment names the run of its review", runID)
	})
}
