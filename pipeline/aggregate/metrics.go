package aggregate

import (
	"maps"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies"
)

// metrics are the values that gate conditions may read.
func metrics(in *input, r *pipeline.Report) map[string]float64 {
	m := zeroMetrics()
	for i := range r.Findings {
		f := &r.Findings[i]
		countFinding(m, f.GateSeverity, f.Confidence, f.State == pipeline.StateNew)
	}
	m[policies.MetricGaps] = float64(len(r.GapLog))
	m[policies.MetricUncoveredFiles] = float64(in.uncovered())
	m[policies.MetricRiskScore] = float64(in.Classification.Risk.Score)
	m[policies.MetricAgentsFailed] = float64(in.failures())
	m[policies.MetricIncomplete] = float64(len(r.Incomplete))
	return m
}

// zeroMetrics are the metrics of a report without findings.
func zeroMetrics() map[string]float64 {
	m := map[string]float64{}
	for _, metric := range policies.Metrics() {
		m[metric.Name] = 0
	}
	m[policies.MetricMinConfidence] = 1
	return m
}

// countFinding counts a finding.
func countFinding(m map[string]float64, counts pipeline.Severity, confidence float64, isNew bool) {
	m[string(counts)]++
	m[policies.MetricFindings]++
	m[policies.MetricMinConfidence] = min(m[policies.MetricMinConfidence], confidence)
	if isNew {
		m[policies.NewMetric(counts)]++
		m[policies.MetricNewFindings]++
	}
}

// uncovered counts the changed files that no agent finished reading. A skipped agent did not read
// any.
func (in *input) uncovered() int {
	without := maps.Clone(in.failed)
	for _, r := range in.Results {
		if r.Status == pipeline.AgentDiscarded {
			without[r.Agent] = true
		}
	}
	covered := map[string]bool{}
	for i := range in.Manifest.Entries {
		e := &in.Manifest.Entries[i]
		if without[e.Agent] {
			continue
		}
		if e.Scope.All {
			return 0
		}
		for _, p := range e.Scope.Files {
			covered[p] = true
		}
	}
	n := 0
	for p := range in.files {
		if !covered[p] {
			n++
		}
	}
	return n
}

// failures counts the agents that failed. A remote reviewer whose answer is still to come, or that
// nobody asked, has not failed.
func (in *input) failures() (n int) {
	for agent := range in.failed {
		if s := in.pending[agent]; s == "" {
			n++
		}
	}
	return n
}
