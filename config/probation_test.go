package config

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/pipeline"
)

func textLayer(name, file, text string) Layer {
	return Layer{Name: name, Files: []File{{Path: file, Text: []byte(text)}}}
}

var autoSettings = textLayer(LayerServer, FileSettings, `{"probation": "auto"}`)

func withFile(l Layer, file, text string) Layer {
	l.Files = append(slices.Clip(l.Files), File{Path: file, Text: []byte(text)})
	return l
}

// ruleOfDefaults returns an enforced shipped rule with one of the severities.
func ruleOfDefaults(t *testing.T, severities ...pipeline.Severity) Rule {
	t.Helper()
	c := mustLoad(t)
	for _, r := range c.Rules {
		if slices.Contains(severities, r.Severity) && r.Match != nil {
			return r
		}
	}
	t.Fatalf("no shipped rule has a severity of %v", severities)
	return Rule{}
}

// Only rules of the defaults that give warnings or infos are put in evaluation, and only if nothing
// speaks against it.
func TestRulesOnProbation(t *testing.T) {
	minor, major := ruleOfDefaults(t, pipeline.SeverityWarning, pipeline.SeverityInfo), ruleOfDefaults(t, pipeline.SeverityMajor)
	entry := func(rest string) string { return fmt.Sprintf(`[{"id": %q%s}]`, minor.ID, rest) }
	own := `[{"id": "own-rule", "name": "n", "severity": "warning", "agent": "` + minor.Agent + `", "category": "style", "description": "d", "detection": "d", "recommendation": "r", "match": {"literal": "x"}}]`
	for name, tc := range map[string]struct {
		rule   string
		layers []Layer
		want   bool
	}{
		"a warning of the defaults":            {minor.ID, []Layer{autoSettings}, true},
		"the repository's own setting":         {minor.ID, []Layer{textLayer(LayerRepository, FileSettings, `{"probation": "auto"}`)}, true},
		"not asked for":                        {minor.ID, nil, false},
		"a final setting":                      {minor.ID, []Layer{textLayer(LayerServer, FileSettings, `{"final": ["probation"]}`), textLayer(LayerRepository, FileSettings, `{"probation": "auto"}`)}, false},
		"an organisation that may not weaken":  {minor.ID, []Layer{{Name: LayerOrganisation, Organisation: "acme", Files: []File{{Path: FileSettings, Text: []byte(`{"probation": "auto"}`)}}}}, false},
		"a major":                              {major.ID, []Layer{autoSettings}, false},
		"raised":                               {minor.ID, []Layer{withFile(autoSettings, FileRules, entry(`, "severity": "major"`))}, false},
		"final":                                {minor.ID, []Layer{withFile(autoSettings, FileRules, entry(`, "final": true`))}, false},
		"kept by a person":                     {minor.ID, []Layer{autoSettings, textLayer(LayerRepository, FileRules, entry(`, "mode": "enforce"`))}, false},
		"confirmed by a person":                {minor.ID, []Layer{autoSettings, textLayer(LayerRepository, FileRules, entry(`, "mode": "evaluate"`))}, false},
		"off":                                  {minor.ID, []Layer{autoSettings, textLayer(LayerRepository, FileRules, entry(`, "enabled": false`))}, false},
		"the repository's own rule":            {"own-rule", []Layer{autoSettings, textLayer(LayerRepository, FileRules, own)}, false},
		"without the defaults":                 {minor.ID, []Layer{autoSettings, textLayer(LayerRepository, FileRules, `{"extends": [], "items": []}`)}, false},
		"unknown":                              {"no-such-rule", []Layer{autoSettings}, false},
		"lowered to a warning":                 {major.ID, []Layer{autoSettings, textLayer(LayerRepository, FileRules, fmt.Sprintf(`[{"id": %q, "severity": "warning"}]`, major.ID))}, true},
		"a rule of the layer below is changed": {minor.ID, []Layer{autoSettings, textLayer(LayerRepository, FileRules, entry(`, "name": "another name"`))}, true},
	} {
		c, problems := Load(tc.layers...)
		if refused := name == "a final setting"; len(problems) > 0 != refused {
			t.Fatalf("%s: %v", name, problems)
		}
		l := c.ProbationLayer([]string{tc.rule, tc.rule})
		if got := len(l.Files) > 0; got != tc.want {
			t.Errorf("%s: layer %v, want %t", name, l.Files, tc.want)
		}
		if !tc.want {
			continue
		}
		c, problems = Load(append([]Layer{l}, tc.layers...)...)
		if len(problems) > 0 {
			t.Fatalf("%s: with the layer: %v", name, problems)
		}
		if !slices.Equal(c.OnProbation(), []string{tc.rule}) || c.Rule(tc.rule) != nil || c.Settled(FileRules, tc.rule) {
			t.Errorf("%s: on probation %v", name, c.OnProbation())
		}
	}
}

