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
