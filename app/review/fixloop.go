package review

import (
	"github.com/reviewgate/reviewgate/app/ports"
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
