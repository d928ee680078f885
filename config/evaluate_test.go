package config

import (
	"strings"
	"testing"
)

// What is in evaluation stands in for nothing that is enforced: a layer is refused as if the entries
// were switched off.
func TestEvaluationStandsInForNothing(t *testing.T) {
	always := func(mode string) string {
		return `[{"id": "universal", ` + mode + `}, {"id": "secrets", ` + mode + `}, {"id": "hygiene", ` + mode + `}]`
	}
	for name, c := range map[string]struct {
		layer Layer
		want  string
	}{
		"all policies for every change": {layer(FileComposition, always(`"mode": "evaluate"`)), `no policy with the trigger "always" is enforced`},
		"the agents of these": {layer(FileAgents, `[{"id": "build-reviewer", "mode": "evaluate"}, {"id": "security-reviewer", "mode": "evaluate"}, {"id": "secrets", "mode": "evaluate"},
			{"id": "pr-hygiene", "mode": "evaluate"}]`), `every agent of the policies with the trigger "always" is switched off or in evaluation`},
		"the only policy of a rule": {layer(FileAgents, `[{"id": "own", "name": "A", "kind": "rules", "description": "d"}]`,
			FileComposition, `[{"id": "own", "mode": "evaluate", "description": "d", "priority": 1, "trigger": {"type": "always"}, "dispatch": {"agents": ["own"]}}]`,
			FileRules, `[`+strings.Replace(rule("mine", ""), "build-reviewer", "own", 1)+`]`), `only policies in evaluation dispatch the agent "own", so its enforced rules would not run`},
		"and the rule in evaluation, too": {layer(FileAgents, `[{"id": "own", "name": "A", "kind": "rules", "description": "d"}]`,
			FileComposition, `[{"id": "own", "mode": "evaluate", "description": "d", "priority": 1, "trigger": {"type": "always"}, "dispatch": {"agents": ["own"]}}]`,
			FileRules, `[`+strings.Replace(rule("mine", `, "mode": "evaluate"`), "build-reviewer", "own", 1)+`]`), ""},
		"and the agent": {layer(FileAgents, `[{"id": "own", "mode": "evaluate", "name": "A", "kind": "rules", "description": "d"}]`,
			FileComposition, `[{"id": "own", "mode": "evaluate", "description": "d", "priority": 1, "trigger": {"type": "always"}, "dispatch": {"agents": ["own"]}}]`,
			FileRules, `[`+strings.Replace(rule("mine", ""), "build-reviewer", "own", 1)+`]`), ""},
	} {
		_, problems := Load(c.layer)
		got := strings.Join(formatted(problems), "\n")
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: the problems are %q, want %q", name, got, c.want)
		}
	}
}

// A policy that the server evaluates brings an agent to no enforced review, so an organisation can't
// rely on it to map files away from a signal.
func TestEvaluatedPolicyExcusesNoMapping(t *testing.T) {
	for mode, weaker := range map[string]int{"evaluate": 1, "enforce": 0} {
		server := named(layer(
			FileAgents, `[{"id": "looker", "name": "A", "kind": "rules", "description": "d"}]`,
			FileRules, `[`+strings.Replace(rule("look", `, "mode": "evaluate"`), "build-reviewer", "looker", 1)+`]`,
			FileDomains, `[{"id": "odd", "type": "domain", "domain": "odd", "description": "d", "globs": ["odd/**"], "weight": 1},
				{"id": "odd-signal", "type": "signal", "concern": "odd", "description": "d", "pattern": "odd", "domain": "odd", "agent": "looker"}]`,
			FileComposition, `[{"id": "look", "mode": "`+mode+`", "description": "d", "priority": 1, "trigger": {"type": "always"}, "dispatch": {"agents": ["looker"]}}]`,
		), LayerServer)
		organisation := named(layer(FileDomains, `[{"id": "hide", "type": "domain", "domain": "odd", "description": "d", "globs": ["**"], "weight": 1}]`), LayerOrganisation)
		organisation.Organisation = "acme"
		c, problems := Load(server, organisation)
		if len(problems) > 0 || len(c.Weakened()) != weaker {
			t.Errorf("%s: %d parts would loosen, want %d: %v %v", mode, len(c.Weakened()), weaker, c.Weakened(), problems)
		}
	}
}
