package publish

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/access"
	"github.com/reviewgate/reviewgate/app/inforce"
	"github.com/reviewgate/reviewgate/app/internal/jobcontext"
	"github.com/reviewgate/reviewgate/app/internal/panics"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/app/retry"
	"github.com/reviewgate/reviewgate/config"
)

// Publisher writes a stored review to GitHub, or the reason why there is no review.
type Publisher struct {
	Checks     *Checks
	Comments   *Comments
	Inline     *Inline
	Verdicts   *Verdicts
	Requests   *Requests
	Labels     *Labels
	Configs    *inforce.Configs
	Targets    ports.Targets
	Reviews    ports.Reviews
	History    ports.History
	PullReader ports.PullReader
	Log        zerolog.Logger
	Now        func() time.Time
}

// Publication is a stored review on its way to GitHub, with what each part of the publisher
// needs to write its share.
type Publication struct {
	Lease  ports.Lease // on the review's target
	State  ports.TargetState
	Review *ports.StoredReview
	Config *config.Config   // in force for the review
	Pull   *ports.PullState // as it was read last: the zero value for a merge group, nil if not read

	inline []ports.InlineComment // after Inline.Write
}

// mode returns the mode in which the review was done.
func (p *Publication) mode() string {
	return p.Config.Mode(p.Review.Review.Facts.Repository.FullName())
}

// proposal returns the id of the config that the review's change proposes, for its backtest. It is
// empty if the change proposes no config, or one in whose mode nothing blocks.
func (p *Publication) proposal() string {
	mode := p.Review.Review.Report.ProposedConfig.Mode
	if mode == "" { // it stays the same
		mode = p.mode()
	}
	if mode == config.ModeOff || mode == config.ModeAdvisory {
		return ""
	}
	_, id := inforce.ProposedFiles(p.Review)
	return id
}

// Publish writes a stored review to GitHub: the check of its head, the one comment and the
// rest. It first reads the head again, because a review of another head must never appear
// as the answer for this one. current ends when a push or a close makes the review moot,
// and stops that read. After the first write only ctx counts: people have then seen the
// review, so it must be stored as the previous review of the next one.
func (p *Publisher) Publish(ctx, current context.Context, lease ports.Lease, state ports.TargetState, r *ports.StoredReview) error {
	jobcontext.Of(ctx).SetRun(r.RunID)
	now, err := p.lookAgain(current, lease, state.Target, r)
	if err != nil {
		return err
	}
	cfg, err := p.Configs.ConfigOf(ctx, r)
	if err != nil {
		return err
	}
	state.WrittenNotices = render.StillTrue(state.WrittenNotices)
	pub := &Publication{Lease: lease, State: state, Review: r, Config: cfg, Pull: &now}
	if err := p.publishParts(ctx, pub); err != nil {
		return err
	}
	if err := p.Labels.Publish(ctx, pub); err != nil {
		return &AfterCheckError{RunID: r.RunID, err: err}
	}
	if err := p.Requests.CallTeam(ctx, pub); err != nil {
		return &AfterCheckError{RunID: r.RunID, err: err}
	}
	if err := p.Requests.CallForSession(ctx, pub); err != nil {
		return &AfterCheckError{RunID: r.RunID, err: err}
	}
	// The review is on GitHub, so the run after the next push must find it as the previous
	// review.
	stored := context.WithoutCancel(ctx)
	next, err := p.Comments.backtestJob(stored, pub, p.Now())
	if err != nil {
		return err
	}
	if err := p.Reviews.MarkPublished(stored, r.RunID, next...); err != nil {
		return fmt.Errorf("mark the review as published: %w", err)
	}
	if len(state.Notices) > 0 {
		if err := p.Targets.NoticesWritten(stored, lease.Key, state.Notices); err != nil {
			return fmt.Errorf("mark the notices as written: %w", err)
		}
	}
	p.Log.Info().Str("run", r.RunID).EmbedObject(state.Target.At(r.HeadSHA)).
		Str("decision", string(r.Review.Report.Decision)).Int("findings", len(r.Review.Report.Findings)).
		Int64("ms", r.Record.Duration().Milliseconds()).Msg("reviewed")
	return nil
}

