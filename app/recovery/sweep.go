package recovery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/access"
	"github.com/reviewgate/reviewgate/app/inforce"
	"github.com/reviewgate/reviewgate/app/internal/panics"
	"github.com/reviewgate/reviewgate/app/issues"
	"github.com/reviewgate/reviewgate/app/lease"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/publish"
)

// Finder finds lost deliveries and unanswered pull requests.
type Finder struct {
	Configs            *inforce.Configs
	Checks             *publish.Checks
	Issues             *issues.Tracker
	Recovery           ports.Recovery
	Marks              ports.Marks
	Targets            ports.Targets
	Intake             ports.Intake
	Writes             ports.Writes
	History            ports.History
	DeliveryLog        ports.DeliveryLog
	InstallationReader ports.InstallationReader
	PullReader         ports.PullReader
	CheckWriter        ports.CheckWriter
	Leases             lease.Keeper
	Log                zerolog.Logger
	Now                func() time.Time
	// TakeIn handles the payload of a failed delivery attempt as the webhook would. It
	// returns ErrRefused if the webhook would refuse it.
	TakeIn func(ctx context.Context, a ports.HookAttempt, payload []byte) error
	// Observe is called for each lost item that was found: "delivery", "pull_request" or
	// "check". It may be nil.
	Observe func(what string)
}

// Webhooks get lost: the server was down, a proxy refused them, GitHub gave up after ten
// seconds. There are two ways to recover. The App's delivery log has every attempt of the
// last three days, so the payload of a failed one can be read from there. And a sweep
// compares the open pull requests with the answers in the store.

const (
	// logReaches is how far back GitHub redelivers.
	logReaches = 3 * 24 * time.Hour
	// logOverlap and sweepOverlap are how far each look goes back before the previous one,
	// for what GitHub shows late. An attempt takes ten seconds, and thirty on GitHub
	// Enterprise Server.
	logOverlap   = 5 * time.Minute
	sweepOverlap = time.Hour
	// maxLookedFor is how many deliveries one look handles. Each takes one call, or two if
	// the log has no payload. A look every five minutes leaves a quarter of the 5,000 calls
	// that the App has in an hour.
	maxLookedFor = 300
	// maxFailed is how many failures in a row end a look, because GitHub is then probably
	// down.
	maxFailed = 3
	// maxLooks is how many times one delivery is looked for, over 34 hours.
	maxLooks = 13
	// sweepAtOnce is how many repositories are swept in parallel. Each costs one or two
	// calls, and reviews need the calls more.
	sweepAtOnce = 4
)

// awaited are the events that ask for something, with their actions; nil means any action.
var awaited = map[string][]string{
	"pull_request":                nil,
	"issue_comment":               {"created", "edited", "deleted"},
	"check_run":                   {"rerequested", "requested_action"},
	"check_suite":                 {"rerequested"},
	"pull_request_review":         {"submitted"},
	"pull_request_review_comment": {"created"},
	"merge_group":                 nil,
	"push":                        nil,
	"installation":                {"unsuspend", "new_permissions_accepted", "deleted"},
	"installation_repositories":   {"added", "removed"},
	"repository":                  {"deleted", "renamed", "transferred"},
}

// awaitedScans are the events that ask for something only if a pull request of the
// repository reads others' findings. There are many of them, so they come after the others.
var awaitedScans = map[string][]string{
	"check_run":           {"completed"},
	"check_suite":         {"completed"},
	"code_scanning_alert": nil,
}

func tellsOfScans(a ports.HookAttempt) bool { return isOneOf(awaitedScans, a) }

func isOneOf(events map[string][]string, a ports.HookAttempt) bool {
	actions, ok := events[a.Event]
	return ok && (actions == nil || slices.Contains(actions, a.Action))
}

// urgency is higher for deliveries to look for sooner. Requests by people come first,
// because nothing else finds them, while the sweep finds pull requests. Most edits of
// comments are the App's own, but the log does not show that. Events about others' checks
// come last.
func urgency(a ports.HookAttempt) int {
	switch {
	case tellsOfScans(a):
		return 0
	case a.Event == "issue_comment" && a.Action != "created":
		return 1
	case a.Event == "issue_comment" || strings.HasPrefix(a.Event, "pull_request_review") || a.Event == "check_run" || a.Event == "check_suite":
		return 3
	}
	return 2
}

