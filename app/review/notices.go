package review

import (
	"context"
	"fmt"

	"github.com/reviewgate/reviewgate/app/internal/panics"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/retry"
)

// sayOrDrop writes the notices to the comment, or drops them if that is not possible.
func (s *Service) sayOrDrop(ctx context.Context, lease ports.Lease, state ports.TargetState) error {
	err := panics.Guard(func() error { return s.comments.SayNotices(ctx, lease, state) })
	if err == nil || retry.Temporary(err) {
		return err
	}
	logFailure(s.Log, "notices dropped", state.Target, err)
	if err := s.Store.NoticesSaid(ctx, lease.Key, state.Notices); err != nil {
		return fmt.Errorf("drop notices: %w", err)
	}
	return nil
}

// sayEarly writes the notices before the review, which may take long if GitHub is in
// trouble. If this fails, they are written with the review.
func (s *Service) sayEarly(ctx context.Context, g *generation) {
	state := g.state
	err := panics.Guard(func() error { return s.comments.SayNotices(ctx, g.lease, state) })
	if err == nil {
		err = s.commands.Answer(ctx, g.lease.Key, state.Done, state.GaveUp)
	}
	if err != nil {
		s.Log.Warn().EmbedObject(state.Target).Err(err).Msg("notices not said before the review")
	}
}