// publishParts writes the comments on lines, then the check, then takes the automatic
// actions, then writes the comment, which reports them. If there is nothing to act on, it
// writes check and comment in parallel.
func (p *Publisher) publishParts(ctx context.Context, pub *Publication) error {
	r := pub.Review
	have, err := p.Verdicts.NewestReview(ctx, pub.Lease.Key)
	if err != nil {
		return err
	}
	if err := p.Inline.Write(ctx, pub); err != nil {
		return err
	}
	check := func() error { return p.Checks.Publish(ctx, pub) }
	comment := func() error {
		err := p.Inline.Update(ctx, pub) // the comment does not wait until this succeeds
		return errors.Join(p.publishCommentIfAllowed(ctx, pub), err)
	}
	if acts := r.Review.Report.Models != nil || have != nil && have.State != ports.WriteCompleted; acts && pub.State.Kind == ports.TargetPull {
		if err := check(); err != nil {
			return err
		}
		if err := p.act(ctx, pub); err != nil {
			return &AfterCheckError{RunID: r.RunID, err: err, ActionsFailed: true}
		}
		if err := comment(); err != nil {
			return &AfterCheckError{RunID: r.RunID, err: err}
		}
		return nil
	}
	var checkErr, commentErr error
	var g sync.WaitGroup // a failure of one must not prevent the other
	g.Go(func() { checkErr = panics.Guard(check) })
	g.Go(func() { commentErr = panics.Guard(comment) })
	g.Wait()
	switch {
	case checkErr != nil:
		return errors.Join(checkErr, commentErr)
	case commentErr != nil:
		return &AfterCheckError{RunID: r.RunID, err: commentErr}
	}
	return nil
}

// act takes the actions on a pull request that need no person: the verdict and the requests
// for reviews.
func (p *Publisher) act(ctx context.Context, pub *Publication) error {
	err := p.Verdicts.Decide(ctx, pub)
	if moved := (*MovedError)(nil); errors.As(err, &moved) {
		return p.supersede(ctx, pub.Lease.Key, pub.Review, moved.HeadSHA)
	}
	if err != nil {
		return err
	}
	return p.Requests.AskPeople(ctx, pub)
}

// AfterCheckError says that the check of a review was written, but a later step failed: the
// comment, a label, a verdict or a request for a review. ActionsFailed means that the
// automatic actions failed: the verdict and the requests for reviews.
type AfterCheckError struct {
	RunID         string
	err           error
	ActionsFailed bool
}

func (e *AfterCheckError) Error() string { return e.err.Error() }
func (e *AfterCheckError) Unwrap() error { return e.err }

// publishCommentIfAllowed writes the comment. If GitHub refuses, because the conversation
// was locked or the permission was removed, the check stays without a comment.
func (p *Publisher) publishCommentIfAllowed(ctx context.Context, pub *Publication) error {
	err := p.Comments.Publish(ctx, pub)
	if ports.IsFinal(err) {
		p.Log.Warn().EmbedObject(pub.State.Target).Err(err).Msg("comment not written")
		return nil
	}
	return err
}

// lookAgain makes sure that the reviewed head is still the target's head and that the
// target is open. It returns the pull request's current state. A merge group's head can't
// move.
func (p *Publisher) lookAgain(ctx context.Context, lease ports.Lease, t ports.Target, r *ports.StoredReview) (ports.PullState, error) {
	if t.Kind == ports.TargetGroup {
		return ports.PullState{}, nil
	}
	now, err := p.PullReader.Pull(ctx, t)
	if err != nil {
		return ports.PullState{}, err
	}
	switch {
	case now.Closed:
		if err := p.Targets.SetClosed(ctx, ports.Close{Target: t, Merged: now.Merged, At: now.ClosedAt}); err != nil {
			return ports.PullState{}, fmt.Errorf("note that the pull request is closed: %w", err)
		}
		return ports.PullState{}, ErrClosed
	case movedFrom(r, &now):
		return ports.PullState{}, p.supersede(ctx, lease.Key, r, now.HeadSHA)
	}
	return now, nil
}

// Draft completes the check of a draft that the settings skip. The conclusion does not
// satisfy a required check: a neutral one would let the draft be merged as soon as it is
// ready.
func (p *Publisher) Draft(ctx context.Context, lease ports.Lease, state ports.TargetState, checkName string) error {
	now, err := p.PullReader.Pull(ctx, state.Target)
	if err != nil {
		return err
	}
	if now.Closed {
		if err := p.Targets.SetClosed(ctx, ports.Close{Target: state.Target, Merged: now.Merged, At: now.ClosedAt}); err != nil {
			return fmt.Errorf("note that the pull request is closed: %w", err)
		}
		return ErrClosed
	}
	if !now.Draft {
		return ErrSuperseded
	}
	if err := p.Verdicts.WithdrawAny(ctx, lease, state, render.WithdrawnDraft); err != nil {
		return err
	}
	if err := p.FollowHead(ctx, lease.Key, state, now.HeadSHA); err != nil {
		return err
	}
	return p.Checks.OnHead(ctx, state.RepoID, now.HeadSHA, func(ctx context.Context) error {
		return p.Checks.Complete(ctx, lease, state.Target, ports.CheckWrite{
			Name: checkName, HeadSHA: now.HeadSHA, DetailsURL: p.Checks.DetailsURL(ctx, state.Target),
			Conclusion: "action_required", Output: render.DraftSkipped(),
			StartedAt: p.Now(), CompletedAt: p.Now(),
		})
	})
}

