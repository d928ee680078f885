package aggregate

import (
	"maps"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies"
)

// Evaluate makes the evaluation of a review. in has what ran in evaluation, with its manifest, config
// and results, and report is the one without it, which stays as it is. The findings are compared
// with one another only, and count as new. Nobody's decision about the change counts.
func Evaluate(in Input, report *pipeline.Report) *pipeline.Evaluation {
	in.Previous, in.SameHead, in.Memory.ByHand = nil, nil, nil
	w := newWork(in)
	w.run()
	own := &w.report
	out := &pipeline.Evaluation{Decision: report.Decision, Coverage: own.Coverage}
	if report.ByHand != nil {
		out.Decision = report.ByHand.Gate
	}
	n := min(len(own.Findings), pipeline.MaxEvaluated)
	out.Findings, out.More = own.Findings[:n:n], len(own.Findings)-n
	if len(own.Findings) == 0 {
		return out
	}
	metrics := maps.Clone(report.Gate.Metrics)
	for i := range own.Findings {
		f := &own.Findings[i]
		countFinding(metrics, f.GateSeverity, f.Confidence, true)
	}
	decision, condition := policies.Decide(in.Config.Settings.Gate.Conditions, metrics)
	if w.held && !decision.Blocks() {
		decision, condition = pipeline.DecisionNeedsFixes, PersonDecides
	}
	if decision.Rank() > out.Decision.Rank() {
		out.Decision, out.Condition = decision, condition
	}
	return out
}
