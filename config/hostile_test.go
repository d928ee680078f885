package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
)

func repeated(n int, entry func(int) string) string {
	var b strings.Builder
	b.WriteByte('[')
	for i := range n {
		if i > 0 {
			b.WriteString(",\n")
		}
		b.WriteString(entry(i))
	}
	b.WriteByte(']')
	return b.String()
}

// What a repository writes to wear reviewgate down is answered with a problem,
// and at once.
func TestHostileConfig(t *testing.T) {
	tests := []struct {
		name string
		file string
		text string
		want string // the beginning of the first problem
	}{
		{"too many rules", FileRules, repeated(5001, func(i int) string { return fmt.Sprintf(`{"id": "r%d"}`, i) }),
			"review-rules.json:1:1: the rules file has 5001 entries, more than the limit of 5000"},
		{"patterns that are large together", FileRules, repeated(700, func(i int) string {
			return rule(fmt.Sprint("r", i), `, "match": {"pattern": "(abcdefghij){150}", "not_pattern": "(abc){400}"}`)
		}), "review-rules.json:1:1: all patterns together expand to about "},
		{"a pattern that is long", FileRules, `[` + rule("a", `, "match": {"pattern": "`+strings.Repeat("a", 2001)+`"}`) + `]`,
			"review-rules.json:1:173: /0/match/pattern: pattern has 2001 characters, more than the limit of 2000"},
		{"groups without end", FileRules, `[` + rule("a", `, "match": {"pattern": "`+strings.Repeat("(", 1000)+strings.Repeat(")", 1000)+`"}`) + `]`,
			""},
		{"unknown fields without end", FileSettings, "{" + manyFields(60_000) + "}",
			`review-settings.json:1:2: /f0: "f0" is not a field of a settings file`},
		{"a trigger of unknown fields", FileComposition, `[{"id": "ui", "trigger": {"type": "path", "globs": ["**"], ` + manyFields(60_000) + `}}]`,
			`review-composition.json:1:60: /0/trigger/f0: "f0" is not a field of a trigger`},
		{"the same key without end", FileSettings, `{"mode": "off"` + strings.Repeat(`, "mode": "off"`, 60_000) + `}`,
			`review-settings.json:1:17: /mode: "mode" occurs twice`},
		{"the same id without end", FileRules, repeated(5000, func(int) string { return rule("a", "") }),
			`review-rules.json:2:8: /1/id: the id "a" is used twice`},
		{"triggers within triggers", FileComposition, `[{"id": "ui", "trigger": ` + strings.Repeat(`{"type": "not", "triggers": [`, 20) + `{"type": "always"}` + strings.Repeat(`]}`, 20) + `}]`,
			"review-composition.json:1:461: values are nested more than 32 deep"},
		{"ids that nearly are others", FileRules, repeated(5000, func(i int) string { return fmt.Sprintf(`{"id": "%s%d"}`, strings.Repeat("x", 70), i) }),
			`review-rules.json:1:9: /0/id: no lower layer has an entry "xxxx`},
		{"expressions without end", FileComposition, repeated(600, func(i int) string {
			return fmt.Sprintf(`{"id": "p%d", "description": "d", "priority": 1, "dispatch": {"agents": ["secrets"]}, "trigger": {"type": "expression", "when": "facts.files.exists(f, f.path == '%d')"}}`, i, i)
		}), "review-composition.json:1:1: all layers together have 600 expressions, more than the limit of 500"},
		{"expressions that are long together", FileRules, repeated(200, func(i int) string {
			return rule(fmt.Sprint("r", i), `, "when": "facts.title == '`+strings.Repeat("x", 1900)+`'"`)
		}), "review-rules.json:1:1: all expressions together have "},
		{"a key that breaks the line", FileSettings, `{"\u001b[2J\n` + strings.Repeat("k", 500) + `": 1}`,
			`review-settings.json:1:2: /?[2J?kkkk`},
		{"values without end", FileRules, "[" + strings.Repeat("0,", 190_000) + "0]",
			"review-rules.json:1:1: the rules file has 190001 entries"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c, problems := Load(layer(test.file, test.text))
			if c.InForce.Layers[1].Used || len(problems) == 0 {
				t.Fatal("the layer is in use")
			}
			if len(problems) > maxProblems {
				t.Errorf("%d problems", len(problems))
			}
			if got := FormatProblem(problems[0]); !strings.HasPrefix(got, test.want) {
				t.Errorf("first problem: %s", got)
			}
		})
	}
}

