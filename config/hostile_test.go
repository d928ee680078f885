package config

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
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

// Config that a repository writes to wear reviewgate down is answered with a problem, and quickly.
func TestHostileConfig(t *testing.T) {
	rules, fields, values := sample.Size(6_000, 15_000), sample.Size(10_000, 60_000), sample.Size(20_000, 190_000)
	tests := []struct {
		name string
		file string
		text string
		want string // the start of the first problem
	}{
		{"too many rules", FileRules, repeated(5001, func(i int) string { return fmt.Sprintf(`{"id": "r%d"}`, i) }),
			"review-rules.json:1:1: the rules file has 5001 entries, more than the limit of 5000"},
		{"patterns that are large together", FileRules, repeated(700, func(i int) string {
			return rule(fmt.Sprint("r", i), `, "match": {"pattern": "(abcdefghij){150}", "not_pattern": "(abc){400}"}`)
		}), "review-rules.json:1:1: all patterns together expand to about "},
		{"a pattern that is long", FileRules, `[` + rule("a", `, "match": {"pattern": "`+strings.Repeat("a", 2001)+`"}`) + `]`,
			"review-rules.json:1:173: /0/match/pattern: pattern has 2001 characters, more than the limit of 2000"},
		{"endless groups", FileRules, `[` + rule("a", `, "match": {"pattern": "`+strings.Repeat("(", 1000)+strings.Repeat(")", 1000)+`"}`) + `]`,
			""},
		{"endless unknown fields", FileSettings, "{" + manyFields(fields) + "}",
			`review-settings.json:1:2: /f0: "f0" is not a field of a settings file`},
		{"a trigger of unknown fields", FileComposition, `[{"id": "ui", "trigger": {"type": "path", "globs": ["**"], ` + manyFields(fields) + `}}]`,
			`review-composition.json:1:60: /0/trigger/f0: "f0" is not a field of a trigger`},
		{"the same key endlessly", FileSettings, `{"mode": "off"` + strings.Repeat(`, "mode": "off"`, fields) + `}`,
			`review-settings.json:1:17: /mode: "mode" occurs twice`},
		{"the same id endlessly", FileRules, repeated(5000, func(int) string { return rule("a", "") }),
			`review-rules.json:2:8: /1/id: the id "a" is used twice`},
		{"deeply nested triggers", FileComposition, `[{"id": "ui", "trigger": ` + strings.Repeat(`{"type": "not", "triggers": [`, 20) + `{"type": "always"}` + strings.Repeat(`]}`, 20) + `}]`,
			"review-composition.json:1:461: /0/trigger" + strings.Repeat("/triggers/0", 15) + ": values are nested more than 32 deep"},
		{"ids that resemble others", FileRules, repeated(5000, func(i int) string { return fmt.Sprintf(`{"id": "%s%d"}`, strings.Repeat("x", 70), i) }),
			`review-rules.json:1:9: /0/id: no lower layer has an entry "xxxx`},
		{"more rules with large patterns than the limit allows", FileRules, repeated(rules, func(int) string { return `{"id":"a","match":{"pattern":"(a{999}){2}"}}` }),
			"review-rules.json:1:1: the rules file has " + fmt.Sprint(rules) + " entries"},
		{"other rules with large patterns", FileRules, repeated(rules, func(i int) string { return fmt.Sprintf(`{"id":"a%d","match":{"pattern":"(a{999}){1}"}}`, i) }),
			"review-rules.json:1:1: all patterns together expand to about"},
		{"endless names of settings", FileSettings, `{"final": ["mod"` + strings.Repeat(`, "gate.conditionss"`, 30_000) + `]}`,
			"review-settings.json:1:11: /final: final has 30001 entries"},
		{"endless languages", FileRules, `[` + rule("a", `, "match": {"pattern": "x", "languages": ["x"`+strings.Repeat(`, "Pyton"`, 30_000)+`]}`) + `]`,
			"review-rules.json:1:191: /0/match/languages: languages has 30001 entries"},
		{"endless expressions", FileComposition, repeated(600, func(i int) string {
			return fmt.Sprintf(`{"id": "p%d", "description": "d", "priority": 1, "dispatch": {"agents": ["secrets"]}, "trigger": {"type": "expression", "when": "facts.files.exists(f, f.path == '%d')"}}`, i, i)
		}), "review-composition.json:1:1: all layers together have 6"},
		{"expressions that are long together", FileRules, repeated(200, func(i int) string {
			return rule(fmt.Sprint("r", i), `, "when": "facts.title == '`+strings.Repeat("x", 1900)+`'"`)
		}), "review-rules.json:1:1: all expressions together have "},
		{"endless conditions", FileSettings, `{"gate": {"conditions": ` + repeated(10_000, func(int) string {
			return `{"decision": "fail", "when": "critical > 0` + strings.Repeat(" && major > 0", 9) + `"}`
		}) + `}}`, "review-settings.json:1:25: /gate/conditions: conditions has 10000 entries"},
		{"a key that breaks the line", FileSettings, `{"\u001b[2J\n` + strings.Repeat("k", 500) + `": 1}`,
			`review-settings.json:1:2: / [2J kkkk`},
		{"endless values", FileRules, "[" + strings.Repeat("0,", values) + "0]",
			"review-rules.json:1:1: the rules file has " + fmt.Sprint(values+1) + " entries"},
	}
	for _, test := range sample.Of(t, 10, tests) {
		t.Run(test.name, func(t *testing.T) {
			c, problems := Load(layer(test.file, test.text))
			if c.InForce.Layers[1].Used || len(problems) == 0 {
				t.Fatal("the layer is used")
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

// A text that is too long gives one problem, wherever it is, and is not checked further.
func TestLongTextsAreReportedOnce(t *testing.T) {
	glob, when := strings.Repeat("ä", 257), strings.Repeat("(", 2001)
	for file, text := range map[string]string{
		FileRules: `[` + rule("a", `, "match": {"literal": "x", "paths": ["`+glob+`"]}`) + `,` + rule("b", `, "match": {"literal": "x", "exclude_paths": ["`+glob+`"]}`) + `,` +
			rule("c", `, "when": "`+when+`"`) + `]`,
		FileComposition: `[{"id": "finance", "trigger": {"type": "path", "globs": ["` + glob + `"]}},
			{"id": "ui", "trigger": {"type": "expression", "when": "` + when + `"}},
			{"id": "tests", "trigger": {"type": "not", "triggers": [{"type": "path", "globs": ["` + glob + `"]}]}}]`,
		FileDomains: `[{"id": "a", "type": "domain", "domain": "ui", "description": "d", "weight": 1, "globs": ["` + glob + `"]},
			{"id": "b", "type": "service", "service": "s", "description": "d", "globs": ["` + glob + `"]},
			{"id": "c", "type": "risk", "factor": "sensitive_path", "description": "d", "points": 5, "globs": ["` + glob + `"]}]`,
		FileSettings: `{"synthesis": {"protected_artifacts": ["` + glob + `"]}, "config_branches": ["` + glob + `"],
			"repositories": [{"globs": ["` + glob + `"], "mode": "off"}]}`,
	} {
		_, problems := Load(Layer{Name: LayerServer, Source: "test", Files: []File{{Path: file, Text: []byte(text)}}})
		if len(problems) != 3 {
			t.Errorf("%s: %d problems", file, len(problems))
		}
		for _, p := range problems {
			if got := FormatProblem(p); !strings.HasSuffix(got, "; shorten it") {
				t.Errorf("%s", got)
			}
		}
	}
}

// Only a hundred problems are shown. The last one counts the rest.
func TestManyProblems(t *testing.T) {
	_, problems := Load(layer(FileSettings, "{"+manyFields(90)+"}", FileAgents, "[{"+manyFields(90)+"}]"))
	if len(problems) != 100 {
		t.Fatalf("%d problems", len(problems))
	}
	// One of the problems is that the agent has no id.
	if got, want := FormatProblem(problems[99]), "82 more problems are not shown; fix those above first"; got != want {
		t.Errorf("last problem: %s, want %s", got, want)
	}
}

// These are the agents that ask models and that the layer fast holds, and their prompts.
var (
	heldModels  = []string{"m-agent", "n-agent"}
	heldPrompts = []string{"spec-reviewer", "build-reviewer"}
)

// For any config files of a layer, the config is valid, each problem has a place and a remedy, and
// what the server made final holds.
func FuzzLoad(f *testing.F) {
	seed := func(name uint8, l Layer) {
		texts := map[string][]byte{}
		for _, file := range l.Files {
			texts[file.Path] = file.Text
		}
		f.Add(name, texts[FileRules], texts[FileComposition], texts[FileAgents], texts[FileDomains], texts[FileSettings])
	}
	// The defaults are too large to mutate.
	seed(1, fast)
	seed(2, spellingLayer)
	seed(2, layer(FileRules, `{"extends": [], "items": [{"id": "a", "match": {"pattern": "(", "paths": ["{a,b"]}}]}`, FileAgents, `{"extends": []}`))
	seed(2, layer(FileComposition, `[{"id": "universal", "enabled": false}, {"id": "ui", "trigger": {"type": "any", "triggers": [{"type": "not"}]}}]`,
		FileDomains, `[{"id": "finance", "type": "signal", "pattern": "x"}, {"id": "signal-migrations", "enabled": null}]`))
	seed(2, layer(FileSettings, `{"gate": {"conditions": [{"when": 1}]}, "limits": {"agent_retries": 1e300}, "final": ["gate"]}`))
	seed(2, layer(FileRules, `[{"id": "f-rule", "severity": "critical", "final": true}]`, FileComposition, `{"extends": [], "items": [{"id": "f-policy", "dispatch": {"agents": ["p-agent", "secrets"]}}]}`))
	seed(1, layer(FileRules, `[`+rule("a", `, "when": "facts.files.exists(f, f.path == '\\u00e9' || f.binary)"`)+`]`,
		FileComposition, `[{"id": "carrier", "trigger": {"type": "expression", "when": "classification.risk.score >"}}]`))
	seed(0, layer(FileAgents, `[`+remoteAgent("r", `, "session": true`)+`]`, FileSettings, `{"sessions": {"fallback": 0, "people": ["a/b"]}, "escalation_webhook": {"url": "http://10.1.2.3/", "secret_env": "S", "allow_private": ["10.0.0.0/8"]}}`))
	held, _ := Load(fast)
	f.Fuzz(func(t *testing.T, name uint8, rules, composition, agents, domains, settings []byte) {
		l := Layer{Name: namesOfLayers[int(name)%len(namesOfLayers)]}
		for i, text := range [][]byte{rules, composition, agents, domains, settings} {
			if len(text) > 0 {
				l.Files = append(l.Files, File{Path: FileNames()[i], Text: text})
			}
		}
		for i, id := range heldModels {
			l.Files = append(l.Files, File{Path: promptPath(id), Text: []byte("Say that all is well.")}, File{Path: promptPath(heldPrompts[i]), Text: []byte("Say nothing at all.")})
		}
		layers := []Layer{fast, l}
		if l.Name == LayerServer { // fast is already the server's layer
			layers = layers[1:]
		}
		c, problems := Load(layers...)
		if used := c.InForce.Layers[len(layers)].Used; used != (len(problems) == 0) {
			t.Fatalf("used: %v, problems: %v", used, problems)
		}
		for _, p := range problems {
			if p.Problem == "" || p.Remedy == "" || p.Layer != l.Name {
				t.Fatalf("the problem has no text, remedy or layer: %+v", p)
			}
			if (p.Line == 0) != (p.Column == 0) {
				t.Fatalf("the problem has only a line or only a column: %+v", p)
			}
		}
		checkConsistent(t, c)
		if l.Name != LayerServer {
			checkFinalHolds(t, held, c)
			if c.Settings.EscalationWebhook != nil || slices.ContainsFunc(c.Agents, func(a Agent) bool { return a.Webhook != nil || a.Kind == KindWebhook }) {
				t.Fatal("a layer other than the server's names a host")
			}
		}
		again, _ := Load(layers...)
		if !slices.Equal(again.InForce.Problems, pipeline.List[pipeline.ConfigProblem](problems)) {
			t.Fatalf("problems differ from run to run:\n%v\n%v", problems, again.InForce.Problems)
		}
	})
}

// checkFinalHolds checks that a config keeps everything that the layer fast made final.
func checkFinalHolds(t *testing.T, held, c *Config) {
	t.Helper()
	for _, d := range Diff(held, c) {
		ok := d.Change != pipeline.ChangeRemoved
		allowed := map[string][]string{
			"f-rule": {"severity", "severity_in"}, "f-policy": {"priority", "dispatch.agents", "dispatch.required", "dispatch.on_failure", "dispatch.scope"},
			"m-agent": {"llm.checklist", "session"}, "n-agent": {"llm.checklist", "session"}, "m-policy": {"priority", "dispatch.agents", "dispatch.required", "dispatch.on_failure", "dispatch.scope"},
			"carrier": {"description", "priority", "trigger", "dispatch.agents", "dispatch.required"}, "f-agent": nil, "p-agent": nil, "fast-agent": nil,
			"f-domain": {"globs", "weight"}, "read-domain": {"description", "globs", "weight"}, "f-service": {"globs"}, "f-risk": {"points"}, "f-signal": nil,
		}
		fields, final := allowed[d.ID]
		for _, field := range d.Fields {
			ok = ok && slices.Contains(fields, field)
		}
		if final && !ok || d.File == FileSettings && slices.Contains([]string{"mode", "gate.conditions", "check.name"}, d.ID) {
			t.Fatalf("a layer could change what is final: %+v", d)
		}
	}
	for _, id := range heldModels {
		if _, layer := promptOf(t, c, id); layer != LayerDefaults {
			t.Fatalf("a layer could change the prompt of the final agent %s", id)
		}
	}
	if ruleOf(c, "f-rule") == nil {
		t.Fatal("the final rule is not in force")
	}
	if p := policyOf(c, "f-policy"); p == nil || !slices.Contains(p.Dispatch.Agents, "p-agent") || p.Priority < 10 {
		t.Fatalf("the final policy is %+v", p)
	}
}

// Patterns and expressions that are accepted work, within the promised limits. Problems of the
// others point into their strings.
func FuzzRule(f *testing.F) {
	f.Add(`\bteh\b(x)?`, `^#`, `$1 ${0}$$`, "")
	f.Add(`(?i)[[:alpha:]]{3,9}|\pL+`, "", "", "facts.draft")
	f.Add(`((a{30}){30}){30}`, `(?!x)`, `$9`, "\"\\\té\" == facts.title &&\n nothing")
	f.Add(`(x|y){0,1000}`, "", "", `facts.files.all(f, f.path.matches("^a+$"))`)
	f.Fuzz(func(t *testing.T, pattern, not, fix, when string) {
		r := object{"id": "a", "name": "n", "severity": "info", "agent": "build-reviewer", "category": "c", "description": "d", "detection": "d", "recommendation": "r"}
		if when != "" {
			r["when"] = when
		} else {
			r["match"] = object{"pattern": pattern, "not_pattern": not, "fix": fix}
		}
		text := encoded([]object{r})
		c, problems := Load(layer(FileRules, string(text)))
		for _, p := range problems {
			if p.Line != 1 || p.Column < 1 || p.Column > len(text) {
				t.Fatalf("the problem points outside the file: %s", FormatProblem(p))
			}
		}
		if len(problems) > 0 || when != "" {
			return
		}
		for _, p := range []string{ruleOf(c, "a").Match.Pattern, ruleOf(c, "a").Match.NotPattern} {
			tree, err := syntax.Parse(p, syntax.Perl)
			if err != nil {
				t.Fatalf("%q was accepted: %v", p, err)
			}
			program, err := syntax.Compile(tree.Simplify())
			if err != nil {
				t.Fatalf("%q was accepted: %v", p, err)
			}
			if n := len(program.Inst); n > 4*maxPatternSize+100 {
				t.Fatalf("%q was accepted and has %d instructions", p, n)
			}
		}
	})
}

// checkConsistent checks that everything the config refers to exists and is switched on.
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
