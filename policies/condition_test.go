package policies

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/expression"
)

func TestCompileConditionRefuses(t *testing.T) {
	tests := map[string]string{
		"":                      `the expression is empty: write a comparison such as critical > 0`,
		"critical":              `at 1:1 of the expression: the expression is a number, not true or false: compare it with something, such as > 0`,
		"critical => 1":         `at 1:10 of the expression: "=>" means nothing here: use && for and`,
		"critical > 0 &&":       `the expression ends too early`,
		"critical > 0 and true": `"and" is not expected here`,
		"critical > 0 || x > 1": `at 1:17 of the expression: there is nothing called "x": the metrics are critical, major`,
		"criticals > 0":         `there is nothing called "criticals": did you mean "critical"?`,
		`critical > "0"`:        `> can't be used on a number and a text: use it on two numbers`,
		"findings / 2 > 1":      `there is no operator / in conditions: calculate with + - *`,
		"findings % 2 == 1":     `there is no operator % in conditions`,
		"[major][0] > 0":        `there is no operator [ ] in conditions`,
		"facts.draft":           `there is nothing called "facts"`,
		"has(critical)":         `there is nothing called "has"`,
		"critical.new > 0":      `a number has no fields: leave out the last dot`,
		"-(critical > 0)":       `- can't be used on true or false: use it on a number`,
		"critical in [1, true]": `this is true or false where a number is needed`,
		strings.Repeat(" ", 2000) + "critical > 0": `at most 2000 are allowed: split it into several conditions`,
	}
	for when, want := range tests {
		var e *expression.Error
		if _, err := CompileCondition(when); !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("CompileCondition(%q) = %v, want an error with %q", when, err, want)
		}
	}
}

func TestConditionHolds(t *testing.T) {
	metrics := map[string]float64{"critical": 0, "major": 2, "min_confidence": 0.6}
	tests := map[string]bool{
		"critical > 0":                                 false,
		"critical == 0":                                true,
		"critical >= 0":                                true,
		"critical >= -1":                               true,
		"major != 2":                                   false,
		"major<=2":                                     true,
		"major < 2":                                    false,
		"major == 2u && major == 0x2":                  true,
		"min_confidence < 0.65":                        true,
		"min_confidence == 6e-1":                       true,
		"major > 1 && critical > 0":                    false,
		" major > 1  &&  critical == 0":                true,
		"gaps == 0":                                    true,
		"critical > 0 || major > 1":                    true,
		"!(critical + major * 2 > 4)":                  true,
		"major - critical == 2":                        true,
		"critical > 0 ? true : major == -critical + 2": true,
		"major in [1, 2]":                              true,
		"[critical, major].exists_one(n, n > 1)":       true,
		"[critical, major].filter(n, n > 0) == [2]":    true,
		"[major].map(n, n * 0.5) == [1]":               true,
		"false":                                        false,
	}
	for when, want := range tests {
		c, err := CompileCondition(when)
		if err != nil {
			t.Errorf("CompileCondition(%q): %v", when, err)
			continue
		}
		if got, err := c.Holds(metrics, expression.NewBudget()); err != nil || got != want {
			t.Errorf("%q holds = %v, %v, want %v", when, got, err, want)
		}
	}
}

// A condition is shown in one form, regardless of its spacing.
func TestConditionString(t *testing.T) {
	long := strings.Repeat("critical > 0 && ", 8) + "major > 0"
	tests := map[string]string{
		" major  >1\n&& gaps==0.50 ":       "major > 1 && gaps == 0.5",
		"(major>1)||!(gaps == 0) // or so": "major > 1 || !(gaps == 0)",
		long:                               long,
		"[major] . exists(n,n>1)":          "[major] . exists(n,n>1)",
	}
	for when, want := range tests {
		c, err := CompileCondition(when)
		if err != nil || c.String() != want {
			t.Errorf("%q is shown as %q, %v, want %q", when, c, err, want)
		}
	}
}

