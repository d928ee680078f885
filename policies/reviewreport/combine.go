package reviewreport

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// Opinion is the report that one model wrote as a reviewer.
type Opinion struct {
	Model  string
	Report Report
}

// Combine makes one report from the reports that several models wrote as one reviewer of one
// document, in the order from the weakest to the strongest. A broken report is chosen before all
// others, because its model may have objected. Next comes a critical report, because then a person
// must decide. If all reports would block, the worst is chosen, so that the result blocks. If only
// some would, the report of the strongest model that would not block is chosen. Its document is
// then not ready, and its summary and the note say who objects and why. The result has the
// recommendations of all reports. For one opinion, the result is its report. Without opinions, it
// is a failed report.
func Combine(by *Reviewer, opinions []Opinion, t Thresholds) (combined Report, note string) {
	if len(opinions) == 0 {
		return Report{Source: by.Agent, Record: Failed(by.Agent, "no model reviewed", "Review again, or by hand")}, ""
	}
	var objecting []string
	best := -1
	for i := range opinions {
		o := &opinions[i]
		if why, blocks := Alone(by.Phase, &o.Report, t); blocks {
			if summary := o.Report.Record.Summary; summary != "" && summary != why {
				why += ": " + plaintext.CutLine(summary, maxObjection)
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

// maxObjection is how many characters of the summary of an objecting report are quoted.
const maxObjection = 300

// maxCombinedSummary is how many characters of the chosen report's summary come before the
// objections.
const maxCombinedSummary = 1000

// worst returns the index of the report with the worst severity, the last of equal ones.
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
