package aggregate

import (
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies"
)

// metrics are the values that gate conditions may read.
func (w *work) metrics() map[string]float64 {
	r := &w.report
	m := zeroMetrics()
	for i := range r.Findings {
		f := &r.Findings[i]
		countFinding(m, f.GateSeverity, f.Confidence, f.State == pipeline.StateNew)
	}
	m[policies.MetricGaps] = float64(len(r.GapLog))
	m[policies.MetricUncoveredFiles] = float64(w.inputs.uncovered())
	m[policies.MetricRiskScore] = float64(w.in.Classification.Risk.Score)
	m[policies.MetricAgentsFailed] = float64(len(w.inputs.failedAgents()))
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
func countFinding(m map[string]float64, counts pipeline.Severity, confidence float64, anew bool) {
	m[string(counts)]++
	m[policies.MetricFindings]++
	m[policies.MetricMinConfidence] = min(m[policies.MetricMinConfidence], confidence)
	if anew {
		m[policies.NewMetric(counts)]++
		m[policies.MetricNewFindings]++
	}
}

// uncovered counts the changed files that no agent finished reading. A skipped agent did not read
// any.
func (c *inputs) uncovered() int {
	without := c.failedAgents()
	for _, r := range c.in.Results {
		if r.Status == pipeline.AgentDiscarded {
			without[r.Agent] = true
		}
	}
	covered := map[string]bool{}
	for i := range c.in.Manifest.Entries {
		e := &c.in.Manifest.Entries[i]
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
	for p := range c.files {
		if !covered[p] {
			n++
		}
	}
	return n
}
