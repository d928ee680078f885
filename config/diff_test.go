package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/pipeline"
)

func TestDiff(t *testing.T) {
	changed := func(file, id string, fields ...string) pipeline.ConfigChange {
		return pipeline.ConfigChange{File: file, ID: id, Change: pipeline.ChangeChanged, Fields: fields}
	}
	added := func(file, id string) pipeline.ConfigChange {
		return pipeline.ConfigChange{File: file, ID: id, Change: pipeline.ChangeAdded}
	}
	removed := func(file, id string) pipeline.ConfigChange {
		return pipeline.ConfigChange{File: file, ID: id, Change: pipeline.ChangeRemoved}
	}
	tests := []struct {
		name  string
		layer Layer
		want  []pipeline.ConfigChange
	}{
		{"no change", layer(FileRules, `[{"id": "sp-teh", "severity": "info"}]`, FileSettings, `{"mode": "enforce"}`), nil},
		{"a default written out", layer(FileRules, `[{"id": "sp-teh", "match": {"on": "added", "tests": true}}]`,
			FileComposition, `[{"id": "spelling", "dispatch": {"on_failure": "block"}}]`), nil},
		{"rules", layer(FileRules, `[`+rule("b-new", "")+`,`+rule("a-new", "")+`, {"id": "build-any-01", "enabled": false}, {"id": "sp-teh", "severity": "major", "match": {"languages": [], "fix": "x"}}]`),
			[]pipeline.ConfigChange{added(FileRules, "a-new"), added(FileRules, "b-new"), removed(FileRules, "build-any-01"), changed(FileRules, "sp-teh", "severity", "match.languages", "match.fix")}},
		{"a rule is put in evaluation", layer(FileRules, `[{"id": "sp-teh", "mode": "evaluate"}]`), []pipeline.ConfigChange{changed(FileRules, "sp-teh", "mode")}},
		{"an agent is put in evaluation", layer(FileAgents, `[{"id": "spelling", "mode": "evaluate"}]`), []pipeline.ConfigChange{changed(FileAgents, "spelling", "mode")}},
		{"a policy", layer(FileComposition, `[{"id": "spelling", "priority": 11, "trigger": {"type": "domain", "domains": ["docs"], "match": "all"}, "dispatch": {"required": true}}]`),
			[]pipeline.ConfigChange{changed(FileComposition, "spelling", "priority", "trigger", "dispatch.required")}},
		{"an agent is switched off, and what needs it is off too", layer(FileAgents, `[{"id": "spelling", "enabled": false}]`),
			[]pipeline.ConfigChange{removed(FileRules, "sp-teh"), removed(FileComposition, "spelling"), removed(FileAgents, "spelling")}},
		{"domains", layer(FileDomains, `[{"id": "docs", "weight": 9}, {"id": "shop", "type": "service", "service": "shop", "description": "d", "globs": ["shop/**"]}, {"id": "risk-fork", "points": 1}, {"id": "signal-public-api", "enabled": false}]`),
			[]pipeline.ConfigChange{changed(FileDomains, "docs", "weight"), changed(FileDomains, "risk-fork", "points"), added(FileDomains, "shop"), removed(FileDomains, "signal-public-api")}},
		{"settings", layer(FileSettings, `{"mode": "off", "limits": {"agent_retries": 0}, "gate": {"conditions": []}, "check": {"annotations": false}}`),
			[]pipeline.ConfigChange{changed(FileSettings, "check.annotations"), changed(FileSettings, "gate.conditions"), changed(FileSettings, "limits.agent_retries"), changed(FileSettings, "mode")}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := Diff(mustLoad(t, spellingLayer), mustLoad(t, spellingLayer, test.layer))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}

// In the other direction, additions and removals are swapped.
func TestDiffOfTheReverse(t *testing.T) {
	c := mustLoad(t, spellingLayer, layer(FileRules, `[`+rule("a", "")+`, {"id": "sp-teh", "enabled": false}]`))
	want := []pipeline.ConfigChange{
		{File: FileRules, ID: "a", Change: pipeline.ChangeRemoved},
		{File: FileRules, ID: "sp-teh", Change: pipeline.ChangeAdded},
	}
	if diff := cmp.Diff(want, Diff(c, mustLoad(t, spellingLayer))); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	// The same id in another type of entry is another entry.
	one := &Config{Domains: []DomainMapping{{ID: "x", Enabled: true}}}
	other := &Config{Services: []ServiceMapping{{ID: "x", Enabled: true}}}
	want = []pipeline.ConfigChange{{File: FileDomains, ID: "x", Change: pipeline.ChangeChanged, Fields: pipeline.List[string]{"type"}}}
	if diff := cmp.Diff(want, Diff(one, other)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}
