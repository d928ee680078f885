package render

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/app/explain"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

func explanation() *explain.Explanation {
	c := classification()
	c.Risk.Reasons[1].Reason = "touches finance: pricing/total.ts"
	return &explain.Explanation{
		Rules: pipeline.List[explain.RulesOfAgent]{
			{Agent: "build-reviewer", Rules: pipeline.List[string]{"br-title-01"}},
			{Agent: "pr-hygiene", Rules: pipeline.List[string]{"hygiene-description-01", "hygiene-size-01"}},
		},
		Unchecked: pipeline.List[explain.RulesOfAgent]{{Agent: "finance-sme", Rules: pipeline.List[string]{"fin-currency-01"}}},
		Strict:    pipeline.List[explain.RulesOfAgent]{{Agent: "build-reviewer", Rules: pipeline.List[string]{"br-style-01", "br-style-02"}}},

		Classification: c, Manifest: manifest(),
		Files: []explain.File{
			{Path: "docs/logo.png", Documentation: true},
			{
				Path: "pricing/total_test.ts", Language: "TypeScript", Test: true,
				Domains: pipeline.List[explain.Domain]{
					{ID: "api", Mappings: pipeline.List[string]{"**/*.{ts,tsx,js,jsx,py,java}", "**/*total*", "pricing/*", "pricing/**"}},
					{ID: "finance", Mappings: pipeline.List[string]{"pricing/**"}},
				},
				Services: pipeline.List[string]{"shop", "till"},
				Rules: pipeline.List[explain.RulesOfAgent]{
					{Agent: "secrets"}, {Agent: "pr-hygiene"}, {Agent: "build-reviewer", Rules: pipeline.List[string]{"br-errors-03"}},
					{Agent: "finance-sme", Rules: pipeline.List[string]{"fin-decimal-01", "fin-currency-02"}},
				},
			},
			{Path: "vendor/x.pb.go", Language: "Go", Generated: true, Vendored: true, Ignored: pipeline.List[explain.Ignored]{
				{Reason: "not ours"},
				{Agents: pipeline.List[string]{"build-reviewer"}, Rules: pipeline.List[string]{"br-errors-03", "br-title-01"}, Reason: "made by a tool"},
			}},
		},
	}
}

func TestExplanation(t *testing.T) {
	golden(t, "text/explained.txt", Explain(explanation(), false, TextOptions{Width: 100}))
	golden(t, "text/explained-rules.txt", Explain(explanation(), true, TextOptions{Width: 60}))
}

// An agent whose rules look only at a file's path does not count as one that reads the file.
func TestRulesOnPathsDoNotReadTheFile(t *testing.T) {
	reads := explain.RulesOfAgent{Agent: "finance-sme", Rules: pipeline.List[string]{"fin-decimal-01"}}
	path := explain.RulesOfAgent{Agent: "build-reviewer", Rules: pipeline.List[string]{"br-name-01", "br-name-02"}, OnlyPath: true}
	for want, rules := range map[string]pipeline.List[explain.RulesOfAgent]{
		"      looked at by finance-sme (1 rule); only its path is looked at by build-reviewer (2 rules)\n": {path, reads},
		"      no agent reads it; only its path is looked at by build-reviewer (2 rules)\n":                 {path},
	} {
		x := explanation()
		x.Files = []explain.File{{Path: "a.go", Rules: rules}}
		if text := Explain(x, false, TextOptions{Width: 1000}); !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
}

func configValues() []config.Value {
	return []config.Value{
		{File: config.FileRules, ID: "a-01", Pointer: "/id", JSON: `"a-01"`, Layer: "defaults", Path: "review-rules.json", Line: 3},
		{File: config.FileRules, ID: "a-01", Pointer: "/severity", JSON: `"info"`, Layer: "repository", Path: ".github/reviewgate/review-rules.json", Line: 7},
		{File: config.FileRules, ID: "b-01", Pointer: "/match/paths", JSON: `["a/**","b/**"]`, Layer: "defaults", Path: "review-rules.json", Line: 9},
		{File: config.FileSettings, Pointer: "/mode", JSON: `"advisory"`, Layer: "server", Path: "/etc/reviewgate/review-settings.json", Line: 2},
		{File: config.FileSettings, Pointer: "/final", JSON: `[]`, Layer: "defaults"},
	}
}

func TestConfigValues(t *testing.T) {
	golden(t, "text/config.txt", ConfigValues(configValues(), false, TextOptions{}))
	golden(t, "text/config-places.txt", ConfigValues(configValues(), true, TextOptions{}))
}

// Hostile paths and config cannot control the terminal.
func TestExplainedTextHasNoControlSequences(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		s := hostileText().Draw(t, "text")
		x := explanation()
		f := &x.Files[1]
		f.Path, f.Language, f.Domains[0].ID, f.Services[0] = s, s, s, s
		f.Domains[0].Mappings, f.Rules[0].Agent, f.Rules[2].Rules[0] = pipeline.List[string]{s}, s, s
		x.Manifest.Entries[0].Agent, x.Manifest.Skipped[0].Reason, x.Classification.Risk.Reasons[0].Reason = s, s, s
		values := configValues()
		values[1] = config.Value{File: s, ID: s, Pointer: s, JSON: s, Layer: s, Path: s, Line: 1}
		for name, text := range map[string]string{
			"explanation": Explain(x, true, TextOptions{}), "config": ConfigValues(values, true, TextOptions{}),
			"nothing": NothingToReview(s),
		} {
			for line := range strings.SplitSeq(text, "\n") {
				if bad := hiddenIn(line, false); bad != "" {
					t.Fatalf("%s: %s", name, bad)
				}
			}
		}
	})
}
