package review

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/reviewgate/reviewgate/app/access"
	"github.com/reviewgate/reviewgate/app/internal/panics"
	"github.com/reviewgate/reviewgate/app/internal/trail"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/publish"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/app/retry"
	"github.com/reviewgate/reviewgate/config"
)

// publish writes a stored review to GitHub: the check of its head and the one
// comment. It looks at the head again first; a review of another head is
// never shown as the answer for this one. current ends once a push or a close makes the
// review moot. From the first write on only ctx counts: what people see must be on
// record as the review before the next.
func (s *Service) publish(ctx, current context.Context, lease ports.Lease, state ports.TargetState, r *ports.StoredReview) error {
	trail.Of(ctx).SetRun(r.RunID)
	now, err := s.lookAgain(current, lease, state, r)
	if err != nil {
		return err
	}
	cfg, err := s.configs.ConfigOf(ctx, r)
	if err != nil {
		return err
	}
	state.Said = render.StillTrue(state.Said)
	if err := s.publishParts(ctx, lease, state, r, cfg, &now); err != nil {
		return err
	}
	if err := s.labels.Publish(ctx, lease, state, r, cfg, &now.Conversation); err != nil {
		return &commentError{runID: r.RunID, err: err}
	}
	if err := s.requests.CallTeam(ctx, lease, state, r, cfg, &now); err != nil {
		return &commentError{runID: r.RunID, err: err}
	}
	// It is on GitHub: a push that comes now must find it as the review before.
	stored := context.WithoutCancel(ctx)
	if err := s.Store.MarkPublished(stored, r.RunID); err != nil {
		return fmt.Errorf("mark the review as published: %w", err)
	}
	if len(state.Notices) > 0 {
		if err := s.Store.NoticesSaid(stored, lease.Key, state.Notices); err != nil {
			return fmt.Errorf("mark the notices as said: %w", err)
		}
	}
	s.Log.Info().Str("run", r.RunID).Str("target", r.Key).Str("head", r.HeadSHA).
		Str("decision", string(r.Review.Report.Decision)).Int("findings", len(r.Review.Report.Findings)).
		Int64("ms", r.Record.Duration().Milliseconds()).Msg("reviewed")
	return nil
}

// publishParts writes the check, and then does what is done without a person, of
// which the comment tells. Where that is nothing, check and comment are written
// side by side.
func (s *Service) publishParts(ctx context.Context, lease ports.Lease, state ports.TargetState, r *ports.StoredReview, cfg *config.Config, now *ports.PullState) error {
	have, err := s.verdicts.NewestReview(ctx, lease.Key)
	if err != nil {
		return err
	}
	check := func() error { return s.checks.Publish(ctx, lease, state, r, cfg) }
	comment := func() error { return s.publishCommentIfAllowed(ctx, lease, state, r, cfg, &now.Conversation) }
	if acts := r.Review.Report.Models != nil || have != nil && have.State != ports.WriteCompleted; acts && state.Kind == ports.TargetPull {
		if err := check(); err != nil {
			return err
		}
		if err := s.act(ctx, lease, state, r, cfg, now); err != nil {
			return &commentError{runID: r.RunID, err: err, undone: true}
		}
		if err := comment(); err != nil {
			return &commentError{runID: r.RunID, err: err}
		}
		return nil
	}
	var checkErr, commentErr error
	var g sync.WaitGroup // neither keeps the other from being written
	g.Go(func() { checkErr = panics.Guard(check) })
	g.Go(func() { commentErr = panics.Guard(comment) })
	g.Wait()
	switch {
	case checkErr != nil:
		return errors.Join(checkErr, commentErr)
	case commentErr != nil:
		return &commentError{runID: r.RunID, err: commentErr}
	}
	return nil
}

// act does what is done on a pull request without a person.
func (s *Service) act(ctx context.Context, lease ports.Lease, state ports.TargetState, r *ports.StoredReview, cfg *config.Config, now *ports.PullState) error {
	err := s.verdicts.Decide(ctx, lease, state, r, cfg, now)
	if moved := (*publish.MovedError)(nil); errors.As(err, &moved) {
		return s.supersede(ctx, lease, r, moved.HeadSHA)
	}
	if err != nil {
		return err
	}
	return s.requests.AskPeople(ctx, lease, state, r, cfg, now)
}

// commentError says that the check of a review was written, and its comment, a
// label or the team's request was not, or that what is done without a person is
// undone.
type commentError struct {
	runID  string
	err    error
	undone bool
}

func (e *commentError) Error() string { return e.err.Error() }
func (e *commentError) Unwrap() error { return e.err }

