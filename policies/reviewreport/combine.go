package reviewreport

import (
	"fmt"
	"slices"
	"strings"
)

// Opinion is the report that one model made as a reviewer.
type Opinion struct {
	Model  string
	Report Report
}

// Verdict is what an opinion comes to by itself.
type Verdict struct {
	Opinion
	Blocks bool
	Why    string // it blocks
}

// Combine makes one report of those that several models made as one reviewer of one
// document, the weaker model's first. Where all would block, the worst of them stands,
// so that it blocks. Where only some would, the strongest model's stands that would
// not: its document is not ready, its summary says who objects, and so does the note.
// The recommendations of all are in it.
//
// The verdicts are by model, in the order of the opinions. Of one opinion the report is
// that one. There must be one.
func Combine(by *Reviewer, opinions []Opinion, t Thresholds) (combined Report, verdicts []Verdict, note string) {
	var objecting []string
	best := -1
	for i := range opinions {
		v := Verdict{Opinion: opinions[i]}
		v.Why, v.Blocks = Alone(by.Phase, &v.Report, t)
		verdicts = append(verdicts, v)
		if v.Blocks {
			objecting = append(objecting, fmt.Sprintf("%s (%s)", v.Model, v.Why))
		} else {
			best = i
		}
	}
	if best < 0 {
		best = worst(opinions)
		objecting = nil
	}
	combined = opinions[best].Report
	evidence := &combined.Record.SuccessEvidence
	recommended := slices.Clone(evidence.ReviewFindings.Recommendations)
	for i := range opinions {
		if i != best {
			recommended = append(recommended, opinions[i].Report.Record.SuccessEvidence.ReviewFindings.Recommendations...)
		}
	}
	evidence.ReviewFindings.Recommendations = recommended[:min(len(recommended), MaxRecommendations)]
	if len(objecting) > 0 {
		note = fmt.Sprintf("%s by one model only: %s", by.Agent, strings.Join(objecting, ", "))
		if len(objecting) > 1 {
			note = fmt.Sprintf("%s by some models only: %s", by.Agent, strings.Join(objecting, ", "))
		}
		combined.Record.Summary = cut(combined.Record.Summary, maxCombinedSummary) + " Blocked " + strings.TrimPrefix(note, by.Agent+" ") + "."
		evidence.ValidationResults.QualityThresholdMet = false
	}
	return combined, verdicts, note
}

// maxCombinedSummary is how many characters of a report's summary stand before who
// objects to it.
const maxCombinedSummary = 1000

// worst is the index of the report of the worst severity; of equals the last, and none
// that can't be used where another can.
func worst(opinions []Opinion) int {
	at, least := -1, 0
	for i := range opinions {
		r := &opinions[i].Report.Record
		rank := rank(severities, r.severity())
		if r.Broken() {
			rank = len(severities) + 1
		}
		if at < 0 || rank <= least {
			at, least = i, rank
		}
	}
	return at
}
