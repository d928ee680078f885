package ports

import (
	"errors"
	"time"
)

// ErrLeaseLost means that another holder has taken a lease: the caller must
// stop, and write nothing more.
var ErrLeaseLost = errors.New("lease lost to another holder")

// ErrNotFound means that the store has no such record.
var ErrNotFound = errors.New("not found in store")

// ErrNoPayload means that the delivery log holds no payload that can be read.
var ErrNoPayload = errors.New("the delivery log holds no payload that can be read")

// ErrRefused means that a delivery is not one that the webhook takes in.
var ErrRefused = errors.New("the delivery is refused")

// ErrManyNotices means that as many notices as are kept wait to be said.
var ErrManyNotices = errors.New("too many notices wait to be said")

// HostKind says what kind of trouble GitHub answered with.
type HostKind string

// The kinds of trouble. Only HostTransient and HostLimited are worth trying
// again.
const (
	HostTransient HostKind = "transient"    // 5xx, transport, timeouts
	HostLimited   HostKind = "rate_limited" // primary or secondary limit
	HostNotFound  HostKind = "not_found"    // 404, 410, 451
	HostForbidden HostKind = "forbidden"    // 401, 403 without a limit: permission missing, app suspended
	HostInvalid   HostKind = "invalid"      // 422 and other 4xx
	HostBudget    HostKind = "over_budget"  // not asked: the review has used its calls up
)

// HostError is trouble with GitHub: what was tried, what kind of trouble it
// is, and when it may be tried again.
type HostError struct {
	Op         string // such as "read the changed files"
	Kind       HostKind
	Status     int           // HTTP status, 0 for transport errors
	RetryAfter time.Duration // not to be asked before; 0 if GitHub didn't say
	Err        error
}

func (e *HostError) Error() string { return e.Op + ": " + e.Err.Error() }

func (e *HostError) Unwrap() error { return e.Err }

// Temporary reports whether trying again later can help.
func (e *HostError) Temporary() bool {
	return e.Kind == HostTransient || e.Kind == HostLimited
}
