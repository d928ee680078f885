package run

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

// A layer that makes a rule final takes nothing away from the layer below that made the same
// finding final, by the rule's agent or by a finding merged with it.
func TestLowerFinalLayerKeepsItsAuthority(t *testing.T) {
	token := "gh" + "p_" + "1fKq8ZrT5wYv3NcXb7LmJd9PsHg2RtUaWe4Q"
	rule := func(id, agent, literal string) string {
		return fmt.Sprintf(`{"id": %q, "name": "Banned word", "severity": "major", "agent": %q, "category": "words", "final": true,
			"description": "The word is not ours.", "detection": "The word", "recommendation": "Delete it.", "match": {"literal": %q}}`, id, agent, literal)
	}
	const lets = `{"organisations": [{"name": "acme", "may_weaken": true}]}`
	for name, c := range map[string]struct {
		server map[string]string
		rule   string
		line   string
	}{
		"a rule with the id of a final agent's finding": {map[string]string{config.FileAgents: `[{"id": "secrets", "final": true}]`}, rule("secret-github-pat", "build-reviewer", "never-there"), `x = "` + token + `"`},
		"the same of another agent":                     {map[string]string{config.FileAgents: `[{"id": "secrets", "final": true}]`}, rule("secret-github-pat", "docs-reviewer", "never-there"), `x = "` + token + `"`},
		"a rule that is merged and listed first":        {map[string]string{config.FileRules: "[" + rule("held", "build-reviewer", "frobnicate") + "]"}, rule("aaa", "build-reviewer", "frobnicate"), "frobnicate"},
		"a rule that is merged and listed last":         {map[string]string{config.FileRules: "[" + rule("held", "build-reviewer", "frobnicate") + "]"}, rule("zzz", "build-reviewer", "frobnicate"), "frobnicate"},
		"a rule of another agent that is merged":        {map[string]string{config.FileRules: "[" + rule("held", "build-reviewer", "frobnicate") + "]"}, rule("aaa", "security-reviewer", "frobnicate"), "frobnicate"},
	} {
		change := raw.ChangedFile{Path: "a.py", Status: pipeline.FileAdded, Additions: 1, Patch: "@@ -0,0 +1 @@\n+" + c.line}
		decide := func(settings string, memory pipeline.Memory) *pipeline.Report {
			t.Helper()
			c.server[config.FileSettings] = lets
			cfg, problems := config.Load(layerOf(config.LayerServer, c.server), layerOf(config.LayerOrganisation, map[string]string{config.FileRules: "[" + c.rule + "]", config.FileSettings: settings}))
			if len(problems) > 0 {
				t.Fatalf("%s: %v", name, problems)
			}
			out, err := newRunner(t, nil).Run(t.Context(), &inMemory{cfg: cfg, files: []raw.ChangedFile{change}}, Options{Memory: func(context.Context, *pipeline.PRFacts, *pipeline.Classification) (pipeline.Memory, error) {
				return memory, nil
			}})
			if err != nil {
				t.Fatal(err)
			}
			return &out.Review.Report
		}
		const named = `{"final_authority": ["mallory"]}`
		before := decide(named, pipeline.Memory{})
		if !before.Decision.Blocks() {
			t.Errorf("%s: %s before anything was dismissed", name, before.Decision)
		}
		var memory pipeline.Memory
		for _, f := range before.Findings {
			memory.Dismissed = append(memory.Dismissed, pipeline.Dismissal{Fingerprint: f.ID, By: "mallory", Reason: "ok", Override: true, FinalIn: []string{config.LayerOrganisation}})
		}
		if after := decide(named, memory); !after.Decision.Blocks() {
			t.Errorf("%s: %s after the organisation's authority dismissed it", name, after.Decision)
		}
		if loose := decide(`{"gate": {"conditions": [{"when": "critical > 99", "decision": "fail"}]}}`, pipeline.Memory{}); !loose.Decision.Blocks() {
			t.Errorf("%s: %s with the organisation's milder gate", name, loose.Decision)
		}
	}
}

