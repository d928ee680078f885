// Package lease holds the rights to work on targets and on heads' checks. A lease has one
// holder at a time. A holder that dies loses it after a while, so everybody who writes to
// GitHub first makes sure that the lease is still theirs.
package lease

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/reviewgate/reviewgate/app/internal/panics"
	"github.com/reviewgate/reviewgate/app/ports"
)

// Keeper takes leases for one process.
type Keeper struct {
	Store ports.Leases
	Owner string        // names the process
	TTL   time.Duration // after which a lease that is not renewed may be taken
	Retry time.Duration // how long a job that lost its lease waits
}

// Acquire takes the lease of a key if it is free.
func (k Keeper) Acquire(ctx context.Context, key string) (l ports.Lease, ok bool, err error) {
	if l, ok, err = k.Store.Acquire(ctx, key, k.Owner, k.TTL); err != nil {
		return l, false, fmt.Errorf("take the lease of %s: %w", key, err)
	}
	return l, ok, nil
}

// Fence makes sure that a lease is still held. Call it right before a write to GitHub.
func (k Keeper) Fence(ctx context.Context, l ports.Lease) error {
	if err := k.Store.Renew(ctx, l, k.TTL); err != nil {
		return fmt.Errorf("make sure that %s is still ours: %w", l.Key, err)
	}
	return nil
}

// Keep renews a lease until stop is called. The context it returns ends with ErrLeaseLost
// if another holder takes the lease. A database that is slow for a moment does not end it.
func (k Keeper) Keep(ctx context.Context, l ports.Lease) (held context.Context, stop func()) {
	return While(ctx, k.TTL/5, func(ctx context.Context) error {
		if err := k.Store.Renew(ctx, l, k.TTL); errors.Is(err, ports.ErrLeaseLost) {
			return err
		}
		return nil
	})
}

// Under calls f while the lease is kept, and gives it back.
func (k Keeper) Under(ctx context.Context, l ports.Lease, f func(context.Context) error) error {
	held, stop := k.Keep(ctx, l)
	err := panics.Guard(func() error { return f(held) })
	stop()
	if cause := context.Cause(held); errors.Is(cause, ports.ErrLeaseLost) {
		return fmt.Errorf("work under the lease of %s: %w", l.Key, &ports.RetryError{After: k.Retry, Err: cause})
	}
	if rerr := k.Store.Release(context.WithoutCancel(ctx), l); rerr != nil && err == nil {
		return fmt.Errorf("give back the lease of %s: %w", l.Key, rerr)
	}
	return err
}

// Alone waits until the lease of a key is free, and calls f under it.
func (k Keeper) Alone(ctx context.Context, key string, f func(context.Context) error) error {
	const pause = 25 * time.Millisecond
	for {
		l, ok, err := k.Acquire(ctx, key)
		if err != nil {
			return err
		}
		if ok {
			return k.Under(ctx, l, f)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// While calls look at an interval until stop is called. The context it returns ends with
// the first error of look.
func While(ctx context.Context, every time.Duration, look func(context.Context) error) (held context.Context, stop func()) {
	held, cancel := context.WithCancelCause(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-held.Done():
				return
			case <-tick.C:
			}
			if err := look(held); err != nil {
				cancel(err)
				return
			}
		}
	})
	return held, func() { cancel(nil); wg.Wait() }
}
