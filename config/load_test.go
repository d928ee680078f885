package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies"
)

// mustLoad fails the test if a layer has a problem.
func mustLoad(t *testing.T, layers ...Layer) *Config {
	t.Helper()
	c, problems := Load(layers...)
	if len(problems) > 0 {
		t.Fatalf("problems:\n%s", strings.Join(formatted(problems), "\n"))
	}
	return c
}

func named(l Layer, name string) Layer {
	l.Name = name
	return l
}

func ruleOf(c *Config, id string) *Rule {
	for i := range c.Rules {
		if c.Rules[i].ID == id {
			return &c.Rules[i]
		}
	}
	return nil
}

func policyOf(c *Config, id string) *Policy {
	for i := range c.Policies {
		if c.Policies[i].ID == id {
			return &c.Policies[i]
		}
	}
	return nil
}

// spellingLayer is a server's layer with an agent, a rule for it and a policy.
var spellingLayer = named(layer(
	FileAgents, `[{"id": "spelling", "name": "Spelling", "kind": "rules", "description": "d"}]`,
	FileRules, strings.ReplaceAll(`[`+rule("sp-teh", `, "match": {"pattern": "\\bteh\\b", "languages": ["Markdown"], "fix": "the"}`)+`]`, "build-reviewer", "spelling"),
	FileComposition, `[{"id": "spelling", "description": "d", "priority": 10, "trigger": {"type": "domain", "domains": ["docs"]}, "dispatch": {"agents": ["spelling"], "scope": "matched"}}]`,
), LayerServer)

func TestLaterLayersOverrideSingleFields(t *testing.T) {
	c := mustLoad(t, spellingLayer, layer(
		FileRules, `[{"id": "sp-teh", "severity": "warning", "match": {"languages": [], "max_per_file": 1e1}}]`,
		FileComposition, `{"items": [{"id": "spelling", "trigger": {"type": "always"}, "dispatch": {"required": true}}]}`,
		FileSettings, `{"drafts": "skip", "limits": {"agent_retries": 0}, "gate": {"conditions": []}}`,
	))
	want := Rule{
		ID: "sp-teh", Enabled: true, Name: "n", Severity: pipeline.SeverityWarning, Agent: "spelling",
		Category: "c", Description: "d", Detection: "d", Recommendation: "r",
		Match: &Match{Pattern: `\bteh\b`, Languages: []string{}, MaxPerFile: 10, Fix: "the"},
	}
	if diff := cmp.Diff(&want, ruleOf(c, "sp-teh")); diff != "" {
		t.Errorf("rule (-want +got):\n%s", diff)
	}
	wantPolicy := Policy{
		ID: "spelling", Enabled: true, Description: "d", Priority: 10,
		Trigger:  policies.Trigger{Type: policies.TriggerAlways},
		Dispatch: Dispatch{Agents: []string{"spelling"}, Required: true, Scope: ScopeMatched},
	}
	if diff := cmp.Diff(&wantPolicy, policyOf(c, "spelling")); diff != "" {
		t.Errorf("policy (-want +got):\n%s", diff)
	}
	settings := mustLoad(t).Settings
	settings.Drafts = DraftsSkip
	settings.Limits.AgentRetries = 0
	settings.Gate.Conditions = []policies.GateCondition{}
	if diff := cmp.Diff(settings, c.Settings); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
}

func TestPatternGivesWayToLiteral(t *testing.T) {
	c := mustLoad(t, spellingLayer, layer(FileRules, `[{"id": "sp-teh", "match": {"pattern": "", "literal": "teh"}}]`))
	if m := ruleOf(c, "sp-teh").Match; m.Pattern != "" || m.Literal != "teh" {
		t.Errorf("pattern %q, literal %q", m.Pattern, m.Literal)
	}
}

// New entries come after those of lower layers, which keep their order.
func TestOrderOfEntries(t *testing.T) {
	c := mustLoad(t, layer(FileRules, `[`+rule("z", "")+`,`+rule("a", "")+`]`))
	defaults := mustLoad(t)
	var got, want []string
	for _, r := range defaults.Rules {
		want = append(want, r.ID)
	}
	for _, r := range c.Rules {
		got = append(got, r.ID)
	}
	if diff := cmp.Diff(append(want, "z", "a"), got); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
}

