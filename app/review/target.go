package review

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/admission"
	"github.com/reviewgate/reviewgate/app/commandrun"
	"github.com/reviewgate/reviewgate/app/internal/panics"
	"github.com/reviewgate/reviewgate/app/internal/trail"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/publish"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/app/retry"
)

// workTarget does the work of one kind of job on a target, until it is done or the next
// step needs the other kind. It returns nil if another holder works on the target, because
// that holder will see what is wanted.
func (s *Service) workTarget(ctx context.Context, key string, kind ports.JobKind) error {
	turn := s.suspects.turn(key)
	defer turn.end()
	_, err := s.suspect(ctx, turn)
	if errors.Is(err, ports.ErrNotFound) {
		return nil // the target was deleted before its job ran
	}
	if err != nil {
		return &ports.RetryError{After: turnAgain(s.RetryBase, err), Err: err}
	}
	lease, ok, err := s.leases.Acquire(ctx, key)
	if err != nil {
		return &ports.RetryError{After: s.RetryBase, Err: fmt.Errorf("take the lease of %s: %w", key, err)}
	}
	if !ok {
		return nil
	}
	// Taking the lease may have counted the crash that makes the target a suspect.
	state, err := s.suspect(ctx, turn)
	switch {
	case err != nil:
		return &ports.RetryError{After: turnAgain(s.RetryBase, err), Err: errors.Join(err, s.Store.Release(context.WithoutCancel(ctx), lease))}
	case isQuarantined(state, s.Now()):
		return s.stay(ctx, lease, state)
	case isSuspect(state) && s.Apart != nil:
		return s.workApart(ctx, lease, kind, state, turn)
	}
	return s.WorkHeld(ctx, lease, kind)
}

// WorkHeld does a job of this kind on a target whose lease is held, and gives the lease
// back. A child process does only this.
func (s *Service) WorkHeld(ctx context.Context, lease ports.Lease, kind ports.JobKind) error {
	key := lease.Key
	held, stop := s.leases.Keep(ctx, lease)
	var done *finished
	err := panics.Guard(func() (err error) {
		done, err = s.workGenerations(held, lease, kind)
		return err
	})
	stop()
	if err == nil {
		s.followed.Set(key, "")
	}
	if done != nil {
		// The lease was given back, so the end of its context must not prevent the answer.
		err := s.commands.Answer(ctx, key, done.generation, done.gaveUp)
		if err != nil && errors.Is(ctx.Err(), context.Canceled) {
			return &ports.RetryError{Err: err} // at once, when the server is back
		}
		return err
	}
	if cause := context.Cause(held); errors.Is(cause, ports.ErrLeaseLost) {
		return nil // the new holder goes on
	}
	if err != nil {
		return s.stopWork(ctx, lease, err)
	}
	return nil
}

// finished is the last generation that was wanted for a target, once it is done.
type finished struct {
	generation int64
	gaveUp     bool
}

// workGenerations works until nothing more is wanted. It returns the finished generation,
// whose askers the caller must still answer, or nil if the work was handed over. If the
// head seems to move each time it is read, that counts as trouble at GitHub, and the job
// waits and tries again.
func (s *Service) workGenerations(ctx context.Context, lease ports.Lease, kind ports.JobKind) (*finished, error) {
	const rounds = 5 // each costs some calls
	for n := 1; ; n++ {
		more, done, err := s.workGeneration(ctx, lease, kind, n >= rounds)
		if err != nil || !more {
			return done, err
		}
	}
}

