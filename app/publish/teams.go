package publish

import (
	"context"
	"slices"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
)

// CallTeam requests a review from the team in the settings if this review escalated the
// pull request. It asks nobody in advisory mode. If GitHub refuses, for example because the
// team may not see the repository, the rest is still published.
func (q *Requests) CallTeam(ctx context.Context, lease ports.Lease, state ports.TargetState, r *ports.StoredReview, cfg *config.Config, now *ports.PullState) error {
	team := cfg.Settings.FixLoop.Team
	if !r.FixLoop.Now || team == "" || now.Archived || modeOf(r, cfg) != config.ModeEnforce {
		return nil
	}
	_, err := q.requestReviews(ctx, lease, state.Target, without([]string{team}, append(slices.Clone(now.Requested), r.Review.Facts.Author.Login)))
	return err
}
