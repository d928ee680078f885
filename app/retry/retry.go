// Package retry decides whether and when failed work is tried again.
package retry

import (
	"errors"
	"time"

	"github.com/reviewgate/reviewgate/app/internal/panics"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
)

const (
	// longest is the longest wait between two attempts, unless GitHub asks for a longer one.
	longest = 2 * time.Minute
	// jobAttempts is how often a job without a target is tried. The waits spread the attempts
	// over three hours.
	jobAttempts = 100
)

// Policy says how long work is tried again.
type Policy struct {
	Base   time.Duration // wait after the first failure, doubled for each further one
	Window time.Duration // after which a review is given up
	Now    func() time.Time
}

// Wait returns how long to wait after the given number of failures, of which err is the
// last.
func (p Policy) Wait(failures int, err error) time.Duration {
	d := longest
	if failures < 10 {
		d = min(d, p.Base<<(failures-1))
	}
	var host *ports.HostError
	if errors.As(err, &host) {
		d = max(d, host.RetryAfter)
	}
	return d
}

// InTime reports whether a review that failed now may be tried again within the window.
func (p Policy) InTime(state ports.TargetState, err error) bool {
	since := state.FailedSince
	if since.IsZero() {
		since = p.Now()
	}
	return p.Now().Add(p.Wait(state.Attempts+1, err)).Before(since.Add(p.Window))
}

// Job returns the error for the queue after an attempt at a job that has no target of its
// own. The queue tries again if it is a *ports.RetryError. A job that returns a RetryError
// has chosen its own wait.
func (p Policy) Job(attempt int, err error) error {
	if err == nil || errors.As(err, new(*ports.RetryError)) || !Temporary(err) || attempt >= jobAttempts {
		return err
	}
	return &ports.RetryError{After: p.Wait(attempt, err), Err: err}
}

// Temporary reports whether the same work may succeed later. Trouble with the store is
// temporary: what the store holds is not lost.
func Temporary(err error) bool {
	var host *ports.HostError
	if errors.As(err, &host) {
		return host.Temporary()
	}
	return !Panicked(err) && !errors.As(err, new(*FinalError))
}

// Panicked reports whether the error is a panic, in a use case or in a stage.
func Panicked(err error) bool {
	return errors.As(err, new(*panics.Error)) || errors.As(err, new(*pipeline.PanicError)) || errors.Is(err, normalize.ErrPanic)
}

// FinalError is trouble that trying again can't mend.
type FinalError struct {
	Err error
	Why string // for metrics: "access", "github", "crashes" or "internal"
}

func (e *FinalError) Error() string { return e.Err.Error() }
func (e *FinalError) Unwrap() error { return e.Err }