// workGeneration does what is wanted for the target now, and reports whether the holder has
// more to do. If it returns neither an error nor more, the lease has been given back.
func (s *Service) workGeneration(ctx context.Context, lease ports.Lease, kind ports.JobKind, last bool) (more bool, done *finished, err error) {
	state, err := s.Store.Target(ctx, lease.Key)
	if err != nil {
		return false, nil, fmt.Errorf("read the target's state: %w", err)
	}
	switch {
	case state.Closed:
		open, err := s.finishClosed(ctx, lease, state)
		if err != nil || open {
			return open, nil, err
		}
		more, err := s.Store.Finish(ctx, lease, state.Wanted, false)
		return more, nil, err
	case state.Done >= state.Wanted:
		if len(state.Notices) > 0 {
			if err := s.sayOrDrop(ctx, lease, state); err != nil {
				return false, nil, err
			}
		}
		return s.finish(ctx, lease, finished{state.Done, state.GaveUp})
	}
	trail.Of(ctx).SetAuthor(state.Author)
	trail.Of(ctx).SetAbout(state.Target)
	memory := s.holder.memory.TicketFor(lease.Key, state.HeadSHA, kind).By(state.Author)
	defer func() { memory.End(done != nil) }()
	if err := memory.Readmit(); err != nil {
		return false, nil, s.holder.putOff(ctx, lease, state, err)
	}
	next, stored, err := s.nextStep(ctx, state)
	if err != nil {
		return false, nil, err
	}
	if next != kind {
		if err := s.Store.HandOver(ctx, lease, next); err != nil {
			return false, nil, fmt.Errorf("hand over to a %s job: %w", next, err)
		}
		return false, nil, nil
	}
	if overdue(state) {
		return s.settle(ctx, lease, state, state.Wanted, &retry.FinalError{Err: errors.New("GitHub kept reviewgate waiting for too long"), Why: "github"})
	}
	if kind == ports.JobReview && len(state.Notices) > 0 {
		s.sayEarly(ctx, lease, state)
	}
	if kind == ports.JobReview {
		if err := s.holder.waitForCalls(ctx, lease, state); err != nil {
			return false, nil, err
		}
	}
	if kind == ports.JobPublish {
		return s.settle(ctx, lease, state, stored.Generation, s.attempt(ctx, lease, state, func(current context.Context) error {
			return s.publisher.Publish(ctx, current, lease, state, stored)
		}))
	}
	nothingToPublish := false
	err = s.attempt(ctx, lease, state, func(ctx context.Context) (err error) {
		nothingToPublish, err = s.review(ctx, lease, state, memory)
		return err
	})
	if errors.As(err, new(*admission.MemoryWait)) {
		return false, nil, s.holder.putOff(ctx, lease, state, err)
	}
	if err == nil && !nothingToPublish {
		return false, nil, nil // storing the review handed the target over
	}
	if last && errors.Is(err, publish.ErrSuperseded) {
		err = &ports.HostError{Op: "read one and the same head twice", Kind: ports.HostTransient, Err: errors.New("it moves each time it is looked at")}
	}
	return s.settle(ctx, lease, state, state.Wanted, err)
}

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
func (s *Service) sayEarly(ctx context.Context, lease ports.Lease, state ports.TargetState) {
	err := panics.Guard(func() error { return s.comments.SayNotices(ctx, lease, state) })
	if err == nil {
		err = s.commands.Answer(ctx, lease.Key, state.Done, state.GaveUp)
	}
	if err != nil {
		s.Log.Warn().EmbedObject(state.Target).Err(err).Msg("notices not said before the review")
	}
}

// nextStep returns which kind of job must work on a target for which more is wanted. A
// stored review is only published; its agents never run again.
func (s *Service) nextStep(ctx context.Context, state ports.TargetState) (ports.JobKind, *ports.StoredReview, error) {
	stored, err := s.Store.UnpublishedReview(ctx, state.Key())
	if err != nil {
		return "", nil, fmt.Errorf("look for an unpublished review: %w", err)
	}
	switch {
	case stored == nil:
		return ports.JobReview, nil, nil
	case stored.Generation < state.Wanted && state.HeadSHA != "" && stored.HeadSHA != state.HeadSHA:
		if err := s.Store.DropReview(ctx, stored.RunID); err != nil {
			return "", nil, fmt.Errorf("drop a superseded review: %w", err)
		}
		return ports.JobReview, nil, nil
	}
	return ports.JobPublish, stored, nil
}

