package review

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// Webhooks get lost: the server was down, a proxy refused them, GitHub gave up
// after ten seconds. Two things find what they asked for. The App's delivery
// log has every attempt of the last three days; a failed one is asked for
// again. And a sweep compares the open pull requests with what was answered.

const (
	// logReaches is how long GitHub redelivers.
	logReaches = 3 * 24 * time.Hour
	// logOverlap and sweepOverlap are how far each look goes back beyond the
	// one before, for what GitHub shows late.
	logOverlap   = 10 * time.Minute
	sweepOverlap = time.Hour
	// maxRedeliveries is how many deliveries are asked for at a time. Each is a
	// write; GitHub allows 180 a minute.
	maxRedeliveries = 100
	// maxAsks is how often one delivery is asked for by this process. The
	// waits between double.
	maxAsks = 6
	// sweepAtOnce is how many repositories are looked through side by side.
	// Each costs a call or two; reviews come first.
	sweepAtOnce = 4
)

// awaited are the events that ask for something, with their actions; nil stands
// for any.
var awaited = map[string][]string{
	"pull_request":              nil,
	"issue_comment":             {"created"},
	"check_run":                 {"rerequested", "requested_action"},
	"merge_group":               nil,
	"installation":              {"unsuspend", "new_permissions_accepted"},
	"installation_repositories": {"added"},
}

func isAwaited(a HookAttempt) bool {
	actions, ok := awaited[a.Event]
	return ok && (actions == nil || slices.Contains(actions, a.Action))
}

// lostDeliveries are those that were asked for and have not come.
type lostDeliveries struct {
	mu sync.Mutex
	m  map[string]lostDelivery
}

type lostDelivery struct {
	attempt HookAttempt // the newest that was seen
	asked   int
	next    time.Time // not to be asked for before
}

// note takes the attempts that were read: those that failed join the others,
// those that came through leave.
func (l *lostDeliveries) note(attempts []HookAttempt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.m == nil {
		l.m = map[string]lostDelivery{}
	}
	came := map[string]bool{}
	newest := map[string]HookAttempt{}
	for _, a := range attempts {
		came[a.GUID] = came[a.GUID] || a.Delivered()
		if n, ok := newest[a.GUID]; !ok || a.ID > n.ID {
			newest[a.GUID] = a
		}
	}
	for guid, a := range newest {
		if came[guid] || !isAwaited(a) {
			delete(l.m, guid)
			continue
		}
		d := l.m[guid]
		d.attempt = a
		l.m[guid] = d
	}
}

// forget drops those that are known to have been taken in, and those that
// GitHub has no more.
func (l *lostDeliveries) forget(known map[string]bool, before time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for guid, d := range l.m {
		if known[guid] || d.attempt.At.Before(before) {
			delete(l.m, guid)
		}
	}
}

// due lists those to ask for now, oldest first.
func (l *lostDeliveries) due(now time.Time) []HookAttempt {
	l.mu.Lock()
	defer l.mu.Unlock()
	var due []HookAttempt
	for _, d := range l.m {
		if d.asked < maxAsks && !d.next.After(now) {
			due = append(due, d.attempt)
		}
	}
	slices.SortFunc(due, func(a, b HookAttempt) int { return a.At.Compare(b.At) })
	return due
}

// guids lists all that are missing.
func (l *lostDeliveries) guids() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]string, 0, len(l.m))
	for guid := range l.m {
		all = append(all, guid)
	}
	return all
}

func (l *lostDeliveries) asked(guid string, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if d, ok := l.m[guid]; ok {
		d.next = now.Add(time.Minute << d.asked)
		d.asked++
		l.m[guid] = d
	}
}

const markDeliveries = "deliveries"

// findDeliveries reads the App's delivery log and asks for those that failed
// and were never taken in.
func (s *Service) findDeliveries(ctx context.Context) error {
	began := s.Now()
	last, err := s.Store.Mark(ctx, markDeliveries)
	if err != nil {
		return fmt.Errorf("read how far the delivery log was read: %w", err)
	}
	since := began.Add(-logReaches)
	if !last.IsZero() && last.Add(-logOverlap).After(since) {
		since = last.Add(-logOverlap)
	}
	attempts, whole, err := s.GitHub.Deliveries(ctx, since)
	if err != nil {
		return err
	}
	if !whole {
		s.Log.Warn().Time("since", since).Int("attempts", len(attempts)).Msg("the delivery log is longer than is read; the sweep of open pull requests finds what is older")
	}
	s.lost.note(attempts)
	known, err := s.Store.KnownDeliveries(ctx, s.lost.guids())
	if err != nil {
		return fmt.Errorf("look which deliveries were taken in: %w", err)
	}
	s.lost.forget(known, began.Add(-logReaches))
	due := s.lost.due(began)
	left := due[min(len(due), maxRedeliveries):]
	for _, a := range due[:len(due)-len(left)] {
		if err := s.redeliver(ctx, a); err != nil {
			return err
		}
	}
	// What is left is read again by the next look, in whatever process.
	upTo := began
	if len(left) > 0 {
		upTo = left[0].At
	}
	if err := s.Store.SetMark(ctx, markDeliveries, upTo); err != nil {
		return fmt.Errorf("note how far the delivery log was read: %w", err)
	}
	return nil
}

