package review

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/reviewgate/reviewgate/app/ports"
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
func nextLoop(state ports.TargetState, r *pipeline.Review, cfg *config.Config) fixloop.State {
	if state.Kind == ports.TargetGroup {
		return fixloop.State{}
	}
	set := cfg.Settings.FixLoop
	return fixloop.Next(state.FixLoop, fixloop.ReportOf(r, state.Resumes), fixloop.Settings{
		Attempts: set.MaxFixIterations, Turns: set.FixTimeoutTurns,
		Never: set.When == config.FixLoopNever, Always: set.When == config.FixLoopAlways,
	})
}

// callTeam asks for the review of whoever the settings name where this review
// escalated the pull request; in advisory mode nobody is bothered. GitHub's
// refusal, such as of a team that may not see the repository, keeps nothing from
// being published.
func (s *Service) callTeam(ctx context.Context, lease ports.Lease, state ports.TargetState, r *ports.StoredReview, cfg *config.Config, now *ports.PullState) error {
	team := cfg.Settings.FixLoop.Team
	if !r.FixLoop.Now || team == "" || now.Archived || modeOf(r, cfg) != config.ModeEnforce {
		return nil
	}
	_, err := s.requestReviews(ctx, lease, state.Target, without([]string{team}, append(slices.Clone(now.Requested), r.Review.Facts.Author.Login)))
	return err
}

// resume lets an escalated fix loop continue: the head's report opens
// attempt 1 of a new count. No agent runs for it.
func (o *order) resume(ctx context.Context) (verdict, error) {
	state, err := o.Store.Target(ctx, o.Target.Key())
	switch {
	case errors.Is(err, ports.ErrNotFound):
		return refused(render.Notice{Kind: render.NoticeNotPaused}), nil
	case err != nil:
		return verdict{}, fmt.Errorf("read the target's state: %w", err)
	case !state.FixLoop.Paused(state.Resumes):
		return refused(render.Notice{Kind: render.NoticeNotPaused}), nil
	}
	v := o.rerun(ports.Rerun{Decide: true})
	v.effect = ports.Effect{Resume: true, Audit: o.audit(state.HeadSHA, "")}
	return v, nil
}
