package review

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/admission"
	"github.com/reviewgate/reviewgate/app/internal/jobcontext"
	"github.com/reviewgate/reviewgate/app/internal/panics"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/publish"
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
		// If the head has moved in each of these rounds, that counts as a failure of GitHub.
		const rounds = 5 // each costs some calls
		for round, more := 1, true; more && err == nil; round++ {
			more, done, err = s.workGeneration(held, lease, kind, round >= rounds)
		}
		return err
	})
	stop()
	if err == nil {
		s.followed.Set(key, "")
	}
	if done != nil {
		// The lease was given back, which ended held. So the answer runs under ctx.
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

// heldTarget is a target whose lease is held, with its state as the holder read it.
type heldTarget struct {
	lease  ports.Lease
	state  ports.TargetState
	memory *admission.Ticket // for the memory that the change takes
}

// finished is the last generation that was wanted for a target, once it is done.
type finished struct {
	generation int64
	gaveUp     bool
}

// workGeneration does what is wanted for the target now, and reports whether the holder has
// more to do. It returns the finished generation, whose askers must still be answered. If
// it returns neither an error nor more, the lease has been given back.
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
			if err := s.writeOrDropNotices(ctx, lease, state); err != nil {
				return false, nil, err
			}
		}
		return s.finish(ctx, lease, finished{state.Done, state.GaveUp})
	}
	jobcontext.Of(ctx).SetAuthor(state.Author)
	jobcontext.Of(ctx).SetAbout(state.Target)
	held := &heldTarget{lease, state, s.postponer.memory.TicketFor(lease.Key, state.HeadSHA, state.Author, kind)}
	defer func() { held.memory.End(done != nil) }()
	if err := held.memory.Readmit(); err != nil {
		return false, nil, s.postponer.putOff(ctx, held, err)
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
		return s.settle(ctx, held, state.Wanted, &retry.FinalError{Err: errors.New("GitHub kept reviewgate waiting for too long"), Why: "github"})
	}
	if kind == ports.JobPublish {
		current, end := s.begin(ctx, held)
		err := end(panics.Guard(func() error { return s.publisher.Publish(ctx, current, lease, state, stored) }))
		return s.settle(ctx, held, stored.Generation, err)
	}
	if len(state.Notices) > 0 {
		s.writeNoticesEarly(ctx, held)
	}
	if err := s.postponer.waitForCalls(ctx, held); err != nil {
		return false, nil, err
	}
	current, end := s.begin(ctx, held)
	handedOver := false
	err = end(panics.Guard(func() (err error) {
		handedOver, err = s.review(current, held)
		return err
	}))
	switch {
	case errors.As(err, new(*admission.MemoryWait)):
		return false, nil, s.postponer.putOff(ctx, held, err)
	case err == nil && handedOver:
		return false, nil, nil
	case last && errors.Is(err, publish.ErrSuperseded):
		err = &ports.HostError{Op: "read one and the same head twice", Kind: ports.HostTransient, Err: errors.New("it moves each time it is looked at")}
	}
	return s.settle(ctx, held, state.Wanted, err)
}

// begin starts one step of a generation. current ends as soon as the step is moot. end ends
// the step: it returns the step's error, or why the step was moot if that
// made it fail.
func (s *Service) begin(ctx context.Context, held *heldTarget) (current context.Context, end func(error) error) {
	watched, unwatch := s.watch(ctx, held.lease.Key, held.state.HeadSHA)
	current, cancel := context.WithCancelCause(watched)
	forget := s.running.start(held.lease.Key, cancel)
	return current, func(err error) error {
		cause := context.Cause(current)
		forget()
		cancel(nil)
		unwatch()
		if err != nil && cause != nil && ctx.Err() == nil {
			return cause
		}
		return err
	}
}

// nextStep returns which kind of job must work on a target for which more is wanted. A
// stored review is only published; its agents never run again. An outdated one is dropped: that of
// another head, and that of a merge group for which more is wanted, since the merge queue acts on the
// first check.
func (s *Service) nextStep(ctx context.Context, state ports.TargetState) (ports.JobKind, *ports.StoredReview, error) {
	stored, err := s.Store.UnpublishedReview(ctx, state.Key())
	if err != nil {
		return "", nil, fmt.Errorf("look for an unpublished review: %w", err)
	}
	switch {
	case stored == nil:
		return ports.JobReview, nil, nil
	case stored.Generation < state.Wanted && (state.Kind == ports.TargetGroup || state.HeadSHA != "" && stored.HeadSHA != state.HeadSHA):
		if err := s.Store.DropReview(ctx, stored.RunID); err != nil {
			return "", nil, fmt.Errorf("drop a superseded review: %w", err)
		}
		return ports.JobReview, nil, nil
	}
	return ports.JobPublish, stored, nil
}

// stopWork gives the lease back after a failure and tells the queue when to try again. ctx
// may have ended by then, so stopWork uses a short timeout of its own.
func (s *Service) stopWork(ctx context.Context, lease ports.Lease, err error) error {
	if again := (*ports.RetryError)(nil); errors.As(err, &again) && ctx.Err() == nil {
		return again // the lease was given back; only the job is tried again
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
	s.Log.Warn().EmbedObject(jobcontext.Of(ctx).About()).Int("attempt", attempts).Dur("again_in_ms", after).Err(err).Msg("review put off")
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