// The base's .gitattributes can't make a finding of a final agent milder.
func TestAttributesDoNotSoftenFinalSecrets(t *testing.T) {
	line := "curl -u admin:kTqz8Wq3rGm5YbZrXw1v" + "NnLdC7s0jPfU https://api.example.net/v1"
	milder := 0
	for _, attributes := range []string{"*.py linguist-documentation", "*.py linguist-generated", "*.py linguist-vendored", "* linguist-documentation linguist-generated", "a.py linguist-documentation=true"} {
		for _, final := range []bool{true, false} {
			files := map[string]string{}
			if final {
				files[config.FileAgents] = `[{"id": "secrets", "final": true}]`
			}
			cfg, problems := config.Load(layerOf(config.LayerServer, files))
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			src := &attributed{inMemory: inMemory{cfg: cfg, files: []raw.ChangedFile{{Path: "a.py", Status: pipeline.FileAdded, Additions: 1, Patch: "@@ -0,0 +1 @@\n+" + line}}}, attributes: attributes}
			out, err := newRunner(t, nil).Run(t.Context(), src, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if d := out.Review.Report.Decision; final && !d.Blocks() {
				t.Errorf("%s: %s although the agent is final", attributes, d)
			} else if !final && !d.Blocks() {
				milder++
			}
		}
	}
	if milder == 0 {
		t.Error("the attributes make no finding milder if the agent is not final, so the test proves nothing")
	}
}

// The base's .gitattributes can't hide anything from a final rule, policy or signal.
func TestAttributesHideNothingFromFinalEntries(t *testing.T) {
	words := map[string]string{
		config.FileRules: `[{"id": "word", "name": "Word", "severity": "major", "agent": "words", "category": "words",
			"description": "The word is not ours.", "detection": "The word", "recommendation": "Delete it.", "match": {"literal": "frobnicate"}}]`,
		config.FileAgents:      `[{"id": "words", "name": "Words", "kind": "rules", "description": "d"}]`,
		config.FileComposition: `[{"id": "words", "description": "d", "priority": 10, "trigger": {"type": "path", "globs": ["nowhere/**"]}, "dispatch": {"agents": ["words"]}}]`,
	}
	for name, with := range map[string]map[string]string{
		"a rule of the whole change": {config.FileRules: "[" + heldRule("build-reviewer", `, "match": {"literal": "frobnicate"}, "when": "facts.files.exists(f, !f.documentation && !f.vendored && !f.generated)"`) + "]"},
		"a signal":                   {config.FileDomains: `[{"id": "word", "type": "signal", "concern": "words", "description": "d", "pattern": "frobnicate", "domain": "auth", "agent": "words", "final": true}]`},
		"a policy":                   {config.FileComposition: `[{"id": "words", "description": "d", "priority": 10, "trigger": {"type": "not", "triggers": [{"type": "type", "types": ["docs"]}]}, "dispatch": {"agents": ["words"], "required": true}, "final": true}]`},
	} {
		files := maps.Clone(words)
		maps.Copy(files, with)
		cfg, problems := config.Load(layerOf(config.LayerServer, files))
		if len(problems) > 0 {
			t.Fatal(name, problems)
		}
		for _, attributes := range []string{"", "* linguist-documentation", "* linguist-vendored", "* linguist-generated", "* linguist-documentation linguist-vendored linguist-generated"} {
			src := &attributed{inMemory: inMemory{cfg: cfg, files: []raw.ChangedFile{{Path: "a.py", Status: pipeline.FileAdded, Additions: 1, Patch: "@@ -0,0 +1 @@\n+frobnicate"}}}, attributes: attributes}
			out, err := newRunner(t, nil).Run(t.Context(), src, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(out.Review.Report.Findings, func(f pipeline.Finding) bool { return f.Category == "words" }) {
				t.Errorf("%s: %q hides it", name, attributes)
			}
		}
	}
}

// attributed is a change to a base with a .gitattributes.
type attributed struct {
	inMemory
	attributes string
}

func (s *attributed) Config(context.Context) (normalize.ConfigRead, error) {
	return normalize.ConfigRead{Config: s.cfg, Attributes: []byte(s.attributes)}, nil
}

func layerOf(name string, files map[string]string) config.Layer {
	l := config.Layer{Name: name, Source: "test"}
	for file, text := range files {
		l.Files = append(l.Files, config.File{Path: file, Text: []byte(text)})
	}
	return l
}
