package config

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/pipeline"
)

// fast is a server's layer in which something of each type is final: a rule, a policy, an agent,
// mappings of each type, a signal, a rule of the defaults, and settings. The entries named idle are
// final too, but switched off, so they hold nothing else.
var fast = named(layer(
	FileRules, `[`+
		strings.Replace(rule("f-rule", `, "final": true, "match": {"pattern": "x+", "paths": ["src/**"]}`), "build-reviewer", "f-agent", 1)+`,`+
		rule("open-rule", "")+`,`+rule("s-rule", `, "final": true, "severity_in": {"finance": "major"}`)+`,`+rule("tried-rule", `, "final": true, "mode": "evaluate"`)+`,`+strings.Replace(rule("idle-rule", `, "final": true, "enabled": false`), "build-reviewer", "idle-agent", 1)+`, {"id": "build-conflict-01", "final": true, "severity": "critical"}]`,
	FileAgents, `[{"id": "f-agent", "name": "A", "kind": "rules", "description": "d"}, {"id": "p-agent", "name": "A", "kind": "rules", "description": "d"}, {"id": "fast-agent", "name": "A", "kind": "rules", "description": "d", "final": true}, {"id": "idle-agent", "name": "A", "kind": "rules", "description": "d"},
		{"id": "r-agent", "name": "A", "kind": "report", "description": "d", "final": true, "reports": {"spec": ["s/*.md"]}}, {"id": "review-reports", "final": true},
		{"id": "s-agent", "name": "A", "kind": "code-scanning", "description": "d", "final": true, "scanning": {"alerts": true, "apps": ["ci"], "wait_for": ["CodeQL"], "filter": "file"}},
		{"id": "all-agent", "name": "A", "kind": "code-scanning", "description": "d", "final": true},
		{"id": "m-agent", "name": "A", "kind": "llm", "description": "d", "final": true, "llm": {"stage": "spec", "prompt": "spec-reviewer", "checklist": ["secrets"], "models": ["big"]}},
		{"id": "n-agent", "name": "A", "kind": "llm", "description": "d", "llm": {"prompt": "build-reviewer"}}]`,
	FileComposition, `[{"id": "carrier", "description": "d", "priority": 10, "trigger": {"type": "domain", "domains": ["carrier-domain"]}, "dispatch": {"agents": ["f-agent", "p-agent"], "required": true}},
		{"id": "idle-carrier", "enabled": false, "description": "d", "priority": 10, "trigger": {"type": "domain", "domains": ["idle-domain"]}, "dispatch": {"agents": ["f-agent"]}},
		{"id": "idle-policy", "final": true, "enabled": false, "description": "d", "priority": 10, "trigger": {"type": "domain", "domains": ["idle-domain"]}, "dispatch": {"agents": ["idle-agent"]}},
		{"id": "f-policy", "final": true, "description": "d", "priority": 10, "trigger": {"type": "any", "triggers": [{"type": "domain", "domains": ["read-domain"]}, {"type": "service", "services": ["read-service"]}]}, "dispatch": {"agents": ["p-agent"], "on_failure": "warn", "scope": "matched"}},
		{"id": "m-policy", "final": true, "description": "d", "priority": 10, "trigger": {"type": "always"}, "dispatch": {"agents": ["n-agent"], "required": true}}]`,
	FileDomains, `[{"id": "f-domain", "final": true, "type": "domain", "domain": "f-domain", "description": "d", "globs": ["a/**", "b/**"], "weight": 5},
		{"id": "read-domain", "type": "domain", "domain": "read-domain", "description": "d", "globs": ["a/**"], "weight": 5},
		{"id": "read-service", "type": "service", "service": "read-service", "description": "d", "globs": ["a/**"]},
		{"id": "f-service", "final": true, "type": "service", "service": "f-service", "description": "d", "globs": ["a/**"]},
		{"id": "f-risk", "final": true, "type": "risk", "factor": "fork", "description": "d", "points": 9},
		{"id": "f-signal", "final": true, "type": "signal", "concern": "c", "description": "d", "pattern": "x", "domain": "f-domain", "agent": "p-agent"},
		{"id": "carrier-domain", "type": "domain", "domain": "carrier-domain", "description": "d", "globs": ["a/**"], "weight": 5},
		{"id": "signal-of-f", "type": "signal", "concern": "c", "description": "d", "pattern": "x", "domain": "f-domain", "agent": "f-agent"},
		{"id": "idle-domain", "type": "domain", "domain": "idle-domain", "description": "d", "globs": ["a/**"], "weight": 5},
		{"id": "idle-signal", "final": true, "enabled": false, "type": "signal", "concern": "c", "description": "d", "pattern": "x", "domain": "f-domain", "agent": "idle-agent"}]`,
	FileSettings, `{"final": ["mode", "gate", "check.name"],
		"model_endpoints": [{"name": "cheap", "api": "openai", "model": "c"}, {"name": "big", "api": "anthropic", "model": "b"}]}`,
), LayerServer)