// Off handles a repository that switched reviewgate off, and posts nothing new there. If a
// check was opened before the config was known, Off completes it as neutral: somebody who
// may change the default branch's config wanted that. If another pull request shares the
// head and its base branch has reviewgate on, the check is left to that pull request.
func (p *Publisher) Off(ctx context.Context, lease ports.Lease, state ports.TargetState, repository string) error {
	if err := p.Verdicts.WithdrawAny(ctx, lease, state, render.WithdrawnOff); err != nil {
		return err
	}
	if state.HeadSHA == "" {
		return nil
	}
	return p.Checks.OnHead(ctx, state.RepoID, state.HeadSHA, func(ctx context.Context) error {
		if waits, err := p.Checks.IsWaiting(ctx, state); err != nil || !waits {
			return err
		}
		others, stricter, err := p.Checks.OthersOnHead(ctx, state, state.HeadSHA, repository, config.ModeOff)
		if err != nil {
			return err
		}
		if stricter {
			return p.Checks.LeaveTo(ctx, state, others)
		}
		name, err := p.Checks.Name(ctx, state.Target)
		if err != nil {
			return err
		}
		return p.Checks.Complete(ctx, lease, state.Target, ports.CheckWrite{
			Name: name, HeadSHA: state.HeadSHA, Conclusion: "neutral", Output: render.SwitchedOff(),
			StartedAt: p.Now(), CompletedAt: p.Now(),
		})
	})
}

// GiveUp completes the check of a run that failed for good, and says what happened. The
// conclusion does not satisfy a required check.
func (p *Publisher) GiveUp(ctx context.Context, lease ports.Lease, state ports.TargetState, cause error) error {
	if err := p.Verdicts.WithdrawAny(ctx, lease, state, render.WithdrawnGivenUp); err != nil {
		return err
	}
	var access *access.RefusedError
	if errors.As(cause, &access) {
		if err := p.Targets.SetResult(ctx, lease.Key, access.Result); err != nil {
			return fmt.Errorf("note why the review could not be done: %w", err)
		}
		if access.Mute {
			return nil
		}
	}
	if err := p.writeGivenUp(ctx, lease, state, cause); err != nil {
		return err
	}
	if access == nil && (state.Result != "" || state.Overdue != (ports.Overdue{})) {
		if err := p.Targets.SetResult(ctx, lease.Key, ""); err != nil {
			return fmt.Errorf("drop the result of an earlier attempt: %w", err)
		}
	}
	return nil
}

func (p *Publisher) writeGivenUp(ctx context.Context, lease ports.Lease, state ports.TargetState, cause error) error {
	if state.HeadSHA == "" {
		now, err := p.PullReader.Pull(ctx, state.Target)
		if err != nil {
			return p.logIfRefused(state.Target, err)
		}
		if err := p.FollowHead(ctx, lease.Key, state, now.HeadSHA); err != nil {
			return err
		}
		state.HeadSHA = now.HeadSHA
	}
	what, remedy := explain(cause)
	off, err := p.NotCompleted(ctx, lease, state, what, remedy)
	if err != nil || off {
		return err
	}
	return p.warnInComment(ctx, lease.Key, what)
}

// NotCompleted completes the head's check with the reason why there is no answer. off
// reports that nothing is, or can be, posted in the repository.
func (p *Publisher) NotCompleted(ctx context.Context, lease ports.Lease, state ports.TargetState, what, remedy string) (off bool, err error) {
	off, err = p.Configs.SwitchedOff(ctx, state.Target)
	if err != nil {
		return false, err
	}
	err = p.Checks.OnHead(ctx, state.RepoID, state.HeadSHA, func(ctx context.Context) error {
		if off { // nothing new is posted there
			if waits, err := p.Checks.IsWaiting(ctx, state); err != nil || !waits {
				return err
			}
		}
		name, err := p.Checks.Name(ctx, state.Target)
		if err != nil {
			return err
		}
		return p.Checks.Complete(ctx, lease, state.Target, ports.CheckWrite{
			Name: name, HeadSHA: state.HeadSHA, DetailsURL: p.Checks.DetailsURL(ctx, state.Target),
			Conclusion: "failure", Output: render.CouldNotComplete(what, remedy),
			StartedAt: p.Now(), CompletedAt: p.Now(),
		})
	})
	if ports.IsFinal(err) {
		return true, p.logIfRefused(state.Target, err)
	}
	return off, err
}

