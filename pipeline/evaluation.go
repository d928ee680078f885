package pipeline

import "slices"

// EvaluationRun is the run of everything in evaluation, after the run of everything enforced.
type EvaluationRun struct {
	Entries List[ManifestEntry] `json:"entries"` // the agents that ran
	Results List[AgentResult]   `json:"results"`
	// Note says why there are no results, if something went wrong.
	Note string `json:"note,omitempty"`
}

// Evaluation is what the entries in evaluation found in a change. It has only findings that would
// not be made without them.
type Evaluation struct {
	// Findings are the first MaxEvaluated, in the order of a report. More counts the others.
	Findings List[Finding] `json:"findings"`
	More     int           `json:"more,omitempty"`
	// Resolved and Unconfirmed are findings of the last report's Evaluation that are gone, as in
	// Changes. There are at most MaxEvaluated of each.
	Resolved    List[Finding] `json:"resolved"`
	Unconfirmed List[Finding] `json:"unconfirmed"`
	// Decision is what the gate would decide if the findings counted. Condition is the one that
	// would decide, or empty if the decision would be the same.
	Decision  Decision `json:"decision"`
	Condition string   `json:"condition"`
	// Coverage are the agents, as in a report.
	Coverage List[Coverage] `json:"coverage"`
	Note     string         `json:"note,omitempty"` // from the EvaluationRun
	// Memory is what memory did to the findings, as in a report. What it hides is not in Findings.
	Memory List[MemoryUse] `json:"memory,omitempty"`
}

// MaxEvaluated bounds each list of findings of an Evaluation.
const MaxEvaluated = 200

// last returns what the next evaluation has to know.
func (e *Evaluation) last() List[Finding] {
	if e == nil {
		return nil
	}
	return slices.Concat(e.Findings, e.Unconfirmed)
}