// redeliver asks for a delivery. One that GitHub no longer has, or won't send
// again, is left to the sweep of open pull requests.
func (s *Service) redeliver(ctx context.Context, a HookAttempt) error {
	err := s.GitHub.Redeliver(ctx, a.ID)
	var host *HostError
	if err != nil && (!errors.As(err, &host) || host.Temporary()) {
		return err
	}
	s.lost.asked(a.GUID, s.Now())
	s.Log.Info().Str("delivery", a.GUID).Str("event", a.Event).Str("action", a.Action).Int("status", a.Status).Time("at", a.At).Err(err).Msg("asked for a lost delivery again")
	s.found("delivery")
	return nil
}

func (s *Service) found(what string) {
	if s.Observe.Found != nil {
		s.Observe.Found(what)
	}
}

// sweep looks for what was missed in one installation, or for 0 everywhere:
// then each installation gets a job of its own.
func (s *Service) sweep(ctx context.Context, installation int64) error {
	all, err := s.GitHub.Installations(ctx)
	if err != nil {
		return err
	}
	if installation == 0 {
		return s.sweepAll(ctx, all)
	}
	i := slices.IndexFunc(all, func(in Installation) bool { return in.ID == installation })
	if i < 0 || all[i].Suspended {
		return nil // nothing can be read there
	}
	return s.sweepInstallation(ctx, all[i])
}

func (s *Service) sweepAll(ctx context.Context, all []Installation) error {
	for _, in := range all {
		if in.Suspended {
			continue
		}
		if err := s.Store.AskSweep(ctx, Sweep{Installation: in.ID}); err != nil {
			return fmt.Errorf("ask for a sweep of installation %d: %w", in.ID, err)
		}
	}
	return s.finishOrphans(ctx)
}

// finishOrphans completes checks on heads that no open pull request has any
// more. A repository that can't be written to must not keep the others
// waiting.
func (s *Service) finishOrphans(ctx context.Context) error {
	targets, err := s.Store.Orphans(ctx)
	if err != nil {
		return fmt.Errorf("look for checks that nobody finishes: %w", err)
	}
	var errs []error
	for _, t := range targets {
		errs = append(errs, s.underSweepLease(ctx, t.RepoID, func(ctx context.Context, l Lease) error {
			if err := s.cancelOldChecks(ctx, l, t); err != nil {
				return err
			}
			s.found("check")
			return nil
		}))
	}
	return errors.Join(errs...)
}

// underSweepLease does f with a lease of its own, since what is written to
// GitHub needs one. Where another process sweeps the repository it does
// nothing.
func (s *Service) underSweepLease(ctx context.Context, repoID int64, f func(context.Context, Lease) error) error {
	l, ok, err := s.Store.Acquire(ctx, fmt.Sprintf("sweep/%d", repoID), s.Owner, s.LeaseTTL)
	if err != nil {
		return fmt.Errorf("take the lease to sweep: %w", err)
	}
	if !ok {
		return nil
	}
	return s.underLease(ctx, l, func(ctx context.Context) error { return f(ctx, l) })
}