// FindDeliveries reads the App's delivery log and handles the deliveries that failed and
// never arrived. The missing deliveries are stored, so that any process needs to read the
// log only once.
func (f *Finder) FindDeliveries(ctx context.Context) error {
	began := f.Now()
	oldest := began.Add(-logReaches)
	since, err := f.Marks.Mark(ctx, ports.MarkDeliveries)
	if err != nil {
		return fmt.Errorf("read how far the delivery log was read: %w", err)
	}
	if since = since.Add(-logOverlap); since.Before(oldest) {
		since = oldest
	}
	attempts, whole, err := f.DeliveryLog.FailedDeliveries(ctx, since)
	if err != nil {
		return err
	}
	if !whole {
		f.Log.Warn().Time("since", since).Int("attempts", len(attempts)).Msg("the delivery log holds more attempts than are read; the sweep of open pull requests finds what is older")
	}
	scanned, err := f.Recovery.ScanRepositories(ctx)
	if err != nil {
		return err
	}
	dropped, err := f.Recovery.AddLostDeliveries(ctx, ports.LogRead{Lost: lostDeliveries(attempts, scanned), Before: oldest, UpTo: began})
	if err != nil {
		return err
	}
	if dropped > 0 {
		f.Log.Warn().Int64("dropped", dropped).Msg("more deliveries are missing than are kept; the sweep finds the pull requests among those")
	}
	due, err := f.Recovery.LostDeliveries(ctx, began, maxLookedFor)
	if err != nil {
		return err
	}
	failed := 0
	for _, d := range due {
		err := f.lookFor(ctx, d)
		if err == nil {
			failed = 0
			continue
		}
		var host *ports.HostError
		if failed++; failed == maxFailed || !errors.As(err, &host) || host.Kind == ports.HostLimited {
			return err
		}
		// A delivery that GitHub can't show must not stop the others.
		f.Log.Warn().Str("delivery", d.GUID).Err(err).Msg("a lost delivery could not be retrieved")
		if err := f.Recovery.LookedFor(ctx, d.GUID, f.Now().Add(lookAgain(d.Looks))); err != nil {
			return err
		}
	}
	return nil
}

// lostDeliveries returns the failed deliveries that ask for something, each with its newest
// attempt and the time of the first one. scanned are the repositories in which events about
// others' checks ask for something.
func lostDeliveries(attempts []ports.HookAttempt, scanned map[int64]bool) []ports.LostDelivery {
	var lost []ports.LostDelivery
	at := map[string]int{}
	for _, a := range attempts {
		if !isOneOf(awaited, a) && !(scanned[a.RepoID] && tellsOfScans(a)) {
			continue
		}
		i, seen := at[a.GUID]
		if !seen {
			at[a.GUID] = len(lost)
			lost = append(lost, ports.LostDelivery{HookAttempt: a, Urgency: urgency(a)})
			continue
		}
		first := lost[i].At
		if a.At.Before(first) {
			first = a.At
		}
		if a.ID > lost[i].ID {
			lost[i].HookAttempt = a
		}
		lost[i].At = first
	}
	return lost
}

// lookFor handles the payload of a lost delivery. If the log does not have the payload, it
// asks GitHub to send the delivery again. If GitHub no longer has the delivery, or would
// not send it again, or if the webhook would refuse it again, only the sweep can find the
// pull request. A delivery that can't be stored must not stop the others.
func (f *Finder) lookFor(ctx context.Context, d ports.LostDelivery) error {
	payload, err := f.DeliveryLog.Payload(ctx, d.ID)
	did := "took in a lost delivery"
	if err == nil {
		err = f.TakeIn(ctx, d.HookAttempt, payload)
	}
	again := f.Now().Add(lookAgain(d.Looks))
	switch {
	case errors.Is(err, ports.ErrRefused):
		again = f.Now().Add(logReaches)
	case errors.Is(err, ports.ErrNoPayload):
		did = "asked for a lost delivery again"
		if refused := f.DeliveryLog.Redeliver(ctx, d.ID); refused != nil {
			err = refused
		} else {
			f.Log.Warn().Str("delivery", d.GUID).Err(err).Msg("a lost delivery can't be read")
			err = nil
		}
	}
	var host *ports.HostError
	if errors.As(err, &host) && host.Temporary() {
		return err
	}
	if err := f.Recovery.LookedFor(ctx, d.GUID, again); err != nil {
		return err
	}
	log := f.Log.Info()
	if err != nil {
		log, did = f.Log.Warn().Err(err), "a lost delivery could not be retrieved"
	} else {
		f.observe("delivery")
	}
	log.Str("delivery", d.GUID).Str("event", d.Event).Str("action", d.Action).Int("status", d.Status).Time("at", d.At).Msg(did)
	return nil
}

