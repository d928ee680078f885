package aggregate

import (
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies"
)

// What decided if no condition decided worse.
const (
	// Incomplete says that the review is incomplete.
	Incomplete = "review incomplete"
	// PersonDecides says that only one model found something so bad that a person has to accept or
	// dismiss it.
	PersonDecides = "a person must decide"
	// SpecFailed says that the spec stage failed, so that the quality stage was suppressed or never
	// asked.
	SpecFailed = "the spec stage failed"
)

// gate decides. The settings' conditions come first. They can't loosen what follows: a review that
// is incomplete, waits for a person, or has no quality stage because the spec stage failed is at
// least needs_fixes.
func (w *work) gate() {
	w.count()
	w.assess()
	r := &w.report
	r.Incomplete = incomplete(w.in)
	r.Gate.Metrics = metrics(w.in, r)
	r.Decision, r.Gate.Condition = policies.Decide(w.in.Config.Settings.Gate.Conditions, r.Gate.Metrics)
	gating := slices.ContainsFunc(r.Incomplete, func(i pipeline.Incompleteness) bool { return i.Gating })
	switch {
	case r.Decision.Rank() >= pipeline.DecisionNeedsFixes.Rank():
	case gating:
		r.Decision, r.Gate.Condition = pipeline.DecisionNeedsFixes, Incomplete
	case w.held:
		r.Decision, r.Gate.Condition = pipeline.DecisionNeedsFixes, PersonDecides
	case w.discarded:
		r.Decision, r.Gate.Condition = pipeline.DecisionNeedsFixes, SpecFailed
	}
	w.holdFinal(false, nil)
}
