package app

import (
	"context"

	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/replay"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// Replay computes stored reviews of the database at a URL again, and calls each with every
// result. It changes nothing; a server may be using the database. An error means that the
// database can't be read, that ctx ended, or that each returned an error.
func Replay(ctx context.Context, databaseURL string, which ports.ReviewFilter, each func(replay.Result) error) error {
	_, err := withArchive(ctx, databaseURL, func(reader *store.Reader, runner *run.Runner) (none struct{}, err error) {
		for result, err := range replay.New(runner).All(ctx, reader, which) {
			if err == nil {
				err = each(result)
			}
			if err != nil {
				return none, err
			}
		}
		return none, nil
	})
	return err
}
