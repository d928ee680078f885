package render

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
	"github.com/reviewgate/reviewgate/policies/reviewreport"
)

// reportOutcome is the outcome of a specification that may proceed.
func reportOutcome() *pipeline.ReviewReportOutcome {
	score := func(f float64) *float64 { return &f }
	o := &pipeline.ReviewReportOutcome{
		Phase: pipeline.PhaseSpec, Proceed: true, Rationale: "All reviews passed quality gates", Readiness: pipeline.Conditional,
		QualityScores: pipeline.QualityScores{
			OverallScore: 0.85, Grade: "B",
			Components: pipeline.ScoreComponents{SpecQuality: score(1), BusinessAlignment: score(1)},
		},
		ReviewPaths: pipeline.List[string]{"spec-reviewer", "technical-pm"},
	}
	for _, category := range []string{"requirements", "testability", "clarity", "roi", "business", "structure"} {
		o.Recommendations = append(o.Recommendations, pipeline.Recommendation{
			Priority: "High", Category: category, Finding: "The goals say nothing of " + category, Recommendation: "Say what is meant",
			Location: "Goals, " + category, Reviewer: "spec-reviewer", Severity: "Minor",
		})
	}
	return o
}

func TestAggregateSummary(t *testing.T) {
	golden(t, "reports/proceed.md", Aggregate(reportOutcome()))

	ready := reportOutcome()
	ready.Readiness, ready.Phase = pipeline.Ready, pipeline.PhasePlan
	ready.Recommendations = ready.Recommendations[:1]
	golden(t, "reports/ready.md", Aggregate(ready))

	broken := &pipeline.ReviewReportOutcome{
		Phase: pipeline.PhasePlan, Rationale: "Review failures: unknown", Readiness: pipeline.Conditional,
		QualityScores: pipeline.QualityScores{Error: "No spec-reviewer found"},
		Errors:        pipeline.List[pipeline.ReviewReportError]{{Source: "docs/review/a-report.md", Error: "Review report missing machine-readable section", Recovery: "Re-run review agent"}},
	}
	golden(t, "reports/blocked.md", Aggregate(broken))
}

// hostileOutcome fills every string of an outcome with hostile text.
func hostileOutcome(t *rapid.T) *pipeline.ReviewReportOutcome {
	var o pipeline.ReviewReportOutcome
	fill(t, reflect.ValueOf(&o).Elem())
	return &o
}

// The text of a report is inert in the summary.
func TestAggregateSummaryIsInert(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		o := hostileOutcome(t)
		md := Aggregate(o)
		if bad := inert(md); bad != "" {
			t.Fatalf("%s\n%s", bad, md)
		}
		headings := 0
		for line := range strings.SplitSeq(md, "\n") {
			if strings.HasPrefix(line, "#") {
				headings++
			}
		}
		if headings != 5 {
			t.Fatalf("%d headings in\n%s", headings, md)
		}
		if reviewreport.HasSection([]byte(md)) {
			t.Fatalf("the summary can be read as a report:\n%s", md)
		}
		for i := range o.Errors {
			if bad := hiddenIn(ReportProblem(&o.Errors[i]), false); bad != "" {
				t.Fatal(bad)
			}
		}
	})
}

// JSON and audit records have no characters that control a terminal. An audit record is
// one line.
func TestAggregateJSONIsVisible(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		o := hostileOutcome(t)
		s := hostileText().Draw(t, "source")
		audit := reviewreport.AuditOf(o, []reviewreport.Report{{Source: s, Record: reviewreport.Record{Agent: s, Status: s, Error: s}}}, reviewreport.Thresholds{})
		answer, err := AggregateJSON(o)
		if err != nil {
			t.Fatal(err)
		}
		line, err := AuditLine(&audit)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Count(string(line), "\n") != 1 || !strings.HasSuffix(string(line), "\n") {
			t.Fatalf("not one line: %q", line)
		}
		for _, b := range [][]byte{answer, line} {
			for l := range strings.SplitSeq(string(b), "\n") {
				if bad := hiddenIn(l, false); bad != "" {
					t.Fatal(bad)
				}
			}
		}
		var back reviewreport.Audit
		if err := json.Unmarshal(line, &back); err != nil {
			t.Fatal(err)
		}
		if want := string([]rune(s)); back.Inputs[0].Agent != want { // each invalid byte becomes one replacement character
			t.Fatalf("agent %q, want %q", back.Inputs[0].Agent, want)
		}
	})
}
