package policies

import (
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
)

func TestParseConditionRefuses(t *testing.T) {
	tests := map[string]string{
		"":                      "empty",
		"critical":              "metric operator number",
		"critical > -1":         "metric operator number",
		"critical => 1":         "metric operator number",
		"critical > 1e3":        "metric operator number",
		"critical > 0 &&":       "metric operator number",
		"critical > 0 || x > 1": "metric operator number",
		"crit > 0":              "the metrics are critical, major",
		"critical > 0" + strings.Repeat(" && critical > 0", 8): "at most 8",
		strings.Repeat(" ", 257) + "critical > 0":              "at most 256",
	}
	for when, want := range tests {
		if _, err := ParseCondition(when); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseCondition(%q) = %v, want an error with %q", when, err, want)
		}
	}
}

func TestConditionHolds(t *testing.T) {
	metrics := map[string]float64{"critical": 0, "major": 2, "min_confidence": 0.6}
	tests := map[string]bool{
		"critical > 0":                  false,
		"critical == 0":                 true,
		"critical >= 0":                 true,
		"major != 2":                    false,
		"major<=2":                      true,
		"major < 2":                     false,
		"min_confidence < 0.65":         true,
		"major > 1 && critical > 0":     false,
		" major > 1  &&  critical == 0": true,
		"gaps == 0":                     true,
	}
	for when, want := range tests {
		c, err := ParseCondition(when)
		if err != nil {
			t.Errorf("ParseCondition(%q): %v", when, err)
		} else if c.Holds(metrics) != want {
			t.Errorf("%q holds = %v, want %v", when, !want, want)
		}
	}
	if (Condition{}).Holds(metrics) {
		t.Error("the zero Condition holds")
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
		if d, _ := Decide([]GateCondition{gc}, nil); !d.Blocks() {
			t.Errorf("Decide with %+v = %s, want a decision that blocks", gc, d)
		}
	}
}

func FuzzParseCondition(f *testing.F) {
	f.Add("critical > 0 && risk_score >= 75.5")
	f.Fuzz(func(t *testing.T, when string) {
		c, err := ParseCondition(when)
		if err != nil {
			return
		}
		again, err := ParseCondition(c.String())
		if err != nil || again.String() != c.String() {
			t.Fatalf("%q became %q, which reads as %q, %v", when, c, again, err)
		}
	})
}
