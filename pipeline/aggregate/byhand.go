package aggregate

import "github.com/reviewgate/reviewgate/pipeline"

// The gate conditions of decisions that a person made.
const (
	Overridden = "overridden by hand"
	Rejected   = "rejected by hand"
)

// byHand replaces the gate's decision by a person's. The report keeps the gate's decision
// beside it, and nothing else changes: a person who overrides accepts what the findings say
// and what the review lacks.
func (w *work) byHand() {
	d := w.in.Memory.ByHand
	if d == nil {
		return
	}
	r := &w.report
	by := pipeline.ByHand{Action: d.Action, By: d.By, Reason: d.Reason, At: d.At, Gate: r.Decision, GateCondition: r.Gate.Condition}
	switch d.Action {
	case pipeline.HandOverride:
		r.Decision, r.Gate.Condition = pipeline.DecisionPass, Overridden
		w.holdFinal(true, d.FinalIn)
	case pipeline.HandReject:
		r.Decision, r.Gate.Condition = pipeline.DecisionFail, Rejected
	default:
		return
	}
	r.ByHand = &by
}

// accepted identifies what a person accepted: a finding, or a comment that ignores it.
type accepted struct{ fingerprint, ignore string }

// acceptances returns the first acceptance of each finding and comment.
func acceptances(all []pipeline.Acceptance) map[accepted]pipeline.Acceptance {
	out := map[accepted]pipeline.Acceptance{}
	for _, a := range all {
		at := accepted{a.Fingerprint, a.Ignore}
		if _, known := out[at]; !known {
			out[at] = a
		}
	}
	return out
}

// accept proves a finding if a person accepted it.
//
// An acceptance never expires, since it makes nothing milder. If the code around the finding
// has changed, the reason says so, in case somebody wants to dismiss the finding now.
func (f *item) accept(by map[accepted]pipeline.Acceptance) bool {
	a, ok := by[accepted{f.ID, ""}]
	if !ok {
		return false
	}
	f.proof.Accepted = true
	who := a.By
	if f.changed(a.Surroundings) {
		who += ", and " + f.whatChanged(a.Surroundings) + " since then"
	}
	f.addReasonOf(pipeline.ReasonAccepted, who)
	return true
}

// whatChanged names what has changed since a person decided about the finding.
func (f *item) whatChanged(surroundings string) string {
	switch {
	case surroundings == pipeline.SurroundingsElsewhere:
		return "the base branch has changed"
	case f.Section == pipeline.SectionChange:
		return "what it is about has changed"
	case f.Path == "":
		return "the text that it is about has changed"
	}
	return "the code around it has changed"
}

// changed reports whether the code around the finding has changed since a person decided about
// it.
func (f *item) changed(surroundings string) bool {
	return surroundings != "" && f.Surroundings[0] != "" && f.Surroundings[0] != surroundings
}