// A person's answer in any layer ends the probation, and the config says who wrote the mode.
func TestAnswersEndProbation(t *testing.T) {
	minor := ruleOfDefaults(t, pipeline.SeverityWarning, pipeline.SeverityInfo)
	base, _ := Load(autoSettings)
	l := base.ProbationLayer([]string{minor.ID})
	for _, by := range WrittenLayers() {
		for answer, enforced := range map[string]bool{`"mode": "enforce"`: true, `"mode": "evaluate"`: false, `"enabled": false`: false} {
			layers := []Layer{l, autoSettings, textLayer(by, FileRules, fmt.Sprintf(`[{"id": %q, %s}]`, minor.ID, answer))}
			if by == LayerServer {
				layers = []Layer{l, withFile(autoSettings, FileRules, string(layers[2].Files[0].Text))}
			}
			c, problems := Load(layers...)
			if len(problems) > 0 || len(c.OnProbation()) > 0 || (c.Rule(minor.ID) != nil) != enforced {
				t.Errorf("%s in the %s's layer: on probation %v, enforced %t, %v", answer, by, c.OnProbation(), c.Rule(minor.ID) != nil, problems)
			}
		}
	}
	shown, problems := Show(l, autoSettings)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if i := slices.IndexFunc(shown.Values, func(v Value) bool { return v.ID == minor.ID && v.Pointer == "/mode" }); i < 0 || shown.Values[i].Layer != LayerProbation {
		t.Errorf("the mode is not explained by the layer: %+v", shown.Values[max(i, 0)])
	}
}

// Whatever rules are stored, the layer changes nothing but which warnings and infos of the defaults
// are enforced.
func TestProbationTouchesNothingSerious(t *testing.T) {
	server := withFile(autoSettings, FileRules, fmt.Sprintf(`[{"id": %q, "final": true}]`, ruleOfDefaults(t, pipeline.SeverityWarning).ID))
	repository := textLayer(LayerRepository, FileRules, `[{"id": "own-rule", "name": "n", "severity": "warning", "agent": "design-auditor", "category": "style", "description": "d", "detection": "d", "recommendation": "r", "match": {"literal": "x"}}]`)
	before, problems := Load(server, repository)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	ids := []string{"", "no such", pipeline.SecretRulePrefix + "x"}
	for _, r := range before.Rules {
		ids = append(ids, r.ID)
	}
	after, problems := Load(before.ProbationLayer(ids), server, repository)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	moved := 0
	for _, r := range before.Rules {
		switch {
		case after.Rule(r.ID) != nil:
			continue
		case r.Final || before.LayerOf(FileRules, r.ID) != LayerDefaults || r.Severity != pipeline.SeverityWarning && r.Severity != pipeline.SeverityInfo:
			t.Errorf("%s (%s) is no longer enforced", r.ID, r.Severity)
		}
		moved++
	}
	if moved == 0 || moved != len(after.OnProbation()) {
		t.Errorf("%d rules moved, %d are on probation", moved, len(after.OnProbation()))
	}
	if diff := cmp.Diff(before.Agents, after.Agents); diff != "" {
		t.Errorf("agents (-before +after):\n%s", diff)
	}
	if len(before.Floors) != len(after.Floors) || !cmp.Equal(before.FinalLayers(before.Rules[0].Agent), after.FinalLayers(before.Rules[0].Agent)) {
		t.Error("what is final changed")
	}
}

// The patch of a proposal can be applied to a file of every form, and the patched file is valid.
func TestEvaluatePatch(t *testing.T) {
	minor := ruleOfDefaults(t, pipeline.SeverityWarning, pipeline.SeverityInfo)
	entry := fmt.Sprintf(`{"id": %q, "severity": "info"}`, minor.ID)
	for text, pointer := range map[string]string{
		"":                                     "/items/-",
		"[]":                                   "/-",
		`[` + entry + `]`:                      "/0/mode",
		`{"items": []}`:                        "/items/-",
		`{"items": [` + entry + `]}`:           "/items/0/mode",
		`{"$schema": "https://example.com/s"}`: "/items/-",
		`[{"id": "x", "mode": 1}, ` + entry + `]`: "/1/mode",
	} {
		var files []File
		if text != "" {
			files = []File{{Path: RepositoryDir + "/" + FileRules, Text: []byte(text)}}
		}
		p := EvaluatePatch(files, FileRules, minor.ID)
		if len(p.Operations) != 1 || p.File != FileRules || p.Operations[0].Op != "add" || p.Operations[0].Path != pointer {
			t.Errorf("%s: patch %+v, want one at %q", text, p, pointer)
		}
		if strings.Contains(text, `"x"`) || strings.Contains(text, "$schema") {
			continue // not valid config
		}
		patched := applied(t, text, p.Operations[0])
		c, problems := Load(textLayer(LayerRepository, FileRules, patched))
		if len(problems) > 0 || !slices.Contains(c.Evaluated(), minor.ID) {
			t.Errorf("%s: patched to %s: %v", text, patched, problems)
		}
	}
}

// applied applies one operation of a patch that adds a value.
func applied(t *testing.T, text string, op pipeline.PatchOperation) string {
	t.Helper()
	if text == "" {
		text = `{"items": []}`
	}
	var doc any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(addAt(t, doc, strings.Split(op.Path, "/")[1:], op.Value))
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func addAt(t *testing.T, doc any, steps []string, value any) any {
	t.Helper()
	switch d := doc.(type) {
	case map[string]any:
		if len(steps) > 1 {
			value = addAt(t, d[steps[0]], steps[1:], value)
		}
		d[steps[0]] = value
		return d
	case []any:
		if steps[0] == "-" {
			return append(d, value)
		}
		var i int
		if _, err := fmt.Sscan(steps[0], &i); err != nil {
			t.Fatal(err)
		}
		d[i] = addAt(t, d[i], steps[1:], value)
		return d
	}
	t.Fatalf("nothing to add to: %v", doc)
	return nil
}
