package review

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// workTarget brings a target up to its wanted generation. It returns nil if
// another holder works on the target: that one will see the generation.
func (s *Service) workTarget(ctx context.Context, key string) error {
	lease, ok, err := s.Store.Acquire(ctx, key, s.Owner, s.LeaseTTL)
	if err != nil {
		return &RetryError{After: s.RetryBase, Err: fmt.Errorf("take the lease of %s: %w", key, err)}
	}
	if !ok {
		return nil
	}
	held, stop := s.keep(ctx, lease)
	err = s.workGenerations(held, lease)
	stop()
	if cause := context.Cause(held); errors.Is(cause, ErrLeaseLost) {
		return nil // the new holder goes on
	}
	if err != nil {
		return s.stopWork(ctx, lease, err)
	}
	return nil
}

// workGenerations does what is wanted until nothing more is. A head that seems
// to move each time it is looked at is trouble at the host, and waited for
// like any other.
func (s *Service) workGenerations(ctx context.Context, lease Lease) error {
	const rounds = 20
	for range rounds {
		more, err := s.workGeneration(ctx, lease)
		if err != nil || !more {
			return err
		}
	}
	return fmt.Errorf("no end after %d rounds of %s", rounds, lease.Key)
}

// workGeneration does what is wanted of the target now, and reports whether
// more was asked for meanwhile. Without an error and more the lease has been
// given back.
func (s *Service) workGeneration(ctx context.Context, lease Lease) (more bool, err error) {
	state, err := s.Store.Target(ctx, lease.Key)
	if err != nil {
		return false, fmt.Errorf("read the target's state: %w", err)
	}
	switch {
	case state.Closed:
		if err := guard(func() error { return s.finishClosed(ctx, lease, state) }); err != nil {
			return false, err
		}
		return s.Store.Finish(ctx, lease, state.Wanted, false)
	case state.Done >= state.Wanted:
		if state.Notice != "" {
			if err := guard(func() error { return s.sayNotice(ctx, lease, state) }); err != nil {
				return false, err
			}
		}
		return s.Store.Finish(ctx, lease, state.Done, state.GaveUp)
	}

	if state.Crashes >= maxCrashes {
		err = &finalError{fmt.Errorf("the server died %d times while it worked on this review", state.Crashes)}
	} else {
		err = s.attempt(ctx, lease, state)
	}
	switch {
	case err == nil:
	case errors.Is(err, errSuperseded), errors.Is(err, errClosed):
		s.Log.Info().Str("target", lease.Key).Err(err).Msg("run stopped")
		return true, nil // look again at what is wanted now
	case ctx.Err() != nil, retryable(err) && s.inTime(state, err):
		return false, err
	default:
		s.logFailure(lease.Key, err)
		if err := guard(func() error { return s.giveUp(ctx, lease, state, err) }); err != nil {
			return false, err
		}
	}
	more, ferr := s.Store.Finish(ctx, lease, state.Wanted, err != nil)
	if ferr == nil {
		s.answerCommands(ctx, state)
	}
	return more, ferr
}

// inTime reports whether a review that failed now may be tried again within
// its window.
func (s *Service) inTime(state TargetState, err error) bool {
	since := state.FailedSince
	if since.IsZero() {
		since = s.Now()
	}
	return s.Now().Add(s.backoff(state.Attempts+1, err)).Before(since.Add(s.RetryWindow))
}

// maxCrashes is how often a review may take its process down before it is
// given up.
const maxCrashes = 3

// attempt runs and publishes one generation, and stops as soon as it is moot.
func (s *Service) attempt(ctx context.Context, lease Lease, state TargetState) error {
	watched, stop := s.watch(ctx, lease.Key, state.HeadSHA)
	defer stop()
	runCtx, cancel := context.WithCancelCause(watched)
	defer cancel(nil)
	defer s.running.start(lease.Key, cancel)()

	err := guard(func() error { return s.review(runCtx, lease, state) })
	if cause := context.Cause(runCtx); err != nil && cause != nil && ctx.Err() == nil {
		return cause
	}
	return err
}

// stopWork gives the lease back after a failure and tells the queue when to
// try again. It runs after ctx may have ended, so it has a little time of its
// own.
func (s *Service) stopWork(ctx context.Context, lease Lease, err error) error {
	shutdown := errors.Is(context.Cause(ctx), context.Canceled)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if shutdown {
		if rerr := s.Store.Release(ctx, lease); rerr != nil {
			err = errors.Join(err, rerr)
		}
		return &RetryError{Err: err}
	}
	attempts, ferr := s.Store.Failed(ctx, lease)
	if ferr != nil {
		return &RetryError{After: s.RetryBase, Err: errors.Join(err, ferr)}
	}
	after := s.backoff(attempts, err)
	s.Log.Warn().Str("target", lease.Key).Int("attempt", attempts).Dur("again_in", after).Err(err).Msg("review put off")
	return &RetryError{After: after, Err: err}
}

// retryable reports whether the same run may succeed later. Trouble with the
// store is: what it holds is not lost.
func retryable(err error) bool {
	var host *HostError
	if errors.As(err, &host) {
		return host.Temporary()
	}
	return !panicked(err) && !errors.As(err, new(*finalError))
}

// panicked reports whether the error is a panic, here or in a stage.
func panicked(err error) bool {
	return errors.As(err, new(*panicError)) || errors.As(err, new(*run.PanicError)) || errors.Is(err, normalize.ErrPanic)
}

// finalError is trouble that trying again can't mend.
type finalError struct{ err error }

func (e *finalError) Error() string { return e.err.Error() }
func (e *finalError) Unwrap() error { return e.err }

func (s *Service) logFailure(key string, err error) {
	ev := s.Log.Error().Str("target", key).Err(err)
	var p *panicError
	if errors.As(err, &p) {
		ev = ev.Str("stack", string(p.stack))
	}
	ev.Msg("review given up")
}

// finishClosed completes what a closed pull request left open. A head that
// other open pull requests share keeps its check: they were asked to finish it
// when this one was closed.
func (s *Service) finishClosed(ctx context.Context, lease Lease, state TargetState) error {
	if err := s.cancelOldChecks(ctx, lease, state.Target); err != nil {
		return err
	}
	if state.Notice != "" { // there is nobody to say it to
		if err := s.Store.NoticeSaid(ctx, lease.Key, state.Notice); err != nil {
			return fmt.Errorf("drop the notice of a closed target: %w", err)
		}
	}
	cmds, err := s.Store.AwaitingCommands(ctx, lease.Key, state.Wanted)
	if err != nil {
		return fmt.Errorf("list the commands of a closed target: %w", err)
	}
	for _, c := range cmds {
		if err := s.Store.FinishCommand(ctx, c.CommentID, outcomeClosed); err != nil {
			return fmt.Errorf("finish command %d: %w", c.CommentID, err)
		}
	}
	return nil
}
