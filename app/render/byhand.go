package render

import (
	"github.com/reviewgate/reviewgate/pipeline"
)

// byHand holds the values for the phrases about a decision by a person.
type byHand struct {
	Passed         bool
	By, At, Reason safe
	Short          safe // the reason, in a title that stands alone
}

// maxTitleReason bounds a reason in a title, in runes.
const maxTitleReason = 100

func byHandOf(d *pipeline.ByHand, p pen) *byHand {
	if d == nil {
		return nil
	}
	out := &byHand{
		Passed: d.Action == pipeline.HandOverride, By: p.text(d.By, maxName),
		Reason: p.text(d.Reason, maxReason),
	}
	if !d.At.IsZero() {
		out.At = p.text(d.At.UTC().Format("2006-01-02 15:04")+" UTC", maxName)
	}
	return out
}

// gateDecision returns the gate's own decision and the condition that decided.
func gateDecision(r *pipeline.Report) (pipeline.Decision, string) {
	if r.ByHand != nil {
		return r.ByHand.Gate, r.ByHand.GateCondition
	}
	return r.Decision, r.Gate.Condition
}

// acceptedBy returns who accepted a finding, or "".
func acceptedBy(f *pipeline.Finding) string { return reason(f, pipeline.ReasonAccepted) }
