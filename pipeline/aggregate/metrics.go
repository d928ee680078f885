package aggregate

import (
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies"
)

// metrics are all that a gate condition may read.
func (w *work) metrics() map[string]float64 {
	r := &w.report
	m := map[string]float64{}
	for _, metric := range policies.Metrics() {
		m[metric.Name] = 0
	}
	m[policies.MetricMinConfidence] = 1
	for i := range r.Findings {
		f := &r.Findings[i]
		m[string(f.GateSeverity)]++
		m[policies.MetricFindings]++
		m[policies.MetricMinConfidence] = min(m[policies.MetricMinConfidence], f.Confidence)
		if f.State == pipeline.StateNew {
			m[policies.NewMetric(f.GateSeverity)]++
			m[policies.MetricNewFindings]++
		}
	}
	m[policies.MetricGaps] = float64(len(r.GapLog))
	m[policies.MetricUncoveredFiles] = float64(w.uncovered())
	m[policies.MetricRiskScore] = float64(w.in.Classification.Risk.Score)
	m[policies.MetricAgentsFailed] = float64(len(w.failedAgents()))
	m[policies.MetricIncomplete] = float64(len(r.Incomplete))
	return m
}

// uncovered counts the changed files that no agent finished looking at.
func (w *work) uncovered() int {
	failed := w.failedAgents()
	covered := map[string]bool{}
	for i := range w.in.Manifest.Entries {
		e := &w.in.Manifest.Entries[i]
		if failed[e.Agent] {
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
	for p := range w.files {
		if !covered[p] {
			n++
		}
	}
	return n
}