// publishCommentIfAllowed writes the comment. Where GitHub refuses it, since
// the conversation was locked or the permission taken away, the check stands
// without it.
func (s *Service) publishCommentIfAllowed(ctx context.Context, lease ports.Lease, state ports.TargetState, r *ports.StoredReview, cfg *config.Config, talk *ports.Conversation) error {
	err := s.comments.Publish(ctx, lease, state, r, cfg, talk)
	var host *ports.HostError
	if errors.As(err, &host) && !host.Temporary() {
		s.Log.Warn().Str("target", lease.Key).Err(err).Msg("comment not written")
		return nil
	}
	return err
}

// lookAgain makes sure that the reviewed head is still the target's head and
// that the target is open, and tells what can be said there. A merge group's
// head can't move.
func (s *Service) lookAgain(ctx context.Context, lease ports.Lease, state ports.TargetState, r *ports.StoredReview) (ports.PullState, error) {
	if state.Kind == ports.TargetGroup {
		return ports.PullState{}, nil
	}
	now, err := s.GitHub.Pull(ctx, state.Target)
	if err != nil {
		return ports.PullState{}, err
	}
	switch {
	case now.Closed:
		if err := s.Store.SetClosed(ctx, lease.Key, true); err != nil {
			return ports.PullState{}, fmt.Errorf("note that the pull request is closed: %w", err)
		}
		return ports.PullState{}, errClosed
	case publish.MovedFrom(r, &now):
		return ports.PullState{}, s.supersede(ctx, lease, r, now.HeadSHA)
	}
	return now, nil
}

// publishDraft completes the check of a draft that the settings skip. It does
// not satisfy a required check: a neutral one would let the draft be merged
// the moment it is ready.
func (s *Service) publishDraft(ctx context.Context, lease ports.Lease, state ports.TargetState, src *source) error {
	now, err := s.GitHub.Pull(ctx, state.Target)
	if err != nil {
		return err
	}
	if now.Closed {
		if err := s.Store.SetClosed(ctx, lease.Key, true); err != nil {
			return fmt.Errorf("note that the pull request is closed: %w", err)
		}
		return errClosed
	}
	if !now.Draft {
		return errSuperseded
	}
	if err := s.verdicts.WithdrawAny(ctx, lease, state, render.WithdrawnDraft); err != nil {
		return err
	}
	if err := s.followHead(ctx, lease.Key, state, now.HeadSHA); err != nil {
		return err
	}
	return s.checks.OnHead(ctx, state.RepoID, now.HeadSHA, func(ctx context.Context) error {
		return s.checks.Complete(ctx, lease, state.Target, ports.CheckWrite{
			Name: src.InForce.Config.Settings.Check.Name, HeadSHA: now.HeadSHA, DetailsURL: s.checks.DetailsURL(ctx, state.Target),
			Conclusion: "action_required", Output: render.DraftSkipped(),
			StartedAt: s.Now(), CompletedAt: s.Now(),
		})
	})
}

// publishOff leaves nothing on a repository that switched reviewgate off. A
// check that was opened before the config was known is completed as neutral,
// since whoever may change the config of the default branch asked for it. Where
// others share the head whose base branch has it on, the check is theirs.
func (s *Service) publishOff(ctx context.Context, lease ports.Lease, state ports.TargetState, repository string) error {
	if err := s.verdicts.WithdrawAny(ctx, lease, state, render.WithdrawnOff); err != nil {
		return err
	}
	if state.HeadSHA == "" {
		return nil
	}
	return s.checks.OnHead(ctx, state.RepoID, state.HeadSHA, func(ctx context.Context) error {
		if waits, err := s.checks.IsWaiting(ctx, state); err != nil || !waits {
			return err
		}
		others, stricter, err := s.checks.OthersOnHead(ctx, state, state.HeadSHA, repository, config.ModeOff)
		if err != nil {
			return err
		}
		if stricter {
			return s.checks.LeaveTo(ctx, state, others)
		}
		name, err := s.checks.Name(ctx, state.Target)
		if err != nil {
			return err
		}
		return s.checks.Complete(ctx, lease, state.Target, ports.CheckWrite{
			Name: name, HeadSHA: state.HeadSHA, Conclusion: "neutral", Output: render.SwitchedOff(),
			StartedAt: s.Now(), CompletedAt: s.Now(),
		})
	})
}

