package aggregate

import (
	"cmp"
	"fmt"

	"github.com/reviewgate/reviewgate/pipeline"
)

// enrich fills in missing fields of a finding from its rule, and raises severities by scale.
func (w *work) enrich() {
	for _, f := range w.findings {
		if r := w.in.Rules[f.RuleID]; r != nil && f.RuleID != "" {
			f.Category = or(f.Category, r.Category)
			f.WhyItMatters = or(f.WhyItMatters, r.Description)
			f.Recommendation = or(f.Recommendation, r.Recommendation)
		}
	}
	raise(w.in, w.findings)
}

// failedDimensions is the number of failed dimensions on the scale pass/warn/fail at which the
// agent's worst finding becomes critical.
const failedDimensions = 3

func raise(in *input, findings []*item) {
	failed := map[source]map[string]bool{}
	worst := map[source]*item{}
	for _, f := range findings { // in content order: the first of equal findings is raised
		if !in.graded[f.Agent] {
			continue
		}
		s := f.source()
		if worst[s] == nil || in.worse(f, worst[s]) {
			worst[s] = f
		}
		if f.Severity.Rank() >= pipeline.SeverityMajor.Rank() {
			if failed[s] == nil {
				failed[s] = map[string]bool{}
			}
			failed[s][f.Category] = true
		}
	}
	for s, f := range worst {
		if n := len(failed[s]); n >= failedDimensions && f.Severity != pipeline.SeverityCritical {
			f.Severity = pipeline.SeverityCritical
			f.addReason(fmt.Sprintf("raised to critical: %d dimensions of %s failed", n, f.Agent))
		}
	}
}

// worse reports whether a finding is worse than another of its agent. A finding below the
// confidence gate is never worse than one above it.
func (in *input) worse(f, than *item) bool {
	least := in.Config.Settings.Synthesis.ConfidenceGate
	return cmp.Or(
		compareBool(f.Confidence >= least, than.Confidence >= least),
		cmp.Compare(f.Severity.Rank(), than.Severity.Rank()),
		cmp.Compare(f.Confidence, than.Confidence),
	) > 0
}
