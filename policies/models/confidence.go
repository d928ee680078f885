package models

import "github.com/reviewgate/reviewgate/pipeline"

// Tally has what the table of confidence reads besides the verdicts.
type Tally struct {
	SpecFailed       bool // a finding of the spec stage may block
	Findings         int  // the number of models' findings that count
	AgreedCritical   bool // several models agree on a critical finding
	StrongerCritical bool // only the stronger model has a critical finding
}

// Assessment is a row of the table of confidence.
type Assessment struct {
	Confidence float64
	Label      string
	Decision   pipeline.AutoDecision
}

// These are the rows of the table.
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

// Assess returns the first row of the table of confidence that holds. If a model did not finish,
// only the last row can hold.
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
