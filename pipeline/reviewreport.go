package pipeline

import "encoding/json"

// ReviewReportOutcome is the outcome of the review reports on one document: whether work may go on
// to the next phase, and why.
type ReviewReportOutcome struct {
	Phase           string                  `json:"phase"` // PhaseSpec or PhasePlan
	Place           string                  `json:"place"` // the reports' directory, or ReviewReportsInComments
	Proceed         bool                    `json:"proceed"`
	Rationale       string                  `json:"rationale"`
	Missing         string                  `json:"missing,omitempty"` // the mandatory reviewer, if nothing else blocks
	Readiness       Readiness               `json:"readiness"`
	QualityScores   QualityScores           `json:"quality_scores"`
	Recommendations List[Recommendation]    `json:"recommendations"` // the first ten
	ReviewPaths     List[string]            `json:"review_paths"`    // the agents
	Errors          List[ReviewReportError] `json:"errors"`
}

// The phases that review reports belong to.
const (
	PhaseSpec = "spec"
	PhasePlan = "plan"
)

// ReviewReportsInComments is the place of review reports in comments.
const ReviewReportsInComments = "comments"

// Readiness is how ready reviewers consider a document.
type Readiness string

// The readiness of a document, worst first.
const (
	NotReady    Readiness = "NOT READY"
	Conditional Readiness = "CONDITIONAL"
	Ready       Readiness = "READY"
)

// QualityScores are the weighted scores of a document, from 0 to 1, rounded to two places. If Error
// is set, there are no scores, and the JSON has only the error.
type QualityScores struct {
	OverallScore float64         `json:"overall_score"`
	Grade        string          `json:"grade"` // A, B, C, D or F
	Components   ScoreComponents `json:"components"`
	Error        string          `json:"error"`
}

// ScoreComponents are the parts of a score. A part that is missing or 0 is nil.
type ScoreComponents struct {
	SpecQuality          *float64 `json:"spec_quality"`
	BusinessAlignment    *float64 `json:"business_alignment"`
	TechnicalFeasibility *float64 `json:"technical_feasibility"`
}

type scores struct {
	OverallScore float64         `json:"overall_score"`
	Grade        string          `json:"grade"`
	Components   ScoreComponents `json:"components"`
}

// MarshalJSON writes either the error or the scores.
func (q QualityScores) MarshalJSON() ([]byte, error) {
	if q.Error != "" {
		return json.Marshal(struct {
			Error string `json:"error"`
		}{q.Error})
	}
	return json.Marshal(scores{q.OverallScore, q.Grade, q.Components})
}

// Recommendation is one recommendation of a review report. Severity and priority have the report's
// own spelling.
type Recommendation struct {
	Priority       string `json:"priority"`
	Category       string `json:"category"`
	Finding        string `json:"finding"`
	Recommendation string `json:"recommendation"`
	Location       string `json:"location"`
	Reviewer       string `json:"reviewer"`
	Severity       string `json:"severity"` // of the whole report
}

// ReviewReportError is a review report that can't be used. It always blocks.
type ReviewReportError struct {
	Source   string `json:"source"` // the file or comment
	Error    string `json:"error"`
	Recovery string `json:"recovery"`
}
