package review

import (
	"context"
	"errors"
	"fmt"

	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/fixloop"
)

// labelEscalated is on pull requests that the fix loop escalated, if the settings
// want it.
const labelEscalated = "review-escalated"

// nextLoop is where the fix loop of a target stands after a review. It is stored
// with the review, and holds from when that is published: one that is superseded
// before nobody has seen. Merge groups have no fix loop.
func nextLoop(state TargetState, r *pipeline.Review, cfg *config.Config) fixloop.State {
	if state.Kind == TargetGroup {
		return fixloop.State{}
	}
	set := cfg.Settings.FixLoop
	return fixloop.Next(state.FixLoop, fixloop.ReportOf(r, state.Resumes), fixloop.Settings{
		Attempts: set.MaxFixIterations, Turns: set.FixTimeoutTurns,
		Never: set.When == config.FixLoopNever, Always: set.When == config.FixLoopAlways,
	})
}

// callTeam asks for the review of whoever the settings name where this review
// escalated the pull request. GitHub's refusal, such as of a team that may not
// see the repository, keeps nothing from being published.
func (s *Service) callTeam(ctx context.Context, lease Lease, state TargetState, r *StoredReview, cfg *config.Config, talk *Conversation) error {
	team := cfg.Settings.FixLoop.Team
	if !r.FixLoop.Now || team == "" || talk.Archived {
		return nil
	}
	if err := s.fence(ctx, lease); err != nil {
		return err
	}
	err := s.GitHub.RequestReviewers(ctx, state.Target, []string{team})
	var host *HostError
	if errors.As(err, &host) && !host.Temporary() {
		s.Log.Warn().Str("target", lease.Key).Str("team", team).Err(err).Msg("review not requested")
		return nil
	}
	return err
}

// resume lets the fix loop go on that was escalated: the head's report opens
// attempt 1 of a new count. No agent runs for it.
func (o *order) resume(ctx context.Context) (verdict, error) {
	state, err := o.Store.Target(ctx, o.Target.Key())
	switch {
	case errors.Is(err, ErrNotFound):
		return refused(render.Notice{Kind: render.NoticeNotPaused}), nil
	case err != nil:
		return verdict{}, fmt.Errorf("read the target's state: %w", err)
	case !state.FixLoop.Paused(state.Resumes):
		return refused(render.Notice{Kind: render.NoticeNotPaused}), nil
	}
	v := o.rerun(Rerun{Decide: true})
	v.effect = Effect{Resume: true, Audit: o.audit(state.HeadSHA, "")}
	return v, nil
}
