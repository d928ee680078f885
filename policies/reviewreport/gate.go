package reviewreport

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// Report is a review report with its source.
type Report struct {
	Source string // the file or comment, as people know it
	Path   string // in the repository; empty for a comment
	Record Record
	Digest string // SHA-256 of the whole text, in hex
}

// Read reads a report.
func Read(source, path string, markdown []byte) Report {
	sum := sha256.Sum256(markdown)
	return Report{Source: source, Path: path, Record: Extract(markdown), Digest: hex.EncodeToString(sum[:])}
}

// Thresholds are the limits that reports must meet. A score equal to its threshold meets it.
type Thresholds struct {
	CompletenessScore float64 `json:"completeness_score"` // of spec-reviewers
	TestabilityScore  float64 `json:"testability_score"`  // of spec-reviewers
	ClarityScore      float64 `json:"clarity_score"`      // of spec-reviewers
	ConfidenceLevel   float64 `json:"confidence_level"`
	MaxCriticalIssues int     `json:"max_critical_issues"` // reports of severity Critical
	MaxMajorIssues    int     `json:"max_major_issues"`    // reports of severity Major
}

// passed is the rationale if no rule blocks.
const passed = "All reviews passed quality gates"

// ruling is the gate's decision, and the index of the first report that blocks, or -1.
type ruling struct {
	proceed   bool
	rationale string
	culprit   int
	missing   string // the mandatory reviewer, if only its report is missing
}

// rule returns why the reports may not proceed, and the first report that blocks. If the rationale
// is empty, they may.
type rule func(reports []Report, t Thresholds) (rationale string, culprit int)

// These are the rules of each phase. The first rule that blocks decides.
var (
	specRules = []rule{
		failures,
		criticalIssues,
		lowConfidence,
		completenessAndTestability,
		clarity,
		majorIssues,
		alignmentGiven, // only reports that the rules above could judge may pass
	}
	planRules = []rule{
		failures,
		criticalIssues,
		lowConfidence,
		feasible,
	}
)

// rulesOf returns the rules of a phase. Every phase except that of the plan has the rules of the
// specification, which are more.
func rulesOf(phase string) []rule {
	if phase == pipeline.PhasePlan {
		return planRules
	}
	return specRules
}

// Alone reports whether a report by itself would block, and why. Other reports, and missing ones,
// don't matter.
func Alone(phase string, r *Report, t Thresholds) (rationale string, blocks bool) {
	for _, rule := range rulesOf(phase) {
		if rationale, _ := rule([]Report{*r}, t); rationale != "" {
			return rationale, true
		}
	}
	return "", false
}

// decide applies the rules of a phase to the reports. If no rule blocks, the mandatory review must
// still be among the reports.
func decide(phase string, reports []Report, t Thresholds) ruling {
	for _, blocks := range rulesOf(phase) {
		if rationale, culprit := blocks(reports, t); rationale != "" {
			return ruling{rationale: rationale, culprit: culprit}
		}
	}
	mandatory := AgentSpecReviewer
	if phase == pipeline.PhasePlan {
		mandatory = AgentArchitectureReview
	}
	if firstOf(reports, mandatory) == nil {
		return ruling{rationale: "Mandatory review missing: " + mandatory, culprit: -1, missing: mandatory}
	}
	if phase == pipeline.PhasePlan {
		return ruling{proceed: true, rationale: feasibleSummary(reports), culprit: -1}
	}
	return ruling{proceed: true, rationale: passed, culprit: -1}
}

func failures(reports []Report, _ Thresholds) (string, int) {
	return from("Review failures: ", reports, 0, func(r *Record) bool { return r.Status != StatusSuccess })
}

func criticalIssues(reports []Report, t Thresholds) (string, int) {
	return from("Critical issues from: ", reports, t.MaxCriticalIssues, func(r *Record) bool { return r.is(SeverityCritical) })
}

func lowConfidence(reports []Report, t Thresholds) (string, int) {
	return from("Low confidence from: ", reports, 0, func(r *Record) bool { return r.confidence() < t.ConfidenceLevel })
}

func majorIssues(reports []Report, t Thresholds) (string, int) {
	return from("Major issues from: ", reports, t.MaxMajorIssues, func(r *Record) bool { return r.is(SeverityMajor) })
}

// from blocks if more than limit reports are of a kind, and names the agents of all of them.
func from(words string, reports []Report, limit int, kind func(*Record) bool) (string, int) {
	var agents []string
	culprit := -1
	for i := range reports {
		if r := &reports[i].Record; kind(r) {
			agents = append(agents, r.Agent)
			if culprit < 0 {
				culprit = i
			}
		}
	}
	if len(agents) <= limit {
		return "", -1
	}
	return words + strings.Join(agents, ", "), culprit
}

func completenessAndTestability(reports []Report, t Thresholds) (string, int) {
	return below(reports,
		score{"Completeness", func(q *QualityAssessment) *float64 { return q.CompletenessScore }, t.CompletenessScore},
		score{"Testability", func(q *QualityAssessment) *float64 { return q.TestabilityScore }, t.TestabilityScore})
}

func clarity(reports []Report, t Thresholds) (string, int) {
	return below(reports, score{"Clarity", func(q *QualityAssessment) *float64 { return q.ClarityScore }, t.ClarityScore})
}

// alignmentGiven blocks a report without the one score that has no threshold.
func alignmentGiven(reports []Report, _ Thresholds) (string, int) {
	return below(reports, score{"Pain point alignment", func(q *QualityAssessment) *float64 { return q.PainPointAlignment }, 0})
}

type score struct {
	name      string
	of        func(*QualityAssessment) *float64
	threshold float64
}

// below blocks if a score of a spec-reviewer is below its threshold or missing.
func below(reports []Report, scores ...score) (string, int) {
	for i := range reports {
		r := &reports[i].Record
		if r.Agent != AgentSpecReviewer {
			continue
		}
		for _, s := range scores {
			value := s.of(r.assessment())
			switch {
			case value == nil:
				return s.name + " score missing from: " + r.Agent, i
			case *value < s.threshold:
				return s.name + " score below threshold (" + strconv.FormatFloat(s.threshold, 'f', -1, 64) + ")", i
			}
		}
	}
	return "", -1
}

// assessment returns the record's own assessment, or one without scores.
func (r *Record) assessment() *QualityAssessment {
	if q := r.SuccessEvidence.QualityAssessment; q != nil {
		return q
	}
	return &QualityAssessment{}
}

// notFeasible is the reason why a plan can't continue if its reviewer gives no other.
const notFeasible = "Architecture is not feasible"

// feasible blocks if an architecture-review says that the architecture is not feasible. The reason
// is in the words of the first one that says so.
func feasible(reports []Report, _ Thresholds) (string, int) {
	for i := range reports {
		r := &reports[i].Record
		if r.Agent == AgentArchitectureReview && r.SuccessEvidence.ValidationResults.ArchitectureFeasible == 0 {
			return summary(r, notFeasible), i
		}
	}
	return "", -1
}

func feasibleSummary(reports []Report) string {
	return summary(firstOf(reports, AgentArchitectureReview), "Architecture is feasible")
}

// summary returns a report's own summary, or other words if it is empty.
func summary(r *Record, other string) string {
	if strings.TrimSpace(r.Summary) == "" {
		return other
	}
	return r.Summary
}

// firstOf returns the first report of an agent, or nil.
func firstOf(reports []Report, agent string) *Record {
	for i := range reports {
		if reports[i].Record.Agent == agent {
			return &reports[i].Record
		}
	}
	return nil
}
