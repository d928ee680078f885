package reviewreport

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// A written record is read back unchanged, with any words, and is one block in Markdown.
func TestWriteReadsBack(t *testing.T) {
	words := rapid.OneOf(
		rapid.String(),
		rapid.SampledFrom([]string{"```\n", "\n```json\n{}\n```\n", Heading, "\n" + Heading + "\n", "-->", "<!-- reviewgate:report -->", "@alice #1", "\u202e\u200b\x00\x1b[2J\u2028", "a\r\nb", "\\u0041", "\U000e0041"}),
	)
	agent := rapid.StringMatching("[a-z][a-z-]{0,19}")
	score := rapid.Ptr(rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(1e-300, 1)), true)
	sample.Check(t, func(t *rapid.T) {
		want := Record{
			Status:              rapid.SampledFrom([]string{StatusSuccess, StatusFailure}).Draw(t, "status"),
			Agent:               agent.Draw(t, "agent"),
			TaskID:              words.Draw(t, "task"),
			OperationType:       words.Draw(t, "operation"),
			Summary:             words.Draw(t, "summary"),
			ValidationChecklist: map[string]any{words.Draw(t, "check"): rapid.Bool().Draw(t, "checked")},
			Confidence:          score.Draw(t, "confidence"),
			Severity:            rapid.SampledFrom([]string{"", SeverityCritical, "odd"}).Draw(t, "severity"),
			ExecutionTimestamp:  words.Draw(t, "time"),
		}
		e := &want.SuccessEvidence
		if rapid.Bool().Draw(t, "assessed") {
			e.QualityAssessment = &QualityAssessment{score.Draw(t, "completeness"), score.Draw(t, "testability"), score.Draw(t, "clarity"), score.Draw(t, "alignment")}
		}
		e.ReviewFindings.Recommendations = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Recommendation {
			return Recommendation{words.Draw(t, "priority"), words.Draw(t, "category"), words.Draw(t, "finding"), words.Draw(t, "change"), words.Draw(t, "location")}
		}), 0, 3).Draw(t, "recommendations")
		e.ValidationResults = ValidationResults{rapid.Bool().Draw(t, "met"), rapid.SampledFrom([]Degree{0, 0.25, 1}).Draw(t, "aligned"), rapid.SampledFrom([]Degree{0, 0.8, 1}).Draw(t, "feasible")}

		text := Write(&want)
		if n := strings.Count(text, "`"); n != 6 {
			t.Fatalf("%d backticks in\n%s", n, text)
		}
		if strings.ContainsAny(text, "<@\r\x00\x1b\u202e\u200b\u2028") {
			t.Fatalf("the section contains more than text:\n%q", text)
		}
		before, after := words.Draw(t, "before"), words.Draw(t, "after")
		if strings.Contains(before, "```") || strings.Contains(before, Heading) || strings.Contains(before, "<!--") {
			before = ""
		}
		got := Extract([]byte(before + "\n\n" + text + "\n" + after))
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("(-written +read):\n%s\n%s", diff, text)
		}
	})
}

// The section of reviewgate's own comment has the outcome of its review.
// The task of a review is its head. Uncommitted changes have none.
func TestFromReviewNamesItsTask(t *testing.T) {
	for head, want := range map[string]string{"abc1234": "review-abc1234", "": "review-of-uncommitted-changes"} {
		if got := FromReview(&pipeline.Report{HeadSHA: head}, "One line.", "").TaskID; got != want {
			t.Errorf("head %q: task %q, want %q", head, got, want)
		}
	}
}