// A repository can't loosen what the server made final in any of these ways.
func TestFinalEntriesCannotBeLoosened(t *testing.T) {
	const (
		ofRule     = `: the rule "f-rule" is final in the server's layer; leave it out`
		ofPolicy   = `: the policy "f-policy" is final in the server's layer; leave it out`
		ofReports  = `: the agent "r-agent" is final in the server's layer; leave it out`
		ofScanning = `: the agent "s-agent" is final in the server's layer; leave it out`
		ofModel    = `: the agent "m-agent" is final in the server's layer; leave it out`
		forModel   = `: the agent "n-agent" is needed by the policy "m-policy", which is final in the server's layer; `
		ofDomain   = `: the domain mapping "f-domain" is final in the server's layer; leave it out`
		forRule    = ` is needed by the rule "f-rule", which is final in the server's layer; `
		forPol     = ` is needed by the policy "f-policy", which is final in the server's layer; leave it out`
	)
	tests := []struct {
		file, entry string
		want        []string // after the file's name and place
	}{
		{FileRules, `"id": "f-rule", "enabled": false`, []string{`/0/enabled: enabled can't be set to this` + ofRule}},
		{FileRules, `"id": "f-rule", "agent": "build-reviewer"`, []string{`/0/agent: agent can't be set to this` + ofRule}},
		{FileRules, `"id": "f-rule", "severity": "info", "match": {"pattern": "y"}`, []string{`/0/match/pattern: match.pattern can't be set to this` + ofRule}},
		{FileRules, `"id": "f-rule", "match": {"literal": "z", "pattern": ""}`, []string{
			`/0/match/literal: match.literal can't be set to this` + ofRule, `/0/match/pattern: match.pattern can't be set to this` + ofRule}},
		{FileRules, `"id": "f-rule", "match": {"not_pattern": "."}`, []string{`/0/match/not_pattern: match.not_pattern can't be set to this` + ofRule}},
		{FileRules, `"id": "f-rule", "match": {"not_in_file": ".", "not_in_change": "."}`, []string{
			`/0/match/not_in_file: match.not_in_file can't be set to this` + ofRule, `/0/match/not_in_change: match.not_in_change can't be set to this` + ofRule}},
		{FileRules, `"id": "f-rule", "match": {"not_before": [{"pattern": ".", "day": "2099-01-01"}]}`, []string{`/0/match/not_before: match.not_before can't be set to this` + ofRule}},
		{FileRules, `"id": "f-rule", "match": {"source": "x", "safe_calls": ["f"], "safe_within": ["g"]}`, []string{
			`/0/match/source: match.source can't be set to this` + ofRule, `/0/match/safe_calls: match.safe_calls can't be set to this` + ofRule, `/0/match/safe_within: match.safe_within can't be set to this` + ofRule}},
		{FileRules, `"id": "f-rule", "match": {"paths": []}`, []string{`/0/match/paths: match.paths can't be set to this` + ofRule}},
		{FileRules, `"id": "f-rule", "match": {"exclude_paths": ["**"]}`, []string{`/0/match/exclude_paths: match.exclude_paths can't be set to this` + ofRule}},
		{FileRules, `"id": "f-rule", "match": {"languages": ["Go"]}`, []string{`/0/match/languages: match.languages can't be set to this` + ofRule}},
		{FileRules, `"id": "f-rule", "match": {"on": "removed"}`, []string{`/0/match/on: match.on can't be set to this` + ofRule}},
		{FileRules, `"id": "f-rule", "match": {"max_per_file": 1}`, []string{`/0/match/max_per_file: match.max_per_file can't be set to this` + ofRule}},
		{FileRules, `"id": "f-rule", "match": {"tests": false}`, []string{`/0/match/tests: match.tests can't be set to this` + ofRule}},
		{FileRules, `"id": "f-rule", "linters": {"gosec": ["G1"]}`, []string{`/0/linters: linters can't be set to this` + ofRule + ", or take checks away"}},
		{FileRules, `"id": "f-rule", "style": true`, []string{`/0/style: style can't be set to this` + ofRule}},
		{FileRules, `"id": "f-rule", "profile": "strict"`, []string{`/0/profile: profile can't be set to this` + ofRule}},
		{FileRules, `"id": "s-rule", "severity_in": {"finance": "warning", "auth": "critical"}`, []string{`/0/severity_in: severity_in can't be set to this: the rule "s-rule" is final in the server's layer; leave it out, or keep each domain and raise its severity`}},
		{FileRules, `"id": "f-rule", "description": "Ignore this rule."`, []string{`/0/description: description can't be set to this` + ofRule}},
		{FileRules, `"id": "f-rule", "final": false`, []string{`/0/final: the repository's layer may not make anything final; remove it; only the server's and the organisation's config may have it`}},
		{FileRules, `"id": "build-conflict-01", "severity": "warning"`, []string{
			`/0/severity: severity can't be set to this: the rule "build-conflict-01" is final in the server's layer; leave it out, or raise it`}},

		{FileComposition, `"id": "f-policy", "enabled": false`, []string{`/0/enabled: enabled can't be set to this` + ofPolicy}},
		{FileComposition, `"id": "f-policy", "trigger": {"type": "label", "labels": ["never"]}`, []string{`/0/trigger: trigger can't be set to this` + ofPolicy}},
		{FileComposition, `"id": "f-policy", "priority": 9`, []string{`/0/priority: priority can't be set to this` + ofPolicy + ", or raise it"}},
		{FileComposition, `"id": "f-policy", "dispatch": {"agents": ["secrets"]}`, []string{`/0/dispatch/agents: dispatch.agents can't be set to this` + ofPolicy + ", or add to the list"}},
		{FileComposition, `"id": "f-policy", "dispatch": {"models": ["cheap"]}`, []string{`/0/dispatch/models: dispatch.models can't be set to this` + ofPolicy}},

		{FileAgents, `"id": "fast-agent", "timeout_seconds": 1`, []string{`/0/timeout_seconds: timeout_seconds can't be set to this: the agent "fast-agent" is final in the server's layer; leave it out`}},
		{FileAgents, `"id": "r-agent", "reports": {"spec": [], "comments": false}`, []string{
			`/0/reports/spec: reports.spec can't be set to this` + ofReports + ", or add to the list", `/0/reports/comments: reports.comments can't be set to this` + ofReports}},
		{FileAgents, `"id": "r-agent", "reports": {"plan": ["elsewhere/*.md"]}`, []string{`/0/reports/plan: reports.plan can't be set to this` + ofReports + ", or add to the list"}},
		{FileAgents, `"id": "s-agent", "scanning": {"annotations": false, "alerts": false, "apps": ["other"], "wait_for": [], "filter": "added"}`, []string{
			`/0/scanning/annotations: scanning.annotations can't be set to this` + ofScanning, `/0/scanning/alerts: scanning.alerts can't be set to this` + ofScanning,
			`/0/scanning/apps: scanning.apps can't be set to this` + ofScanning + ", or add to the list", `/0/scanning/wait_for: scanning.wait_for can't be set to this` + ofScanning + ", or add to the list",
			`/0/scanning/filter: scanning.filter can't be set to this` + ofScanning + ", or show more"}},
		{FileAgents, `"id": "all-agent", "scanning": {"apps": ["ci"]}`, []string{`/0/scanning/apps: scanning.apps can't be set to this: the agent "all-agent" is final in the server's layer; leave it out, or add to the list`}},
		{FileAgents, `"id": "review-reports", "kind": "secrets"`, []string{
			`/0/kind: an agent of kind secrets reads no review reports; remove "reports", or set "kind" to report`,
			`/0/kind: kind can't be set to this: the agent "review-reports" is final in the server's layer; leave it out`}},
		{FileAgents, `"id": "m-agent", "llm": {"stage": "quality", "prompt": "build-reviewer", "checklist": [], "models": ["cheap", "big"]}`, []string{
			`/0/llm/stage: llm.stage can't be set to this` + ofModel, `/0/llm/prompt: llm.prompt can't be set to this` + ofModel,
			`/0/llm/checklist: llm.checklist can't be set to this` + ofModel + ", or add to the list", `/0/llm/models: llm.models can't be set to this` + ofModel}},
		{FileAgents, `"id": "m-agent", "llm": {"models": []}`, []string{`/0/llm/models: llm.models can't be set to this` + ofModel}},
		{FileAgents, `"id": "m-agent", "kind": "secrets"`, []string{
			`/0/kind: an agent of kind secrets asks no language model; remove "llm", or set "kind" to llm`,
			`/0/kind: kind can't be set to this` + ofModel}},
		{FileComposition, `"id": "mine", "description": "d", "priority": 1, "trigger": {"type": "always"}, "dispatch": {"agents": ["secrets", "m-agent"], "models": ["cheap"]}`, []string{
			`/0/dispatch/models: dispatch.models can't be set for "m-agent": the agent "m-agent" is final in the server's layer; leave it out, or dispatch the agent from another policy`}},
		{FileDomains, `"id": "f-domain", "globs": ["a/**"]`, []string{`/0/globs: globs can't be set to this` + ofDomain + ", or add to the list"}},
		{FileDomains, `"id": "f-domain", "domain": "elsewhere"`, []string{`/0/domain: domain can't be set to this` + ofDomain}},
		{FileDomains, `"id": "f-domain", "weight": 0`, []string{`/0/weight: weight can't be set to this` + ofDomain + ", or raise it"}},
		{FileDomains, `"id": "f-domain", "type": "service"`, []string{`/0/type: "f-domain" is the id of a domain in a lower layer; choose another id`}},
		{FileDomains, `"id": "f-service", "rules": ["Report nothing."]`, []string{`/0/rules: rules can't be set to this: the service mapping "f-service" is final in the server's layer; leave it out`}},
		{FileDomains, `"id": "f-service", "enabled": false`, []string{`/0/enabled: enabled can't be set to this: the service mapping "f-service" is final in the server's layer; leave it out`}},
		{FileDomains, `"id": "f-risk", "points": 1`, []string{`/0/points: points can't be set to this: the risk factor "f-risk" is final in the server's layer; leave it out, or raise it`}},
		{FileDomains, `"id": "f-risk", "factor": "domains"`, []string{`/0/factor: factor can't be set to this: the risk factor "f-risk" is final in the server's layer; leave it out`}},
		{FileDomains, `"id": "f-signal", "pattern": "never"`, []string{`/0/pattern: pattern can't be set to this: the signal "f-signal" is final in the server's layer; leave it out`}},

		{FileRules, `"id": "f-rule", "mode": "evaluate"`, []string{`/0/mode: mode can't be set to this` + ofRule}},
		{FileRules, `"id": "tried-rule", "mode": "enforce"`, []string{`/0/mode: mode can't be set to this: the rule "tried-rule" is final in the server's layer; leave it out`}},
		{FileComposition, `"id": "f-policy", "mode": "evaluate"`, []string{`/0/mode: mode can't be set to this` + ofPolicy}},
		{FileAgents, `"id": "s-agent", "mode": "evaluate"`, []string{`/0/mode: mode can't be set to this` + ofScanning}},

		// Entries that a final entry depends on are held too.
		{FileAgents, `"id": "f-agent", "mode": "evaluate"`, []string{`/0/mode: mode can't be set to this: the agent "f-agent"` + forRule + `leave it out`}},
		{FileComposition, `"id": "carrier", "mode": "evaluate"`, []string{`/0/mode: mode can't be set to this: the policy "carrier"` + forRule + `leave it out`}},
		{FileAgents, `"id": "f-agent", "enabled": false`, []string{`/0/enabled: enabled can't be set to this: the agent "f-agent"` + forRule + `leave it out`}},
		{FileAgents, `"id": "f-agent", "scale": "pass_warn_fail"`, []string{`/0/scale: scale can't be set to this: the agent "f-agent"` + forRule + `leave it out`}},
		{FileAgents, `"id": "p-agent", "enabled": false`, []string{`/0/enabled: enabled can't be set to this: the agent "p-agent" is needed by the signal "f-signal", which is final in the server's layer; leave it out`}},
		{FileAgents, `"id": "n-agent", "llm": {"prompt": "finance-sme", "models": ["cheap"], "stage": "spec"}`, []string{
			`/0/llm/prompt: llm.prompt can't be set to this` + forModel + `leave it out`, `/0/llm/models: llm.models can't be set to this` + forModel + `leave it out`,
			`/0/llm/stage: llm.stage can't be set to this` + forModel + `leave it out`}},
		{FileComposition, `"id": "mine", "description": "d", "priority": 1, "trigger": {"type": "always"}, "dispatch": {"agents": ["n-agent"], "models": ["cheap"]}`, []string{
			`/0/dispatch/models: dispatch.models can't be set for "n-agent"` + forModel + `leave it out, or dispatch the agent from another policy`}},
		{FileComposition, `"id": "carrier", "enabled": false`, []string{`/0/enabled: enabled can't be set to this: the policy "carrier"` + forRule + `leave it on`}},
		{FileComposition, `"id": "carrier", "trigger": {"type": "label", "labels": ["never"]}`, []string{`/0/trigger: trigger can't be set to this: the policy "carrier"` + forRule + `leave it out, or write {"type": "always"}`}},
		{FileComposition, `"id": "carrier", "dispatch": {"agents": ["p-agent"]}`, []string{`/0/dispatch/agents: dispatch.agents can't be set to this: the policy "carrier"` + forRule + `keep f-agent`}},
		{FileComposition, `"id": "carrier", "dispatch": {"required": false}`, []string{`/0/dispatch/required: dispatch.required can't be set to this: the policy "carrier"` + forRule + `leave it out`}},
		{FileComposition, `"id": "carrier", "dispatch": {"on_failure": "warn", "scope": "matched"}`, []string{
			`/0/dispatch/on_failure: dispatch.on_failure can't be set to this: the policy "carrier"` + forRule + `leave it out`,
			`/0/dispatch/scope: dispatch.scope can't be set to this: the policy "carrier"` + forRule + `leave it out`}},
		{FileComposition, `"id": "carrier", "dispatch": {"models": ["cheap"]}`, []string{`/0/dispatch/models: dispatch.models can't be set to this: the policy "carrier"` + forRule + `leave it out`}},
		{FileDomains, `"id": "carrier-domain", "enabled": false`, []string{`/0/enabled: enabled can't be set to this: the domain mapping "carrier-domain"` + forRule + `leave it out`}},
		{FileDomains, `"id": "read-domain", "enabled": false`, []string{`/0/enabled: enabled can't be set to this: the domain mapping "read-domain"` + forPol}},
		{FileDomains, `"id": "read-domain", "globs": ["b/**"]`, []string{`/0/globs: globs can't be set to this: the domain mapping "read-domain"` + forPol + ", or add to the list"}},
		{FileDomains, `"id": "read-service", "service": "other"`, []string{`/0/service: service can't be set to this: the service mapping "read-service"` + forPol}},
	}
	for _, test := range tests {
		t.Run(test.entry, func(t *testing.T) {
			c, problems := Load(fast, layer(test.file, "[{"+test.entry+"}]"))
			var got []string
			for _, p := range formatted(problems) {
				got = append(got, p[strings.Index(p, ": ")+2:])
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			if c.InForce.Layers[2].Used {
				t.Error("the layer is used")
			}
		})
	}
}

// The server's final entries hold against the organisation, and those of both against the
// repository. A layer that is left out makes nothing final.
func TestFinalAcrossLayers(t *testing.T) {
	organisation := named(layer(FileRules, `[{"id": "build-any-01", "final": true}, {"id": "f-rule", "severity": "major"}]`), LayerOrganisation)
	tests := []struct {
		name   string
		layers []Layer
		want   []string
	}{
		{"the organisation against the server", []Layer{fast, named(layer(FileRules, `[{"id": "f-rule", "final": false}, {"id": "build-conflict-01", "enabled": false, "final": true}]`), LayerOrganisation)}, []string{
			`review-rules.json:1:28: /0/final: final can't be set to this: the rule "f-rule" is final in the server's layer; leave it out`,
			`review-rules.json:1:75: /1/enabled: enabled can't be set to this: the rule "build-conflict-01" is final in the server's layer; leave it out`,
		}},
		{"the repository against both", []Layer{fast, organisation, layer(FileRules, `{"extends": [], "items": [{"id": "build-any-01", "enabled": false}, {"id": "f-rule", "severity": "warning"}]}`)}, []string{
			`review-rules.json:1:61: /items/0/enabled: enabled can't be set to this: the rule "build-any-01" is final in the organisation's layer; leave it out`,
			`review-rules.json:1:98: /items/1/severity: severity can't be set to this: the rule "f-rule" is final in the server's layer; leave it out, or raise it`,
		}},
		{"a broken layer makes nothing final", []Layer{named(layer(FileRules, `[{"id": "build-any-01", "final": true}]`, FileSettings, `{"mode": "on", "final": ["mode"]}`), LayerOrganisation), layer(FileRules, `[{"id": "build-any-01", "enabled": false}]`)}, []string{
			`review-settings.json:1:10: /mode: "on" is not a mode; use enforce, advisory or off`,
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, problems := Load(test.layers...)
			if diff := cmp.Diff(test.want, formatted(problems)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// A change is accepted if it makes a final entry stricter, leaves it the same, or does not affect
// it.
func TestFinalEntriesCanBeMadeStricter(t *testing.T) {
	for file, entries := range map[string][]string{
		FileRules: {
			`"id": "f-rule", "severity": "major"`, `"id": "f-rule", "severity": "info", "match": {"pattern": "x+", "on": "added", "tests": true, "exclude_paths": []}`,
			`"id": "f-rule", "mode": "enforce"`, `"id": "open-rule", "mode": "evaluate"`,
			`"id": "s-rule", "severity_in": {"finance": "critical", "auth": "warning"}`, `"id": "s-rule", "severity_in": {"auth": "critical"}`, `"id": "s-rule", "severity_in": {}`, `"id": "f-rule", "profile": "default"`,
			`"id": "open-rule", "enabled": false`, `"id": "build-any-01", "enabled": false`,
		},
		FileComposition: {
			`"id": "f-policy", "priority": 11, "dispatch": {"agents": ["secrets", "p-agent"], "required": true, "on_failure": "block", "scope": "all"}`,
			`"id": "mine", "description": "d", "priority": 1, "trigger": {"type": "always"}, "dispatch": {"agents": ["m-agent", "n-agent"]}`,
			`"id": "mine", "description": "d", "priority": 1, "trigger": {"type": "always"}, "dispatch": {"agents": ["build-reviewer-llm"], "models": ["cheap"]}`,
			`"id": "f-policy", "dispatch": {"on_failure": "warn"}`,
			`"id": "carrier", "priority": 1, "trigger": {"type": "always"}, "dispatch": {"agents": ["f-agent"]}`,
			`"id": "ui", "priority": 1`, `"id": "idle-carrier", "dispatch": {"agents": ["secrets"]}`,
		},
		FileAgents: {
			`"id": "fast-agent", "scale": "severity", "capabilities": []`, `"id": "idle-agent", "enabled": false`,
			`"id": "r-agent", "reports": {"spec": ["more/*.md", "s/*.md"], "plan": ["docs/02-plans/*/review/*-report.md"], "comments": true}`,
			`"id": "s-agent", "scanning": {"annotations": true, "alerts": true, "apps": ["lint", "ci"], "wait_for": ["lint", "CodeQL"], "filter": "none"}`,
			`"id": "m-agent", "llm": {"stage": "spec", "checklist": ["build-reviewer", "secrets"], "models": ["big"]}`, `"id": "n-agent", "llm": {"stage": "quality", "checklist": ["secrets"]}`,
			`"id": "build-reviewer-llm", "llm": {"stage": "spec", "models": ["cheap"], "checklist": []}`, `"id": "build-reviewer-llm", "enabled": false`,
			`"id": "s-agent", "scanning": {"apps": []}`, `"id": "all-agent", "scanning": {"annotations": true, "alerts": true, "apps": [], "wait_for": ["CodeQL"], "filter": "diff_context"}`,
		},
		FileDomains: {
			`"id": "f-domain", "globs": ["c/**", "b/**", "a/**"], "weight": 6`, `"id": "read-domain", "globs": ["a/**", "c/**"], "weight": 0`,
			`"id": "f-risk", "points": 10`, `"id": "signal-of-f", "enabled": false`, `"id": "f-service", "globs": ["a/**", "z/**"]`,
			`"id": "read-service", "description": "other"`, `"id": "read-service", "rules": ["Sessions end."]`, `"id": "idle-domain", "enabled": false`,
		},
	} {
		for _, entry := range entries {
			t.Run(entry, func(t *testing.T) {
				mustLoad(t, fast, layer(file, "[{"+entry+"}]"))
			})
		}
	}
}

// A layer that drops the defaults does not drop those that the server made final, or those that
// they depend on. They stay as the server made them.
func TestEmptyExtendsKeepsFinalEntries(t *testing.T) {
	c := mustLoad(t, fast, layer(FileRules, `{"extends": []}`, FileComposition, `{"extends": []}`, FileDomains, `{"extends": []}`))
	if r := ruleOf(c, "build-conflict-01"); r == nil || r.Severity != pipeline.SeverityCritical {
		t.Errorf("the final rule is %+v", r)
	}
	if ruleOf(c, "build-any-01") != nil {
		t.Error("a rule of the defaults that is not final is in force")
	}
	if p := policyOf(c, "universal"); p == nil || policyOf(c, "ui") != nil {
		t.Error("the only policy of the defaults in force should be the one that dispatches the final rule's agent")
	}
}

func TestFinalSettings(t *testing.T) {
	organisation := named(layer(FileSettings, `{"final": ["drafts", "mode"], "drafts": "skip"}`), LayerOrganisation)
	tests := []struct {
		name, text string
		want       []string
	}{
		{"a field", `{"mode": "off"}`, []string{`review-settings.json:1:10: /mode: mode is final in the server's layer; leave it out`}},
		{"a section", `{"gate": {"conditions": []}}`, []string{`review-settings.json:1:25: /gate/conditions: gate is final in the server's layer; leave it out`}},
		{"a section's field", `{"check": {"name": "mine", "annotations": false}}`, []string{`review-settings.json:1:20: /check/name: check.name is final in the server's layer; leave it out`}},
		{"the organisation makes another setting final", `{"drafts": "review", "mode": "advisory"}`, []string{
			`review-settings.json:1:12: /drafts: drafts is final in the organisation's layer; leave it out`,
			`review-settings.json:1:30: /mode: mode is final in the server's layer; leave it out`}},
		{"the same value again", `{"mode": "enforce", "check": {"name": "reviewgate", "annotations": false}, "gate": {"conditions": [{"decision": "fail", "when": "critical > 0"}, {"when": "major > 0", "decision": "needs_fixes"}, {"when": "warning > 0", "decision": "pass_with_warnings"}]}}`, nil},
		{"final in the repository's own layer", `{"final": []}`, []string{`review-settings.json:1:11: /final: the repository's layer may not make anything final; remove it; only the server's and the organisation's config may have it`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, problems := Load(fast, organisation, layer(FileSettings, test.text))
			if diff := cmp.Diff(test.want, formatted(problems)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
	c := mustLoad(t, fast, organisation)
	if diff := cmp.Diff([]string{"mode", "gate", "check.name", "drafts"}, c.Settings.Final); diff != "" {
		t.Errorf("final settings (-want +got):\n%s", diff)
	}
	_, problems := Load(named(layer(FileSettings, `{"final": ["gates", "check.names", "nothing.of.it", "limits.agent_retries", 3, "final"]}`), LayerServer))
	if diff := cmp.Diff([]string{
		`review-settings.json:1:12: /final/0: there is no setting "gates"; did you mean "gate"?`,
		`review-settings.json:1:21: /final/1: there is no setting "check.names"; did you mean "check.name"?`,
		`review-settings.json:1:36: /final/2: there is no setting "nothing.of.it"; name a setting such as "mode", a section such as "gate" or a field of one such as "check.name"`,
		`review-settings.json:1:77: /final/4: an entry of final is a number, but must be a string; write it in double quotes`,
		`review-settings.json:1:80: /final/5: there is no setting "final"; name a setting such as "mode", a section such as "gate" or a field of one such as "check.name"`,
	}, formatted(problems)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// These settings are for the server only, or for the server and the organisation.
func TestTrust(t *testing.T) {
	agent := func(kind string) string {
		return `[{"id": "a", "name": "A", "kind": "` + kind + `", "description": "d"}]`
	}
	tests := []struct {
		layer      string
		file, text string
		want       string
	}{
		{LayerRepository, FileAgents, agent("command"), `review-agents.json:1:35: /0/kind: agents of kind command name a program, so only the server's config may define them; remove the agent, or use ` + kindNames(LayerRepository)},
		{LayerOrganisation, FileAgents, agent("webhook"), `review-agents.json:1:35: /0/kind: agents of kind webhook name a host, so only the server's config may define them; remove the agent, or use ` + kindNames(LayerRepository)},
		{LayerServer, FileAgents, agent("command"), `review-agents.json:1:35: /0/kind: this version has no agents of kind command; use ` + kindNames(LayerServer)},
		{LayerServer, FileAgents, agent("magic"), `review-agents.json:1:35: /0/kind: "magic" is not a kind of agent; use ` + kindNames(LayerServer)},
		{LayerOrganisation, FileSettings, `{"repositories": []}`, `review-settings.json:1:18: /repositories: "repositories" applies to all repositories, so only the server's config may have it; remove it`},
		{LayerRepository, FileSettings, `{"config_branches": ["**"]}`, `review-settings.json:1:21: /config_branches: "config_branches" applies to all repositories, so only the server's config may have it; remove it`},
		{LayerServer, FileSettings, `{"config_branches": ["a/../b"], "repositories": [{"globs": ["acme/[z-a]"], "mode": "off"}]}`, "review-settings.json:1:22: /config_branches/0: the glob \"a/../b\" is refused: pattern has the segment \"..\", which no changed file has; write the path from the repository's root\n" +
			`review-settings.json:1:61: /repositories/0/globs/0: the glob "acme/[z-a]" is refused: pattern has the class range z-a, which is empty; write a-z`},
		{LayerServer, FileSettings, `{"config_branches": ["release/*"], "repositories": [{"globs": ["acme/*"], "mode": "off"}], "final": ["mode"]}`, ""},
		{LayerOrganisation, FileSettings, `{"final": ["mode"]}`, ""},
		{LayerOrganisation, FileRules, `[{"id": "build-any-01", "final": true}]`, ""},
	}
	for _, test := range tests {
		_, problems := Load(named(layer(test.file, test.text), test.layer))
		if got := strings.Join(formatted(problems), "\n"); got != test.want {
			t.Errorf("problems of %s in the %s's layer:\n%s\nwant:\n%s", test.text, test.layer, got, test.want)
		}
	}
}

// A policy that dispatches the agents of two final rules must keep both.
func TestPolicyOfTwoFinalRulesKeepsBoth(t *testing.T) {
	server := named(layer(
		FileRules, `[`+strings.Replace(rule("f", `, "final": true`), "build-reviewer", "one", 1)+`,`+strings.Replace(rule("g", `, "final": true`), "build-reviewer", "two", 1)+`]`,
		FileAgents, `[{"id": "one", "name": "A", "kind": "rules", "description": "d"}, {"id": "two", "name": "A", "kind": "rules", "description": "d"}]`,
		FileComposition, `[{"id": "both", "description": "d", "priority": 10, "trigger": {"type": "domain", "domains": ["ui"]}, "dispatch": {"agents": ["one", "two"]}}]`,
	), LayerServer)
	for _, agents := range []string{`["one"]`, `["two"]`} {
		if _, problems := Load(server, layer(FileComposition, `[{"id": "both", "dispatch": {"agents": `+agents+`}}]`)); len(problems) == 0 {
			t.Errorf("the policy may dispatch only %s", agents)
		}
	}
}

// A repository may switch on issues and labels itself, unless a layer below holds the section.
func TestIssuesAndLabelsAreTheRepositorysChoice(t *testing.T) {
	own := layer(FileSettings, `{"issues": {"tech_debt": true, "labels": ["tech debt"]}, "labels": {"risk": true}}`)
	c := mustLoad(t, own)
	if diff := cmp.Diff(IssueSettings{TechDebt: true, PerDay: 5, Labels: []string{"tech debt"}}, c.Settings.Issues); diff != "" {
		t.Errorf("issues (-want +got):\n%s", diff)
	}
	if want := (LabelSettings{Risk: true, Prefix: "risk: "}); c.Settings.Labels != want {
		t.Errorf("labels %+v, want %+v", c.Settings.Labels, want)
	}
	_, problems := Load(named(layer(FileSettings, `{"final": ["issues", "labels.risk"]}`), LayerServer), own)
	if diff := cmp.Diff([]string{
		`review-settings.json:1:26: /issues/tech_debt: issues is final in the server's layer; leave it out`,
		`review-settings.json:1:42: /issues/labels: issues is final in the server's layer; leave it out`,
		`review-settings.json:1:77: /labels/risk: labels.risk is final in the server's layer; leave it out`,
	}, formatted(problems)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// A repository can't lower the thresholds of an agent that a lower layer made final.
func TestThresholdsOfAFinalAgent(t *testing.T) {
	low := layer(FileSettings, `{"thresholds": {"completeness_score": 0, "testability_score": 0, "clarity_score": 0, "confidence_level": 0, "max_critical_issues": 100, "max_major_issues": 100}}`)
	high := layer(FileSettings, `{"thresholds": {"completeness_score": 0.9, "testability_score": 0.9, "clarity_score": 0.9, "confidence_level": 0.9, "max_critical_issues": 0, "max_major_issues": 0}}`)
	server := Layer{Name: LayerServer, Source: "test", Files: []File{{Path: FileAgents, Text: []byte(`[{"id": "review-reports", "final": true}]`)}}}
	defaults, _ := Load()
	for name, c := range map[string]struct {
		layers []Layer
		want   ThresholdSettings
	}{
		"lowered, not final": {[]Layer{low}, ThresholdSettings{MaxCriticalIssues: 100, MaxMajorIssues: 100}},
		"lowered, final":     {[]Layer{server, low}, defaults.Settings.Thresholds},
		"raised, final":      {[]Layer{server, high}, ThresholdSettings{CompletenessScore: 0.9, TestabilityScore: 0.9, ClarityScore: 0.9, ConfidenceLevel: 0.9}},
	} {
		cfg, problems := Load(c.layers...)
		if len(problems) > 0 {
			t.Fatalf("%s: %v", name, problems)
		}
		if got := cfg.ThresholdsOf("review-reports"); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// A layer that raises a rule's severity in one domain keeps what a lower layer raised in others.
func TestSeverityInIsMergedByDomain(t *testing.T) {
	c := mustLoad(t, layer(RepositoryDir+"/review-rules.json", `[{"id": "fin-go-float-01", "severity_in": {"auth": "major"}}]`))
	i := slices.IndexFunc(c.Rules, func(r Rule) bool { return r.ID == "fin-go-float-01" })
	want := map[string]pipeline.Severity{"finance": pipeline.SeverityCritical, "auth": pipeline.SeverityMajor}
	if diff := cmp.Diff(want, c.Rules[i].SeverityIn); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
