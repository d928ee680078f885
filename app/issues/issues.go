package issues

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/inforce"
	"github.com/reviewgate/reviewgate/app/lease"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/config"
)

// Tracker keeps the issues about merged warnings and gaps, and about what people judge wrong too often.
type Tracker struct {
	Configs     *inforce.Configs
	Deferrals   ports.Deferrals
	Probations  ports.Probations
	History     ports.History
	Marks       ports.Marks
	IssueWriter ports.IssueWriter
	Leases      lease.Keeper
	Log         zerolog.Logger
	Now         func() time.Time
	WebURL      string // of GitHub, for links
	// Observe is called with what happened to an issue: "created", "updated", "closed",
	// "left", "waiting", "refused" or "dropped".
	Observe func(what string)

	refusals sync.Map // IDs of repositories whose refusal of issues was logged
}

// What happens to issues; the values that Observe is called with.
const (
	issueCreated = "created"
	issueUpdated = "updated"
	issueClosed  = "closed"
	issueLeft    = "left"    // closed or deleted by somebody, so it is never changed again
	issueWaiting = "waiting" // beyond the daily limit
	issueRefused = "refused" // by GitHub: the permission is missing, or issues are switched off
	issueDropped = "dropped" // beyond MaxDeferred
)

// Day is the period of the daily limit. It is also how long a periodic sweep leaves a
// repository alone after it refused its issues.
const Day = 24 * time.Hour

// Work updates a repository's issues after a merge, or those that had to wait. It can
// safely run again: a merge is recorded once, and an issue that may exist is looked for.
func (k *Tracker) Work(ctx context.Context, job ports.IssuesJob, _ int) error {
	t := job.Ask.Target
	merged, cfg, err := k.issuesAsked(ctx, t)
	if err != nil || cfg == nil {
		return err
	}
	l, ok, err := k.Leases.Acquire(ctx, fmt.Sprintf("issues/%d", t.RepoID))
	if err != nil {
		return fmt.Errorf("take the lease of the repository's issues: %w", err)
	}
	if !ok {
		return errors.New("the repository's issues are being written")
	}
	return k.Leases.Under(ctx, l, func(ctx context.Context) error {
		if merged != nil {
			if err := k.noteMerge(ctx, l, t, merged, cfg); err != nil {
				return err
			}
		}
		if cfg.Settings.Issues.Probation {
			if err := k.noteProbation(ctx, l, t); err != nil {
				return err
			}
		}
		w := issueWriter{Tracker: k, lease: l, target: t, settings: cfg.Settings.Issues}
		return w.all(ctx)
	})
}

// issuesAsked returns the review of the merged change, if a merge asked, and the config. It
// returns no config if there is nothing to do. Advisory mode posts nothing that people
// would have to clean up.
func (k *Tracker) issuesAsked(ctx context.Context, t ports.Target) (merged *ports.StoredReview, cfg *config.Config, err error) {
	if t.Number != 0 {
		merged, cfg, err = k.mergedReview(ctx, t)
	} else {
		cfg, err = k.Configs.Known(ctx, t)
	}
	if err != nil || cfg == nil {
		return nil, nil, err
	}
	if on := cfg.Settings.Issues; !(on.TechDebt || on.Gaps || on.Probation) || cfg.Mode(t.Owner+"/"+t.Name) != config.ModeEnforce {
		return nil, nil, nil
	}
	return merged, cfg, nil
}

// mergedReview returns the review of the merged head and its config. If the completed check
// triggered the merge, the review may not yet be marked as published. A head that was not
// reviewed, or was merged into another branch than the default one, adds nothing: that
// branch will be merged again.
func (k *Tracker) mergedReview(ctx context.Context, t ports.Target) (*ports.StoredReview, *config.Config, error) {
	r, err := k.History.ReviewOfHead(ctx, t.Key(), t.HeadSHA, "")
	if err != nil {
		return nil, nil, fmt.Errorf("look for the review of what was merged: %w", err)
	}
	if r == nil || r.Review.Facts.Base.Ref != r.Review.Facts.Repository.DefaultBranch {
		return nil, nil, nil
	}
	cfg, err := k.Configs.ConfigOf(ctx, r)
	return r, cfg, err
}

// AskWaiting asks for the issues that had to wait, in the repositories for which wanted
// returns true. refused is when a repository last refused its issues, or the zero time.
func (k *Tracker) AskWaiting(ctx context.Context, wanted func(t ports.Target, refused time.Time) (bool, error)) error {
	all, err := k.Deferrals.DeferredRepositories(ctx)
	if err != nil {
		return fmt.Errorf("look for issues that wait: %w", err)
	}
	for _, t := range all {
		refused, err := k.Marks.Mark(ctx, refusedMark(t))
		if err != nil {
			return fmt.Errorf("read whether issues were refused: %w", err)
		}
		if ok, err := wanted(t, refused); err != nil {
			return err
		} else if !ok {
			continue
		}
		if err := k.Deferrals.AskIssues(ctx, ports.IssuesAsk{Target: t}); err != nil {
			return fmt.Errorf("ask for issues that wait: %w", err)
		}
	}
	return nil
}

// refusedMark returns the name of the mark for when a repository refused its issues.
func refusedMark(t ports.Target) string { return fmt.Sprintf("issues refused/%d", t.RepoID) }

func (k *Tracker) countIssue(what string) {
	if k.Observe != nil {
		k.Observe(what)
	}
}

// documentOf returns the wanted text of the issue.
func documentOf(d *ports.Deferred) render.Document {
	return render.Issue(render.IssueState{
		Kind: string(d.Kind), Key: d.Key, About: d.Body, Seen: d.Seen, Pulls: d.Pulls, ResolvedIn: d.ResolvedIn,
	})
}

// markerOf returns the marker by which the issue is found again.
func markerOf(d *ports.Deferred) string { return render.IssueMarker(string(d.Kind), d.Key) }
