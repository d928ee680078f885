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
	out := &pipeline.Evaluation{Decision: report.Decision}
	if report.ByHand != nil {
		out.Decision = report.ByHand.Gate
	}
	w := withMemory(newWork(in), func(w *work) { w.decideBeside(report) })
	own := &w.report
	out.Coverage, out.Memory = own.Coverage, own.Memory
	out.Findings = firstEvaluated(own.Findings)
	out.More = len(own.Findings) - len(out.Findings)
	out.Resolved, out.Unconfirmed = firstEvaluated(own.Changes.Resolved), firstEvaluated(own.Changes.Unconfirmed)
	if len(own.Findings) > 0 && own.Decision.Rank() > out.Decision.Rank() {
		out.Decision, out.Condition = own.Decision, own.Gate.Condition
	}
	return out
}

// decideBeside decides as if the findings counted together with those of a report.
func (w *work) decideBeside(report *pipeline.Report) {
	own := &w.report
	metrics := maps.Clone(report.Gate.Metrics)
	for i := range own.Findings {
		f := &own.Findings[i]
		countFinding(metrics, f.GateSeverity, f.Confidence, f.State == pipeline.StateNew)
	}
	own.Gate.Metrics = metrics
	own.Decision, own.Gate.Condition = policies.Decide(w.in.Config.Settings.Gate.Conditions, metrics)
	if w.held && !own.Decision.Blocks() {
		own.Decision, own.Gate.Condition = pipeline.DecisionNeedsFixes, PersonDecides
	}
	w.holdFinal(false, nil)
}

func firstEvaluated(list pipeline.List[pipeline.Finding]) pipeline.List[pipeline.Finding] {
	n := min(len(list), pipeline.MaxEvaluated)
	return list[:n:n]
}
