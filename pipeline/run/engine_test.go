package run

import (
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/policies"
)

// Labels are events of their own, which start a review only where a policy or
// a rule looks at them.
func TestReadsLabels(t *testing.T) {
	always := policies.Trigger{Type: policies.TriggerAlways}
	when := func(text string) policies.Trigger {
		return policies.Trigger{Type: policies.TriggerExpression, When: text}
	}
	tests := []struct {
		name    string
		trigger policies.Trigger
		rule    string
		want    bool
	}{
		{"neither", always, `facts.draft`, false},
		{"label trigger", policies.Trigger{Type: policies.TriggerNot, Triggers: []policies.Trigger{{Type: policies.TriggerLabel, Labels: []string{"x"}}}}, "", true},
		{"expression trigger", when(`"x" in facts.labels`), "", true},
		{"expression without labels", when(`facts.title == "labels"`), "", false},
		{"rule", always, `facts.labels.exists(l, l.startsWith("release"))`, true},
	}
	for _, tt := range tests {
		e, err := Compile(&config.Config{
			Policies: []config.Policy{{ID: "p", Enabled: true, Trigger: tt.trigger}},
			Rules:    []config.Rule{{ID: "r", Enabled: true, When: tt.rule}},
		})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		} else if e.readsLabels != tt.want {
			t.Errorf("%s: reads labels = %v, want %v", tt.name, e.readsLabels, tt.want)
		}
	}
}

func TestCompileNamesTheRuleWhoseExpressionDoesNot(t *testing.T) {
	_, err := Compile(&config.Config{Rules: []config.Rule{{ID: "r", Enabled: true, When: "facts.titel"}}})
	if err == nil || !strings.Contains(err.Error(), "r: at 1:6 of the expression") {
		t.Errorf("Compile = %v, want an error that names the rule and the place", err)
	}
}
