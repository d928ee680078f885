package config

import (
	"cmp"
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
		wantWarning(t, settings, want, named(layer(FileRules, "["+final+"]", FileSettings, settings), LayerServer))
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
			if _, named, is := strings.Cut(w.Problem, "to ask: "); is {
				got = named
			}
		}
		if got != test.want {
			t.Errorf("%s: the warning names %q, want %q", test.rules, got, test.want)
		}
	}
}

// There is a warning for triggers that one path or the author's words can switch off, if the policy's
// agents are required, and for no others. It says which of the two, and what to write instead.
func TestWarningsOfTriggersThatAChangeSwitchesOff(t *testing.T) {
	const path, title, body, branch = "one path in a change can keep", "reads the type of the change, which its title can decide", "reads the description", "reads the name of the branch"
	for trigger, want := range map[string]string{
		`{"type": "not", "triggers": [{"type": "path", "globs": ["docs/**"]}]}`:                                                                                   path,
		`{"type": "not", "triggers": [{"type": "domain", "domains": ["ui"]}]}`:                                                                                    path,
		`{"type": "not", "triggers": [{"type": "size", "at_least": "XL"}]}`:                                                                                       path,
		`{"type": "all", "triggers": [{"type": "always"}, {"type": "not", "triggers": [{"type": "path", "globs": ["a"]}]}]}`:                                      path,
		`{"type": "expression", "when": "facts.files.all(f, f.path.startsWith('src/'))"}`:                                                                         path,
		`{"type": "expression", "when": "!facts.files.exists(f, f.path == 'skip')"}`:                                                                              path,
		`{"type": "type", "types": ["feature"]}`:                                                                                                                  title,
		`{"type": "not", "triggers": [{"type": "type", "types": ["docs"]}]}`:                                                                                      title,
		`{"type": "all", "triggers": [{"type": "path", "globs": ["a"]}, {"type": "type", "types": ["fix"]}]}`:                                                     title,
		`{"type": "expression", "when": "classification.type != 'docs'"}`:                                                                                         title,
		`{"type": "expression", "when": "!facts.title.startsWith('docs:')"}`:                                                                                      "reads the title",
		`{"type": "expression", "when": "!(facts.title.startsWith('docs: (') && facts.files.all(f, f.documentation))"}`:                                           "reads the title",
		`{"type": "expression", "when": "!facts.draft || !(facts.files.exists(f, f.test) || facts.draft)"}`:                                                       path,
		`{"type": "expression", "when": "facts.draft || (facts.files.exists(f, !f.test) && !facts.files.all(f, f.test))"}`:                                        "",
		`{"type": "expression", "when": "!(facts.files.all(f, f.test) == facts.draft)"}`:                                                                          path,
		`{"type": "expression", "when": "facts.body.contains('x')"}`:                                                                                              body,
		`{"type": "expression", "when": "facts.head.ref == 'x'"}`:                                                                                                 branch,
		`{"type": "all", "triggers": [{"type": "expression", "when": "facts.head.ref == 'x'"}, {"type": "not", "triggers": [{"type": "path", "globs": ["a"]}]}]}`: branch + "|" + path,
		`{"type": "expression", "when": "facts.files.exists(f, !f.documentation && f.path != 'go.sum')"}`:                                                         "",
		`{"type": "expression", "when": "!facts.files.all(f, f.documentation)"}`:                                                                                  "",
		`{"type": "expression", "when": "facts.files.filter(f, !f.documentation).size() > 0"}`:                                                                    "",
		`{"type": "expression", "when": "facts.files.exists(f, f.documentation) == (false)"}`:                                                                     path,
		`{"type": "expression", "when": "facts.files.all(f, f.documentation)"}`:                                                                                   path,
		`{"type": "any", "triggers": [{"type": "always"}, {"type": "type", "types": ["feature"]}]}`:                                                               "",
		`{"type": "expression", "when": "facts.files.exists(f, f.test) && !facts.files.exists(f, f.generated)"}`:                                                  path,
		`{"type": "expression", "when": "classification.services.size() > 1"}`:                                                                                    "",
		`{"type": "expression", "when": "classification.services.size() <= 1"}`:                                                                                   path,
		`{"type": "expression", "when": "3 > facts.files.size()"}`:                                                                                                path,
		`{"type": "expression", "when": "facts.head.fork"}`:                                                                                                       "",
		`{"type": "always"}`:                                                                                  "",
		`{"type": "path", "globs": ["src/**"]}`:                                                               "",
		`{"type": "not", "triggers": [{"type": "label", "labels": ["x"]}]}`:                                   "",
		`{"type": "expression", "when": "facts.files.exists(f, f.path.startsWith('src/'))"}`:                  "",
		`{"type": "any", "triggers": [{"type": "path", "globs": ["a"]}, {"type": "label", "labels": ["x"]}]}`: "",
	} {
		text := `[{"id": "mine", "description": "d", "priority": 5, "trigger": ` + trigger + `, "dispatch": {"agents": ["finance-sme"], "required": true}}]`
		c, problems := Load(named(layer(FileComposition, text), LayerRepository))
		if len(problems) > 0 {
			t.Fatal(formatted(problems))
		}
		got, remedies := c.Warnings(), map[string]string{path: `leave paths out by "ignore"`}
		parts := strings.Split(want, "|")
		if want == "" {
			parts = nil
		}
		if len(got) != len(parts) {
			t.Errorf("%s: %v, want %q", trigger, got, want)
			continue
		}
		for i, part := range parts {
			remedy := cmp.Or(remedies[part], "let the trigger read paths, domains or services instead")
			if !strings.Contains(got[i].Problem, part) || !strings.Contains(got[i].Remedy, remedy) {
				t.Errorf("%s: %v, want %q", trigger, got[i], part)
			}
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
			all = append(all, FormatProblem(w))
		}
		if got := strings.Join(all, "\n"); tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.text, got, tt.want)
		}
	}
}

