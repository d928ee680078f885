package publish

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/inforce"
	"github.com/reviewgate/reviewgate/app/lease"
	"github.com/reviewgate/reviewgate/app/once"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/fixloop"
)

// Comments writes the one comment of each pull request.
type Comments struct {
	Verdicts      *Verdicts
	Requests      *Requests
	Configs       *inforce.Configs
	Writes        ports.Writes
	History       ports.History
	Targets       ports.Targets
	Backtests     ports.Backtests
	Inline        ports.LineComments
	CommentWriter ports.CommentWriter
	Leases        lease.Keeper
	Log           zerolog.Logger
	WebURL        string // of GitHub, for links
}

// Publish writes the one comment of a pull request. It writes nothing if the settings say
// so, if nobody may write there, or if the comment already has this content.
func (c *Comments) Publish(ctx context.Context, p *Publication) error {
	r, state, settings := p.Review, p.State, p.Config.Settings
	var talk *ports.Conversation
	if p.Pull != nil {
		talk = &p.Pull.Conversation
	}
	if state.Kind == ports.TargetGroup || settings.Comment.When == config.CommentNever {
		return nil
	}
	if talk != nil && (talk.Locked || talk.Archived) {
		return nil
	}
	have, err := c.Writes.NewestWrite(ctx, ports.WriteComment, p.Lease.Key)
	if err != nil {
		return fmt.Errorf("look for the comment: %w", err)
	}
	acts, notices, err := c.acts(ctx, p)
	if err != nil {
		return err
	}
	notices = slices.Concat(notices, state.WrittenNotices, state.Notices)
	if have == nil && settings.Comment.When == config.CommentFindings && quiet(&r.Review.Report) && acts.None() && len(notices) == 0 {
		if talk == nil || r.Review.Report.Iteration > 1 {
			return nil
		}
		// The store may be new. A comment that it does not know must not go on saying what was wrong.
		if have, err = c.findComment(ctx, p.Lease, state.Target, nil, talk); err != nil || have == nil {
			return err
		}
	}
	view := View(c.WebURL, state.Target, r, p.Config, notices, nil)
	view.Acts = acts
	stored, err := c.backtest(ctx, p)
	if err != nil {
		return err
	}
	if stored != nil {
		view.Backtest = &stored.Result
	}
	view.Details = c.checkURL(ctx, state.Target, r.HeadSHA)
	onLines, err := c.Inline.InlineComments(ctx, p.Lease.Key)
	if err != nil {
		return fmt.Errorf("look for the comments on lines: %w", err)
	}
	view.Inline = urls(c.WebURL, state.Target, onLines)
	return c.writeComment(ctx, p.Lease, state.Target, have, render.Comment(view), talk)
}

// backtest returns the stored backtest of the config that a review's change proposes. It returns nil
// unless a backtest of this head and this proposal can be read.
func (c *Comments) backtest(ctx context.Context, p *Publication) (*ports.ConfigBacktest, error) {
	proposal := p.proposal()
	if proposal == "" {
		return nil, nil
	}
	b, err := c.Backtests.ConfigBacktest(ctx, p.Review.Key)
	if errors.Is(err, ports.ErrUnreadable) { // another one takes its place
		c.Log.Warn().EmbedObject(p.State.Target).Err(err).Msg("backtest of a proposed config not shown")
		return nil, nil
	}
	if err != nil || b == nil || b.HeadSHA != p.Review.HeadSHA || b.Proposal != proposal {
		return nil, err
	}
	return b, nil
}

// backtestFresh is how long a backtest is shown before another one takes its place. The reviews of
// "the last 90 days" are soon others.
const backtestFresh = 24 * time.Hour

// backtestJob returns the job that computes what backtest lacks or what is too old, if the comment
// would show it.
func (c *Comments) backtestJob(ctx context.Context, p *Publication, now time.Time) ([]ports.Job, error) {
	proposal := p.proposal()
	if proposal == "" || p.State.Kind != ports.TargetPull || p.Config.Settings.Comment.When == config.CommentNever {
		return nil, nil
	}
	b, err := c.backtest(ctx, p)
	if err != nil || b != nil && now.Sub(b.SavedAt) < backtestFresh {
		return nil, err
	}
	return []ports.Job{ports.NewJob(ports.JobBacktest, ports.BacktestJob{Key: p.Review.Key, HeadSHA: p.Review.HeadSHA, Proposal: proposal})}, nil
}

