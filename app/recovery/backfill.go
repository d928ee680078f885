package recovery

import (
	"context"
	"fmt"

	"github.com/reviewgate/reviewgate/app/ports"
)

// Backfill asks for a review of an open pull request whose current state has no answer, and
// reports whether it had to. It asks for nothing if the head has a completed check or a
// review is on its way. shared says that other open pull requests have the same head. With
// dry it only reports what it would do.
func (f *Finder) Backfill(ctx context.Context, p ports.OpenPull, shared, dry bool) (asked bool, err error) {
	answered, wanted, err := f.answered(ctx, p, shared)
	if err != nil || answered || dry {
		return !answered, err
	}
	// An event about it may have arrived during the calls to GitHub.
	if err := f.Intake.Ask(ctx, ports.ReviewAsk{Target: p.Target, Reason: "backfill", Asked: &wanted}); err != nil {
		return false, fmt.Errorf("ask for a review of %s: %w", p.Key(), err)
	}
	f.Log.Info().EmbedObject(p.Target).Msg("backfill asked for a review")
	return true, nil
}