// Every warning names the file as it is, and the place of what it is about.
func TestWarningsHaveTheirPlace(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"d/review-composition.yaml", "- id: mine\n  description: d\n  priority: 5\n  trigger:\n    type: type\n    types: [fix]\n  dispatch: {agents: [finance-sme], required: true}\n", "d/review-composition.yaml:5:5: /0/trigger: the policy"},
		{"d/review-composition.jsonc", "// ours\n[{\"id\": \"universal\",\n\"trigger\": {\"type\": \"not\", \"triggers\": [{\"type\": \"path\", \"globs\": [\"a\"]}]}}]", "d/review-composition.jsonc:3:12: /0/trigger: one path"},
		{"d/review-rules.yml", "- id: a\n  enabled: false\n  severity: major\n  description: d\n  detection: d\n- id: b\n  severity: major\n  description: d\n  detection: d\n", "d/review-rules.yml:6:7: /1/id: nothing checks"},
		{"d/review-rules.yaml", "extends: []\nitems: []\n", "d/review-rules.yaml:1:10: /extends: there are no rules"},
		{"d/review-settings.yaml", "mode: enforce\ngate:\n  conditions: []\n", "d/review-settings.yaml:3:15: /gate/conditions: gate.conditions is empty"},
		{"d/review-settings.jsonc", "{\"ignore\": [\n{\"paths\": [\"a\"], \"reason\": \"r\"},\n{\"paths\": [\"**\"], \"reason\": \"s\"}]}", "d/review-settings.jsonc:3:1: /ignore/1: the paths"},
		{"d/review-settings.yml", "repositories:\n  - globs: [shop]\n    mode: advisory\n", "d/review-settings.yml:2:5: /repositories/0: the glob"},
		{"d/review-settings.yaml", "# ours\nfinal: [gate]\n", "d/review-settings.yaml:1:1: the server's layer makes"},
	} {
		files := []File{{Path: tt.name, Text: []byte(tt.text)}}
		if strings.Contains(tt.want, "makes") {
			files = append(files, File{Path: FileRules, Text: []byte("[" + rule("w", `, "final": true, "match": {"literal": "x"}`) + "]")})
		}
		c, problems := Load(Layer{Name: LayerServer, Files: files})
		if len(problems) > 0 {
			t.Fatal(formatted(problems))
		}
		var all []string
		for _, w := range c.Warnings() {
			all = append(all, FormatProblem(w))
		}
		if len(all) != 1 || !strings.HasPrefix(all[0], tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, all, tt.want)
		}
	}
}

// A type that no change has is named, with the one that is meant or all of them.
func TestWarningsOfUnknownTypes(t *testing.T) {
	for name, want := range map[string]string{
		"feature": "", "change": "", "release": "",
		"feat":  `the trigger of the policy "mine" names "feat", which is not a type of change; did you mean "feature"?`,
		"depps": `did you mean "deps"?`,
		"story": `use feature, fix, `,
	} {
		text := `[{"id": "mine", "description": "d", "priority": 5, "trigger": {"type": "any", "triggers": [{"type": "type", "types": ["fix", "` + name + `"]}]}, "dispatch": {"agents": ["finance-sme"]}}]`
		wantWarning(t, name, want, named(layer(FileComposition, text), LayerRepository))
	}
}

// wantWarning checks that the warnings about the config of a layer contain one, or that there is none if
// want is empty.
func wantWarning(t *testing.T, name, want string, l Layer) {
	t.Helper()
	var all []string
	for _, w := range mustLoad(t, l).Warnings() {
		all = append(all, FormatProblem(w))
	}
	if got := strings.Join(all, "\n"); want == "" && got != "" || !strings.Contains(got, want) {
		t.Errorf("%s: %q, want %q", name, got, want)
	}
}
