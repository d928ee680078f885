package publish

import (
	"context"
	"slices"

	"github.com/reviewgate/reviewgate/config"
)

// CallTeam requests a review from the team in the settings if this review escalated the
// pull request. It asks nobody in advisory mode. If GitHub refuses, for example because the
// team may not see the repository, the rest is still published.
func (q *Requests) CallTeam(ctx context.Context, p *Publication) error {
	team := p.Config.Settings.FixLoop.Team
	if !p.Review.FixLoop.Now || team == "" || p.Now.Archived || p.mode() != config.ModeEnforce {
		return nil
	}
	_, err := q.requestReviews(ctx, p.Lease, p.State.Target, without([]string{team}, append(slices.Clone(p.Now.Requested), p.Review.Review.Facts.Author.Login)))
	return err
}
