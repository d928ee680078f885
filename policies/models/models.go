package models

import "github.com/reviewgate/reviewgate/pipeline"

// The strategies: two models side by side, or one alone.
const (
	StrategyParallel = "parallel"
	StrategySingle   = "single"
)

// What proves a model's finding.
const (
	BlockingAgreed   = "agreed"   // another model, or an agent that is none, agrees
	BlockingGrounded = "grounded" // or its quoted evidence stands in the diff
)

// Which unproven findings hold the gate until a person decides.
const (
	HoldCritical = "critical"
	HoldNever    = "never"
	HoldAlways   = "always" // critical and major ones
)

// Proof is what stands behind a finding.
type Proof struct {
	Models   int  // distinct models that made it
	Others   bool // an agent that is no model made it too
	Grounded bool // its quoted evidence stands in the diff
	Accepted bool // a person holds it to be right
}

// Proven reports whether a finding with this proof may count above warning.
// What no model made needs no proof.
func (p Proof) Proven(blocking string) bool {
	return p.Models != 1 || p.Others || p.Accepted || blocking == BlockingGrounded && p.Grounded
}

// GateSeverity is what a finding of a severity counts in the gate.
func GateSeverity(s pipeline.Severity, p Proof, blocking string) pipeline.Severity {
	if s.Rank() > pipeline.SeverityWarning.Rank() && !p.Proven(blocking) {
		return pipeline.SeverityWarning
	}
	return s
}

// Holds reports whether a finding of one model alone holds the gate until a
// person decides.
func Holds(s pipeline.Severity, p Proof, blocking, hold string) bool {
	if p.Proven(blocking) {
		return false
	}
	switch hold {
	case HoldCritical:
		return s == pipeline.SeverityCritical
	case HoldAlways:
		return s.Rank() >= pipeline.SeverityMajor.Rank()
	}
	return false
}