func TestFromReview(t *testing.T) {
	review := func(decision pipeline.Decision, findings ...pipeline.Severity) *pipeline.Report {
		r := &pipeline.Report{HeadSHA: "a1b2c3", Decision: decision}
		for _, s := range findings {
			r.Counts.Add(s)
			r.Findings = append(r.Findings, pipeline.Finding{Title: "Title", GateSeverity: s, Path: "a.go", StartLine: 7})
		}
		return r
	}
	models := review(pipeline.DecisionPass)
	models.Models = &pipeline.ModelsReport{Confidence: 0.4}
	incomplete := review(pipeline.DecisionNeedsFixes)
	incomplete.Incomplete = pipeline.List[pipeline.Incompleteness]{{}}
	tests := []struct {
		name       string
		report     *pipeline.Report
		status     string
		severity   string
		confidence float64
	}{
		{"nothing", review(pipeline.DecisionPass), StatusSuccess, SeverityMinor, 1},
		{"info", review(pipeline.DecisionPass, pipeline.SeverityInfo), StatusSuccess, SeverityMinor, 1},
		{"warnings", review(pipeline.DecisionPassWithWarnings, pipeline.SeverityWarning), StatusSuccess, SeverityMinor, 1},
		{"major", review(pipeline.DecisionNeedsFixes, pipeline.SeverityMajor, pipeline.SeverityWarning), StatusFailure, SeverityMajor, 1},
		{"major that passes", review(pipeline.DecisionPass, pipeline.SeverityMajor), StatusSuccess, SeverityMajor, 1},
		{"critical", review(pipeline.DecisionFail, pipeline.SeverityCritical, pipeline.SeverityMajor), StatusFailure, SeverityCritical, 1},
		{"critical that passes", review(pipeline.DecisionPass, pipeline.SeverityCritical), StatusSuccess, SeverityCritical, 1},
		{"unsure models", models, StatusSuccess, SeverityMinor, 0.4},
		{"incomplete", incomplete, StatusFailure, SeverityMinor, 1},
		{"no decision", review(""), StatusFailure, SeverityMinor, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := FromReview(test.report, "One line.", "2026-11-21T14:00:00Z")
			read := Extract([]byte(Write(&r)))
			if read.Agent != "reviewgate" || read.Status != test.status || read.Severity != test.severity || read.confidence() != test.confidence {
				t.Errorf("%s, %s, %s, %v", read.Agent, read.Status, read.Severity, read.confidence())
			}
			if got := read.SuccessEvidence.ValidationResults.QualityThresholdMet; got != (test.status == StatusSuccess) {
				t.Errorf("quality threshold met: %v", got)
			}
			if got := len(read.SuccessEvidence.ReviewFindings.Recommendations); got != test.report.Counts.Total() {
				t.Errorf("%d recommendations", got)
			}
		})
	}
}

// The section leaves space in the comment, however many findings a review has.
func TestFromReviewIsShort(t *testing.T) {
	long := strings.Repeat("\u202e<", 10_000)
	r := &pipeline.Report{HeadSHA: "a1b2c3", Decision: pipeline.DecisionFail}
	for range 500 {
		r.Findings = append(r.Findings, pipeline.Finding{Title: long, Category: long, Recommendation: long, Path: strings.Repeat("p/", 2000), GateSeverity: pipeline.SeverityMajor})
	}
	record := FromReview(r, long, "2026-11-21T14:00:00Z")
	if n := utf8.RuneCountInString(Write(&record)); n > MaxReviewSection {
		t.Errorf("the section has %d characters", n)
	}
	if len(record.SuccessEvidence.ReviewFindings.Recommendations) == 0 {
		t.Error("the section has no recommendations")
	}
}

func TestReviewedLocations(t *testing.T) {
	for want, f := range map[string]pipeline.Finding{
		"a.go:1": {Path: "a.go", StartLine: 1, Section: "Goals"},
		"a.go":   {Path: "a.go"},
		"Goals":  {Section: "Goals"},
	} {
		r := FromReview(&pipeline.Report{Findings: pipeline.List[pipeline.Finding]{f}}, "", "")
		if got := r.SuccessEvidence.ReviewFindings.Recommendations[0].Location; got != want {
			t.Errorf("location %q, want %q", got, want)
		}
	}
}
