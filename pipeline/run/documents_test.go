package run

import (
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/aggregate"
	"github.com/reviewgate/reviewgate/policies/reviewreport"
)

const (
	aSpec   = "specs/7/SPEC.md"
	aReport = "specs/7/review/a-report.md"
)

// A review report replaces what the models of its reviewer found in its document, and nothing else,
// and only if the report was judged.
func TestReportsReplaceModelsFindings(t *testing.T) {
	finding := func(path string, by ...pipeline.Maker) pipeline.Finding {
		return pipeline.Finding{Path: path, Agent: by[0].Agent, Model: by[0].Model, FoundBy: by, Surroundings: pipeline.List[string]{"x"}}
	}
	one, other := pipeline.Maker{Agent: "specs", Model: "a"}, pipeline.Maker{Agent: "specs", Model: "b"}
	was := &pipeline.PreviousReport{
		Findings: pipeline.List[pipeline.Finding]{
			finding(aSpec, one, other),
			finding(aSpec, one, pipeline.Maker{Agent: "docs"}),
			finding(aSpec, pipeline.Maker{Agent: "managers", Model: "a"}),
			finding("specs/8/SPEC.md", one),
		},
		Unconfirmed: pipeline.List[pipeline.Finding]{finding(aSpec, one)},
	}
	stands := pipeline.AgentResult{Agent: "specs", Model: "a", Status: pipeline.AgentOK, Documents: pipeline.List[pipeline.DocumentReview]{
		{Path: aSpec, Report: aReport}, {Path: "specs/8/SPEC.md"},
	}}
	judge := pipeline.AgentResult{Agent: "reports", Status: pipeline.AgentOK, Reports: pipeline.List[pipeline.ReviewReportOutcome]{{Place: "specs/7/review"}}}
	got := replacedByReports(was, []pipeline.AgentResult{stands, judge})
	for i, gone := range []bool{true, false, false, false} {
		if (len(got.Findings[i].Surroundings) == 0) != gone {
			t.Errorf("finding %d: %+v", i, got.Findings[i])
		}
	}
	if len(got.Unconfirmed[0].Surroundings) > 0 || len(was.Findings[0].Surroundings) == 0 {
		t.Errorf("%+v of %+v", got, was)
	}
	judge.Status = pipeline.AgentFailed
	for name, results := range map[string][]pipeline.AgentResult{"nothing judged the reports": {stands}, "the judge failed": {stands, judge}} {
		if got := replacedByReports(was, results); got != was {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A model's review counts as a mandatory report about the same document, and changes nothing that a
// report itself says.
func TestModelsReviewCompletesReports(t *testing.T) {
	by, _ := reviewreport.ReviewerOf(reviewreport.AgentSpecReviewer)
	reports := func(agent string, status string) (pipeline.ReviewReportOutcome, []pipeline.Finding) {
		list := []reviewreport.Report{{Path: aReport, Record: reviewreport.Record{Status: status, Agent: agent}}}
		o := reviewreport.Aggregate(by.Phase, list, reviewreport.Thresholds{})
		o.Place = "specs/7/review"
		return o, reviewreport.Findings(&o, list, reviewreport.Thresholds{})
	}
	for name, tt := range map[string]struct {
		agent, status, document, report string
		proceeds                        bool
	}{
		"reviewed":         {"technical-pm", "SUCCESS", aSpec, "", true},
		"another document": {"technical-pm", "SUCCESS", "specs/8/SPEC.md", "", false},
		"a report passes":  {"technical-pm", "SUCCESS", aSpec, "specs/7/b-report.md", false},
		"a report blocks":  {"technical-pm", "FAILURE", aSpec, "", false},
		"one that exists":  {"spec-reviewer", "SUCCESS", aSpec, "", false}, // it has no scores
	} {
		o, findings := reports(tt.agent, tt.status)
		raw := pipeline.List[pipeline.AgentResult]{
			{Agent: "review-reports", Status: pipeline.AgentOK, Reports: pipeline.List[pipeline.ReviewReportOutcome]{o}, Output: pipeline.AgentOutput{Findings: findings}},
			{Agent: "spec-quality-reviewer", Model: "a", Documents: pipeline.List[pipeline.DocumentReview]{{Path: tt.document, Report: tt.report}}},
		}
		got := completed(aggregate.Input{Config: shipped(t), Results: raw})
		blocks := len(got[0].Output.Findings) > 0
		if got[0].Reports[0].Proceed != tt.proceeds || blocks == tt.proceeds {
			t.Errorf("%s: %+v, %+v", name, got[0].Reports[0], got[0].Output.Findings)
		}
		if raw[0].Reports[0].Proceed || len(raw[0].Output.Findings) != 1 {
			t.Errorf("%s: the agent's own result is %+v", name, raw[0])
		}
	}
}
