package policies

import "github.com/reviewgate/reviewgate/pipeline"

// Metric is a figure of a report that a gate condition may read.
type Metric struct {
	Name        string
	Description string
}

// These metrics do not count findings by severity.
const (
	MetricFindings       = "findings"
	MetricNewFindings    = "new_findings"
	MetricGaps           = "gaps"
	MetricUncoveredFiles = "uncovered_files"
	MetricRiskScore      = "risk_score"
	MetricMinConfidence  = "min_confidence"
	MetricAgentsFailed   = "agents_failed"
	MetricIncomplete     = "incomplete"
)

// NewMetric returns the name of the metric that counts the new findings of a severity: those that
// the pull request's last report did not have.
func NewMetric(s pipeline.Severity) string { return "new_" + string(s) }

// Metrics lists all metrics. Each report has all of them.
func Metrics() []Metric {
	var list []Metric
	for _, s := range pipeline.Severities() {
		list = append(list, Metric{string(s), "findings that count as " + string(s)})
	}
	list = append(list, Metric{MetricFindings, "findings of every severity"})
	for _, s := range pipeline.Severities() {
		list = append(list, Metric{NewMetric(s), "findings that count as " + string(s) + " and that the last report did not have"})
	}
	return append(list,
		Metric{MetricNewFindings, "findings of every severity that the last report did not have"},
		Metric{MetricGaps, "concerns that the config missed"},
		Metric{MetricUncoveredFiles, "changed files that no agent looked at"},
		Metric{MetricRiskScore, "risk score of the change, 0 to 100"},
		Metric{MetricMinConfidence, "lowest confidence among the findings, 0 to 1; 1 without findings"},
		Metric{MetricAgentsFailed, "agents that did not finish"},
		Metric{MetricIncomplete, "things about the change that could not be known"},
	)
}
