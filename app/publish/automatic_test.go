package publish

import (
	"testing"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// A change that was not reviewed completely is never approved, whatever the confidence
// table says about the part that was.
func TestOnlyCompleteReviewsAreApproved(t *testing.T) {
	cfg := &config.Config{Settings: config.Settings{Mode: config.ModeEnforce, Models: config.ModelSettings{AutoApprove: true}}}
	for name, test := range map[string]struct {
		change func(*pipeline.Review)
		want   ports.ReviewVerdict
	}{
		"everything was reviewed":             {func(*pipeline.Review) {}, ports.ReviewApprove},
		"a model did not get all files":       {func(r *pipeline.Review) { r.Results[0].Note = "2 files were left out" }, ""},
		"what a model said was dropped":       {func(r *pipeline.Review) { r.Results[0].Note = "1 finding quotes what is not in the change" }, ""},
		"an agent without a model has a note": {func(r *pipeline.Review) { r.Results[1].Note = "others' checks have not ended" }, ports.ReviewApprove},
		"the gap detector's was dropped":      {func(r *pipeline.Review) { r.Results[2].Note = "1 of 2 proposals dropped" }, ports.ReviewApprove},
		"an optional agent failed":            {func(r *pipeline.Review) { r.Report.Coverage[0].Status = pipeline.AgentFailed }, ""},
		"something could not be read": {func(r *pipeline.Review) {
			r.Report.Incomplete = pipeline.List[pipeline.Incompleteness]{{What: "patch"}}
		}, ""},
		"it comes from a fork":            {func(r *pipeline.Review) { r.Facts.Head.Fork = true }, ""},
		"the gate blocks":                 {func(r *pipeline.Review) { r.Report.Decision = pipeline.DecisionFail }, ""},
		"the table leaves it to a person": {func(r *pipeline.Review) { r.Report.Models.AutoDecision = pipeline.AutoHuman }, ""},
		"a person decided":                {func(r *pipeline.Review) { r.Report.ByHand = &pipeline.ByHand{} }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := pipeline.Review{
				Results: pipeline.List[pipeline.AgentResult]{{Agent: "sme", Model: "m"}, {Agent: "code-scanning"}, {Agent: pipeline.GapDetector, Model: "m"}},
				Report: pipeline.Report{
					Decision: pipeline.DecisionPass, Models: &pipeline.ModelsReport{AutoDecision: pipeline.AutoApprove},
					Coverage: pipeline.List[pipeline.Coverage]{{Agent: "sme", Model: "m", Status: pipeline.AgentOK}},
				},
			}
			test.change(&r)
			if got := (&Publication{Review: &ports.StoredReview{Review: r}, Config: cfg}).verdict(&ports.PullState{}); got != test.want {
				t.Errorf("verdict %q, want %q", got, test.want)
			}
		})
	}
}
