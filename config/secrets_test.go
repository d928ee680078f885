package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func allowing(rules ...string) string {
	var list []string
	for _, rule := range rules {
		list = append(list, `{"rule": "`+rule+`", "value": "scrypt:`+strings.Repeat("A", 22)+`:`+strings.Repeat("B", 42)+`A", "reason": "r"}`)
	}
	return `{"secrets": {"allow": [` + strings.Join(list, ", ") + `]}}`
}

// The values that a layer allows are added to those that the layers below allow.
func TestAllowedSecretsOfAllLayers(t *testing.T) {
	cfg, problems := Load(
		named(layer(FileSettings, allowing("a")), LayerServer),
		named(layer(FileSettings, allowing("b", "c")), LayerOrganisation),
		named(layer(FileSettings, `{"mode": "advisory"}`), LayerRepository),
	)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var rules []string
	for _, e := range cfg.Settings.Secrets.Allow {
		rules = append(rules, e.Rule)
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, rules); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
}

func TestProblemsOfAllowedSecrets(t *testing.T) {
	final := named(layer(FileAgents, `[{"id": "secrets", "final": true}]`), LayerServer)
	tests := []struct {
		name  string
		below []Layer
		text  string
		want  []string
	}{
		{"a value in plain text", nil, `{"secrets": {"allow": [{"rule": "a", "value": "hunter2", "reason": "r"}]}}`, []string{`/secrets/allow/0/value`}},
		{"no reason", nil, strings.ReplaceAll(allowing("a"), `, "reason": "r"`, ""), []string{`"reason" is missing`}},
		{"a day that does not exist", nil, strings.ReplaceAll(allowing("a"), `"reason"`, `"expires": "2027-02-31", "reason"`), []string{`there is no day "2027-02-31"`}},
		{"a bad glob", nil, strings.ReplaceAll(allowing("a"), `"reason"`, `"paths": ["[a"], "reason"`), []string{`the glob "[a" is refused`}},
		{"the agent is final", []Layer{final}, allowing("a"), []string{`the agent "secrets" is final in the server's layer, so no later layer allows secrets; leave it out, or ask for the entry there`}},
		{"the section is final", []Layer{named(layer(FileSettings, `{"final": ["secrets"]}`), LayerServer)}, allowing("a"), []string{`secrets is final in the server's layer`}},
		{"too many in all layers together", []Layer{named(layer(FileSettings, allowing(strings.Split(strings.Repeat("a ", 60), " ")[:60]...)), LayerServer)}, allowing(strings.Split(strings.Repeat("b ", 60), " ")[:60]...), []string{`100`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, problems := Load(append(test.below, named(layer(FileSettings, test.text), LayerRepository))...)
			if len(problems) != len(test.want) {
				t.Fatalf("%d problems, want %d: %v", len(problems), len(test.want), problems)
			}
			for i, p := range problems {
				if !strings.Contains(FormatProblem(p), test.want[i]) {
					t.Errorf("problem %d: %s; want %s", i, FormatProblem(p), test.want[i])
				}
			}
		})
	}
}
