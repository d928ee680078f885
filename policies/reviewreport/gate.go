package reviewreport

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// Report is a review report and where it came from.
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

// Thresholds are what reports have to reach. A score equal to its threshold
// reaches it.
type Thresholds struct {
	CompletenessScore float64 `json:"completeness_score"` // of spec-reviewers
	TestabilityScore  float64 `json:"testability_score"`  // of spec-reviewers
	ClarityScore      float64 `json:"clarity_score"`      // of spec-reviewers
	ConfidenceLevel   float64 `json:"confidence_level"`
	MaxCriticalIssues int     `json:"max_critical_issues"` // reports of severity Critical
	MaxMajorIssues    int     `json:"max_major_issues"`    // reports of severity Major
}

// passed is the rationale of reports that no rule blocks.
const passed = "All reviews passed quality gates"

// ruling is what the gate says, and the index of the report that it is about:
// the first of those that block, or -1.
type ruling struct {
	proceed   bool
	rationale string
	culprit   int
	missing   string // the mandatory reviewer, if that is what blocks
}

// rule returns why reports may not proceed, and the first report that blocks.
// An empty rationale lets them.
type rule func(reports []Report, t Thresholds) (rationale string, culprit int)

// The rules of each phase. The first that blocks decides.
var (
	specRules = []rule{
		failures,
		criticalIssues,
		lowConfidence,
		completenessAndTestability,
		clarity,
		majorIssues,
		alignmentGiven, // lets only pass what the rules above could judge
	}
	planRules = []rule{
		failures,
		criticalIssues,
		lowConfidence,
		feasible,
	}
)

// rulesOf are the rules of a phase. Any phase but the plan's is the specification's,
// which has more rules.
func rulesOf(phase string) []rule {
	if phase == pipeline.PhasePlan {
		return planRules
	}
	return specRules
}

// Alone reports whether a report by itself would block, and why: what other reports
// say, and which are missing, has no say in it.
func Alone(phase string, r *Report, t Thresholds) (rationale string, blocks bool) {
	for _, rule := range rulesOf(phase) {
		if rationale, _ := rule([]Report{*r}, t); rationale != "" {
			return rationale, true
		}
	}
	return "", false
}

// decide puts reports through the rules of a phase. Whatever they let pass, the mandatory
// review has to be among them.
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

// from blocks where more than limit reports are of a kind, and names the agents
// of them all.
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

// below blocks where a spec-reviewer's score is below its threshold, or is not
// there to be compared.
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

// assessment is the record's own, or one without scores.
func (r *Record) assessment() *QualityAssessment {
	if q := r.SuccessEvidence.QualityAssessment; q != nil {
		return q
	}
	return &QualityAssessment{}
}

// notFeasible is why a plan can't go on where its reviewer says nothing else.
const notFeasible = "Architecture is not feasible"

// feasible lets pass what every architecture-review holds to be feasible, in
// the words of the first that doesn't.
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

// summary is a report's own, or other words where it says nothing.
func summary(r *Record, other string) string {
	if strings.TrimSpace(r.Summary) == "" {
		return other
	}
	return r.Summary
}

// firstOf is the first report of an agent, or nil.
func firstOf(reports []Report, agent string) *Record {
	for i := range reports {
		if reports[i].Record.Agent == agent {
			return &reports[i].Record
		}
	}
	return nil
}
