package models

import "github.com/reviewgate/reviewgate/pipeline"

// These are the strategies: two models side by side, or only one.
const (
	StrategyParallel = "parallel"
	StrategySingle   = "single"
)

// These settings say what proves a model's finding.
const (
	BlockingAgreed   = "agreed"   // another model, or an agent without a model, agrees
	BlockingGrounded = "grounded" // or its quoted evidence is in the diff
)

// These settings say which unproven findings hold the gate until a person decides.
const (
	HoldCritical = "critical"
	HoldNever    = "never"
	HoldAlways   = "always" // critical and major ones
)

// Proof has what supports a finding.
type Proof struct {
	Models   int  // how many different models made it
	Others   bool // an agent without a model made it too
	Grounded bool // its quoted evidence is in the diff
	Accepted bool // a person considers it right
}

// Proven reports whether a finding with this proof may count as more than a warning. A finding that
// no model made needs no proof.
func (p Proof) Proven(blocking string) bool {
	return p.Models != 1 || p.Others || p.Accepted || blocking == BlockingGrounded && p.Grounded
}

// GateSeverity returns the severity with which a finding counts in the gate.
func GateSeverity(s pipeline.Severity, p Proof, blocking string) pipeline.Severity {
	if s.Rank() > pipeline.SeverityWarning.Rank() && !p.Proven(blocking) {
		return pipeline.SeverityWarning
	}
	return s
}

// Holds reports whether a finding of only one model holds the gate until a person decides.
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
