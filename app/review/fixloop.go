package review

import (
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/fixloop"
)

// nextLoop returns the state of a target's fix loop after a review. It is stored with the
// review and takes effect when the review is published, because nobody sees a review that
// was superseded before that. Merge groups have no fix loop.
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
