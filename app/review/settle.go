package review

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reviewgate/reviewgate/app/internal/panics"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/publish"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/app/retry"
)

// settle ends a generation according to the result of its attempt.
func (s *Service) settle(ctx context.Context, held *heldTarget, number int64, err error) (more bool, _ *finished, _ error) {
	lease, state := held.lease, held.state
	if errors.Is(ctx.Err(), context.DeadlineExceeded) && !s.retry.InTime(state, err) {
		// The time of the job and of the review is over. Only the message that says so is
		// left to write.
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
	}
	var afterCheck *publish.AfterCheckError
	gaveUp := false
	switch {
	case err == nil:
	case errors.Is(err, publish.ErrSuperseded), errors.Is(err, publish.ErrClosed):
		s.Log.Info().EmbedObject(state.Target).Err(err).Msg("run stopped")
		return true, nil, nil // look again at what is wanted now
	case ctx.Err() != nil, retry.Temporary(err) && s.retry.InTime(state, err):
		return false, nil, err
	case errors.As(err, &afterCheck):
		// The check is written. A failure after it must not undo it.
		logFailure(s.Log, "the check was written, but a later step failed", state.Target, err)
		if afterCheck.ActionsFailed { // an old review on GitHub may contradict this one
			if err := s.verdicts.WithdrawAny(ctx, lease, state, render.WithdrawnGivenUp); err != nil {
				return false, nil, err
			}
		}
		if err := s.Store.MarkPublished(ctx, afterCheck.RunID); err != nil {
			return false, nil, fmt.Errorf("mark the review as published: %w", err)
		}
	default:
		cause, moved, derr := s.access.Diagnose(ctx, state, err)
		switch {
		case derr != nil:
			return false, nil, derr
		case moved:
			return true, nil, nil
		}
		if err := panics.Guard(func() error { return s.publisher.GiveUp(ctx, lease, state, cause) }); err != nil {
			return false, nil, errors.Join(err, s.markOverdue(ctx, state))
		}
		if err := s.Store.StallCycle(ctx, lease); err != nil {
			return false, nil, fmt.Errorf("stall the cycle of the session: %w", err)
		}
		gaveUp = true
		s.countGaveUp(cause)
		logFailure(s.Log, "review given up", state.Target, cause)
	}
	return s.finish(ctx, lease, finished{number, gaveUp})
}

// finish stores that a generation is done. It gives the lease back unless more is wanted;
// then the askers of this generation are answered with those of the last one.
func (s *Service) finish(ctx context.Context, lease ports.Lease, done finished) (more bool, _ *finished, err error) {
	more, err = s.Store.Finish(ctx, lease, done.generation, done.gaveUp)
	if err != nil || more {
		return more, nil, err
	}
	return false, &done, nil
}

// overdue reports whether to give a review up before trying anything else. A mark is set if
// an attempt failed to complete the check when its time was over. The next attempt runs in
// full, because GitHub may answer again by then. The attempt after that gives up first,
// because its reads could hit the same limit forever.
func overdue(state ports.TargetState) bool {
	return isMarkedOverdue(state) && state.Attempts >= state.Overdue.Attempts+2
}

// isMarkedOverdue reports whether the mark is for the wanted generation. An ask that resets
// the failed attempts makes the mark void.
func isMarkedOverdue(state ports.TargetState) bool {
	return state.Overdue.Generation == state.Wanted && state.Overdue.Attempts <= state.Attempts
}

func (s *Service) markOverdue(ctx context.Context, state ports.TargetState) error {
	if isMarkedOverdue(state) {
		return nil
	}
	return s.Store.SetOverdue(ctx, state.Key(), ports.Overdue{Generation: state.Wanted, Attempts: state.Attempts})
}
