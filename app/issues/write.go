package issues

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/reviewgate/reviewgate/app/once"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/config"
)

// issueWriter writes a repository's issues to GitHub, under the lease for them.
type issueWriter struct {
	*Tracker
	lease    ports.Lease
	target   ports.Target
	settings config.IssueSettings

	newest  time.Time     // when the newest issue in the store was intended
	ours    []ports.Issue // our newer issues on GitHub, once asked is set
	asked   bool
	waiting int
}

// errIssuesRefused says that GitHub does not accept our issues in the repository.
var errIssuesRefused = errors.New("issues can't be written")

// all writes everything that changed to GitHub.
func (w *issueWriter) all(ctx context.Context) error {
	list, newest, err := w.Deferrals.ChangedDeferred(ctx, w.target.RepoID)
	if err != nil {
		return err
	}
	w.newest = newest
	for i := range list {
		if d := &list[i]; w.wanted(d.Kind) {
			if err = w.one(ctx, d); err != nil {
				break
			}
		}
	}
	if errors.Is(err, errIssuesRefused) {
		return w.refused(ctx, err)
	}
	if w.waiting > 0 {
		w.Log.Info().Str("repository", w.target.Owner+"/"+w.target.Name).Int("waiting", w.waiting).Int("per_day", w.settings.PerDay).
			Msg("issues wait for another day")
	}
	return err
}

func (w *issueWriter) wanted(kind ports.DeferredKind) bool {
	return kind == ports.DeferredDebt && w.settings.TechDebt || kind == ports.DeferredGap && w.settings.Gaps ||
		kind == ports.DeferredProbation && w.settings.Probation
}

// refused logs once that a repository accepts no issues, and records it. The next merge
// tries again, because somebody may have fixed it.
func (w *issueWriter) refused(ctx context.Context, err error) error {
	w.countIssue(issueRefused)
	if _, logged := w.refusals.LoadOrStore(w.target.RepoID, true); !logged {
		w.Log.Warn().Str("repository", w.target.Owner+"/"+w.target.Name).Err(err).
			Msg("issues are switched on in the settings and can't be written: the App needs the permission issues: write, and the repository its issues")
	}
	if err := w.Marks.SetMark(ctx, refusedMark(w.target), w.Now()); err != nil {
		return fmt.Errorf("note that issues were refused: %w", err)
	}
	return nil
}

// one writes one issue to GitHub.
func (w *issueWriter) one(ctx context.Context, d *ports.Deferred) error {
	if d.State == ports.DeferredIntended {
		if err := w.resolve(ctx, d); err != nil {
			return err
		}
	}
	switch {
	case d.Number != 0:
		return w.update(ctx, d)
	case d.ResolvedIn != 0: // intended, but never created
		return w.settle(ctx, d, ports.DeferredClosed)
	}
	return w.create(ctx, d)
}

// resolve finds out whether an intended issue exists.
func (w *issueWriter) resolve(ctx context.Context, d *ports.Deferred) error {
	issue, err := once.LookTwice(ctx, func() (*ports.Issue, error) {
		all, err := w.IssueWriter.Issues(ctx, w.target, d.IntendedAt)
		return issueWith(all, markerOf(d)), w.refusal(err)
	})
	if err != nil || issue == nil {
		return err
	}
	return w.take(ctx, d, issue)
}

// adopt looks for the issue among those on GitHub that are newer than the store knows: the
// store may have been restored from a backup.
func (w *issueWriter) adopt(ctx context.Context, d *ports.Deferred) error {
	if !w.asked {
		all, err := w.IssueWriter.Issues(ctx, w.target, w.newest)
		if err != nil {
			return err
		}
		w.ours, w.asked = all, true
	}
	if issue := issueWith(w.ours, markerOf(d)); issue != nil {
		d.IntendedAt = time.Time{} // it does not count toward today's limit
		return w.take(ctx, d, issue)
	}
	return nil
}

// issueWith returns the first of our issues that has the marker, or nil.
func issueWith(all []ports.Issue, marker string) *ports.Issue {
	for i := range all {
		if strings.HasPrefix(all[i].Body, marker) {
			return &all[i]
		}
	}
	return nil
}

func (w *issueWriter) take(ctx context.Context, d *ports.Deferred, issue *ports.Issue) error {
	d.Number, d.State = issue.Number, ports.DeferredOpen
	if doc := documentOf(d); issue.Open && issue.Body == doc.Body {
		d.Digest = doc.Digest // nothing left to write
	}
	return w.record(ctx, d)
}

