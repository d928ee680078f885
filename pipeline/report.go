package pipeline

import "time"

// Decision is the gate's answer.
type Decision string

// The four decisions, worst first.
const (
	DecisionFail             Decision = "fail"
	DecisionNeedsFixes       Decision = "needs_fixes"
	DecisionPassWithWarnings Decision = "pass_with_warnings"
	DecisionPass             Decision = "pass"
)

// Rank is 4 for fail down to 1 for pass, and 0 for anything else.
func (d Decision) Rank() int {
	switch d {
	case DecisionFail:
		return 4
	case DecisionNeedsFixes:
		return 3
	case DecisionPassWithWarnings:
		return 2
	case DecisionPass:
		return 1
	}
	return 0
}

// Blocks reports whether the decision keeps the change from being merged. An
// unknown decision blocks.
func (d Decision) Blocks() bool {
	return d != DecisionPass && d != DecisionPassWithWarnings
}

// ReviewReport is all of a review's findings put together, and the decision.
// The same facts, config and agent outputs give the same report, byte for
// byte. Other tools rely on its JSON names.
type ReviewReport struct {
	SchemaVersion     int                  `json:"schema_version"`
	Repository        string               `json:"repository"`
	Number            int                  `json:"number"`
	HeadSHA           string               `json:"head_sha"`
	ConfigVersion     string               `json:"config_version"`
	Decision          Decision             `json:"decision"`
	Gate              Gate                 `json:"gate"`
	ByHand            *ByHand              `json:"by_hand"` // nil where the gate decided
	Counts            Counts               `json:"counts"`  // by gate severity
	Findings          List[Finding]        `json:"findings"`
	ResidualConcerns  List[SourcedText]    `json:"residual_concerns"`
	DeferredQuestions List[SourcedText]    `json:"deferred_questions"`
	Suppressed        List[Suppressed]     `json:"suppressed"`
	GapLog            List[GapLogEntry]    `json:"gap_log"`
	Coverage          List[Coverage]       `json:"coverage"` // by agent, then model
	Iteration         int                  `json:"iteration"`
	Changes           Changes              `json:"changes"`
	Incomplete        List[Incompleteness] `json:"incomplete"`
	// Models is what the models' reviews come to together: nil where none took
	// part.
	Models *ModelsReport `json:"models"`
	// ReviewReports are what review reports in the change come to, by phase,
	// then place.
	ReviewReports List[ReportOutcome] `json:"review_reports"`
	// ProposedConfig says what the change to the repository's config would
	// bring, where it has Files. It is shown, and never part of the decision.
	ProposedConfig ProposedConfig `json:"proposed_config"`
}

// ReportSchemaVersion is the version written to ReviewReport.SchemaVersion.
const ReportSchemaVersion = 1

// ByHand is what a person decided in the gate's place, and what the gate says.
type ByHand struct {
	Action HandAction `json:"action"`
	By     string     `json:"by"` // login
	Reason string     `json:"reason"`
	At     time.Time  `json:"at"`
	// Gate is the decision without it, with the condition that made it.
	Gate          Decision `json:"gate_decision"`
	GateCondition string   `json:"gate_condition"`
}

// Gate is the condition that decided and every metric it could have read.
type Gate struct {
	Condition string             `json:"condition"`
	Metrics   map[string]float64 `json:"metrics"`
}

// Counts are findings by gate severity.
type Counts struct {
	Critical int `json:"critical"`
	Major    int `json:"major"`
	Warning  int `json:"warning"`
	Info     int `json:"info"`
}

// Total is the number of findings.
func (c Counts) Total() int { return c.Critical + c.Major + c.Warning + c.Info }

// Of returns the count of one severity.
func (c Counts) Of(s Severity) int {
	switch s {
	case SeverityCritical:
		return c.Critical
	case SeverityMajor:
		return c.Major
	case SeverityWarning:
		return c.Warning
	case SeverityInfo:
		return c.Info
	}
	return 0
}

// Add counts one finding of severity s.
func (c *Counts) Add(s Severity) {
	switch s {
	case SeverityCritical:
		c.Critical++
	case SeverityMajor:
		c.Major++
	case SeverityWarning:
		c.Warning++
	case SeverityInfo:
		c.Info++
	}
}

// SourcedText is a text with the agent it came from.
type SourcedText struct {
	Text   string `json:"text"`
	Source string `json:"source"`
}

// Suppressed is a finding kept out of the gate, and why.
type Suppressed struct {
	Finding Finding `json:"finding"`
	Reason  string  `json:"reason"`
}

// Coverage is one agent's part in a review. Findings = Auto + Present.
type Coverage struct {
	Agent    string      `json:"agent"`
	Model    string      `json:"model"`
	Runs     int         `json:"runs,omitempty"` // how often the model was asked, where that was more than once
	Status   AgentStatus `json:"status"`
	Findings int         `json:"findings"`
	Auto     int         `json:"auto"`
	Present  int         `json:"present"`
	Dropped  int         `json:"dropped"` // not valid
	// Shared counts findings that it made too and that stand under another's name.
	Shared int    `json:"shared"`
	Note   string `json:"note"`
}

// Changes compares a report with the last one of another head of the same
// pull request. Resolved holds that report's findings that are gone.
type Changes struct {
	PreviousReport string        `json:"previous_report"` // its head SHA, empty for the first
	New            int           `json:"new"`
	Open           int           `json:"open"`
	Resolved       List[Finding] `json:"resolved"`
	// Unconfirmed are findings of that report, or unconfirmed in it, that this
	// one has not and that may still be there: an agent that made them did not
	// finish, did not look at their file, or is too unsure of them now. They are
	// no part of the decision. At most MaxUnconfirmed.
	Unconfirmed List[Finding] `json:"unconfirmed"`
	// NotRaised are findings of models in that report that were no reason to block, and that
	// no model raised again although nothing about them has changed.
	NotRaised List[Finding] `json:"not_raised,omitempty"`
	// Fixed remembers the fingerprints of findings that are gone, and the head
	// that was the first without each, newest first: by them a finding that is
	// brought back is known. At most MaxFixed.
	Fixed List[FixedFinding] `json:"fixed"`
}

// AsPrevious is what a later review needs to know of a report.
func (r *ReviewReport) AsPrevious() *PreviousReport {
	return &PreviousReport{
		HeadSHA: r.HeadSHA, Findings: r.Findings, Suppressed: r.Suppressed,
		Unconfirmed: r.Changes.Unconfirmed, Fixed: r.Changes.Fixed, Iteration: r.Iteration,
	}
}

// MaxFixed and MaxUnconfirmed bound how many findings a pull request's reports
// remember.
const (
	MaxFixed       = 1000
	MaxUnconfirmed = 1000
)

// FixedFinding is a fingerprint that an earlier report had.
type FixedFinding struct {
	Fingerprint string `json:"fingerprint"`
	HeadSHA     string `json:"head_sha"` // the first without it
	Path        string `json:"path"`     // the oldest known of its file, empty where it had none
}

// PreviousReport is what aggregate needs to know of the last report of
// another head: nil for the first review.
type PreviousReport struct {
	HeadSHA     string             `json:"head_sha"`
	Findings    List[Finding]      `json:"findings"`
	Suppressed  List[Suppressed]   `json:"suppressed"`
	Unconfirmed List[Finding]      `json:"unconfirmed"` // of its Changes
	Fixed       List[FixedFinding] `json:"fixed"`       // of its Changes
	Iteration   int                `json:"iteration"`
}
