package reviewreport

import (
	"cmp"
	"fmt"
	"unicode/utf8"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// AgentReviewgate is the agent in the section of reviewgate's own comment, and OperationReview is
// its operation.
const (
	AgentReviewgate = "reviewgate"
	OperationReview = "pull_request_review"
)

// These are the limits of the section in a comment, in characters. They leave the comment's space
// to the findings themselves.
const (
	MaxReviewSection         = 8192
	maxReviewRecommendations = 10
	maxReviewText            = 200
)

// FromReview returns the record of a review for the machine-readable section of reviewgate's own
// comment. The status is success if the decision does not block. summary is one line of text.
// timestamp is the time of the review, in ISO 8601 and UTC, and may be empty. [Write] makes at most
// MaxReviewSection characters of the record: recommendations that don't fit are left out, the least
// important first.
//
// The same review, summary and timestamp give the same record.
func FromReview(report *pipeline.Report, summary, timestamp string) Record {
	passes := !report.Decision.Blocks()
	confidence := 1.0 // agents without models are certain
	if report.Models != nil {
		confidence = report.Models.Confidence
	}
	r := Record{
		Status:        StatusFailure,
		Agent:         AgentReviewgate,
		TaskID:        "review-" + cmp.Or(report.HeadSHA, "of-uncommitted-changes"),
		OperationType: OperationReview,
		Summary:       shortened(summary),
		ValidationChecklist: map[string]any{
			"gate_passed":          passes,
			"no_critical_findings": report.Counts.Critical == 0,
			"no_major_findings":    report.Counts.Major == 0,
			"review_complete":      len(report.Incomplete) == 0,
		},
		Confidence:         &confidence,
		Severity:           reviewSeverity(report.Counts),
		ExecutionTimestamp: timestamp,
	}
	if passes {
		r.Status = StatusSuccess
	}
	evidence := &r.SuccessEvidence
	evidence.ValidationResults.QualityThresholdMet = passes
	list := make([]Recommendation, 0, maxReviewRecommendations)
	for i := range report.Findings[:min(len(report.Findings), maxReviewRecommendations)] {
		list = append(list, recommendationOf(&report.Findings[i]))
	}
	evidence.ReviewFindings.Recommendations = list
	for len(list) > 0 && utf8.RuneCountInString(Write(&r)) > MaxReviewSection {
		list = list[:len(list)-1]
		evidence.ReviewFindings.Recommendations = list
	}
	return r
}

func reviewSeverity(c pipeline.Counts) string {
	switch {
	case c.Critical > 0:
		return SeverityCritical
	case c.Major > 0:
		return SeverityMajor
	}
	return SeverityMinor
}

func recommendationOf(f *pipeline.Finding) Recommendation {
	return Recommendation{
		Priority:       priorityOf(f.GateSeverity),
		Category:       shortened(f.Category),
		Finding:        shortened(f.Title),
		Recommendation: shortened(f.Recommendation),
		Location:       locationOf(f),
	}
}

func priorityOf(s pipeline.Severity) string {
	switch s {
	case pipeline.SeverityCritical, pipeline.SeverityMajor:
		return PriorityHigh
	case pipeline.SeverityWarning:
		return PriorityMedium
	}
	return PriorityLow
}

func locationOf(f *pipeline.Finding) string {
	switch {
	case f.Path == "":
		return shortened(f.Section)
	case f.StartLine > 0:
		return fmt.Sprintf("%s:%d", shortened(f.Path), f.StartLine)
	}
	return shortened(f.Path)
}

// shortened puts a text on one line and cuts it to the space in the section.
func shortened(s string) string { return plaintext.CutLine(s, maxReviewText) }
