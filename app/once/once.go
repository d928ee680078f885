// Package once creates things on GitHub of which there may be only one: a head's check
// run, a pull request's comment, a review, an issue. GitHub has no request that creates
// something unless it is there, and a process may die between the request and the record
// of its answer.
//
// So the intent is stored first, with a mark that the thing will carry. Then the lease is
// confirmed, the thing created, and its number recorded. Whoever finds an intent without an
// outcome looks for the mark on GitHub before anything is created again.
package once

import (
	"context"
	"errors"
	"time"
)

// Thing is something of which there may be only one.
type Thing struct {
	// Intended says that an intent is stored, and not what became of it.
	Intended bool
	// Look looks for the thing that the stored intent may have led to, and records it. It
	// reports whether the thing is there.
	Look func(ctx context.Context) (there bool, err error)
	// Intend stores the intent.
	Intend func(ctx context.Context) error
	// Create creates the thing. It returns what records the outcome, or nil where there is
	// nothing to record: then the intent stays.
	Create func(ctx context.Context) (record func(ctx context.Context) error, err error)
}

// Ensure makes sure that a thing is on GitHub. It reports whether the thing was there
// already. fence confirms that the caller still holds its lease.
func Ensure(ctx context.Context, fence func(context.Context) error, t Thing) (there bool, err error) {
	if t.Intended {
		if there, err := t.Look(ctx); err != nil || there {
			return there, err
		}
	} else if err := t.Intend(ctx); err != nil {
		return false, err
	}
	if err := fence(ctx); err != nil {
		return false, err
	}
	record, err := t.Create(ctx)
	if record != nil {
		// The thing is there. If its number were lost because the run has just been
		// cancelled, it would have to be looked for.
		err = errors.Join(err, record(context.WithoutCancel(ctx)))
	}
	return false, err
}

// lag is how long GitHub's lists may lag behind a create.
const lag = time.Second

// Look looks for something again after a moment if it is not there at once.
func Look[T any](ctx context.Context, look func() (*T, error)) (*T, error) {
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
