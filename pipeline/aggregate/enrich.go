package aggregate

import (
	"fmt"

	"github.com/reviewgate/reviewgate/pipeline"
)

// enrich fills in from the rule what the finding leaves out. On the scale
// pass/warn/fail three failed dimensions or more raise the agent's worst
// finding to critical.
func (w *work) enrich() {
	const failedDimensions = 3
	failed := map[source]map[string]bool{}
	worst := map[source]pipeline.Severity{}
	for _, f := range w.findings {
		if f.Severity.Rank() > worst[f.source()].Rank() {
			worst[f.source()] = f.Severity
		}
		if r := w.rules[f.RuleID]; r != nil && f.RuleID != "" {
			f.Category = or(f.Category, r.Category)
			f.WhyItMatters = or(f.WhyItMatters, r.Description)
			f.Recommendation = or(f.Recommendation, r.Recommendation)
		}
		if w.graded(f.Agent) && f.Severity.Rank() >= pipeline.SeverityMajor.Rank() {
			s := f.source()
			if failed[s] == nil {
				failed[s] = map[string]bool{}
			}
			failed[s][f.Category] = true
		}
	}
	for _, f := range w.findings { // in the order of content: the first of the worst is raised
		s := f.source()
		if n := len(failed[s]); n >= failedDimensions && f.Severity == worst[s] {
			if f.Severity != pipeline.SeverityCritical {
				f.Severity = pipeline.SeverityCritical
				f.because(fmt.Sprintf("raised to critical: %d dimensions of %s failed", n, f.Agent))
			}
			delete(failed, s)
		}
	}
}
