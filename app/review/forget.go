package review

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
)

// forget deletes what is stored of repositories that the App may not see any
// more. It can be done again: what is gone already costs nothing. A review that
// is still at work holds its target until GitHub's refusals have ended it.
func (s *Service) forget(ctx context.Context, f ports.Forget) error {
	held, err := s.Store.Held(ctx, f)
	if err != nil {
		return fmt.Errorf("look what is held of installation %d: %w", f.Installation, err)
	}
	var errs []error
	for _, h := range held {
		if len(f.Repos) > 0 {
			there, err := s.stillOurs(ctx, h.Repository)
			if err != nil {
				errs = append(errs, err)
			}
			if err != nil || there {
				continue
			}
		}
		errs = append(errs, s.forgetRepository(ctx, h))
	}
	if err := errors.Join(errs...); err != nil {
		return err // the deliveries are left: another try finds the rest by them
	}
	if len(f.Repos) == 0 {
		if err := s.Store.ForgetInstallation(ctx, f.Installation); err != nil {
			return fmt.Errorf("forget installation %d: %w", f.Installation, err)
		}
		s.Log.Info().Int64("installation", f.Installation).Msg("installation forgotten")
	}
	return nil
}

// stillOurs reports whether the App is installed on a repository that is said
// to be gone: deliveries come in any order and late, and it may be back, or
// with another owner.
func (s *Service) stillOurs(ctx context.Context, repo ports.Target) (bool, error) {
	a, err := s.GitHub.Access(ctx, repo)
	if err != nil {
		return false, fmt.Errorf("look whether repository %d is gone: %w", repo.RepoID, err)
	}
	return a.Installed, nil
}

func (s *Service) forgetRepository(ctx context.Context, h ports.Holding) error {
	var errs []error
	for _, key := range h.Keys {
		errs = append(errs, s.forgetTarget(ctx, key, s.Store.ForgetTarget))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if err := s.Store.ForgetRepository(ctx, h.Repository.RepoID); err != nil {
		return fmt.Errorf("forget repository %d: %w", h.Repository.RepoID, err)
	}
	s.Log.Info().Int64("repository", h.Repository.RepoID).Int("targets", len(h.Keys)).Msg("repository forgotten")
	return nil
}

// errAtWork says that a target can't be deleted now.
var errAtWork = errors.New("it is being worked on")

// forgetTarget deletes what is stored of one target, under its lease.
func (s *Service) forgetTarget(ctx context.Context, key string, forget func(context.Context, ports.Lease) error) error {
	l, ok, err := s.leases.Acquire(ctx, key)
	if err != nil {
		return fmt.Errorf("take the lease of %s: %w", key, err)
	}
	if !ok {
		return fmt.Errorf("forget %s: %w", key, errAtWork)
	}
	err = s.leases.Under(ctx, l, func(ctx context.Context) error { return forget(ctx, l) })
	if err != nil {
		return fmt.Errorf("forget %s: %w", key, err)
	}
	return nil
}

// deliveriesKept is how long deliveries are known: GitHub redelivers for three
// days, an Enterprise Server for seven, and clocks and outages take their time.
const deliveriesKept = 10 * 24 * time.Hour

// outdatedAtOnce bounds one look for targets to delete.
const outdatedAtOnce = 100

// prune deletes what has been kept for long enough, a little at a time.
func (s *Service) prune(ctx context.Context) error {
	if s.Retention <= 0 {
		return nil
	}
	now := s.Now()
	before := now.Add(-s.Retention)
	targets, err := s.pruneTargets(ctx, before)
	if err != nil {
		return err
	}
	rows := 0
	for {
		n, err := s.Store.Prune(ctx, before, now.Add(-deliveriesKept))
		if err != nil {
			return fmt.Errorf("delete what is too old: %w", err)
		}
		if n == 0 {
			break
		}
		rows += n
	}
	if targets+rows > 0 {
		s.Log.Info().Int("targets", targets).Int("rows", rows).Time("before", before).Msg("deleted what is older than is kept")
	}
	return nil
}

// pruneTargets deletes targets that were closed long ago. Those that are being
// worked on wait for the next time.
func (s *Service) pruneTargets(ctx context.Context, before time.Time) (n int, err error) {
	var busy []string
	for {
		keys, err := s.Store.Outdated(ctx, before, outdatedAtOnce+len(busy))
		if err != nil {
			return n, fmt.Errorf("list what was closed long ago: %w", err)
		}
		keys = slices.DeleteFunc(keys, func(key string) bool { return slices.Contains(busy, key) })
		if len(keys) == 0 {
			return n, nil
		}
		for _, key := range keys {
			gone := false
			err := s.forgetTarget(ctx, key, func(ctx context.Context, l ports.Lease) (err error) {
				gone, err = s.Store.ForgetOutdated(ctx, l, before)
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
