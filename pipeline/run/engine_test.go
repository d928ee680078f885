package run

import (
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies"
)

// Labels are events of their own. They start a review only if a policy or a rule reads them.
func TestReadsLabels(t *testing.T) {
	always := policies.Trigger{Type: policies.TriggerAlways}
	when := func(text string) policies.Trigger {
		return policies.Trigger{Type: policies.TriggerExpression, When: text}
	}
	tests := []struct {
		name    string
		trigger policies.Trigger
		rule    string
		want    pipeline.LabelsRead
	}{
		{"no labels and no types", always, `facts.draft`, pipeline.LabelsNone},
		{"label trigger", policies.Trigger{Type: policies.TriggerNot, Triggers: []policies.Trigger{{Type: policies.TriggerLabel, Labels: []string{"x"}}}}, "", pipeline.LabelsAll},
		{"expression trigger", when(`"x" in facts.labels`), "", pipeline.LabelsAll},
		{"expression without labels", when(`facts.title == "labels"`), "", pipeline.LabelsNone},
		{"rule", always, `facts.labels.exists(l, l.startsWith("release"))`, pipeline.LabelsAll},
		{"type trigger", policies.Trigger{Type: policies.TriggerChange, Types: []string{"fix"}}, "", pipeline.LabelsOfTypes},
		{"expression trigger of types", when(`classification.type == "fix"`), "", pipeline.LabelsOfTypes},
		{"rule of types", always, `classification.type != "docs"`, pipeline.LabelsOfTypes},
		{"both", when(`classification.type == "fix"`), `facts.labels.size() > 0`, pipeline.LabelsAll},
	}
	for _, tt := range tests {
		e, err := Compile(&config.Config{
			Policies: []config.Policy{{ID: "p", Enabled: true, Trigger: tt.trigger}},
			Rules:    []config.Rule{{ID: "r", Enabled: true, When: tt.rule}},
		})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got := e.labelsRead(&pipeline.PRFacts{Title: "Add stock"}); got != tt.want {
			t.Errorf("%s: reads %v, want %v", tt.name, got, tt.want)
		}
		if tt.want == pipeline.LabelsOfTypes {
			tt.want = pipeline.LabelsNone
		}
		if got := e.labelsRead(&pipeline.PRFacts{Title: "feat: add stock"}); got != tt.want {
			t.Errorf("%s: if the title names the type, it reads %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestCompileNamesTheRuleThatDoesNotCompile(t *testing.T) {
	_, err := Compile(&config.Config{Rules: []config.Rule{{ID: "r", Enabled: true, When: "facts.titel"}}})
	if err == nil || !strings.Contains(err.Error(), `"r": when: at 1:6 of the expression`) {
		t.Errorf("Compile = %v, want an error that names the rule and the place", err)
	}
}
