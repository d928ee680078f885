// Package once creates objects on GitHub exactly once: a head's check run, a pull request's
// comment, a review, an issue. GitHub has no request that creates an object only if it does
// not exist. A process may also die between the request and the record of its answer.
//
// So the intent is stored first, with a mark that the object will carry. Then the lease is
// confirmed, the object is created, and its number is recorded. A process that finds an
// intent without an outcome looks for the mark on GitHub before it creates anything.
package once

import (
	"context"
	"errors"
	"time"
)

// Creation says how to create one object.
type Creation struct {
	// Intended means that an intent without an outcome is stored.
	Intended bool
	// Look looks for the object of the stored intent, and records it. It reports whether the
	// object exists and will do. If it exists but won't do, Look stores a new intent.
	Look func(ctx context.Context) (there bool, err error)
	// Intend stores the intent.
	Intend func(ctx context.Context) error
	// Create creates the object. It returns the function that records the outcome, or nil if
	// there is nothing to record. Then the intent stays.
	Create func(ctx context.Context) (record func(ctx context.Context) error, err error)
}

// Ensure makes sure that the object is on GitHub. It reports whether the object existed
// before. fence confirms that the caller still holds its lease.
func Ensure(ctx context.Context, fence func(context.Context) error, c Creation) (there bool, err error) {
	if c.Intended {
		if there, err := c.Look(ctx); err != nil || there {
			return there, err
		}
	} else if err := c.Intend(ctx); err != nil {
		return false, err
	}
	if err := fence(ctx); err != nil {
		return false, err
	}
	record, err := c.Create(ctx)
	if record != nil {
		// The object exists. Its number is recorded even if the run has just been cancelled,
		// since otherwise a search would be needed.
		err = errors.Join(err, record(context.WithoutCancel(ctx)))
	}
	return false, err
}

// lag is how long GitHub's lists may lag behind a create.
const lag = time.Second

// LookTwice looks for an object, and once more after a moment if it did not find it.
func LookTwice[T any](ctx context.Context, look func() (*T, error)) (*T, error) {
	found, err := look()
	if found != nil || err != nil {
		return found, err
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(lag):
	}
	return look()
}
