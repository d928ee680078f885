package policies

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
	"github.com/reviewgate/reviewgate/policies/expression"
)

func conditions(pairs ...string) (list []GateCondition) {
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, GateCondition{When: pairs[i], Decision: pipeline.Decision(pairs[i+1])})
	}
	return list
}

func TestMayLoosen(t *testing.T) {
	below := conditions("critical > 0", "fail", "major > 0", "needs_fixes", "warning > 0", "pass_with_warnings")
	for name, test := range map[string]struct {
		above []GateCondition
		want  bool
	}{
		"the same":                {below, false},
		"stricter":                {conditions("major > 0", "fail", "critical > 0", "fail", "warning > 0", "needs_fixes"), false},
		"one more":                {append(conditions("risk_score >= 75", "fail"), below...), false},
		"no conditions":           {nil, true},
		"a higher number":         {conditions("critical > 0", "fail", "major > 1", "needs_fixes", "warning > 0", "pass_with_warnings"), true},
		"a pass before":           {append(conditions("warning > 100", "pass"), below...), true},
		"another order":           {conditions("warning > 0", "pass_with_warnings", "critical > 0", "fail", "major > 0", "needs_fixes"), true},
		"an extra comparison":     {conditions("critical > 0 && risk_score > 1", "fail", "major > 0", "needs_fixes", "warning > 0", "pass_with_warnings"), true},
		"can't be read":           {conditions("nonsense", "fail"), true},
		"the same in other words": {conditions("!(critical <= 0)", "fail", "0 < major && true", "needs_fixes", "warning > 0 || .warning > 5", "pass_with_warnings"), false},
		"one of two":              {conditions("critical > 0", "fail", "major > 0 || risk_score > 90", "needs_fixes", "warning > 0", "pass_with_warnings"), false},
		"one of two lacks a case": {conditions("critical > 1 || major > 0", "fail", "warning > 0", "pass_with_warnings"), true},
		"always":                  {append(conditions("gaps > -1", "fail"), below...), false},
		"never":                   {conditions("critical > 0 && gaps < -1.5", "fail", "major > 0", "needs_fixes"), true},
		"a sum":                   {append(conditions("critical + major > 3", "fail"), below...), true},
		"two metrics":             {append(conditions("critical > major", "fail"), below...), true},
		"a loop":                  {append(conditions("[critical].exists(n, n > 3)", "fail"), below...), true},
		"an equality of answers":  {append(conditions("(critical > 0) == (major > 0)", "fail"), below...), true},
		"a choice":                {append(conditions("critical > 0 ? major > 0 : gaps > 0", "fail"), below...), true},
	} {
		if got := MayLoosen(below, test.above); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// If MayLoosen returns false, no report gets a milder decision.
func TestMayLoosenIsSound(t *testing.T) {
	metric := rapid.SampledFrom([]string{"critical", "major", "warning"})
	list := rapid.Custom(func(t *rapid.T) []GateCondition {
		var out []GateCondition
		for range rapid.IntRange(0, 3).Draw(t, "n") {
			when := metric.Draw(t, "metric") + rapid.SampledFrom([]string{" > 0", " > 1", " == 2", " < 2", " < -1", " != 3 || major > 1", " + major > 2"}).Draw(t, "than")
			if rapid.Bool().Draw(t, "not") {
				when = "!(" + when + ")"
			}
			out = append(out, GateCondition{When: when, Decision: rapid.SampledFrom([]pipeline.Decision{"fail", "needs_fixes", "pass"}).Draw(t, "decision")})
		}
		return out
	})
	sample.Check(t, func(t *rapid.T) {
		below, above := list.Draw(t, "below"), list.Draw(t, "above")
		m := map[string]float64{}
		for _, name := range []string{"critical", "major", "warning"} {
			m[name] = float64(rapid.IntRange(0, 4).Draw(t, name))
		}
		if !MayLoosen(below, above) && compileGate(above).rank(m, expression.NewBudget()) < compileGate(below).rank(m, expression.NewBudget()) {
			t.Fatalf("%v is looser than %v about %v", above, below, m)
		}
	})
}

// However much an organisation writes, MayLoosen stops reading and trying at its limits.
func TestMayLoosenBoundsItsWork(t *testing.T) {
	all := []string{"critical > 1"} // five values to try of critical, and two of each other metric
	for _, m := range Metrics() {
		all = append(all, m.Name+" > 0")
	}
	lists := func(conditions int, part string) []GateCondition {
		list := []GateCondition{{"false && (" + strings.Join(all, " || ") + ")", pipeline.DecisionFail}}
		for len(list) < conditions {
			list = append(list, GateCondition{strings.Repeat(part, min(1980/len(part), 320)) + "critical < 0", pipeline.DecisionFail})
		}
		for _, c := range list {
			if _, err := CompileCondition(c.When); err != nil {
				t.Fatal(err)
			}
		}
		return list
	}
	// Without the budget, each search would evaluate some 1,000,000,000 parts of conditions.
	for _, part := range sample.Of(t, 1, []string{"critical != -1 && ", "true && "}) {
		list := lists(10, part)
		s := newSearch(list, list)
		if !s.looser(slices.Sorted(maps.Keys(s.values)), map[string]float64{}) || !s.budget.Spent() {
			t.Errorf("conditions with %sdid not end the search by its budget", part)
		}
	}
	if list := lists(50, "critical != -1 && "); newSearch(list, list) != nil {
		t.Error("the longest conditions that the schemas allow are read")
	}
}
