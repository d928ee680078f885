package review

import (
	"testing"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// passing is a review that every model passes, and the gate.
func passing(change func(*pipeline.Review, *config.Config, *PullState)) (pipeline.Review, *config.Config, PullState) {
	r := pipeline.Review{Report: pipeline.ReviewReport{
		Decision: pipeline.DecisionPass, Models: &pipeline.ModelsReport{AutoDecision: pipeline.AutoApprove},
		Coverage: pipeline.List[pipeline.Coverage]{{Agent: "judge", Status: pipeline.AgentOK}, {Agent: "other", Status: pipeline.AgentDiscarded}},
	}}
	cfg := &config.Config{Settings: config.Settings{Mode: config.ModeEnforce, Models: config.ModelSettings{AutoApprove: true, AutoReject: true}}}
	var now PullState
	change(&r, cfg, &now)
	return r, cfg, now
}

// Every row of the table of confidence under every decision of the gate: what
// blocks is never approved, and what does not is never rejected.
func TestAutomaticByRowAndGate(t *testing.T) {
	rows := []pipeline.AutoDecision{pipeline.AutoApprove, pipeline.AutoApproveWithNotes, pipeline.AutoReject, pipeline.AutoHuman, "anything", ""}
	for _, row := range rows {
		for _, d := range []pipeline.Decision{pipeline.DecisionPass, pipeline.DecisionPassWithWarnings, pipeline.DecisionNeedsFixes, pipeline.DecisionFail, ""} {
			r, cfg, now := passing(func(r *pipeline.Review, _ *config.Config, _ *PullState) {
				r.Report.Models.AutoDecision, r.Report.Decision = row, d
			})
			var want ReviewVerdict
			switch {
			case (row == pipeline.AutoApprove || row == pipeline.AutoApproveWithNotes) && !d.Blocks():
				want = ReviewApprove
			case row == pipeline.AutoReject && d.Blocks():
				want = ReviewReject
			}
			if got := automatic(&r, cfg, &now); got != want {
				t.Errorf("%q where the gate says %q: %q, want %q", row, d, got, want)
			}
			cfg.Settings.Models.AutoApprove, cfg.Settings.Models.AutoReject = false, false
			if got := automatic(&r, cfg, &now); got != "" {
				t.Errorf("%q where the gate says %q, switched off: %q", row, d, got)
			}
		}
	}
}

// Any one thing that keeps a pull request from being approved does.
func TestAutomaticIsKeptBack(t *testing.T) {
	for name, tt := range map[string]struct {
		change  func(*pipeline.Review, *config.Config, *PullState)
		rejects bool // such a one may be rejected all the same
	}{
		"no models": {func(r *pipeline.Review, _ *config.Config, _ *PullState) { r.Report.Models = nil }, false},
		"by hand":   {func(r *pipeline.Review, _ *config.Config, _ *PullState) { r.Report.ByHand = &pipeline.ByHand{} }, false},
		"advisory":  {func(_ *pipeline.Review, c *config.Config, _ *PullState) { c.Settings.Mode = config.ModeAdvisory }, false},
		"draft":     {func(_ *pipeline.Review, _ *config.Config, now *PullState) { now.Draft = true }, false},
		"locked":    {func(_ *pipeline.Review, _ *config.Config, now *PullState) { now.Locked = true }, false},
		"archived":  {func(_ *pipeline.Review, _ *config.Config, now *PullState) { now.Archived = true }, false},
		"fork":      {func(r *pipeline.Review, _ *config.Config, _ *PullState) { r.Facts.Head.Fork = true }, true},
		"incomplete": {func(r *pipeline.Review, _ *config.Config, _ *PullState) {
			r.Report.Incomplete = []pipeline.Incompleteness{{What: "patch"}}
		}, true},
		"an agent failed": {func(r *pipeline.Review, _ *config.Config, _ *PullState) {
			r.Report.Coverage[0].Status = pipeline.AgentTimedOut
		}, true},
	} {
		r, cfg, now := passing(tt.change)
		if got := automatic(&r, cfg, &now); got != "" {
			t.Errorf("%s: %s", name, got)
		}
		if r.Report.Models != nil {
			r.Report.Models.AutoDecision = pipeline.AutoReject
		}
		r.Report.Decision = pipeline.DecisionFail
		if got := automatic(&r, cfg, &now); (got == ReviewReject) != tt.rejects {
			t.Errorf("%s, rejected: %q", name, got)
		}
	}
}

func TestPersonDecides(t *testing.T) {
	held := pipeline.List[pipeline.Finding]{{Reasons: pipeline.List[string]{pipeline.ReasonHeld}}}
	for name, tt := range map[string]struct {
		report pipeline.ReviewReport
		want   bool
	}{
		"nothing says so":      {pipeline.ReviewReport{}, false},
		"the models pass":      {pipeline.ReviewReport{Models: &pipeline.ModelsReport{AutoDecision: pipeline.AutoApprove}}, false},
		"the table says so":    {pipeline.ReviewReport{Models: &pipeline.ModelsReport{AutoDecision: pipeline.AutoHuman}}, true},
		"a finding holds it":   {pipeline.ReviewReport{Findings: held}, true},
		"it is rejected, held": {pipeline.ReviewReport{Findings: held, Models: &pipeline.ModelsReport{AutoDecision: pipeline.AutoReject}}, true},
	} {
		if got := personDecides(&tt.report); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
