package retention

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/lease"
	"github.com/reviewgate/reviewgate/app/ports"
)

// Deleter deletes stored data that is no longer needed.
type Deleter struct {
	Retention  ports.Retention
	PullReader ports.PullReader
	Leases     lease.Keeper
	Keep       time.Duration // how long reviews and closed pull requests are kept; 0 means forever
	KeepLogs   time.Duration // how long the logs of pull requests are kept; 0 means forever
	Log        zerolog.Logger
	Now        func() time.Time
}

// Forget deletes the data of repositories that the App may no longer access. It can safely
// run again, because deleting twice has no effect. A review at work holds its target until
// GitHub's refusals end it.
func (d *Deleter) Forget(ctx context.Context, f ports.Forget) error {
	held, err := d.Retention.Held(ctx, f)
	if err != nil {
		return fmt.Errorf("list the data of installation %d: %w", f.Installation, err)
	}
	var errs []error
	for _, h := range held {
		if len(f.Repos) > 0 {
			there, err := d.stillOurs(ctx, h.Repository)
			if err != nil {
				errs = append(errs, err)
			}
			if err != nil || there {
				continue
			}
		}
		errs = append(errs, d.forgetRepository(ctx, h))
	}
	if err := errors.Join(errs...); err != nil {
		return err // the deliveries stay: another try finds the rest with them
	}
	if len(f.Repos) == 0 {
		if err := d.Retention.ForgetInstallation(ctx, f.Installation); err != nil {
			return fmt.Errorf("forget installation %d: %w", f.Installation, err)
		}
		d.Log.Info().Int64("installation", f.Installation).Msg("installation forgotten")
	}
	return nil
}

// stillOurs reports whether the App is still installed on a repository that an event
// reported as gone. Deliveries arrive late and out of order, so the repository may be back,
// or have another owner.
func (d *Deleter) stillOurs(ctx context.Context, repo ports.Target) (bool, error) {
	a, err := d.PullReader.Access(ctx, repo)
	if err != nil {
		return false, fmt.Errorf("read whether repository %d is gone: %w", repo.RepoID, err)
	}
	return a.Installed, nil
}

func (d *Deleter) forgetRepository(ctx context.Context, h ports.Holding) error {
	var errs []error
	for _, key := range h.Keys {
		errs = append(errs, d.forgetTarget(ctx, key, d.Retention.ForgetTarget))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if err := d.Retention.ForgetRepository(ctx, h.Repository.RepoID); err != nil {
		return fmt.Errorf("forget repository %d: %w", h.Repository.RepoID, err)
	}
	d.Log.Info().Int64("repository", h.Repository.RepoID).Int("targets", len(h.Keys)).Msg("repository forgotten")
	return nil
}

// errAtWork says that a target can't be deleted now.
var errAtWork = errors.New("it is being worked on")

// forgetTarget deletes the data of one target, under its lease.
func (d *Deleter) forgetTarget(ctx context.Context, key string, forget func(context.Context, ports.Lease) error) error {
	l, ok, err := d.Leases.Acquire(ctx, key)
	if err != nil {
		return fmt.Errorf("take the lease of %s: %w", key, err)
	}
	if !ok {
		return fmt.Errorf("forget %s: %w", key, errAtWork)
	}
	err = d.Leases.Under(ctx, l, func(ctx context.Context) error { return forget(ctx, l) })
	if err != nil {
		return fmt.Errorf("forget %s: %w", key, err)
	}
	return nil
}

// deliveryRetention is how long deliveries are stored. GitHub redelivers for three days and an
// Enterprise Server for seven; the rest is for clocks and outages.
const deliveryRetention = 10 * 24 * time.Hour

// memoryRetention is how long a record of memory stays proposed or in quarantine. Active ones expire in
// reviews, by the repository's config.
const memoryRetention = 180 * 24 * time.Hour

// outdatedAtOnce is how many targets to delete are listed at a time.
const outdatedAtOnce = 100

// Prune deletes data that is older than Keep and KeepLogs, a little at a time, and lets old proposals of
// memory expire.
func (d *Deleter) Prune(ctx context.Context) error {
	now := d.Now()
	before := ports.Ages{Memory: now.Add(-memoryRetention)}
	targets, rows := 0, 0
	if d.KeepLogs > 0 {
		before.Learning = now.Add(-d.KeepLogs)
	}
	if d.Keep > 0 {
		before.Reviews, before.Deliveries = now.Add(-d.Keep), now.Add(-deliveryRetention)
		var err error
		if targets, err = d.pruneTargets(ctx, before.Reviews); err != nil {
			return err
		}
	}
	for {
		n, err := d.Retention.Prune(ctx, before)
		if err != nil {
			return fmt.Errorf("delete old data: %w", err)
		}
		if n == 0 {
			break
		}
		rows += n
	}
	if targets+rows > 0 {
		d.Log.Info().Int("targets", targets).Int("rows", rows).Time("before", before.Reviews).Msg("deleted old data")
	}
	return nil
}

// pruneTargets deletes targets that were closed long ago. It leaves targets that are being
// worked on for the next time.
func (d *Deleter) pruneTargets(ctx context.Context, before time.Time) (n int, err error) {
	var busy []string
	for {
		keys, err := d.Retention.Outdated(ctx, before, outdatedAtOnce+len(busy))
		if err != nil {
			return n, fmt.Errorf("list targets that were closed long ago: %w", err)
		}
		keys = slices.DeleteFunc(keys, func(key string) bool { return slices.Contains(busy, key) })
		if len(keys) == 0 {
			return n, nil
		}
		for _, key := range keys {
			gone := false
			err := d.forgetTarget(ctx, key, func(ctx context.Context, l ports.Lease) (err error) {
				gone, err = d.Retention.ForgetOutdated(ctx, l, before)
				return err
			})
			switch {
			case errors.Is(err, errAtWork):
				busy = append(busy, key)
			case err != nil:
				return n, err
			case gone:
				n++
			}
		}
	}
}