// warnInComment adds a notice to the comment, which shows an older review: the newest
// review could not be completed.
func (p *Publisher) warnInComment(ctx context.Context, key, what string) error {
	old, err := p.History.LatestReview(ctx, key)
	if err != nil || old == nil {
		return err
	}
	err = p.Targets.AddNotice(ctx, key, render.NewestNotCompleted(what))
	if err != nil && !errors.Is(err, ports.ErrManyNotices) { // the check says so anyway
		return fmt.Errorf("store the notice that a review was given up: %w", err)
	}
	return nil
}

// logIfRefused returns nil if GitHub no longer lets the App write, because the repository
// is gone or the permission was removed. It returns other errors as they are.
func (p *Publisher) logIfRefused(t ports.Target, err error) error {
	if !ports.IsFinal(err) {
		return err
	}
	p.Log.Error().EmbedObject(t).Err(err).Msg("the check that explains the missing review can't be written")
	return nil
}

// explain says, in words for users, why a run could not be completed and what to do about
// it.
func explain(err error) (what, remedy string) {
	var host *ports.HostError
	var final *retry.FinalError
	var access *access.RefusedError
	switch {
	case errors.As(err, &access):
		return "GitHub refused: " + access.Result + ".", access.Remedy
	case errors.As(err, &final):
		return "The review could not be finished: " + final.Error() + ".", "Comment /review to try again. If it fails again, the server's log has the details."
	case retry.Panicked(err) || !errors.As(err, &host): // the error's text may contain anything
		return "An internal error stopped the review.", "Comment /review to try again. If it fails again, the server's log has the details."
	}
	what = fmt.Sprintf("GitHub did not let reviewgate %s", host.Op)
	switch host.Kind {
	case ports.HostForbidden:
		return what + ": access was refused.", "Check that the App is installed on this repository and that its permissions have been accepted, then comment /review."
	case ports.HostNotFound:
		return what + ": it is not there, or the App may not see it.", "If the branch or the fork was deleted, push again; else check the App's permissions, then comment /review."
	case ports.HostBudget:
		return what + ": the review had used all the calls to GitHub that one review may make.", "Split the pull request; it is larger than reviewgate can read."
	case ports.HostInvalid:
		return fmt.Sprintf("%s: the request was rejected (status %d).", what, host.Status), "Comment /review to try again. If it fails again, the server's log has the details."
	}
	return what + " for too long.", "Comment /review to try again once GitHub answers."
}

// movedFrom reports whether the pull request now has another head or base than the review.
func movedFrom(r *ports.StoredReview, now *ports.PullState) bool {
	return now.HeadSHA != r.HeadSHA || now.BaseRef != r.Review.Facts.Base.Ref
}

// View returns what the renderer needs from a stored review.
func View(webURL string, t ports.Target, r *ports.StoredReview, cfg *config.Config, notices []string, shared []render.SharedHead) render.View {
	return render.View{
		Review: r.Review, Record: r.Record, Mode: cfg.Mode(r.Review.Facts.Repository.FullName()), Notices: notices, Shared: shared, FixLoop: r.FixLoop,
		Rules: render.RuleNotes(&r.Review.Report, cfg), People: cfg.Settings.Sessions.People, Sections: cfg.Settings.Comment.Sections,
		Links: render.Links{WebURL: webURL, Repository: t.Owner + "/" + t.Name},
	}
}

// supersede drops a review whose head is no longer the newest.
func (p *Publisher) supersede(ctx context.Context, key string, r *ports.StoredReview, headSHA string) error {
	if err := p.Targets.SetHead(ctx, key, headSHA); err != nil {
		return fmt.Errorf("note the newer head: %w", err)
	}
	if err := p.Reviews.DropReview(ctx, r.RunID); err != nil {
		return fmt.Errorf("drop a superseded review: %w", err)
	}
	return ErrSuperseded
}

// Reasons why a run stops before it is done.
var (
	ErrSuperseded = errors.New("superseded by a newer head")
	ErrClosed     = errors.New("the pull request was closed")
)

// FollowHead records the head that was read, if it differs from the head that the events
// reported. The run then starts again, because its check is on another head.
func (p *Publisher) FollowHead(ctx context.Context, key string, state ports.TargetState, headSHA string) error {
	if headSHA == state.HeadSHA {
		return nil
	}
	if err := p.Targets.SetHead(ctx, key, headSHA); err != nil {
		return fmt.Errorf("note the head %s: %w", headSHA, err)
	}
	if state.HeadSHA == "" {
		return nil
	}
	p.Checks.Followed.Set(key, headSHA)
	return ErrSuperseded
}