// lookAgain returns how long to wait until the next look for a delivery that was looked for
// so many times: 1, 1, 2, 4 minutes ... 17 hours. Most deliveries fail while servers
// restart.
func lookAgain(looks int) time.Duration {
	if looks+1 >= maxLooks {
		return logReaches // GitHub no longer has it by then
	}
	return time.Minute << max(looks-1, 0)
}

func (f *Finder) observe(what string) {
	if f.Observe != nil {
		f.Observe(what)
	}
}

// Sweep looks for missed work in one installation. For installation 0 it gives each
// installation a job of its own.
func (f *Finder) Sweep(ctx context.Context, sw ports.Sweep) error {
	if sw.Installation != 0 {
		if sw.Granted {
			if err := f.askGranted(ctx, sw.Installation); err != nil {
				return err
			}
		}
		return f.sweepInstallation(ctx, sw.Installation)
	}
	all, err := f.InstallationReader.Installations(ctx)
	if err != nil {
		return err
	}
	active := map[int64]bool{}
	for _, in := range all {
		if in.Suspended {
			continue
		}
		active[in.ID] = true
		if err := f.Recovery.AskSweep(ctx, ports.Sweep{Installation: in.ID}); err != nil {
			return fmt.Errorf("ask for a sweep of installation %d: %w", in.ID, err)
		}
	}
	return errors.Join(f.finishOrphans(ctx, active), f.Issues.AskWaiting(ctx, func(t ports.Target, refused time.Time) (bool, error) {
		return active[t.Installation] && f.Now().Sub(refused) >= issues.Day, nil
	}))
}

// finishOrphans completes checks on heads that no open pull request has any more. A
// repository that refuses writes must not stop the others.
func (f *Finder) finishOrphans(ctx context.Context, active map[int64]bool) error {
	targets, err := f.Recovery.Orphans(ctx)
	if err != nil {
		return fmt.Errorf("look for checks that nobody finishes: %w", err)
	}
	var errs []error
	for _, t := range targets {
		if !active[t.Installation] {
			continue // a later sweep completes them, once writes are possible again
		}
		errs = append(errs, f.underSweepLease(ctx, t.RepoID, func(ctx context.Context, l ports.Lease) error {
			if err := f.Checks.CancelOld(ctx, l, t); err != nil {
				return err
			}
			f.observe("check")
			return nil
		}))
	}
	return errors.Join(errs...)
}

// underSweepLease calls do with a lease of its own, because writes to GitHub need one. It
// does nothing if another process sweeps the repository.
func (f *Finder) underSweepLease(ctx context.Context, repoID int64, do func(context.Context, ports.Lease) error) error {
	l, ok, err := f.Leases.Acquire(ctx, fmt.Sprintf("sweep/%d", repoID))
	if err != nil {
		return fmt.Errorf("take the lease to sweep: %w", err)
	}
	if !ok {
		return nil
	}
	return f.Leases.Under(ctx, l, func(ctx context.Context) error { return do(ctx, l) })
}

