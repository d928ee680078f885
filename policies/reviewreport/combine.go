package reviewreport

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// Opinion is the report that one model made as a reviewer.
type Opinion struct {
	Model  string
	Report Report
}

// Combine makes one report of those that several models made as one reviewer of one
// document, the weaker model's first. One that can't be used stands before all others: who did
// not answer may have objected. So does one that is critical, since a person has to decide
// then. Where all others would block, the worst of them stands, so that it blocks. Where only
// some would, the strongest model's stands that would not: its document is not ready, its
// summary says who objects and why, and so does the note. The recommendations of all are in
// it. Of one opinion the report is that one, and without any it is one that failed.
func Combine(by *Reviewer, opinions []Opinion, t Thresholds) (combined Report, note string) {
	if len(opinions) == 0 {
		return Report{Source: by.Agent, Record: Failed(by.Agent, "no model reviewed", "Review again, or by hand")}, ""
	}
	var objecting []string
	best := -1
	for i := range opinions {
		o := &opinions[i]
		if why, blocks := Alone(by.Phase, &o.Report, t); blocks {
			if said := o.Report.Record.Summary; said != "" && said != why {
				why += ": " + plaintext.CutLine(said, maxObjection)
			}
			objecting = append(objecting, fmt.Sprintf("%s (%s)", o.Model, why))
		} else {
			best = i
		}
	}
	if i := slices.IndexFunc(opinions, func(o Opinion) bool { return o.Report.Record.Broken() }); i >= 0 {
		best, objecting = i, nil
	} else if i := slices.IndexFunc(opinions, func(o Opinion) bool { return o.Report.Record.is(SeverityCritical) }); i >= 0 {
		best, objecting = i, nil
	} else if best < 0 {
		best, objecting = worst(opinions), nil
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
		who := strings.Join(objecting, ", ")
		words, object := "one model", "One model objects"
		if len(objecting) > 1 {
			words, object = "some models", "Some models object"
		}
		note = fmt.Sprintf("%s by %s only: %s", by.Agent, words, who)
		combined.Record.Summary = fmt.Sprintf("%s %s: %s.", plaintext.CutLine(combined.Record.Summary, maxCombinedSummary), object, who)
		evidence.ValidationResults.QualityThresholdMet = false
	}
	return combined, note
}

// maxObjection is how many characters of its own summary are told of a report that objects.
const maxObjection = 300

// maxCombinedSummary is how many characters of a report's summary stand before who
// objects to it.
const maxCombinedSummary = 1000

// worst is the index of the report of the worst severity, the last of equals.
func worst(opinions []Opinion) int {
	at, least := -1, 0
	for i := range opinions {
		r := &opinions[i].Report.Record
		rank := rank(severities, r.severity())
		if at < 0 || rank <= least {
			at, least = i, rank
		}
	}
	return at
}
