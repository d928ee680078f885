package render

import (
	"slices"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
)

// A comment says for each document whether work may go on, why, its scores, and what to do
// next.
func TestReviewReports(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(o *pipeline.ReviewReportOutcome)
		want   []string
		not    string
	}{
		"proceed": {func(*pipeline.ReviewReportOutcome) {}, []string{
			"**Specification: proceed** · [`docs/01-planning/specifications/007-refunds/review`](https://github.example/acme/shop/tree/" + headSHA + "/docs/01-planning/specifications/007-refunds/review) · spec-reviewer, technical-pm\n",
			"All reviews passed quality gates.\n",
			"Readiness: CONDITIONAL · grade B (0.84): spec quality 0.98, business alignment 1.0, technical feasibility N/A\n",
			"<summary>The first 5 of 7 recommendations</summary>", "- FR-005 says nothing of partial refunds.",
			"Next: go on to the plan, with caution: not every reviewer holds it ready.\n",
		}, "FR-006"},
		"ready":  {func(o *pipeline.ReviewReportOutcome) { o.Readiness = pipeline.Ready }, []string{"Readiness: READY ·", "Next: go on to the plan.\n"}, ""},
		"a plan": {func(o *pipeline.ReviewReportOutcome) { o.Phase = pipeline.PhasePlan }, []string{"**Plan: proceed**", "Next: go on to the tasks, with"}, ""},
		"blocked": {func(o *pipeline.ReviewReportOutcome) {
			o.Proceed, o.Rationale = false, "Critical issues from: spec-reviewer"
		}, []string{"**Specification: blocked**", "\nCritical issues from: spec-reviewer.\n", "Next: change the specification by what is said here, and have it reviewed again.\n"}, "go on"},
		"no spec-reviewer": {func(o *pipeline.ReviewReportOutcome) {
			o.QualityScores = pipeline.QualityScores{Error: "No spec-reviewer found"}
		}, []string{"· no score (No spec-reviewer found)\n"}, "grade"},
		"broken": {func(o *pipeline.ReviewReportOutcome) {
			o.Proceed, o.Errors = false, pipeline.List[pipeline.ReviewReportError]{{Source: "a-report.md", Error: "no section", Recovery: "Add it"}}
		}, []string{"- Can't be used: `a-report.md`: no section. Add it.\n", "Next: repair the report that can't be used; then change"}, ""},
		"in comments":        {func(o *pipeline.ReviewReportOutcome) { o.Place = pipeline.ReviewReportsInComments }, []string{"proceed** · in comments · spec"}, ""},
		"no recommendations": {func(o *pipeline.ReviewReportOutcome) { o.Recommendations = nil }, nil, "ecommendation</summary>"},
		"one recommendation": {func(o *pipeline.ReviewReportOutcome) { o.Recommendations = o.Recommendations[:1] }, []string{"<summary>1 recommendation</summary>"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			v := reportsView()
			o := &v.Review.Report.ReviewReports[1]
			v.Review.Report.ReviewReports = v.Review.Report.ReviewReports[1:]
			tt.change(o)
			comment := Comment(v).Body
			for _, words := range tt.want {
				if !strings.Contains(comment, words) {
					t.Errorf("the comment lacks %q:\n%s", words, comment)
				}
			}
			if tt.not != "" && strings.Contains(comment, tt.not) {
				t.Errorf("the comment has %q:\n%s", tt.not, comment)
			}
			check, _, _ := strings.Cut(Check(v).Text, machineStart)
			plain := Text(v, TextOptions{Width: 10_000})
			for _, text := range []string{check, plain} {
				if !strings.Contains(text, "Review reports") || strings.Contains(text, "<summary>") || !strings.Contains(text, strings.TrimSpace(o.Rationale)) {
					t.Errorf("the text lacks the reports:\n%s", text)
				}
			}
		})
	}
}

// If findings do not fit, the review reports keep their outcome and leave out their
// recommendations.
func TestShortReviewReports(t *testing.T) {
	v := overflowView(4000)
	v.Review.Report.ReviewReports = reportsView().Review.Report.ReviewReports
	c := Comment(v).Body
	if !strings.Contains(c, "**Plan: blocked**") || !strings.Contains(c, "**Specification: proceed**") || strings.Contains(c, "FR-001") {
		t.Errorf("%s", cut(c, "### Review reports", "<b>Coverage"))
	}
}

// The terminal shows all documents. The comment counts those that it leaves out.
func TestManyReviewReports(t *testing.T) {
	v := cleanView()
	v.Review.Report.ReviewReports = slices.Repeat(reportsView().Review.Report.ReviewReports[1:], 40)
	if n := strings.Count(Text(v, TextOptions{}), "Specification: proceed"); n != 40 {
		t.Errorf("the text has %d documents", n)
	}
	c := Comment(v).Body
	part := cut(c, "### Review reports", "<b>Coverage")
	if n := strings.Count(part, "**Specification: proceed**"); n == 0 || n == 40 || !strings.Contains(part, "…and "+grouped(40-n)+" more") {
		t.Errorf("%d documents:\n%s", n, part)
	}
}
