package aggregate

import (
	"maps"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies"
)

// Evaluate makes the evaluation of a review. in has the manifest, config and results of the run in
// evaluation, and the findings of the last one. report is the review's report, and stays as it is. The
// findings are compared with one another only. A person's decision by hand does not count.
func Evaluate(in Input, report *pipeline.Report) *pipeline.Evaluation {
	in.Memory.ByHand = nil
	w := newWork(in)
	w.run()
	own := &w.report
	out := &pipeline.Evaluation{Decision: report.Decision, Coverage: own.Coverage}
	if report.ByHand != nil {
		out.Decision = report.ByHand.Gate
	}
	out.Findings = firstEvaluated(own.Findings)
	out.More = len(own.Findings) - len(out.Findings)
	out.Resolved, out.Unconfirmed = firstEvaluated(own.Changes.Resolved), firstEvaluated(own.Changes.Unconfirmed)
	if len(own.Findings) == 0 {
		return out
	}
	// The gate would read the findings of both.
	metrics := maps.Clone(report.Gate.Metrics)
	for i := range own.Findings {
		f := &own.Findings[i]
		countFinding(metrics, f.GateSeverity, f.Confidence, f.State == pipeline.StateNew)
	}
	own.Gate.Metrics = metrics
	own.Decision, own.Gate.Condition = policies.Decide(in.Config.Settings.Gate.Conditions, metrics)
	if w.held && !own.Decision.Blocks() {
		own.Decision, own.Gate.Condition = pipeline.DecisionNeedsFixes, PersonDecides
	}
	w.holdFinal(false, nil)
	if own.Decision.Rank() > out.Decision.Rank() {
		out.Decision, out.Condition = own.Decision, own.Gate.Condition
	}
	return out
}

func firstEvaluated(list pipeline.List[pipeline.Finding]) pipeline.List[pipeline.Finding] {
	n := min(len(list), pipeline.MaxEvaluated)
	return list[:n:n]
}
