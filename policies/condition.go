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

// CompileCondition compiles a GateCondition.When, such as "critical > 0" or
// "risk_score >= 75 && new_findings > 0": a CEL expression over the metrics of
// [Metrics]. What is wrong with it is an [expression.Error].
func CompileCondition(when string) (*expression.Condition, error) {
	l, err := conditionLanguage()
	if err != nil {
		return nil, err
	}
	return l.Compile(when)
}

// NoCondition is what [Decide] answers for the condition where none held.
const NoCondition = "no condition held"

// Decide returns the decision of the first condition that holds and its text.
// Where none holds the decision is pass. A metric that is missing counts as 0.
//
// A condition that can't be evaluated, because it takes too many steps, decides
// needs_fixes: it might have been the one that blocks. So does one that can't be
// read, of which config that was validated has none. The text then says why.
func Decide(conditions []GateCondition, metrics map[string]float64) (decision pipeline.Decision, condition string) {
	return compileGate(conditions).decide(metrics, expression.NewBudget())
}

// gate is compiled conditions.
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
