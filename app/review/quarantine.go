package review

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reviewgate/reviewgate/app/internal/panics"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/app/retry"
)

// isSuspect reports whether a target may have crashed the server. Closed targets are no
// longer reviewed, so they don't count.
func isSuspect(state ports.TargetState) bool {
	return state.Crashes > 0 && !state.Closed && state.Wanted > state.Done
}

// isQuarantined reports whether a target is in quarantine and must not be tried yet.
func isQuarantined(state ports.TargetState, now time.Time) bool {
	return isSuspect(state) && !state.Quarantine.Next.IsZero() && now.Before(state.Quarantine.Next)
}

// suspect returns the target's state, and takes a turn for the target if it may have
// crashed the server.
func (s *Service) suspect(ctx context.Context, t *turn) (ports.TargetState, error) {
	state, err := s.Store.Target(ctx, t.key)
	if err != nil {
		return state, fmt.Errorf("read the target's state: %w", err)
	}
	if isSuspect(state) && !isQuarantined(state, s.Now()) {
		return state, t.take(s.Apart == nil || state.Quarantine.Deaths > 0)
	}
	return state, nil
}

// turnAgain returns how long to wait after suspect returned an error: at most base.
func turnAgain(base time.Duration, err error) time.Duration {
	if wait := (*turnWait)(nil); errors.As(err, &wait) {
		return min(base, wait.after)
	}
	return base
}

// workApart does the work in a child process. A target is blamed only if the process had no
// other work when it ended. If the child could not be started, or ended together with this
// process, that says nothing about the target. A child may use as much memory as all large
// changes together.
func (s *Service) workApart(ctx context.Context, lease ports.Lease, kind ports.JobKind, state ports.TargetState, t *turn) error {
	held := &heldTarget{lease, state, s.postponer.memory.TicketFor(lease.Key, state.HeadSHA, state.Author, kind)}
	if err := t.admit(held.memory); err != nil {
		return s.stopWork(ctx, lease, s.postponer.putOff(ctx, held, err))
	}
	_, stop := s.leases.Keep(ctx, lease) // the child gives the lease back
	ended, err := s.Apart(ctx, lease, state.Target, kind, t.alone)
	stop()
	var died *ports.DiedError
	switch {
	case err == nil:
		s.followed.Set(lease.Key, "")
		return ended.AsError()
	case ctx.Err() == nil && errors.As(err, &died) && died.Others:
		s.Log.Warn().EmbedObject(state.Target).Err(died).Msg("a child process of several reviews ended; each is now reviewed in its own")
		t.nextAlone()
		return &ports.RetryError{After: turnStep, Err: errors.Join(died, s.Store.Release(ctx, lease))}
	case ctx.Err() == nil && errors.As(err, &died):
		err = s.quarantine(ctx, lease, died)
		if errors.Is(err, ports.ErrLeaseLost) {
			return nil // it ended after its work was handed over
		}
		return err
	}
	return s.stopWork(ctx, lease, err)
}

// quarantine records that the target ended its child process, says so in the target's
// check, and postpones the next try.
func (s *Service) quarantine(ctx context.Context, lease ports.Lease, died *ports.DiedError) error {
	state, err := s.Store.Target(ctx, lease.Key)
	if err != nil {
		return s.stopWork(ctx, lease, err)
	}
	now, q := s.Now(), state.Quarantine
	if q.Since.IsZero() {
		q.Since = now
	}
	q.Next = now.Add(s.QuarantineSteps[min(q.Deaths, len(s.QuarantineSteps)-1)])
	q.Deaths++
	if err := s.Store.Died(ctx, lease, q.Next); err != nil {
		if errors.Is(err, ports.ErrLeaseLost) {
			return err
		}
		return s.stopWork(ctx, lease, err)
	}
	s.Log.Error().EmbedObject(state.Target).Int("deaths", q.Deaths).Time("next_try", q.Next).Err(died).Msg("a review ended its process and is quarantined")
	state.Quarantine = q
	return s.stay(ctx, lease, state)
}

// stay keeps a target in quarantine: it says so in the check on the target's head, and
// gives the lease back. After the last try the target rests.
func (s *Service) stay(ctx context.Context, lease ports.Lease, state ports.TargetState) error {
	q := state.Quarantine
	rests := q.Next.After(q.Since.Add(s.QuarantineFor))
	held, stop := s.leases.Keep(ctx, lease)
	err := panics.Guard(func() error { return s.tellQuarantine(held, lease, state, rests) })
	stop()
	switch cause := context.Cause(held); {
	case errors.Is(cause, ports.ErrLeaseLost):
		return nil // the new holder goes on
	case err != nil && retry.Temporary(err):
		return s.stopWork(ctx, lease, err)
	case err != nil:
		logFailure(s.Log, "the check can't say that the review is quarantined", state.Target, err)
	}
	if rests {
		return s.rest(ctx, lease, state)
	}
	if err := s.Store.Release(ctx, lease); err != nil {
		return &ports.RetryError{After: s.RetryBase, Err: err}
	}
	return &ports.RetryError{After: max(0, q.Next.Sub(s.Now())), Err: errors.New("the review ended its process, and is quarantined")}
}

func (s *Service) tellQuarantine(ctx context.Context, lease ports.Lease, state ports.TargetState, rests bool) error {
	if err := s.verdicts.WithdrawAny(ctx, lease, state, render.WithdrawnGivenUp); err != nil {
		return err
	}
	if state.HeadSHA == "" {
		now, err := s.GitHub.Pull(ctx, state.Target)
		if err != nil {
			return err
		}
		state.HeadSHA = now.HeadSHA
	}
	what, remedy := quarantineWords(state.Quarantine, rests)
	_, err := s.publisher.NotCompleted(ctx, lease, state, what, remedy)
	return err
}

func quarantineWords(q ports.Quarantine, rests bool) (what, remedy string) {
	times := "once"
	if q.Deaths > 1 {
		times = fmt.Sprintf("%d times", q.Deaths)
	}
	if rests {
		return "This review ended its process " + times + " and is not tried again by itself.",
			"Push a change, or comment /review. The server's log has the details."
	}
	next := q.Next.UTC().Format("2006-01-02 15:04:05 UTC")
	return "This review ended its process; next try at " + next + ".",
		"It has done so " + times + ". A push is tried at that time; /review by somebody with write permission tries at once. The server's log has the details."
}

// rest ends the tries. The next ask starts again, in a child process.
func (s *Service) rest(ctx context.Context, lease ports.Lease, state ports.TargetState) error {
	if err := s.Store.Rest(ctx, lease); err != nil {
		return s.stopWork(ctx, lease, err)
	}
	more, err := s.Store.Finish(ctx, lease, state.Wanted, true)
	if err != nil {
		return s.stopWork(ctx, lease, err)
	}
	if s.Observe.GaveUp != nil {
		s.Observe.GaveUp("crashes")
	}
	if more {
		return &ports.RetryError{Err: errors.Join(errors.New("more is wanted"), s.Store.Release(ctx, lease))}
	}
	return s.commands.Answer(ctx, lease.Key, state.Wanted, true)
}