// writeComment creates or updates the comment. have is the write that the store knows, or
// nil.
func (c *Comments) writeComment(ctx context.Context, lease ports.Lease, t ports.Target, have *ports.Write, doc render.Document, talk *ports.Conversation) (err error) {
	if have == nil {
		if have, err = c.findComment(ctx, lease, t, nil, talk); err != nil {
			return err
		}
	}
	if have == nil || have.State == ports.WriteIntended {
		return c.createComment(ctx, lease, t, have, doc)
	}
	return c.updateComment(ctx, lease, t, have, doc)
}

// publishNotices writes a comment with only notices in it, for a pull request that has no
// review yet.
func (c *Comments) publishNotices(ctx context.Context, lease ports.Lease, state ports.TargetState) error {
	cfg, err := c.Configs.Known(ctx, state.Target)
	if err != nil || cfg.Settings.Comment.When == config.CommentNever {
		return err
	}
	have, err := c.Writes.NewestWrite(ctx, ports.WriteComment, lease.Key)
	if err != nil {
		return fmt.Errorf("look for the comment: %w", err)
	}
	return c.writeComment(ctx, lease, state.Target, have, render.NoticeComment(slices.Concat(state.WrittenNotices, state.Notices)), nil)
}

// checkURL returns the page of the head's check run, which has the findings that don't fit
// into a comment. While the check run is being created, it is the page of all checks, so that a
// comment always has a link and equal reviews make equal comments.
func (c *Comments) checkURL(ctx context.Context, t ports.Target, headSHA string) string {
	w, err := c.Writes.NewestWrite(ctx, ports.WriteCheck, CheckSubject(t.RepoID, headSHA))
	if err != nil || w == nil || w.RemoteID == 0 {
		return fmt.Sprintf("%s/%s/%s/pull/%d/checks", c.WebURL, t.Owner, t.Name, t.Number)
	}
	return fmt.Sprintf("%s/%s/%s/runs/%d", c.WebURL, t.Owner, t.Name, w.RemoteID)
}

// quiet reports whether the check alone can show the report, because nobody has to act on it and
// nobody waits for an answer.
func quiet(r *pipeline.Report) bool {
	return r.Decision == pipeline.DecisionPass && r.ByHand == nil && r.Counts.Total() == 0 && len(r.Changes.Resolved) == 0 && len(r.Incomplete) == 0 &&
		len(r.ProposedConfig.Files) == 0 && len(r.ReviewReports) == 0 && r.Session == nil
}

// findComment looks on GitHub for a comment of ours that the store does not know: an intent
// has no outcome, or the store was lost. It returns have unchanged if there is none. If
// races left several comments, it keeps the oldest and deletes the others.
func (c *Comments) findComment(ctx context.Context, lease ports.Lease, t ports.Target, have *ports.Write, talk *ports.Conversation) (*ports.Write, error) {
	if have == nil && talk != nil && talk.Comments == 0 {
		return nil, nil
	}
	look := func() (*[]ports.Comment, error) {
		found, err := c.CommentWriter.Comments(ctx, t, render.Marker)
		if len(found) == 0 {
			return nil, err
		}
		return &found, err
	}
	find := look
	if have != nil {
		find = func() (*[]ports.Comment, error) { return once.LookTwice(ctx, look) }
	}
	found, err := find()
	if err != nil || found == nil {
		return have, err
	}
	if have == nil {
		intent, err := c.Writes.Intend(ctx, lease, ports.Write{Kind: ports.WriteComment, Subject: lease.Key, Key: lease.Key})
		if err != nil {
			return nil, fmt.Errorf("record the comment that was found: %w", err)
		}
		have = &intent
	}
	for _, extra := range (*found)[1:] {
		if err := c.Leases.Fence(ctx, lease); err != nil {
			return nil, err
		}
		if err := c.CommentWriter.DeleteComment(ctx, t, extra.ID); err != nil {
			return nil, err
		}
	}
	have.RemoteID, have.State = (*found)[0].ID, ports.WriteOpen
	if err := c.Writes.Record(ctx, *have); err != nil {
		return nil, fmt.Errorf("record the comment that was found: %w", err)
	}
	return have, nil
}

// createComment writes a new comment. have is nil, or an intent without an outcome. If the
// intent already led to a comment, createComment edits that one.
func (c *Comments) createComment(ctx context.Context, lease ports.Lease, t ports.Target, have *ports.Write, doc render.Document) error {
	there, err := once.Ensure(ctx, func(ctx context.Context) error { return c.Leases.Fence(ctx, lease) }, once.Creation{
		Intended: have != nil,
		Look: func(ctx context.Context) (bool, error) {
			_, err := c.findComment(ctx, lease, t, have, nil)
			return have.State == ports.WriteOpen, err
		},
		Intend: func(ctx context.Context) error {
			intent, err := c.Writes.Intend(ctx, lease, ports.Write{Kind: ports.WriteComment, Subject: lease.Key, Key: lease.Key})
			if err != nil {
				return fmt.Errorf("store the intent to comment: %w", err)
			}
			have = &intent
			return nil
		},
		Create: func(ctx context.Context) (func(context.Context) error, error) {
			id, err := c.CommentWriter.CreateComment(ctx, t, doc.Body)
			if err != nil {
				return nil, err
			}
			have.RemoteID, have.State, have.Digest = id, ports.WriteOpen, doc.Digest
			return recorded(c.Writes, have), nil
		},
	})
	if err != nil || !there {
		return err
	}
	return c.updateComment(ctx, lease, t, have, doc)
}

