package pipeline

import (
	"slices"
	"time"
)

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
	return 1 + slices.Index([]Decision{DecisionPass, DecisionPassWithWarnings, DecisionNeedsFixes, DecisionFail}, d)
}

// Blocks reports whether the decision keeps the change from being merged. An unknown decision
// blocks.
func (d Decision) Blocks() bool {
	return d != DecisionPass && d != DecisionPassWithWarnings
}

// Report combines all of a review's findings with the decision (ReviewReport in the schemas). The
// same facts, config and agent outputs give the same report, byte for byte. Other tools rely on its
// JSON names.
type Report struct {
	SchemaVersion     int                  `json:"schema_version"`
	Repository        string               `json:"repository"`
	Number            int                  `json:"number"`
	HeadSHA           string               `json:"head_sha"`
	ConfigVersion     string               `json:"config_version"`
	Decision          Decision             `json:"decision"`
	Gate              Gate                 `json:"gate"`
	ByHand            *ByHand              `json:"by_hand"` // nil if the gate decided
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
	// Models summarises the models' reviews. It is nil if no model took part.
	Models *ModelsReport `json:"models"`
	// ReviewReports are the outcomes of review reports in the change, by phase, then place.
	ReviewReports List[ReviewReportOutcome] `json:"review_reports"`
	// ProposedConfig says what the change to the repository's config would do, if it has Files. It
	// is only shown, and does not affect the decision.
	ProposedConfig ProposedConfig `json:"proposed_config"`
	// Evaluation is what rules, policies and agents in evaluation found. It affects nothing else in
	// the report. It is nil if none of them looked at the change.
	Evaluation *Evaluation `json:"evaluation,omitempty"`
	// Session is the state of the session of coding agents. It is nil for a pull request without one.
	Session *SessionReport `json:"session,omitempty"`
	// Memory is what records of memory did to findings, by record, then finding. It is left out if
	// they did nothing.
	Memory List[MemoryUse] `json:"memory,omitempty"`
	// Probation lists the rules that reviewgate put in evaluation automatically, sorted.
	Probation List[string] `json:"probation,omitempty"`
}

// MemoryUse is what a record of memory did to a finding. If several records match a finding, each
// has a MemoryUse, up to MaxMemoryUses.
type MemoryUse struct {
	Record  string       `json:"record"`
	Finding string       `json:"finding"` // its id
	Effect  MemoryEffect `json:"effect"`
}

// MaxMemoryUses bounds the records that a report names for one finding.
const MaxMemoryUses = 10

// MemoryEffect is the effect of a record of memory.
type MemoryEffect string

// The effects: the finding is suppressed; it is shown with less confidence; or it counts in full,
// because it blocks or something that blocks depends on it.
const (
	MemoryHidden      MemoryEffect = "hidden"
	MemoryDoubted     MemoryEffect = "doubted"
	MemoryJudgedWrong MemoryEffect = "judged_wrong_before"
)

// ReportSchemaVersion is the version written to Report.SchemaVersion.
const ReportSchemaVersion = 1

// ByHand is a person's decision instead of the gate's, with what the gate says.
type ByHand struct {
	Action HandAction `json:"action"`
	By     string     `json:"by"` // login
	Reason string     `json:"reason"`
	At     time.Time  `json:"at"`
	// Gate is the decision without the person's, with its condition.
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

// Suppressed is a finding that does not count in the gate, and why.
type Suppressed struct {
	Finding Finding `json:"finding"`
	Reason  string  `json:"reason"`
}

// ReasonHidden begins the reason of a finding that memory suppressed. The id of the record follows,
// then a colon and the record's reason, if it has one.
const ReasonHidden = "hidden by "

// Coverage is one agent's part in a review. Findings = Auto + Present.
type Coverage struct {
	Agent    string      `json:"agent"`
	Model    string      `json:"model"`
	Runs     int         `json:"runs,omitempty"` // how often the model was asked, if more than once
	Status   AgentStatus `json:"status"`
	Findings int         `json:"findings"`
	Auto     int         `json:"auto"`
	Present  int         `json:"present"`
	Dropped  int         `json:"dropped"` // invalid
	// Shared counts findings that it also made and that are attributed to another.
	Shared int    `json:"shared"`
	Note   string `json:"note"`
	// WithoutRule and Unlisted are those of the agent's result; see AgentResult.
	WithoutRule int `json:"without_rule,omitempty"`
	Unlisted    int `json:"unlisted,omitempty"`
}

// Changes compares a report with the last one of another head of the same pull request. Resolved
// holds that report's findings that are gone.
type Changes struct {
	PreviousReport string        `json:"previous_report"` // its head SHA, or empty for the first
	New            int           `json:"new"`
	Open           int           `json:"open"`
	Resolved       List[Finding] `json:"resolved"`
	// Unconfirmed are findings of the last report, or unconfirmed in it, that this report does not
	// have but that may still be there: an agent that made them did not finish, did not look at
	// their file, or is now too unsure of them. They don't affect the decision. There are at most
	// MaxUnconfirmed.
	Unconfirmed List[Finding] `json:"unconfirmed"`
	// NotRaised are models' findings of the last report that did not block, and that no model
	// raised again although nothing about them has changed.
	NotRaised List[Finding] `json:"not_raised,omitempty"`
	// Fixed are the fingerprints of findings that are gone, each with the first head without it,
	// newest first. They show when a finding comes back. There are at most MaxFixed.
	Fixed List[FixedFinding] `json:"fixed"`
}

// AsPrevious is the part of a report that a later review needs.
func (r *Report) AsPrevious() *PreviousReport {
	return &PreviousReport{
		HeadSHA: r.HeadSHA, Findings: r.Findings, Suppressed: r.Suppressed,
		Unconfirmed: r.Changes.Unconfirmed, Fixed: r.Changes.Fixed, Iteration: r.Iteration,
		Evaluated: r.Evaluation.last(),
	}
}

// MaxFixed and MaxUnconfirmed bound how many findings a pull request's reports remember.
const (
	MaxFixed       = 1000
	MaxUnconfirmed = 1000
)

// FixedFinding is a fingerprint of an earlier report.
type FixedFinding struct {
	Fingerprint string `json:"fingerprint"`
	HeadSHA     string `json:"head_sha"` // the first head without it
	Path        string `json:"path"`     // the oldest known path of its file, or empty
}

// PreviousReport is the part of the last report of another head that aggregate needs. It is nil for
// the first review.
type PreviousReport struct {
	HeadSHA     string             `json:"head_sha"`
	Findings    List[Finding]      `json:"findings"`
	Suppressed  List[Suppressed]   `json:"suppressed"`
	Unconfirmed List[Finding]      `json:"unconfirmed"` // from its Changes
	Fixed       List[FixedFinding] `json:"fixed"`       // from its Changes
	Iteration   int                `json:"iteration"`
	// Evaluated are the findings of its Evaluation, and those that were unconfirmed there.
	Evaluated List[Finding] `json:"evaluated,omitempty"`
}