func TestSwitchedOff(t *testing.T) {
	t.Run("entry", func(t *testing.T) {
		c := mustLoad(t, spellingLayer, layer(
			FileRules, `[{"id": "sp-teh", "enabled": false}]`,
			FileDomains, `[{"id": "signal-public-api", "enabled": false}, {"id": "risk-fork", "enabled": false}]`,
		))
		if ruleOf(c, "sp-teh") != nil {
			t.Error("the rule is still in force")
		}
		for _, s := range c.Signals {
			if s.Concern == "public-api" {
				t.Error("the signal is still in force")
			}
		}
		for _, r := range c.Risk {
			if r.Factor == RiskFork {
				t.Error("the risk factor is still in force")
			}
		}
	})
	// One line switches off an agent together with its rules, policies and signals.
	t.Run("agent", func(t *testing.T) {
		c := mustLoad(t, spellingLayer, layer(FileAgents, `[{"id": "spelling", "enabled": false}, {"id": "finance-sme", "enabled": false}, {"id": "build-reviewer", "enabled": false}]`))
		if ruleOf(c, "sp-teh") != nil {
			t.Error("a rule of the agent is still in force")
		}
		if policyOf(c, "spelling") != nil || policyOf(c, "finance") != nil {
			t.Error("a policy that dispatches only this agent is still in force")
		}
		if diff := cmp.Diff([]string{"security-reviewer"}, policyOf(c, "universal").Dispatch.Agents); diff != "" {
			t.Errorf("agents of the universal policy (-want +got):\n%s", diff)
		}
		for _, s := range c.Signals {
			if s.Agent == "finance-sme" {
				t.Error("a signal still asks for the agent")
			}
		}
		for _, a := range c.Agents {
			if want := !slices.Contains([]string{"spelling", "finance-sme", "build-reviewer", "code-scanning"}, a.ID); a.Enabled != want {
				t.Errorf("agent %s is enabled: %v", a.ID, a.Enabled)
			}
		}
	})
	t.Run("switched on again", func(t *testing.T) {
		off := named(layer(FileRules, `[{"id": "sp-teh", "enabled": false}]`), LayerOrganisation)
		c := mustLoad(t, spellingLayer, off, layer(FileRules, `[{"id": "sp-teh", "enabled": true}]`))
		if ruleOf(c, "sp-teh") == nil {
			t.Error("the rule is not in force")
		}
	})
}

// "extends": [] drops the defaults of its file only.
func TestEmptyExtends(t *testing.T) {
	c := mustLoad(t, spellingLayer, layer(FileRules, `{"extends": [], "items": [`+rule("only", "")+`]}`))
	var ids []string
	for _, r := range c.Rules {
		ids = append(ids, r.ID)
	}
	if diff := cmp.Diff([]string{"sp-teh", "only"}, ids); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(len(mustLoad(t).Policies)+1, len(c.Policies)); diff != "" {
		t.Errorf("number of policies (-want +got):\n%s", diff)
	}
	whole := mustLoad(t, layer(
		FileRules, `{"extends": []}`,
		FileAgents, `{"extends": [], "items": [{"id": "a", "name": "A", "kind": "rules", "description": "d"}]}`,
		FileComposition, `{"extends": [], "items": [{"id": "p", "description": "d", "priority": 0, "trigger": {"type": "always"}, "dispatch": {"agents": ["a"]}}]}`,
		FileDomains, `{"extends": []}`,
	))
	if len(whole.Rules)+len(whole.Domains)+len(whole.Risk)+len(whole.Signals) != 0 || len(whole.Agents) != 1 || len(whole.Policies) != 1 {
		t.Errorf("entries of the defaults are left: %+v", whole)
	}
}