func (f *Finder) sweepInstallation(ctx context.Context, id int64) error {
	began := f.Now()
	mark := fmt.Sprintf("sweep/%d", id)
	since, err := f.sweptUntil(ctx, mark, id)
	if err != nil {
		return err
	}
	repos, err := f.InstallationReader.Repositories(ctx, id)
	switch {
	case ports.IsFinal(err):
		f.Log.Warn().Int64("installation", id).Err(err).Msg("not swept")
		return nil // for example suspended; the mark stays unchanged
	case err != nil:
		return err
	}
	if err := f.askRefused(ctx, id); err != nil {
		return err
	}
	var skipped atomic.Bool
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(sweepAtOnce)
	for _, repo := range repos {
		g.Go(func() error {
			return panics.Guard(func() error { return f.sweepRepository(gctx, repo, since, &skipped) })
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if skipped.Load() {
		return nil // the next sweep looks there again
	}
	if err := f.Marks.SetMark(ctx, mark, began); err != nil {
		return fmt.Errorf("note that installation %d was swept: %w", id, err)
	}
	return nil
}

// sweptUntil returns the time since which pull requests of an installation may have been
// missed. Pull requests from before the App was installed don't count.
func (f *Finder) sweptUntil(ctx context.Context, mark string, id int64) (time.Time, error) {
	last, err := f.Marks.Mark(ctx, mark)
	if err != nil {
		return last, fmt.Errorf("read when installation %d was swept: %w", id, err)
	}
	if !last.IsZero() {
		return last.Add(-sweepOverlap), nil
	}
	all, err := f.InstallationReader.Installations(ctx)
	if err != nil {
		return last, err
	}
	i := slices.IndexFunc(all, func(in ports.Installation) bool { return in.ID == id })
	if i < 0 {
		return f.Now(), nil
	}
	return all[i].CreatedAt, nil
}

// askRefused asks for reviews that were refused to the App, if it has access by now.
func (f *Finder) askRefused(ctx context.Context, installation int64) error {
	refused, err := f.Recovery.Unanswered(ctx, installation)
	if err != nil {
		return fmt.Errorf("list the pull requests whose review was refused: %w", err)
	}
	for _, t := range refused {
		a, err := f.PullReader.Access(ctx, t)
		switch {
		case ports.IsFinal(err):
			continue
		case err != nil:
			return err
		case access.RefusalOf(a) != nil:
			continue // the review would be refused again
		}
		t.HeadSHA = "" // the store's own may be newer by now
		if err := f.askFound(ctx, ports.ReviewAsk{Target: t, Reason: "access was refused before"}); err != nil {
			return err
		}
	}
	return nil
}

// askGranted asks for what was refused because an optional permission was missing. Access
// makes sure that new tokens have the permission.
func (f *Finder) askGranted(ctx context.Context, installation int64) error {
	refused, err := f.Recovery.RefusedScans(ctx, installation)
	if err != nil {
		return err
	}
	open := map[int64]bool{} // by repository
	look := func(t ports.Target) (bool, error) {
		if ok, looked := open[t.RepoID]; looked {
			return ok, nil
		}
		a, err := f.PullReader.Access(ctx, t)
		if err != nil && !ports.IsFinal(err) {
			return false, err
		}
		open[t.RepoID] = err == nil && access.RefusalOf(a) == nil
		return open[t.RepoID], nil
	}
	for _, st := range refused {
		if ok, err := look(st.Target); err != nil {
			return err
		} else if !ok {
			continue
		}
		t := st.Target
		t.HeadSHA = "" // the store's own may be newer by now
		ask := ports.ReviewAsk{Target: t, Reason: "permissions were granted", Rerun: ports.Rerun{Agents: st.Scans.Refused()}}
		if err := f.Intake.Ask(ctx, ask); err != nil {
			return fmt.Errorf("ask for a review of %s: %w", t.Key(), err)
		}
	}
	return f.Issues.AskWaiting(ctx, func(t ports.Target, refused time.Time) (bool, error) {
		if t.Installation != installation || refused.IsZero() {
			return false, nil
		}
		return look(t)
	})
}

// sweepRepository asks for reviews of the open pull requests without an answer. If a
// repository can't be read, it sets skipped, so that the others are still swept.
func (f *Finder) sweepRepository(ctx context.Context, repo ports.Target, since time.Time, skipped *atomic.Bool) error {
	pulls, err := f.InstallationReader.OpenPulls(ctx, repo, since)
	if err != nil {
		return f.skipRefused(repo, err, skipped)
	}
	onHead := map[string]int{}
	for _, p := range pulls {
		onHead[p.HeadSHA]++
	}
	for _, p := range pulls {
		answered, asked, err := f.answered(ctx, p, onHead[p.HeadSHA] > 1)
		if err != nil {
			return f.skipRefused(repo, err, skipped)
		}
		if answered {
			continue
		}
		// An event about it may have arrived during the calls to GitHub.
		if err := f.askFound(ctx, ports.ReviewAsk{Target: p.Target, Reason: publish.ReasonFound, Asked: &asked}); err != nil {
			return err
		}
	}
	return nil
}

func (f *Finder) skipRefused(repo ports.Target, err error, skipped *atomic.Bool) error {
	if !ports.IsFinal(err) {
		return err
	}
	skipped.Store(true)
	f.Log.Warn().Str("repository", repo.Owner+"/"+repo.Name).Err(err).Msg("not swept")
	return nil
}

func (f *Finder) askFound(ctx context.Context, ask ports.ReviewAsk) error {
	t := ask.Target
	if err := f.Intake.Ask(ctx, ask); err != nil {
		return fmt.Errorf("ask for a review of %s: %w", t.Key(), err)
	}
	f.Log.Info().EmbedObject(t).Str("why", ask.Reason).Msg("found a pull request to review")
	f.observe("pull_request")
	return nil
}

// answered reports whether the current state of an open pull request has an answer, or a
// review of it is on its way. A check on its head alone is not an answer: it may belong to
// another pull request, or to this one with another base. asked is the pull request's
// wanted generation at that time, 0 if unknown.
func (f *Finder) answered(ctx context.Context, p ports.OpenPull, shared bool) (answered bool, asked int64, err error) {
	state, err := f.Targets.Target(ctx, p.Key())
	unknown := errors.Is(err, ports.ErrNotFound)
	if err != nil && !unknown {
		return false, 0, fmt.Errorf("look up %s: %w", p.Key(), err)
	}
	newest, err := f.Writes.NewestWrite(ctx, ports.WriteCheck, publish.CheckSubject(p.RepoID, p.HeadSHA))
	if err != nil {
		return false, 0, fmt.Errorf("look for the check of %s: %w", p.HeadSHA, err)
	}
	if unknown {
		answered, err = f.answeredBefore(ctx, p, newest, shared)
	} else {
		answered, err = f.answeredNow(ctx, p, state, newest, shared)
	}
	return answered, state.Wanted, err
}

func (f *Finder) answeredNow(ctx context.Context, p ports.OpenPull, state ports.TargetState, newest *ports.Write, shared bool) (bool, error) {
	switch {
	case !state.Closed && state.Wanted > state.Done:
		return true, nil // for any head: it may have moved since the list was read
	case state.Closed:
		return false, nil
	case state.HeadSHA != p.HeadSHA:
		return f.answeredBefore(ctx, p, newest, shared)
	case state.GaveUp && state.Result != "":
		return true, nil // askRefused handles it
	case state.Scans.Waiting():
		return false, nil // the event it waits for may have been lost
	case newest == nil || newest.State != ports.WriteCompleted || newest.Conclusion == "cancelled":
		return f.Configs.SwitchedOff(ctx, p.Target)
	case state.GaveUp:
		return true, nil // the check says so
	}
	last, err := f.History.LatestReview(ctx, p.Key())
	if err != nil {
		return false, fmt.Errorf("look for the newest review of %s: %w", p.Key(), err)
	}
	return last != nil && last.HeadSHA == p.HeadSHA && last.Review.Facts.Base.Ref == p.BaseRef, nil
}

// answeredBefore looks on GitHub for the answer to a pull request that the store does not
// know, or does not know with this head. The database may have been lost or restored, or
// the event was lost. If other pull requests have the same head, its check may be theirs.
func (f *Finder) answeredBefore(ctx context.Context, p ports.OpenPull, newest *ports.Write, shared bool) (bool, error) {
	if shared || newest != nil {
		return false, nil
	}
	runs, err := f.CheckWriter.Checks(ctx, p.Target, p.HeadSHA)
	if err != nil || len(runs) == 0 {
		return false, err
	}
	c := runs[0]
	return c.Completed && c.Conclusion != "cancelled" && c.Conclusion != "stale", nil
}
