package ports

import (
	"errors"
	"time"
)

// ErrLeaseLost means that another holder has taken the lease. The caller must stop and
// write nothing more.
var ErrLeaseLost = errors.New("lease lost to another holder")

// ErrNotFound means that the store has no such record.
var ErrNotFound = errors.New("not found in store")

// ErrUnreadable means that the store has a record and can't decode it.
var ErrUnreadable = errors.New("stored in a form that can't be read")

// ErrNoPayload means that the delivery log holds no payload that can be read.
var ErrNoPayload = errors.New("the delivery log holds no payload that can be read")

// ErrRefused means that the webhook would not accept the delivery.
var ErrRefused = errors.New("the delivery is refused")

// ErrManyNotices means that the maximum number of notices is already waiting.
var ErrManyNotices = errors.New("too many notices are waiting")

// HostKind is the kind of a failed call to GitHub.
type HostKind string

// The kinds of failure. Only HostTransient and HostLimited are worth trying again.
const (
	HostTransient HostKind = "transient"    // 5xx, transport, timeouts
	HostLimited   HostKind = "rate_limited" // primary or secondary limit
	HostNotFound  HostKind = "not_found"    // 404, 410, 451
	HostForbidden HostKind = "forbidden"    // 401, 403 without a limit: permission missing, app suspended
	HostInvalid   HostKind = "invalid"      // 422 and other 4xx
	HostBudget    HostKind = "over_budget"  // not sent: the review has used up its calls
)

// HostError is a failed call to GitHub: the operation, the kind of failure, and when to try
// again.
type HostError struct {
	Op         string // such as "read the changed files"
	Kind       HostKind
	Status     int           // HTTP status, 0 for transport errors
	RetryAfter time.Duration // don't call earlier than this; 0 if GitHub didn't say
	Err        error
}

func (e *HostError) Error() string { return e.Op + ": " + e.Err.Error() }

func (e *HostError) Unwrap() error { return e.Err }

// Temporary reports whether trying again later can help.
func (e *HostError) Temporary() bool {
	return e.Kind == HostTransient || e.Kind == HostLimited
}

// IsFinal reports whether the error is a refusal by GitHub that a retry can't change.
func IsFinal(err error) bool {
	var host *HostError
	return errors.As(err, &host) && !host.Temporary()
}