func (s *Service) sweepInstallation(ctx context.Context, in Installation) error {
	began := s.Now()
	mark := fmt.Sprintf("sweep/%d", in.ID)
	last, err := s.Store.Mark(ctx, mark)
	if err != nil {
		return fmt.Errorf("read when installation %d was swept: %w", in.ID, err)
	}
	since := in.CreatedAt
	if !last.IsZero() && last.Add(-sweepOverlap).After(since) {
		since = last.Add(-sweepOverlap)
	}
	refused, err := s.Store.Unanswered(ctx, in.ID)
	if err != nil {
		return fmt.Errorf("list the pull requests whose review was refused: %w", err)
	}
	for _, t := range refused {
		if err := s.askFound(ctx, t, "access was refused before"); err != nil {
			return err
		}
	}
	repos, err := s.GitHub.Repositories(ctx, in.ID)
	if err != nil {
		return err
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(sweepAtOnce)
	for _, repo := range repos {
		g.Go(func() error { return guard(func() error { return s.sweepRepository(gctx, repo, since) }) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if err := s.Store.SetMark(ctx, mark, began); err != nil {
		return fmt.Errorf("note that installation %d was swept: %w", in.ID, err)
	}
	return nil
}

// sweepRepository asks for the open pull requests that have no answer. A
// repository that can't be read is no reason to leave the others.
func (s *Service) sweepRepository(ctx context.Context, repo Target, since time.Time) error {
	pulls, err := s.GitHub.OpenPulls(ctx, repo, since)
	if err != nil {
		return s.skipRefused(repo, err)
	}
	for _, t := range pulls {
		answered, err := s.answered(ctx, t)
		if err != nil {
			if err = s.skipRefused(repo, err); err != nil {
				return err
			}
			break
		}
		if answered {
			continue
		}
		if err := s.askFound(ctx, t, "found without an answer"); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) skipRefused(repo Target, err error) error {
	var host *HostError
	if !errors.As(err, &host) || host.Temporary() {
		return err
	}
	s.Log.Warn().Str("repository", repo.Owner+"/"+repo.Name).Err(err).Msg("not swept")
	return nil
}

func (s *Service) askFound(ctx context.Context, t Target, why string) error {
	if err := s.Store.Ask(ctx, ReviewAsk{Target: t, Reason: why}, false); err != nil {
		return fmt.Errorf("ask for a review of %s: %w", t.Key(), err)
	}
	s.Log.Info().Str("target", t.Key()).Str("head", t.HeadSHA).Str("why", why).Msg("found a pull request to review")
	s.found("pull_request")
	return nil
}

// answered reports whether the head of an open pull request has a completed
// check that was not cancelled, or a review of it is on its way. A check run of ours that the store
// does not know, since its database was lost or restored, is adopted, so that
// the head gets no second one.
func (s *Service) answered(ctx context.Context, t Target) (bool, error) {
	state, err := s.Store.Target(ctx, t.Key())
	if err != nil && !errors.Is(err, ErrNotFound) {
		return false, fmt.Errorf("look up %s: %w", t.Key(), err)
	}
	if err == nil && !state.Closed && state.Wanted > state.Done && state.HeadSHA == t.HeadSHA {
		return true, nil
	}
	newest, err := s.Store.NewestWrite(ctx, WriteCheck, checkSubject(t.RepoID, t.HeadSHA))
	if err != nil {
		return false, fmt.Errorf("look for the check of %s: %w", t.HeadSHA, err)
	}
	if newest != nil {
		said := newest.Digest != "" && !strings.HasPrefix(newest.Digest, "cancelled ")
		return newest.State == WriteCompleted && said, nil
	}
	runs, err := s.GitHub.Checks(ctx, t, t.HeadSHA)
	if err != nil || len(runs) == 0 {
		return false, err
	}
	if runs[0].Completed {
		return runs[0].Conclusion != "cancelled" && runs[0].Conclusion != "stale", nil
	}
	return false, s.adopt(ctx, t, runs[0])
}

// adopt makes a check run that is open on GitHub the head's own.
func (s *Service) adopt(ctx context.Context, t Target, run CheckRun) error {
	return s.underSweepLease(ctx, t.RepoID, func(ctx context.Context, l Lease) error {
		return s.onHead(ctx, t.RepoID, t.HeadSHA, func(ctx context.Context) error {
			newest, err := s.Store.NewestWrite(ctx, WriteCheck, checkSubject(t.RepoID, t.HeadSHA))
			if err != nil || newest != nil {
				return err
			}
			w, err := s.Store.Intend(ctx, l, Write{
				Kind: WriteCheck, Subject: checkSubject(t.RepoID, t.HeadSHA), Key: t.Key(), HeadSHA: t.HeadSHA,
				ExternalID: run.ExternalID, RemoteID: run.ID,
			})
			if err != nil {
				return fmt.Errorf("adopt check run %d: %w", run.ID, err)
			}
			w.State = WriteOpen
			if err := s.Store.Record(ctx, w); err != nil {
				return fmt.Errorf("adopt check run %d: %w", run.ID, err)
			}
			s.found("check")
			return nil
		})
	})
}