// If a layer breaks an entry of another layer, the problem points into the layer that broke it.
func TestProblemsAcrossLayers(t *testing.T) {
	tests := []struct {
		name  string
		below []Layer
		layer Layer
		want  []string
	}{
		{"the only policy of an agent is switched off", []Layer{spellingLayer},
			layer(FileComposition, "[\n  {\"id\": \"spelling\", \"enabled\": false}\n]"),
			[]string{`review-composition.json:2:3: /0: no policy dispatches the agent "spelling" any more, so its rules never run; dispatch it from another policy, or switch it off in review-agents.json: {"id": "spelling", "enabled": false}`}},
		{"the only policy of an agent dispatches another", []Layer{spellingLayer},
			layer(FileComposition, `{"items": [{"id": "spelling", "dispatch": {"agents": ["secrets"]}}]}`),
			[]string{`review-composition.json:1:12: /items/0: no policy dispatches the agent "spelling" any more, so its rules never run; dispatch it from another policy, or switch it off in review-agents.json: {"id": "spelling", "enabled": false}`}},
		{"a rule for an agent that nothing dispatches", nil,
			layer(FileAgents, `[{"id": "spelling", "name": "Spelling", "kind": "rules", "description": "d"}]`,
				FileRules, strings.ReplaceAll(`[`+rule("a", "")+`]`, "build-reviewer", "spelling")),
			[]string{`review-rules.json:1:56: /0/agent: no policy dispatches the agent "spelling", so the rule never runs; add "spelling" to a policy of review-composition.json, or switch the rule off`}},
		{"a policy and its agent are both switched off", []Layer{spellingLayer},
			layer(FileComposition, `[{"id": "spelling", "enabled": false}]`, FileAgents, `[{"id": "spelling", "enabled": false}]`),
			nil},
		{"every file has a fault", nil,
			layer(FileSettings, `{"mode": "on"}`, FileRules, `[{"id": "a b"}]`, FileDomains, `[`, FileAgents, `[{"id": "secrets", "retries": 9}]`, FileComposition, `[{"id": "ui", "priority": -1}]`),
			[]string{
				`review-rules.json:1:9: /0/id: "a b" is not an id; use letters, digits and . _ / -, starting with a letter or digit, at most 80 characters`,
				`review-composition.json:1:27: /0/priority: priority is -1, which is out of range; use a number from 0 to 100`,
				`review-agents.json:1:31: /0/retries: retries is 9, which is out of range; use a number from 0 to 5`,
				`review-domains.json:1:2: the file ends in the middle of a value; close every string, bracket and brace`,
				`review-settings.json:1:10: /mode: "on" is not a mode; use enforce, advisory or off`,
			}},
		{"references to entries of an unreadable file are not reported", nil,
			layer(FileAgents, `[{"id": "mine"`, FileComposition, `[{"id": "ui", "dispatch": {"agents": ["mine"]}}]`, FileRules, strings.ReplaceAll(`[`+rule("a", "")+`]`, "build-reviewer", "mine")),
			[]string{`review-agents.json:1:15: the file ends in the middle of a value; close every string, bracket and brace`}},
		{"references to entries of a file whose mistakes leave no doubt are reported", nil,
			layer(FileAgents, `[{"id": "mine", "name": "Mine", "kind": "rules", "description": "d"},]`, FileComposition, `[{"id": "universal", "dispatch": {"agents": ["build-reviewer", "security-reviewer", "mine", "yours"]}}]`),
			[]string{
				`review-composition.json:1:93: /0/dispatch/agents/3: there is no agent "yours"; register it in review-agents.json, or use one of those that exist`,
				`review-agents.json:1:69: there is a comma after the last entry; remove the comma`,
			}},
		{"the effects of a faulty entry are not reported", nil,
			layer(FileAgents, `[{"id": "mine", "name": "Mine", "kind": "magic", "description": "d"}]`, FileComposition, `[{"id": "ui", "dispatch": {"agents": ["mine"]}}]`, FileRules, strings.ReplaceAll(`[`+rule("a", "")+`]`, "build-reviewer", "mine")),
			[]string{`review-agents.json:1:41: /0/kind: "magic" is not a kind of agent; use ` + kindNames(LayerRepository)}},
		{"the same file twice", nil,
			layer("a/"+FileRules, `[]`, "b/"+FileRules, `[]`),
			[]string{`b/review-rules.json: the layer has this file twice; keep one of them`}},
		{"other files beside the config", nil, layer("README.md", "# ours", "prompts/finance.txt", "Look hard."), nil},
		{"no files", nil, layer(), nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, problems := Load(append(test.below, test.layer)...)
			if diff := cmp.Diff(test.want, formatted(problems)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// A broken layer is left out. The layers above it are merged over those below it.
func TestBrokenLayerIsLeftOut(t *testing.T) {
	broken := named(layer(FileRules, `[{"id": "sp-teh", "severity": "blocker"}]`), LayerOrganisation)
	above := layer(FileRules, `[{"id": "sp-teh", "severity": "warning"}]`)
	c, problems := Load(spellingLayer, broken, above)
	if got := ruleOf(c, "sp-teh").Severity; got != pipeline.SeverityWarning {
		t.Errorf("severity %q", got)
	}
	if len(problems) != 1 || problems[0].Layer != LayerOrganisation {
		t.Errorf("problems: %v", problems)
	}
	if diff := cmp.Diff(problems, []pipeline.ConfigProblem(c.InForce.Problems)); diff != "" {
		t.Errorf("problems in force (-returned +in force):\n%s", diff)
	}
	var layers []string
	for _, l := range c.InForce.Layers {
		layers = append(layers, fmt.Sprint(l.Name, " ", l.Source, " ", l.Used, " ", len(l.Files)))
	}
	if diff := cmp.Diff([]string{
		"defaults embedded true 14",
		"server acme/shop@1f2e3d4 true 3",
		"organisation acme/shop@1f2e3d4 false 1",
		"repository acme/shop@1f2e3d4 true 1",
	}, layers); diff != "" {
		t.Errorf("layers (-want +got):\n%s", diff)
	}
	without := mustLoad(t, spellingLayer, above)
	if c.InForce.Version != without.InForce.Version {
		t.Error("a layer that is not used changes the version")
	}
}

func TestVersion(t *testing.T) {
	version := func(layers ...Layer) string { return mustLoad(t, layers...).InForce.Version }
	base := version(layer(FileRules, `[]`))
	if len(base) != 12 {
		t.Errorf("version %q is not 12 characters long", base)
	}
	moved := layer(".github/reviewgate/"+FileRules, `[]`)
	moved.Source = "acme/shop@elsewhere"
	if version(moved) != base {
		t.Error("the place that a layer was read from changes the version")
	}
	if version(layer(FileRules, `[ ]`)) == base || version() == base || version(named(layer(FileRules, `[]`), LayerServer)) == base {
		t.Error("other content or another layer has the same version")
	}
	if version() != version(layer()) {
		t.Error("a layer without files changes the version")
	}
}

func TestBlobSHA(t *testing.T) {
	// These are the outputs of git hash-object --stdin.
	for text, want := range map[string]string{
		"":                 "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
		"what is up, doc?": "bd9dbf5aae1a3862dd1526723246b20206e5fc37",
	} {
		if got := BlobSHA([]byte(text)); got != want {
			t.Errorf("BlobSHA(%q) = %s, want %s", text, got, want)
		}
	}
	c := mustLoad(t, Layer{Name: LayerRepository, Files: []File{{Path: FileRules, Text: []byte("[]")}, {Path: FileAgents, Text: []byte("[]"), BlobSHA: "given"}}})
	files := c.InForce.Layers[1].Files
	if files[0].BlobSHA != BlobSHA([]byte("[]")) || files[1].BlobSHA != "given" {
		t.Errorf("files: %v", files)
	}
}

func TestLoader(t *testing.T) {
	l := NewLoader(2)
	repo := layer(FileRules, `[`+rule("a", "")+`]`)
	first, _ := l.Load(repo)
	repo.Source = "acme/shop@next"
	second, _ := l.Load(repo)
	if &first.Rules[0] != &second.Rules[0] {
		t.Error("the same content was read twice")
	}
	if got := second.InForce.Layers[1].Source; got != "acme/shop@next" {
		t.Errorf("source %q", got)
	}
	if got := first.InForce.Layers[1].Source; got != "acme/shop@1f2e3d4" {
		t.Errorf("the first config's source became %q", got)
	}
	// Two other configs push it out of the memory.
	_, _ = l.Load()
	if _, problems := l.Load(layer(FileRules, `{`)); len(problems) != 1 {
		t.Errorf("problems: %v", problems)
	}
	if _, problems := l.Load(layer(FileRules, `{`)); len(problems) != 1 {
		t.Errorf("problems from memory: %v", problems)
	}
	third, _ := l.Load(repo)
	if &first.Rules[0] == &third.Rules[0] {
		t.Error("the loader remembers more than two configs")
	}
	// A wrong blob SHA does not make the loader use another text.
	lie := layer(FileRules, `[`+rule("b", "")+`]`)
	lie.Files[0].BlobSHA = BlobSHA(repo.Files[0].Text)
	if c, _ := l.Load(lie); ruleOf(c, "b") == nil {
		t.Error("the loader used a text that belongs to the blob SHA")
	}
}

func TestLoaderIsSafeForConcurrentUse(t *testing.T) {
	l := NewLoader(2)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			id := fmt.Sprint("r", i%4)
			c, problems := l.Load(spellingLayer, layer(FileRules, `[`+rule(id, "")+`, {"id": "sp-teh", "severity": "blocker"}]`), layer(FileRules, `[`+rule(id, "")+`]`))
			if ruleOf(c, id) == nil || len(problems) != 1 {
				t.Errorf("rule %s is missing, or there are problems: %v", id, problems)
			}
		})
	}
	wg.Wait()
}

// A layer can set one field of a section of the settings, and the other fields stay.
func TestSettingsAreMergedFieldByField(t *testing.T) {
	of := reflect.TypeFor[Settings]()
	for i := range of.NumField() {
		name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		if section := of.Field(i).Type.Kind() == reflect.Struct; section != slices.Contains(deepFields(FileSettings), name) {
			t.Errorf("%s is a section: %t, but is not merged like that", name, section)
		}
	}
	c := mustLoad(t, layer(FileSettings, `{"fix_loop": {"max_fix_iterations": 4}}`))
	if want := (FixLoopSettings{MaxFixIterations: 4, FixTimeoutTurns: 10, When: FixLoopAlways}); c.Settings.FixLoop != want {
		t.Errorf("fix_loop %+v, want %+v", c.Settings.FixLoop, want)
	}
}
