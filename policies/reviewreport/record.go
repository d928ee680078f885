package reviewreport

import (
	"encoding/json"
	"strings"
)

// Record is the machine-readable section of a review report. Its schema is
// review-report-data.json.
type Record struct {
	Status              string         `json:"status"` // StatusSuccess; any other status blocks
	Agent               string         `json:"agent"`
	TaskID              string         `json:"task_id"`
	OperationType       string         `json:"operation_type"` // such as spec_quality_review
	Summary             string         `json:"summary"`
	ValidationChecklist map[string]any `json:"validation_checklist"` // for people; no decision reads it
	SuccessEvidence     Evidence       `json:"success_evidence"`
	// Confidence is from 0 to 1. Nil, for a report without one, counts as 1.
	Confidence *float64 `json:"confidence,omitempty"`
	// Severity is the severity of the worst issue: Critical, Major or Minor. Empty, for a report
	// without one, counts as Minor.
	Severity           string `json:"severity,omitempty"`
	ExecutionTimestamp string `json:"execution_timestamp"` // ISO 8601, UTC

	// FixLoop is the state of the pull request's fix loop. Only reviewgate's own reports have one,
	// and no decision reads it.
	FixLoop *FixLoop `json:"fix_loop,omitempty"`
	// Session is the state of the pull request's session of coding agents. Only reviewgate's own reports
	// have one, and no decision reads it.
	Session *Session `json:"session,omitempty"`

	// Error says why a report can't be used, and Recovery what to do about it.
	// Only Extract sets them.
	Error    string `json:"error,omitempty"`
	Recovery string `json:"recovery,omitempty"`
}

// FixLoop is the state of a fix loop.
type FixLoop struct {
	State       string `json:"state"` // pending, review-fix-1 and so on, escalated or complete
	Attempt     int    `json:"attempt"`
	MaxAttempts int    `json:"max_attempts"`
}

// Session is the state of a session of coding agents.
type Session struct {
	Status string `json:"status"` // PAUSED or RUNNING
	Rule   int    `json:"rule"`   // of the last decision, 0 to 4; -1 before the first
	Cycle  int    `json:"cycle"`  // the newest one that is decided or awaits answers
	// Waiting says that answers are still to come.
	Waiting bool `json:"waiting"`
}

// Evidence has a reviewer's findings.
type Evidence struct {
	// QualityAssessment is set by the spec-reviewer, and nil for others.
	QualityAssessment *QualityAssessment `json:"quality_assessment,omitempty"`
	ReviewFindings    ReviewFindings     `json:"review_findings"`
	ValidationResults ValidationResults  `json:"validation_results"`
}

// QualityAssessment rates a specification. Each score is from 0 to 1, or nil if the report lacks
// it.
type QualityAssessment struct {
	CompletenessScore  *float64 `json:"completeness_score,omitempty"`
	TestabilityScore   *float64 `json:"testability_score,omitempty"`
	ClarityScore       *float64 `json:"clarity_score,omitempty"`
	PainPointAlignment *float64 `json:"pain_point_alignment,omitempty"`
}

// ReviewFindings are the changes that a reviewer asks for.
type ReviewFindings struct {
	Recommendations []Recommendation `json:"recommendations"` // at most MaxRecommendations
}

// Recommendation is one change that a reviewer asks for. A field that the report lacks is empty.
type Recommendation struct {
	Priority       string `json:"priority"` // High, Medium or Low
	Category       string `json:"category"`
	Finding        string `json:"finding"`
	Recommendation string `json:"recommendation"`
	Location       string `json:"location"` // the place in the document
}

// ValidationResults are a reviewer's answers to the questions that decide. A missing answer means
// no.
type ValidationResults struct {
	QualityThresholdMet  bool   `json:"quality_threshold_met"`
	PainPointAligned     Degree `json:"pain_point_aligned,omitempty"`    // technical-pm's
	ArchitectureFeasible Degree `json:"architecture_feasible,omitempty"` // architecture-review's
}

// Degree says to which degree something is true, from 0 to 1. Reports give a number, or true or
// false for 1 and 0, and it is written in the same way.
type Degree float64

// MarshalJSON writes true and false for 1 and 0.
func (d Degree) MarshalJSON() ([]byte, error) {
	switch d {
	case 0:
		return []byte("false"), nil
	case 1:
		return []byte("true"), nil
	}
	return json.Marshal(float64(d))
}

// StatusSuccess is the status of a completed review. StatusFailure is the status of a review that
// failed, and of every report that can't be used.
const (
	StatusSuccess = "SUCCESS"
	StatusFailure = "FAILURE"
)

// These are the severities of a report, worst first.
const (
	SeverityCritical = "Critical"
	SeverityMajor    = "Major"
	SeverityMinor    = "Minor"
)

// These are the priorities of a recommendation, highest first.
const (
	PriorityHigh   = "High"
	PriorityMedium = "Medium"
	PriorityLow    = "Low"
)

// The reports of these agents have their own part in decisions and scores.
const (
	AgentSpecReviewer       = "spec-reviewer"
	AgentTechnicalPM        = "technical-pm"
	AgentArchitectureReview = "architecture-review"
)

// AgentUnknown is the agent of a report that can't be used.
const AgentUnknown = "unknown"

// These are the limits of a report.
const (
	// MaxBytes is some fifty times the longest report that people read.
	MaxBytes = 1 << 20
	// MaxRecommendations is some ten times as many as a document can reasonably be sent back with.
	MaxRecommendations = 500
	// MaxAgent is the limit of an agent's name, in characters, because a rationale lists names.
	MaxAgent = 100
)

// Broken reports whether the report can't be used.
func (r *Record) Broken() bool { return r.Error != "" }

// confidence returns the record's confidence, or the default.
func (r *Record) confidence() float64 {
	if r.Confidence == nil {
		return 1
	}
	return *r.Confidence
}

// severity returns the record's severity, or the default.
func (r *Record) severity() string {
	if r.Severity == "" {
		return SeverityMinor
	}
	return r.Severity
}

func (r *Record) is(severity string) bool { return strings.EqualFold(r.severity(), severity) }

// broken returns the record of a report that can't be used.
func broken(problem, recovery string) Record {
	return Record{Status: StatusFailure, Agent: AgentUnknown, Error: problem, Recovery: recovery}
}

// Failed returns the record of an agent's review that failed. It blocks.
func Failed(agent, problem, recovery string) Record {
	r := broken(problem, recovery)
	r.Agent = agent
	return r
}
