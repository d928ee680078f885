package policies

import (
	"sync"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/expression"
)

var conditionLanguage = sync.OnceValues(func() (*expression.Conditions, error) {
	var names []string
	for _, m := range Metrics() {
		names = append(names, m.Name)
	}
	return expression.NewConditions(names)
})

// CompileCondition compiles a GateCondition.When, such as "critical > 0" or "risk_score >= 75 &&
// new_findings > 0". It is a CEL expression over the metrics of [Metrics]. The error is an
// [expression.Error].
func CompileCondition(when string) (*expression.Condition, error) {
	l, err := conditionLanguage()
	if err != nil {
		return nil, err
	}
	return l.Compile(when)
}

// NoCondition is the condition that [Decide] returns if none held.
const NoCondition = "no condition held"

// Decide returns the decision of the first condition that holds, and the condition's text. If none
// holds, the decision is pass. A missing metric counts as 0.
//
// If a condition can't be evaluated because it takes too many steps, the decision is needs_fixes:
// this condition might have blocked. The same is true of a condition that can't be read, which
// validated config does not have. The text then says why.
func Decide(conditions []GateCondition, metrics map[string]float64) (decision pipeline.Decision, condition string) {
	return compileGate(conditions).decide(metrics, expression.NewBudget())
}

// gate is a list of compiled conditions.
type gate []compiledCondition

type compiledCondition struct {
	GateCondition
	when *expression.Condition // nil if it can't be read
}

func compileGate(conditions []GateCondition) gate {
	g := make(gate, len(conditions))
	for i, gc := range conditions {
		g[i].GateCondition = gc
		if when, err := CompileCondition(gc.When); err == nil && gc.Decision.Rank() > 0 {
			g[i].when = when
		}
	}
	return g
}

func (g gate) decide(metrics map[string]float64, budget *expression.Budget) (pipeline.Decision, string) {
	for _, c := range g {
		if c.when == nil {
			return pipeline.DecisionNeedsFixes, excerpt(c.When) + ", which can't be read"
		}
		switch holds, err := c.when.Holds(metrics, budget); {
		case err != nil:
			return pipeline.DecisionNeedsFixes, excerpt(c.When) + ", which can't be evaluated: " + err.Error()
		case holds:
			return c.Decision, c.when.String()
		}
	}
	return pipeline.DecisionPass, NoCondition
}

// GateCondition decides when its expression holds. When is a CEL expression over
// the metrics of the report, such as "critical > 0" or
// "risk_score >= 75 && new_findings > 0".
type GateCondition struct {
	When     string            `json:"when"`
	Decision pipeline.Decision `json:"decision"`
}

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
