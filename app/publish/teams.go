package publish

import (
	"context"
	"slices"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
)

// CallTeam asks for the review of whoever the settings name where this review
// escalated the pull request; in advisory mode nobody is bothered. GitHub's
// refusal, such as of a team that may not see the repository, keeps nothing from
// being published.
func (q *Requests) CallTeam(ctx context.Context, lease ports.Lease, state ports.TargetState, r *ports.StoredReview, cfg *config.Config, now *ports.PullState) error {
	team := cfg.Settings.FixLoop.Team
	if !r.FixLoop.Now || team == "" || now.Archived || modeOf(r, cfg) != config.ModeEnforce {
		return nil
	}
	_, err := q.requestReviews(ctx, lease, state.Target, without([]string{team}, append(slices.Clone(now.Requested), r.Review.Facts.Author.Login)))
	return err
}