// updateComment edits the comment in place. If somebody deleted it, updateComment writes a
// new one.
func (c *Comments) updateComment(ctx context.Context, lease ports.Lease, t ports.Target, have *ports.Write, doc render.Document) error {
	if have.Digest == doc.Digest {
		return nil
	}
	if err := c.Leases.Fence(ctx, lease); err != nil {
		return err
	}
	err := c.CommentWriter.UpdateComment(ctx, t, have.RemoteID, doc.Body)
	var host *ports.HostError
	if errors.As(err, &host) && host.Kind == ports.HostNotFound {
		return c.replaceComment(ctx, lease, t, have, doc)
	}
	if err != nil {
		return err
	}
	have.Digest = doc.Digest
	if err := c.Writes.Record(ctx, *have); err != nil {
		return fmt.Errorf("record the edited comment: %w", err)
	}
	return nil
}

// replaceComment replaces a comment that GitHub reports as gone. It first lists the
// comments, because that report may be wrong.
func (c *Comments) replaceComment(ctx context.Context, lease ports.Lease, t ports.Target, gone *ports.Write, doc render.Document) error {
	found, err := c.CommentWriter.Comments(ctx, t, render.Marker)
	if err != nil {
		return err
	}
	for _, c := range found {
		if c.ID == gone.RemoteID {
			return &ports.HostError{Op: "update the comment", Kind: ports.HostTransient, Err: errors.New("GitHub lists the comment that it says is not there")}
		}
	}
	return c.writeComment(ctx, lease, t, nil, doc, nil)
}

// WriteNotices writes the newest review's comment again with the notices added, such as why
// a command was refused.
func (c *Comments) WriteNotices(ctx context.Context, lease ports.Lease, state ports.TargetState) error {
	r, err := c.History.LatestReview(ctx, lease.Key)
	if err != nil {
		return fmt.Errorf("read the newest review: %w", err)
	}
	if r == nil {
		err = c.publishNotices(ctx, lease, state)
	} else {
		var cfg *config.Config
		if cfg, err = c.Configs.ConfigOf(ctx, r); err == nil {
			err = c.Publish(ctx, &Publication{Lease: lease, State: state, Review: r, Config: cfg})
		}
	}
	if err != nil {
		if !ports.IsFinal(err) {
			return err
		}
		c.Log.Warn().EmbedObject(state.Target).Err(err).Msg("notices can't be written")
	}
	if err := c.Targets.NoticesWritten(ctx, lease.Key, state.Notices); err != nil {
		return fmt.Errorf("mark the notices as written: %w", err)
	}
	return nil
}

// acts returns the actions without a person that the comment reports, and notices about
// those that GitHub refused.
func (c *Comments) acts(ctx context.Context, p *Publication) (a render.Acts, notices []string, err error) {
	r := p.Review
	w, err := c.Verdicts.NewestReview(ctx, r.Key)
	if err != nil {
		return a, nil, err
	}
	if w != nil {
		approval := w.Verdict == ports.ReviewApprove
		switch {
		case w.State == ports.WriteStuck:
			notices = append(notices, render.ReviewStuck(w.HeadSHA, approval))
		case w.HeadSHA != r.HeadSHA:
		case w.State == ports.WriteRefused:
			notices = append(notices, render.ReviewRefused(approval))
		case w.State == ports.WriteOpen:
			a.Approved, a.Rejected = approval, !approval
		}
	}
	if r.Review.Report.Models == nil {
		return a, notices, nil
	}
	// An empty PullState is passed even if p.Pull is known, so that a comment rewritten for
	// notices, where it is nil, says the same. The comment of an escalated pull request says
	// so already.
	a.Halted = r.FixLoop.Halted && r.FixLoop.Status != fixloop.Escalated && p.verdict(&ports.PullState{}) != ""
	asked, err := c.Requests.newestRequests(ctx, r.Key)
	if err != nil {
		return a, notices, err
	}
	if asked != nil {
		a.People = asked.Asked
	}
	return a, notices, nil
}
