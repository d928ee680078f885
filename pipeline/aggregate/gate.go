package aggregate

import (
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies"
)

// Incomplete is the gate's condition where no other decided worse and the
// review is not whole.
const Incomplete = "review incomplete"

// gate decides. First the settings' conditions, then what no setting can
// loosen: a review that is not whole is at least needs_fixes.
func (w *work) gate() {
	w.count()
	r := &w.report
	w.incomplete()
	r.Gate.Metrics = w.metrics()
	r.Decision, r.Gate.Condition = policies.Decide(w.in.Config.Settings.Gate.Conditions, r.Gate.Metrics)
	gating := slices.ContainsFunc(r.Incomplete, func(i pipeline.Incompleteness) bool { return i.Gating })
	if gating && r.Decision.Rank() < pipeline.DecisionNeedsFixes.Rank() {
		r.Decision, r.Gate.Condition = pipeline.DecisionNeedsFixes, Incomplete
	}
}
