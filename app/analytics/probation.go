package analytics

import "github.com/reviewgate/reviewgate/policies/learning"

// Judged is how people other than the authors judged a rule or an agent.
type Judged struct {
	Rule  string `json:"rule"`  // empty: the agent as a whole
	Agent string `json:"agent"` // of the rule
	// Judged counts pull requests with a judgement, and Right those in which it was right. Blocking
	// and other findings count alike: fixes of blocking ones can only keep a rule from being proposed.
	Judged int `json:"judged"`
	Right  int `json:"right"`
	People int `json:"people"` // how many different ones said that a finding is right or wrong
}

// Candidate is a rule or an agent that is so often wrong that it is proposed for evaluation.
type Candidate struct {
	Judged
	Precision Share `json:"precision"`
}

// What it takes to propose a rule or an agent for evaluation.
const (
	ProbationJudged = 20
	ProbationPeople = 3
	ProbationBar    = 0.5 // the default
)

// Probation reports whether a rule or an agent is so often wrong that it should be in evaluation: by
// enough judgements of enough people, and with a precision that is below the bar, to 95 %.
func Probation(j Judged, bar float64) (Candidate, bool) {
	if j.Judged < ProbationJudged || j.People < ProbationPeople {
		return Candidate{}, false
	}
	share := newShare(j.Right, j.Judged)
	return Candidate{j, *share}, share.High < bar
}

// byOthers is what people other than the authors said of a finding, and who said it. A fix is the
// author's doing, and not a judgement on it, but the code says that it happened.
func byOthers(f *learning.Followed) (verdict, string) {
	switch {
	case f.Outcome == learning.OutcomeFixed:
		return right, ""
	case f.Judged == nil || f.Judged.Judged.Own:
		return unjudged, ""
	case f.FalsePositive():
		return wrong, f.Judged.Judged.Person
	case f.Outcome == learning.OutcomeAccepted:
		return right, f.Judged.Judged.Person
	}
	return unjudged, ""
}
