package aggregate

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies"
)

// For each metric that a gate condition may read, the input has something that only this metric
// counts.
func TestMetrics(t *testing.T) {
	in := one(finding("a.go", 1, "c", pipeline.SeverityCritical))
	in.Results[0].Output.Findings = append(in.Results[0].Output.Findings,
		sure(finding("a.go", 3, "m", pipeline.SeverityMajor), 0.75), finding("a.go", 5, "w", pipeline.SeverityWarning),
		finding("b.go", 1, "i", pipeline.SeverityInfo), finding("b.go", 3, "k", pipeline.SeverityInfo))
	before := Aggregate(in)
	in.Previous = &pipeline.PreviousReport{HeadSHA: "old"}
	for _, f := range before.Findings {
		if f.Title == "m" || f.Title == "k" {
			in.Previous.Findings = append(in.Previous.Findings, f)
		}
	}
	in.Classification = &pipeline.Classification{Risk: pipeline.Risk{Score: 42}}
	in.Gaps = make(pipeline.List[pipeline.GapLogEntry], 3)
	in.Facts.Incomplete = pipeline.List[pipeline.Incompleteness]{{What: "patch", Path: "b.go"}}
	want := map[string]float64{
		"critical": 1, "major": 1, "warning": 1, "info": 2, "findings": 5,
		"new_critical": 1, "new_major": 0, "new_warning": 1, "new_info": 1, "new_findings": 3,
		policies.MetricGaps: 3, policies.MetricUncoveredFiles: 0, policies.MetricRiskScore: 42,
		policies.MetricMinConfidence: 0.75, policies.MetricAgentsFailed: 0, policies.MetricIncomplete: 1,
	}
	if diff := cmp.Diff(want, Aggregate(in).Gate.Metrics); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	empty := Aggregate(world(nil)).Gate.Metrics
	want = maps.Clone(want)
	for name := range want {
		want[name] = 0
	}
	want[policies.MetricMinConfidence], want[policies.MetricUncoveredFiles] = 1, 3
	if diff := cmp.Diff(want, empty); diff != "" {
		t.Errorf("without findings (-want +got):\n%s", diff)
	}
}

// Only an agent that finished covers files. An agent that should have run but has no result covers
// none.
func TestUncoveredFiles(t *testing.T) {
	all, some := pipeline.AgentScope{All: true}, pipeline.AgentScope{Files: pipeline.List[string]{"a.go", "b.go"}}
	for _, tt := range []struct {
		name              string
		scope             pipeline.AgentScope
		status            pipeline.AgentStatus // empty: no result
		uncovered, failed float64
	}{
		{"the whole change", all, pipeline.AgentOK, 0, 0},
		{"two of three files", some, pipeline.AgentOK, 1, 0},
		{"not asked", all, pipeline.AgentDiscarded, 3, 0},
		{"failed", all, pipeline.AgentFailed, 3, 1},
		{"skipped", some, pipeline.AgentSkipped, 3, 1},
		{"never ran", all, "", 3, 1},
	} {
		in := world(nil)
		in.Manifest.Entries = pipeline.List[pipeline.ManifestEntry]{{Agent: "x", Scope: tt.scope}}
		if tt.status != "" {
			in.Results = pipeline.List[pipeline.AgentResult]{{Agent: "x", Status: tt.status}}
		}
		m := Aggregate(in).Gate.Metrics
		if m[policies.MetricUncoveredFiles] != tt.uncovered || m[policies.MetricAgentsFailed] != tt.failed {
			t.Errorf("%s: %v files uncovered, %v agents failed, want %v and %v",
				tt.name, m[policies.MetricUncoveredFiles], m[policies.MetricAgentsFailed], tt.uncovered, tt.failed)
		}
	}
}
