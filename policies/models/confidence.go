package models

import "github.com/reviewgate/reviewgate/pipeline"

// Tally is what the table of confidence reads beside the verdicts.
type Tally struct {
	SpecFailed       bool // the spec stage holds a finding that may block
	Findings         int  // of models, that count
	AgreedCritical   bool // several models found something critical
	StrongerCritical bool // only the stronger found something critical
}

// Assessment is a row of the table of confidence.
type Assessment struct {
	Confidence float64
	Label      string
	Decision   pipeline.AutoDecision
}

// The rows of the table.
var (
	veryHigh = Assessment{1.00, "very high", pipeline.AutoApprove}
	notes    = Assessment{0.85, "high", pipeline.AutoApproveWithNotes}
	rejected = Assessment{0.90, "high", pipeline.AutoReject}
	stronger = Assessment{0.70, "medium", pipeline.AutoHuman}
	failed   = Assessment{0.60, "medium", pipeline.AutoHuman}
	differ   = Assessment{0.40, "low", pipeline.AutoHuman}

	singleClean = Assessment{0.85, "high", pipeline.AutoApprove}
	singleNotes = Assessment{0.75, "medium", pipeline.AutoHuman}
)

// Assess finds the row of the table of confidence: the first that holds. A
// model that did not finish leaves only the last.
func Assess(strategy string, verdicts []pipeline.ModelVerdict, t Tally) Assessment {
	passed, fails := 0, 0
	for _, v := range verdicts {
		switch v.Verdict {
		case pipeline.VerdictPass:
			passed++
		case pipeline.VerdictFail:
			fails++
		default:
			return differ
		}
	}
	allPass := passed == len(verdicts) && passed > 0 && !t.SpecFailed
	allFail := fails == len(verdicts) && fails > 0
	if strategy == StrategySingle {
		return single(allPass, allFail, t)
	}
	switch {
	case allPass && t.Findings == 0:
		return veryHigh
	case allPass:
		return notes
	case allFail && t.AgreedCritical:
		return rejected
	case t.StrongerCritical:
		return stronger
	case allFail:
		return failed
	}
	return differ
}

func single(allPass, allFail bool, t Tally) Assessment {
	switch {
	case allPass && t.Findings == 0:
		return singleClean
	case allPass:
		return singleNotes
	case allFail:
		return failed
	}
	return differ
}