func manyFields(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `, "f%d": 0`, i)
	}
	return b.String()[2:]
}

// Beyond a hundred, problems are counted.
func TestManyProblems(t *testing.T) {
	_, problems := Load(layer(FileSettings, "{"+manyFields(90)+"}", FileAgents, "[{"+manyFields(90)+"}]"))
	if len(problems) != 100 {
		t.Fatalf("%d problems", len(problems))
	}
	// The agent also lacks its id.
	if got, want := FormatProblem(problems[99]), "82 more problems are not shown; put right those above first"; got != want {
		t.Errorf("last problem: %s, want %s", got, want)
	}
}

// Whatever a repository has in its config files, there is a valid config and
// each problem has its place and its remedy.
func FuzzLoad(f *testing.F) {
	for _, d := range DefaultLayer().Files {
		f.Add(d.Path, d.Text)
	}
	for _, s := range spelling.Files {
		f.Add(s.Path, s.Text)
	}
	f.Add(FileRules, []byte(`{"extends": [], "items": [{"id": "a", "match": {"pattern": "(", "paths": ["{a,b"]}}]}`))
	f.Add(FileAgents, []byte(`{"extends": []}`))
	f.Add(FileComposition, []byte(`[{"id": "universal", "enabled": false}, {"id": "ui", "trigger": {"type": "any", "triggers": [{"type": "not"}]}}]`))
	f.Add(FileDomains, []byte(`[{"id": "finance", "type": "signal", "pattern": "x"}, {"id": "signal-migrations", "enabled": null}]`))
	f.Add(FileSettings, []byte(`{"gate": {"conditions": [{"when": 1}]}, "limits": {"agent_retries": 1e300}}`))
	f.Fuzz(func(t *testing.T, path string, text []byte) {
		c, problems := Load(Layer{Name: LayerRepository, Files: []File{{Path: path, Text: text}}})
		if used := c.InForce.Layers[1].Used; used != (len(problems) == 0) {
			t.Fatalf("used: %v, problems: %v", used, problems)
		}
		for _, p := range problems {
			if p.Problem == "" || p.Remedy == "" || p.Layer != LayerRepository {
				t.Fatalf("problem lacks words: %+v", p)
			}
			if (p.Line == 0) != (p.Column == 0) {
				t.Fatalf("problem has half a place: %+v", p)
			}
		}
		checkConsistent(t, c)
		again, _ := Load(Layer{Name: LayerRepository, Files: []File{{Path: path, Text: text}}})
		if !slices.Equal(again.InForce.Problems, pipeline.List[pipeline.ConfigProblem](problems)) {
			t.Fatalf("problems differ from run to run:\n%v\n%v", problems, again.InForce.Problems)
		}
	})
}

// checkConsistent holds a config to what consumers rely on: what is referred to
// exists and is switched on.
func checkConsistent(t *testing.T, c *Config) {
	t.Helper()
	on := map[string]bool{}
	for _, a := range c.Agents {
		on[a.ID] = a.Enabled
	}
	for _, r := range c.Rules {
		if !r.Enabled || !on[r.Agent] || !r.Severity.Valid() || r.Description == "" {
			t.Fatalf("rule %+v", r)
		}
	}
	for _, p := range c.Policies {
		if !p.Enabled || p.Priority < 0 || p.Priority > 100 || len(p.Dispatch.Agents) == 0 {
			t.Fatalf("policy %+v", p)
		}
		for _, a := range p.Dispatch.Agents {
			if !on[a] {
				t.Fatalf("policy %s dispatches %s", p.ID, a)
			}
		}
	}
	for _, s := range c.Signals {
		if !s.Enabled || !on[s.Agent] {
			t.Fatalf("signal %+v", s)
		}
	}
}