// giveUp completes the check of a run that could not be completed, in words
// that say what happened. The check does not satisfy a required status.
func (s *Service) giveUp(ctx context.Context, lease ports.Lease, state ports.TargetState, cause error) error {
	if err := s.verdicts.WithdrawAny(ctx, lease, state, render.WithdrawnGivenUp); err != nil {
		return err
	}
	var access *access.RefusedError
	if errors.As(cause, &access) {
		if err := s.Store.SetResult(ctx, lease.Key, access.Result); err != nil {
			return fmt.Errorf("note why the review could not be done: %w", err)
		}
		if access.Mute {
			return nil
		}
	}
	if err := s.writeGivenUp(ctx, lease, state, cause); err != nil {
		return err
	}
	if state.Result != "" && access == nil {
		if err := s.Store.SetResult(ctx, lease.Key, ""); err != nil {
			return fmt.Errorf("drop what an earlier attempt came to: %w", err)
		}
	}
	return nil
}

func (s *Service) writeGivenUp(ctx context.Context, lease ports.Lease, state ports.TargetState, cause error) error {
	if state.HeadSHA == "" {
		now, err := s.GitHub.Pull(ctx, state.Target)
		if err != nil {
			return s.giveUpSilently(lease, err)
		}
		if err := s.followHead(ctx, lease.Key, state, now.HeadSHA); err != nil {
			return err
		}
		state.HeadSHA = now.HeadSHA
	}
	what, remedy := explain(cause)
	off, err := s.writeNotCompleted(ctx, lease, state, what, remedy)
	if err != nil || off {
		return err
	}
	return s.warnInComment(ctx, lease.Key, what)
}

// writeNotCompleted completes the head's check, which says why there is no answer. off
// says that nothing is, or can be, posted in the repository.
func (s *Service) writeNotCompleted(ctx context.Context, lease ports.Lease, state ports.TargetState, what, remedy string) (off bool, err error) {
	off, err = s.configs.SwitchedOff(ctx, state.Target)
	if err != nil {
		return false, err
	}
	err = s.checks.OnHead(ctx, state.RepoID, state.HeadSHA, func(ctx context.Context) error {
		if off { // nothing new is posted there
			if waits, err := s.checks.IsWaiting(ctx, state); err != nil || !waits {
				return err
			}
		}
		name, err := s.checks.Name(ctx, state.Target)
		if err != nil {
			return err
		}
		return s.checks.Complete(ctx, lease, state.Target, ports.CheckWrite{
			Name: name, HeadSHA: state.HeadSHA, DetailsURL: s.checks.DetailsURL(ctx, state.Target),
			Conclusion: "failure", Output: render.CouldNotComplete(what, remedy),
			StartedAt: s.Now(), CompletedAt: s.Now(),
		})
	})
	var host *ports.HostError
	if errors.As(err, &host) && !host.Temporary() {
		return true, s.giveUpSilently(lease, err)
	}
	return off, err
}

func (s *Service) countGaveUp(cause error) {
	if s.Observe.GaveUp == nil {
		return
	}
	var final *retry.FinalError
	switch {
	case errors.As(cause, new(*access.RefusedError)):
		s.Observe.GaveUp("access")
	case errors.As(cause, &final):
		s.Observe.GaveUp(final.Why)
	case errors.As(cause, new(*ports.HostError)):
		s.Observe.GaveUp("github")
	default:
		s.Observe.GaveUp("internal")
	}
}

// warnInComment says in the comment, which shows an older review, that the
// newest could not be completed.
func (s *Service) warnInComment(ctx context.Context, key, what string) error {
	old, err := s.Store.LatestReview(ctx, key)
	if err != nil || old == nil {
		return err
	}
	err = s.Store.AddNotice(ctx, key, render.NewestNotCompleted(what))
	if err != nil && !errors.Is(err, ports.ErrManyNotices) { // the check says it in any case
		return fmt.Errorf("keep the notice that a review was given up: %w", err)
	}
	return nil
}

// giveUpSilently ends where GitHub no longer lets the App write: the
// repository is gone, or the permission is.
func (s *Service) giveUpSilently(lease ports.Lease, err error) error {
	var host *ports.HostError
	if !errors.As(err, &host) || host.Temporary() {
		return err
	}
	s.Log.Error().Str("target", lease.Key).Err(err).Msg("the check can't be written either")
	return nil
}

// explain says in words for people what kept a run from being completed, and
// what to do about it.
func explain(err error) (what, remedy string) {
	var host *ports.HostError
	var final *retry.FinalError
	var access *access.RefusedError
	switch {
	case errors.As(err, &access):
		return "GitHub refused: " + access.Result + ".", access.Remedy
	case errors.As(err, &final):
		return "The review could not be finished: " + final.Error() + ".", "Comment /review to try again. If it fails again, the server's log has the details."
	case retry.Panicked(err) || !errors.As(err, &host): // its text may hold anything
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
