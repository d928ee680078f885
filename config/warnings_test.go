package config

import (
	"strings"
	"testing"
)

// If a rule is final but the gate and the mode are not, there is a warning with the line to add.
func TestWarningsOfFinalWithoutGateAndMode(t *testing.T) {
	final := rule("w", `, "final": true, "match": {"literal": "x"}`)
	for settings, want := range map[string]string{
		`{}`:                          `add "final": ["gate", "mode"]`,
		`{"final": ["gate"]}`:         `add "final": ["gate", "mode"]`,
		`{"final": ["check"]}`:        `add "final": ["check", "gate", "mode"]`,
		`{"final": ["mode"]}`:         `add "final": ["mode", "gate"]`,
		`{"final": ["mode", "gate"]}`: "",
	} {
		c, problems := Load(named(layer(FileRules, "["+final+"]", FileSettings, settings), LayerServer))
		if len(problems) > 0 {
			t.Fatal(formatted(problems))
		}
		var all []string
		for _, w := range c.Warnings() {
			all = append(all, w.String())
		}
		if got := strings.Join(all, "\n"); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", settings, got, want)
		}
	}
}

// A rule of prose is named if no language model is asked about it, and the rules of the defaults
// are not.
func TestWarningsOfRulesThatNothingChecks(t *testing.T) {
	prose := rule("prose", "")
	model := layer(FileSettings, `{"model_endpoints": [{"name": "cheap", "api": "openai", "model": "c"}], "models": {"reviewers": ["cheap"]}}`)
	for _, test := range []struct {
		rules  string
		layers []Layer
		want   string
	}{
		{rules: `[` + prose + `]`, want: "prose"},
		{rules: `[` + prose + `,` + rule("other", "") + `]`, want: "prose, other"},
		{rules: `[` + strings.Replace(prose, `"id"`, `"enabled": false, "id"`, 1) + `]`},
		{rules: `[` + rule("prose", `, "match": {"literal": "x"}`) + `]`},
		{rules: `[` + rule("prose", `, "when": "facts.files.size() > 3"`) + `]`},
		{rules: `[{"id": "fin-ledger-01", "severity": "major"}]`},
		{rules: `[` + prose + `]`, layers: []Layer{named(model, LayerServer)}},
	} {
		c, problems := Load(append(test.layers, layer(FileRules, test.rules))...)
		if len(problems) > 0 {
			t.Fatal(formatted(problems))
		}
		var got string
		for _, w := range c.Warnings() {
			if w.File == FileRules {
				_, got, _ = strings.Cut(w.Problem, "to ask: ")
			}
		}
		if got != test.want {
			t.Errorf("%s: the warning names %q, want %q", test.rules, got, test.want)
		}
	}
}

// There is a warning for triggers that one path can switch off, if the policy's agents are
// required, and for no others.
func TestWarningsOfTriggersThatOnePathSwitchesOff(t *testing.T) {
	for trigger, want := range map[string]bool{
		`{"type": "not", "triggers": [{"type": "path", "globs": ["docs/**"]}]}`:                                              true,
		`{"type": "not", "triggers": [{"type": "domain", "domains": ["ui"]}]}`:                                               true,
		`{"type": "not", "triggers": [{"type": "size", "at_least": "XL"}]}`:                                                  true,
		`{"type": "all", "triggers": [{"type": "always"}, {"type": "not", "triggers": [{"type": "path", "globs": ["a"]}]}]}`: true,
		`{"type": "expression", "when": "facts.files.all(f, f.path.startsWith('src/'))"}`:                                    true,
		`{"type": "expression", "when": "!facts.files.exists(f, f.path == 'skip')"}`:                                         true,
		`{"type": "type", "types": ["feature"]}`:                                                                             true,
		`{"type": "always"}`:                                                                                                 false,
		`{"type": "path", "globs": ["src/**"]}`:                                                                              false,
		`{"type": "not", "triggers": [{"type": "label", "labels": ["x"]}]}`:                                                  false,
		`{"type": "expression", "when": "facts.files.exists(f, f.path.startsWith('src/'))"}`:                                 false,
		`{"type": "any", "triggers": [{"type": "path", "globs": ["a"]}, {"type": "label", "labels": ["x"]}]}`:                false,
	} {
		text := `[{"id": "mine", "description": "d", "priority": 5, "trigger": ` + trigger + `, "dispatch": {"agents": ["finance-sme"], "required": true}}]`
		c, problems := Load(named(layer(FileComposition, text), LayerRepository))
		if len(problems) > 0 {
			t.Fatal(formatted(problems))
		}
		if got := len(c.Warnings()) > 0; got != want {
			t.Errorf("%s: warning: %v, want %v", trigger, got, want)
		}
	}
	c, _ := Load()
	if w := c.Warnings(); len(w) > 0 {
		t.Errorf("the defaults give warnings: %v", w)
	}
	c, problems := Load(named(layer(FileComposition, `[{"id": "universal", "trigger": {"type": "not", "triggers": [{"type": "path", "globs": ["docs/**"]}]}}, {"id": "mine", "description": "d", "priority": 1, "trigger": {"type": "always"}, "dispatch": {"agents": ["docs-reviewer"]}}]`), LayerRepository))
	if len(problems) > 0 || len(c.Warnings()) != 1 {
		t.Errorf("the universal policy's own trigger: %v, %v", formatted(problems), c.Warnings())
	}
}

// There is a warning if a config has nothing that blocks, nothing to look for, or globs that match
// nothing.
func TestWarningsOfConfigWithoutEffect(t *testing.T) {
	for _, tt := range []struct{ file, text, want string }{
		{FileSettings, `{"gate": {"conditions": []}}`, "gate.conditions is empty, so no finding blocks"},
		{FileRules, `{"extends": [], "items": []}`, "there are no rules"},
		{FileSettings, `{"repositories": [{"globs": ["acme/*", "shop"], "mode": "advisory"}]}`, `the glob "shop" of repositories has no slash, so it matches no repository; write OWNER/NAME, such as acme/*`},
		{FileSettings, `{"repositories": [{"globs": ["acme/*", "**"], "mode": "advisory"}]}`, ""},
		{FileRules, `[]`, ""},
	} {
		c, problems := Load(named(layer(tt.file, tt.text), LayerServer))
		if len(problems) > 0 {
			t.Fatal(formatted(problems))
		}
		var all []string
		for _, w := range c.Warnings() {
			all = append(all, w.String())
		}
		if got := strings.Join(all, "\n"); tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.text, got, tt.want)
		}
	}
}
