package review

import (
	"context"
	"errors"
	"fmt"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/fixloop"
)

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
