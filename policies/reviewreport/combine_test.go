package reviewreport

import (
	"slices"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
)

// opinion returns the report of a model as the spec-reviewer.
func opinion(model, severity string, confidence float64, locations ...string) Opinion {
	score := 0.9
	r := Record{
		Status: StatusSuccess, Agent: AgentSpecReviewer, OperationType: "spec_quality_review", Summary: model + " says so.", Severity: severity, Confidence: &confidence,
		SuccessEvidence: Evidence{
			QualityAssessment: &QualityAssessment{&score, &score, &score, &score},
			ValidationResults: ValidationResults{QualityThresholdMet: severity != SeverityCritical},
		},
	}
	for _, l := range locations {
		r.SuccessEvidence.ReviewFindings.Recommendations = append(r.SuccessEvidence.ReviewFindings.Recommendations, Recommendation{Priority: PriorityHigh, Finding: "f", Location: l})
	}
	return Opinion{model, Report{Source: model, Path: "SPEC.md", Record: r}}
}

func TestCombine(t *testing.T) {
	failed := Opinion{"failed", Report{Source: "failed", Record: Failed("spec-reviewer", "malformed answer", "Ask again")}}
	for name, tt := range map[string]struct {
		opinions  []Opinion
		proceed   bool
		readiness pipeline.Readiness
		source    string // of the chosen report
		words     string // part of its summary or error
	}{
		"both pass":                   {[]Opinion{opinion("small", "Minor", 0.9, "a"), opinion("big", "Minor", 0.9, "b")}, true, pipeline.Ready, "big", "big says so."},
		"both block":                  {[]Opinion{opinion("small", "Critical", 0.9, "a"), opinion("big", "Minor", 0.5, "b")}, false, pipeline.NotReady, "small", "small says so."},
		"the stronger blocks alone":   {[]Opinion{opinion("small", "Minor", 0.9, "a"), opinion("big", "Minor", 0.6, "b")}, true, pipeline.Conditional, "small", "small says so. One model objects: big (Low confidence from: spec-reviewer: big says so.)."},
		"one is critical alone":       {[]Opinion{opinion("small", "Minor", 0.9, "a"), opinion("big", "Critical", 0.9, "b")}, false, pipeline.NotReady, "big", "big says so."},
		"the weaker blocks alone":     {[]Opinion{opinion("small", "Minor", 0.6, "a"), opinion("big", "Minor", 0.9, "b")}, true, pipeline.Conditional, "big", "small (Low confidence from: spec-reviewer: small says so.)"},
		"one failed, the other not":   {[]Opinion{failed, opinion("big", "Minor", 0.9, "a", "b")}, false, pipeline.Conditional, "failed", "malformed answer"},
		"one failed, the other block": {[]Opinion{opinion("small", "Major", 0.2, "a", "b"), failed}, false, pipeline.Conditional, "failed", "malformed answer"},
		"the only one blocks":         {[]Opinion{opinion("small", "Critical", 0.9, "a", "b")}, false, pipeline.NotReady, "small", "small says so."},
	} {
		t.Run(name, func(t *testing.T) {
			by, _ := ReviewerOf(AgentSpecReviewer)
			th := Thresholds{CompletenessScore: 0.7, TestabilityScore: 0.7, ClarityScore: 0.6, ConfidenceLevel: 0.7, MaxMajorIssues: 3}
			before := len(tt.opinions[0].Report.Record.SuccessEvidence.ReviewFindings.Recommendations)
			combined, note := Combine(&by, tt.opinions, th)
			o := Aggregate(pipeline.PhaseSpec, []Report{combined}, th)
			if o.Proceed != tt.proceed || o.Readiness != tt.readiness || combined.Source != tt.source || !strings.Contains(combined.Record.Summary+combined.Record.Error, tt.words) {
				t.Errorf("proceed %t, %s, by %s: %s", o.Proceed, o.Readiness, combined.Source, combined.Record.Summary)
			}
			if len(o.Recommendations) != 2 {
				t.Errorf("recommendations %+v", o.Recommendations)
			}
			split := tt.proceed && slices.ContainsFunc(tt.opinions, func(o Opinion) bool {
				_, blocks := Alone(by.Phase, &o.Report, th)
				return blocks
			})
			if (note != "") != split {
				t.Errorf("note %q", note)
			}
			if n := len(tt.opinions[0].Report.Record.SuccessEvidence.ReviewFindings.Recommendations); n != before {
				t.Errorf("Combine changed the first opinion, which has %d recommendations now", n)
			}
		})
	}
}

// If no model answered, work can't continue.
func TestCombineNone(t *testing.T) {
	by, _ := ReviewerOf(AgentSpecReviewer)
	combined, note := Combine(&by, nil, Thresholds{})
	if o := Aggregate(pipeline.PhaseSpec, []Report{combined}, Thresholds{}); o.Proceed || len(o.Errors) != 1 || note != "" {
		t.Errorf("%+v, note %q", o, note)
	}
}

// Alone judges a report by itself, without regard to missing reports.
func TestAlone(t *testing.T) {
	th := Thresholds{CompletenessScore: 0.95, TestabilityScore: 0.7, ClarityScore: 0.6, ConfidenceLevel: 0.7}
	fine := opinion("m", "Minor", 0.9)
	if why, blocks := Alone(pipeline.PhaseSpec, &fine.Report, th); !blocks || why != "Completeness score below threshold (0.95)" {
		t.Errorf("%t: %s", blocks, why)
	}
	pm := Report{Record: Record{Status: StatusSuccess, Agent: AgentTechnicalPM}}
	if why, blocks := Alone(pipeline.PhaseSpec, &pm, th); blocks {
		t.Errorf("it blocks because there is no spec-reviewer: %s", why)
	}
	plan := Report{Record: Record{Status: StatusSuccess, Agent: AgentArchitectureReview, Summary: "Too slow"}}
	if why, blocks := Alone(pipeline.PhasePlan, &plan, th); !blocks || why != "Too slow" {
		t.Errorf("%t: %s", blocks, why)
	}
}

// A model's report in a pull request gives warnings at most for its recommendations, and one
// finding with the reviewer's own title if it blocks.
func TestFindingsAlone(t *testing.T) {
	th := Thresholds{ConfidenceLevel: 0.7, MaxMajorIssues: 3}
	by, _ := ReviewerOf(AgentSpecReviewer)
	critical := opinion("m", "Critical", 0.9, "Requirement 3")
	list := FindingsAlone(&by, &critical.Report, th)
	if len(list) != 2 || list[0].Title != by.Blocks || list[0].Severity != pipeline.SeverityCritical || list[0].Path != "SPEC.md" ||
		list[0].Message != "Critical issues from: spec-reviewer." || list[0].WhyItMatters != "m says so." {
		t.Errorf("%+v", list)
	}
	if list[1].Severity != pipeline.SeverityWarning || list[1].Section != "Requirement 3" || len(list[1].Evidence) > 0 {
		t.Errorf("%+v", list[1])
	}
	plan, _ := ReviewerOf(AgentArchitectureReview)
	r := Report{Path: "PLAN.md", Record: Record{Status: StatusSuccess, Agent: AgentArchitectureReview, Summary: "It is impossible."}}
	if list := FindingsAlone(&plan, &r, th); len(list) != 1 || list[0].Message != "Architecture is not feasible." || list[0].Severity != pipeline.SeverityMajor {
		t.Errorf("%+v", list)
	}
	fine := opinion("m", "Minor", 0.9)
	if list := FindingsAlone(&by, &fine.Report, Thresholds{}); len(list) != 0 {
		t.Errorf("a report that does not block has %+v", list)
	}
}
