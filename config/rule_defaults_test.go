package config

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The shortest rule of docs/new-rule.md is valid, and each of its four fields is needed.
func TestShortestRule(t *testing.T) {
	page, err := os.ReadFile("../docs/new-rule.md")
	if err != nil {
		t.Fatal(err)
	}
	_, part, _ := strings.Cut(string(page), "The shortest rule")
	_, text, _ := strings.Cut(part, "```json\n")
	text, _, _ = strings.Cut(text, "```")
	c := mustLoad(t, layer(FileRules, text))
	at := slices.IndexFunc(c.Rules, func(r Rule) bool { return r.ID == "shop-no-legacy-api" })
	if at < 0 {
		t.Fatalf("no rule came of %s", text)
	}
	want := Rule{
		ID: "shop-no-legacy-api", Enabled: true, Severity: "major", Agent: "build-reviewer", Category: "custom",
		Name:        "legacy.shop.internal is switched off in March: call api.shop.internal/v2",
		Description: "legacy.shop.internal is switched off in March: call api.shop.internal/v2.",
		Detection:   "legacy.shop.internal is switched off in March: call api.shop.internal/v2.",
		Match:       &Match{Literal: "legacy.shop.internal"},
	}
	if diff := cmp.Diff(want, c.Rules[at]); diff != "" {
		t.Errorf("rule (-want +got):\n%s", diff)
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	fields := 0
	for i, line := range lines {
		if !strings.HasPrefix(line, "    ") {
			continue
		}
		fields++
		less := strings.Join(slices.Delete(slices.Clone(lines), i, i+1), "\n")
		if _, problems := Load(layer(FileRules, strings.ReplaceAll(less, ",\n  }", "\n  }"))); len(problems) == 0 {
			t.Errorf("the rule is valid without %s", strings.TrimSpace(line))
		}
	}
	if fields != 4 {
		t.Errorf("the rule has %d fields", fields)
	}
}

func TestRuleDefaults(t *testing.T) {
	long := strings.Repeat("é", 200)
	for _, tt := range []struct{ name, fields, wantName, wantAgent string }{
		{"prose", `"description": "Use money(). It rounds.", "detection": "Arithmetic on prices"`, "Use money()", "build-reviewer"},
		{"expression", `"description": "Too large.", "when": "true", "agent": "pr-hygiene"`, "Too large", "pr-hygiene"},
		{"long description", `"description": "` + long + `", "match": {"literal": "x"}`, strings.Repeat("é", 119) + "…", "build-reviewer"},
		{"several lines", `"description": " Never\n call v1.2 \n", "match": {"literal": "x"}`, "Never call v1.2", "build-reviewer"},
	} {
		c := mustLoad(t, layer(FileRules, `[{"id": "own", "severity": "info", `+tt.fields+`}]`))
		at := slices.IndexFunc(c.Rules, func(r Rule) bool { return r.ID == "own" })
		if r := c.Rules[at]; r.Name != tt.wantName || r.Agent != tt.wantAgent {
			t.Errorf("%s: name %q, agent %q", tt.name, r.Name, r.Agent)
		}
	}
}

// A default can be wrong in a config without the shipped entries. The problem is then at the rule.
func TestDefaultAgentIsGone(t *testing.T) {
	agents := `{"extends": [], "items": [{"id": "own-agent", "name": "n", "kind": "rules", "description": "d"}]}`
	policies := `{"extends": [], "items": [{"id": "all", "description": "d", "priority": 1, "trigger": {"type": "always"}, "dispatch": {"agents": ["own-agent"]}}]}`
	rules := `{"extends": [], "items": [{"id": "own", "severity": "info", "description": "d", "match": {"literal": "x"}}]}`
	domains := `{"extends": [], "items": []}`
	_, problems := Load(layer(FileAgents, agents, FileComposition, policies, FileRules, rules, FileDomains, domains))
	want := []string{`review-rules.json:1:27: /items/0: there is no agent "build-reviewer"; register it in review-agents.json, or use one of those that exist`}
	if diff := cmp.Diff(want, formatted(problems)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// A later layer overrides single fields of a rule with defaults, and the others stay.
func TestOverrideOfARuleWithDefaults(t *testing.T) {
	short := textLayer(LayerOrganisation, FileRules, `[{"id": "own", "severity": "info", "description": "First.", "match": {"literal": "x"}}]`)
	c := mustLoad(t, short, layer(FileRules, `[{"id": "own", "severity": "major", "description": "Second."}]`))
	at := slices.IndexFunc(c.Rules, func(r Rule) bool { return r.ID == "own" })
	if r := c.Rules[at]; r.Name != "First" || r.Severity != "major" || r.Agent != "build-reviewer" {
		t.Errorf("rule %+v", r)
	}
}