func TestDecideTakesTheFirstThatHolds(t *testing.T) {
	conditions := []GateCondition{
		{When: "critical > 0", Decision: pipeline.DecisionFail},
		{When: "major  >  0", Decision: pipeline.DecisionNeedsFixes},
		{When: "findings > 0", Decision: pipeline.DecisionPassWithWarnings},
	}
	tests := []struct {
		metrics   map[string]float64
		decision  pipeline.Decision
		condition string
	}{
		{map[string]float64{"critical": 1, "major": 1}, pipeline.DecisionFail, "critical > 0"},
		{map[string]float64{"major": 1, "findings": 1}, pipeline.DecisionNeedsFixes, "major > 0"},
		{map[string]float64{"findings": 1}, pipeline.DecisionPassWithWarnings, "findings > 0"},
		{nil, pipeline.DecisionPass, NoCondition},
	}
	for _, tt := range tests {
		d, c := Decide(conditions, tt.metrics)
		if d != tt.decision || c != tt.condition {
			t.Errorf("Decide(%v) = %s, %q, want %s, %q", tt.metrics, d, c, tt.decision, tt.condition)
		}
	}
}

func TestDecideNeverPassesOnAConditionItCannotRead(t *testing.T) {
	for _, gc := range []GateCondition{{When: "?", Decision: pipeline.DecisionPass}, {When: "critical > 0", Decision: "maybe"}} {
		d, condition := Decide([]GateCondition{{When: "major > 0", Decision: pipeline.DecisionPass}, gc}, nil)
		if want := gc.When + ", which can't be read"; d != pipeline.DecisionNeedsFixes || condition != want {
			t.Errorf("Decide with %+v = %s by %q, want needs_fixes by %q", gc, d, condition, want)
		}
	}
}

// loops is a condition with nested loops, each over this many numbers.
func loops(depth, each int) string {
	text := "x == 1"
	for range depth {
		text = "[" + strings.Repeat("1, ", each-1) + "1].all(x, " + text + ")"
	}
	return text
}

func TestDecideNeverPassesOnAConditionItCannotEvaluate(t *testing.T) {
	conditions := []GateCondition{{When: "findings > 0 && " + loops(5, 25), Decision: pipeline.DecisionPass}, {When: "critical > 0", Decision: pipeline.DecisionFail}}
	d, condition := Decide(conditions, map[string]float64{"findings": 1})
	if d != pipeline.DecisionNeedsFixes || !strings.HasPrefix(condition, "findings > 0 && [1, 1") || !strings.HasSuffix(condition, "…, which can't be evaluated: it takes too many steps") {
		t.Errorf("Decide = %s by %q", d, condition)
	}
	if d, condition = Decide(conditions, map[string]float64{"critical": 1}); d != pipeline.DecisionFail || condition != "critical > 0" {
		t.Errorf("if the loop is not reached: %s by %q", d, condition)
	}
}

// One expensive condition can be evaluated, but not many of them.
func TestConditionsShareABudget(t *testing.T) {
	conditions := slices.Repeat([]GateCondition{{When: loops(4, 15) + " && gaps > 0", Decision: pipeline.DecisionPass}}, 50)
	if d, condition := Decide(conditions[:1], nil); d != pipeline.DecisionPass || condition != NoCondition {
		t.Errorf("one condition: %s by %q", d, condition)
	}
	if d, condition := Decide(conditions, nil); d != pipeline.DecisionNeedsFixes || !strings.HasSuffix(condition, "too many steps") {
		t.Errorf("fifty conditions: %s by %q", d, condition)
	}
}

func FuzzCompileCondition(f *testing.F) {
	f.Add("critical > 0 && risk_score >= 75.5")
	f.Add("!(major in [1, 0x2, 3u]) || [critical, -gaps].exists(n, n * 2.5e3 > 1) ? true : 'a' != \"b\"")
	f.Fuzz(func(t *testing.T, when string) {
		c, err := CompileCondition(when)
		var e *expression.Error
		if err != nil {
			if !errors.As(err, &e) || e.Problem == "" || e.Remedy == "" {
				t.Fatalf("%q: %v has no problem or no remedy", when, err)
			}
			return
		}
		metrics := map[string]float64{"critical": 1, "major": 2, "min_confidence": 0.5}
		held, err := c.Holds(metrics, expression.NewBudget())
		again, problem := CompileCondition(c.String())
		if problem != nil || again.String() != c.String() {
			t.Fatalf("%q is written as %q, which is read as %q, %v", when, c, again, problem)
		}
		if same, problem := again.Holds(metrics, expression.NewBudget()); same != held || (err == nil) != (problem == nil) {
			t.Fatalf("%q: %v, %v, but written as %q: %v, %v", when, held, err, c, same, problem)
		}
	})
}