// settle ends a generation according to the result of its attempt.
func (s *Service) settle(ctx context.Context, lease ports.Lease, state ports.TargetState, generation int64, err error) (more bool, _ *finished, _ error) {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) && !s.retry.InTime(state, err) {
		// The time of the job and of the review is over. Only the message that says so is
		// left to write.
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
	}
	var unsaid *publish.CommentError
	gaveUp := false
	switch {
	case err == nil:
	case errors.Is(err, publish.ErrSuperseded), errors.Is(err, publish.ErrClosed):
		s.Log.Info().EmbedObject(state.Target).Err(err).Msg("run stopped")
		return true, nil, nil // look again at what is wanted now
	case ctx.Err() != nil, retry.Temporary(err) && s.retry.InTime(state, err):
		return false, nil, err
	case errors.As(err, &unsaid):
		// The check is written. A failed comment must not undo it.
		logFailure(s.Log, "comment not written", state.Target, err)
		if unsaid.Undone { // an old review on GitHub may contradict this one
			if err := s.verdicts.WithdrawAny(ctx, lease, state, render.WithdrawnGivenUp); err != nil {
				return false, nil, err
			}
		}
		if err := s.Store.MarkPublished(ctx, unsaid.RunID); err != nil {
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
		gaveUp = true
		s.countGaveUp(cause)
		logFailure(s.Log, "review given up", state.Target, cause)
	}
	return s.finish(ctx, lease, finished{generation, gaveUp})
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

// attempt does one step of a generation, and stops as soon as the step is moot.
func (s *Service) attempt(ctx context.Context, lease ports.Lease, state ports.TargetState, step func(context.Context) error) error {
	watched, stop := s.watch(ctx, lease.Key, state.HeadSHA)
	defer stop()
	runCtx, cancel := context.WithCancelCause(watched)
	defer cancel(nil)
	defer s.running.start(lease.Key, cancel)()

	err := panics.Guard(func() error { return step(runCtx) })
	if cause := context.Cause(runCtx); err != nil && cause != nil && ctx.Err() == nil {
		return cause
	}
	return err
}

// stopWork gives the lease back after a failure and tells the queue when to try again. ctx
// may have ended by then, so stopWork uses a short timeout of its own.
func (s *Service) stopWork(ctx context.Context, lease ports.Lease, err error) error {
	if retry := (*ports.RetryError)(nil); errors.As(err, &retry) && ctx.Err() == nil {
		return retry // the target itself is finished
	}
	after, onlyWaits := admission.Waits(err)
	shutdown := errors.Is(ctx.Err(), context.Canceled)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if onlyWaits && !shutdown {
		return &ports.RetryError{After: after, Err: errors.Join(err, s.Store.Release(ctx, lease))}
	}
	if shutdown {
		if rerr := s.Store.Release(ctx, lease); rerr != nil {
			err = errors.Join(err, rerr)
		}
		return &ports.RetryError{Err: err}
	}
	attempts, ferr := s.Store.Failed(ctx, lease)
	if ferr != nil {
		return &ports.RetryError{After: s.RetryBase, Err: errors.Join(err, ferr)}
	}
	after = s.retry.Wait(attempts, err)
	s.Log.Warn().EmbedObject(trail.Of(ctx).About()).Int("attempt", attempts).Dur("again_in_ms", after).Err(err).Msg("review put off")
	return &ports.RetryError{After: after, Err: err}
}

// logFailure logs trouble with a target, and the stack if it is a panic.
func logFailure(log zerolog.Logger, what string, t ports.Target, err error) {
	ev := log.Error().EmbedObject(t).Err(err)
	var p *panics.Error
	if errors.As(err, &p) {
		ev = ev.Str("stack", string(p.Stack))
	}
	ev.Msg(what)
}

// finishClosed completes what a closed pull request left open. If other open pull requests
// share its head, the check is left to them: they were asked to finish it when this one was
// closed. The event of the close may be old, because deliveries arrive out of order or
// late. If the pull request is in fact open, finishClosed reopens the target and reports
// open.
func (s *Service) finishClosed(ctx context.Context, lease ports.Lease, state ports.TargetState) (open bool, err error) {
	if state.Kind == ports.TargetPull {
		now, err := s.GitHub.Pull(ctx, state.Target)
		var host *ports.HostError
		switch {
		case errors.As(err, &host) && !host.Temporary(): // the repository is gone, or no longer accessible
		case err != nil:
			return false, err
		case !now.Closed:
			ask := ports.ReviewAsk{Target: state.Target, Reason: "open after all"}
			ask.Target.HeadSHA = now.HeadSHA
			if err := s.Store.Ask(ctx, ask, false); err != nil {
				return false, fmt.Errorf("open %s again: %w", lease.Key, err)
			}
			return true, nil
		}
	}
	if err := s.checks.CancelOld(ctx, lease, state.Target); err != nil {
		return false, err
	}
	if len(state.Notices) > 0 { // nobody reads them any more
		if err := s.Store.NoticesSaid(ctx, lease.Key, state.Notices); err != nil {
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