// create opens an issue if the daily limit allows it. An issue that was intended before
// already counts in the limit.
func (w *issueWriter) create(ctx context.Context, d *ports.Deferred) error {
	if d.State != ports.DeferredIntended {
		ok, err := w.Deferrals.IntendDeferred(ctx, w.lease, *d, w.settings.PerDay, w.Now().Add(-Day))
		if err != nil {
			return fmt.Errorf("store the intent to open an issue: %w", err)
		}
		if !ok {
			w.waiting++
			w.countIssue(issueWaiting)
			return nil
		}
		d.State, d.IntendedAt = ports.DeferredIntended, w.Now()
	}
	there, err := once.Ensure(ctx, func(ctx context.Context) error { return w.Leases.Fence(ctx, w.lease) }, once.Creation{
		Intended: true,
		Look: func(ctx context.Context) (bool, error) {
			err := w.adopt(ctx, d)
			if err != nil {
				err = w.putBack(ctx, d, err)
			}
			return d.Number != 0, err
		},
		Create: func(ctx context.Context) (func(context.Context) error, error) {
			doc := documentOf(d)
			number, err := w.IssueWriter.CreateIssue(ctx, w.target, ports.IssueWrite{Title: d.Title, Body: doc.Body, Labels: w.settings.Labels})
			if err != nil {
				return nil, w.notCreated(ctx, d, err)
			}
			d.Number, d.Digest = number, doc.Digest
			w.countIssue(issueCreated)
			return func(ctx context.Context) error { return w.settle(ctx, d, ports.DeferredOpen) }, nil
		},
	})
	if err != nil || !there {
		return err
	}
	return w.update(ctx, d)
}

// notCreated handles an error that means that GitHub did not open the issue.
func (w *issueWriter) notCreated(ctx context.Context, d *ports.Deferred, err error) error {
	var host *ports.HostError
	if errors.As(err, &host) && host.Kind == ports.HostInvalid {
		w.Log.Error().Str("repository", w.target.Owner+"/"+w.target.Name).Str("issue", markerOf(d)).Err(err).Msg("GitHub does not take this issue")
		w.countIssue(issueLeft)
		return w.settle(ctx, d, ports.DeferredLeft)
	}
	return w.putBack(ctx, d, err)
}

// putBack makes an issue wait after a final refusal, because somebody may fix the cause.
// After other errors the intent stays.
func (w *issueWriter) putBack(ctx context.Context, d *ports.Deferred, err error) error {
	if !ports.IsFinal(err) {
		return err
	}
	d.State, d.IntendedAt = ports.DeferredWaiting, time.Time{}
	return errors.Join(w.refusal(err), w.record(ctx, d))
}

// update rewrites an issue, and closes it if it is resolved. It leaves an issue alone if
// somebody closed or deleted it, or changed its first line, which is our marker.
func (w *issueWriter) update(ctx context.Context, d *ports.Deferred) error {
	doc := documentOf(d)
	open := d.ResolvedIn == 0
	if d.Digest == doc.Digest && open == (d.State == ports.DeferredOpen) {
		return w.settle(ctx, d, d.State)
	}
	now, err := w.IssueWriter.Issue(ctx, w.target, d.Number)
	var host *ports.HostError
	if errors.As(err, &host) && host.Kind == ports.HostNotFound {
		// Deleted or transferred, unless the repository no longer has issues.
		if _, err := w.IssueWriter.Issues(ctx, w.target, w.Now()); err != nil {
			return w.refusal(err)
		}
	} else if err != nil {
		return w.refusal(err)
	}
	if !open && !now.Open && strings.HasPrefix(now.Body, doc.Body) { // by us, before a crash
		d.Digest = doc.Digest
		return w.settle(ctx, d, ports.DeferredClosed)
	}
	if err != nil || !now.Open && d.State != ports.DeferredClosed || !strings.HasPrefix(now.Body, markerOf(d)) {
		w.countIssue(issueLeft)
		return w.settle(ctx, d, ports.DeferredLeft)
	}
	if err := w.Leases.Fence(ctx, w.lease); err != nil {
		return err
	}
	if err := w.IssueWriter.UpdateIssue(ctx, w.target, d.Number, render.WithTextBelow(doc.Body, now.Body), open); err != nil {
		return w.refusal(err)
	}
	d.Digest = doc.Digest
	if !open {
		w.countIssue(issueClosed)
		return w.settle(ctx, d, ports.DeferredClosed)
	}
	w.countIssue(issueUpdated)
	return w.settle(ctx, d, ports.DeferredOpen)
}

// refusal turns a final refusal into one for all issues of the repository.
func (w *issueWriter) refusal(err error) error {
	if ports.IsFinal(err) {
		return errors.Join(errIssuesRefused, err)
	}
	return err
}

// settle records that GitHub has the newest state of an issue.
func (w *issueWriter) settle(ctx context.Context, d *ports.Deferred, state ports.DeferredState) error {
	d.State, d.Changed = state, false
	return w.record(ctx, d)
}

func (w *issueWriter) record(ctx context.Context, d *ports.Deferred) error {
	if err := w.Deferrals.RecordDeferred(ctx, *d); err != nil {
		return fmt.Errorf("record the issue: %w", err)
	}
	return nil
}
