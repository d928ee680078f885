package review

import (
	"context"
	"fmt"

	"github.com/reviewgate/reviewgate/app/commandrun"
	"github.com/reviewgate/reviewgate/app/internal/panics"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/retry"
)

// finishClosed completes what a closed pull request left open. If other open pull requests
// share its head, the check is left to them: they were asked to finish it when this one was
// closed. The event of the close may be old, because deliveries arrive out of order or
// late. If the pull request is in fact open, finishClosed reopens the target and reports
// open.
func (s *Service) finishClosed(ctx context.Context, lease ports.Lease, state ports.TargetState) (open bool, err error) {
	if state.Kind == ports.TargetPull {
		now, err := s.GitHub.Pull(ctx, state.Target)
		switch {
		case ports.IsFinal(err): // the repository is gone, or no longer accessible
		case err != nil:
			return false, err
		case !now.Closed:
			ask := ports.ReviewAsk{Target: state.Target, Reason: "open after all", ReopenedAt: now.UpdatedAt}
			ask.Target.HeadSHA = now.HeadSHA
			if err := s.Store.Ask(ctx, ask); err != nil {
				return false, fmt.Errorf("open %s again: %w", lease.Key, err)
			}
			return true, nil
		}
	}
	if err := s.checks.CancelOld(ctx, lease, state.Target); err != nil {
		return false, err
	}
	if len(state.Notices) > 0 { // nobody reads them any more
		if err := s.Store.NoticesWritten(ctx, lease.Key, state.Notices); err != nil {
			return false, fmt.Errorf("drop the notices of a closed target: %w", err)
		}
	}
	cmds, err := s.Store.AwaitingCommands(ctx, lease.Key, state.Wanted)
	if err != nil {
		return false, fmt.Errorf("list the commands of a closed target: %w", err)
	}
	for _, c := range cmds {
		if err := s.Store.FinishCommand(ctx, c.Place, c.CommentID, commandrun.OutcomeClosed); err != nil {
			return false, fmt.Errorf("finish command %d: %w", c.CommentID, err)
		}
	}
	return false, nil
}

// writeOrDropNotices writes the notices to the comment, or drops them if that fails for good.
func (s *Service) writeOrDropNotices(ctx context.Context, lease ports.Lease, state ports.TargetState) error {
	err := panics.Guard(func() error { return s.comments.WriteNotices(ctx, lease, state) })
	if err == nil || retry.Temporary(err) {
		return err
	}
	logFailure(s.Log, "notices dropped", state.Target, err)
	if err := s.Store.NoticesWritten(ctx, lease.Key, state.Notices); err != nil {
		return fmt.Errorf("drop notices: %w", err)
	}
	return nil
}

// writeNoticesEarly writes the notices before the review, which may take long if GitHub is in
// trouble. If this fails, they are written with the review.
func (s *Service) writeNoticesEarly(ctx context.Context, held *heldTarget) {
	state := held.state
	err := panics.Guard(func() error { return s.comments.WriteNotices(ctx, held.lease, state) })
	if err == nil {
		err = s.commands.Answer(ctx, held.lease.Key, state.Done, state.GaveUp)
	}
	if err != nil {
		s.Log.Warn().EmbedObject(state.Target).Err(err).Msg("notices not written before the review")
	}
}
