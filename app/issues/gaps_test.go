package issues

import (
	"testing"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/gapdetect"
)

// logged is a gap whose patch has this pointer and value.
func logged(source, agent, concern, file, pointer string, value any) pipeline.GapLogEntry {
	return pipeline.GapLogEntry{
		Concern: concern, Path: "src/" + concern + ".go", Line: 1, Quote: "x", Missed: "y", Agent: agent, Source: source,
		Suggestion: pipeline.ConfigPatch{File: file, Operations: pipeline.List[pipeline.PatchOperation]{{Op: "add", Path: pointer, Value: value}}},
	}
}

// A gap that a policy closes is identified by the file and the agent, and not by a model's words.
func TestGapsOfModelsAreKnownByTheirAgent(t *testing.T) {
	news := func(concern, source, file string) ports.Deferred {
		g := logged(source, "finance-sme", concern, file, "/-", "1")
		g.Path = "src/a.go"
		m := merge{review: &pipeline.Review{Report: pipeline.Report{GapLog: []pipeline.GapLogEntry{g}}}}
		m.words = render.IssuesOf(render.View{Review: *m.review})
		all := m.gaps()
		if len(all) != 1 {
			t.Fatalf("%d gaps", len(all))
		}
		return all[0]
	}
	if one, other := news("rounding", "big", config.FileComposition), news("money-rounding", gapdetect.Source, config.FileComposition); one.Key != other.Key || one.Subject != "agent:finance-sme" || one.Title == other.Title {
		t.Errorf("%+v and %+v", one, other)
	}
	if one, other := news("rounding", gapdetect.Source, config.FileDomains), news("money-rounding", gapdetect.Source, config.FileDomains); one.Key == other.Key || one.Subject != "rounding" {
		t.Errorf("%+v and %+v", one, other)
	}
}

// A model's gap is closed once a policy always sends its agent to the file, or once there is
// no such agent.
func TestCoveredGapsOfModels(t *testing.T) {
	policy := func(trigger, rest string) string {
		return `[{"id": "own", "description": "d", "priority": 1, "trigger": ` + trigger + `, "dispatch": {"agents": ["design-auditor"]}` + rest + `}]`
	}
	for name, tc := range map[string]struct {
		file, text string
		gone       bool
	}{
		"nothing":            {config.FileComposition, `[]`, false},
		"by its path":        {config.FileComposition, policy(`{"type": "path", "globs": ["src/**"]}`, ""), true},
		"by another path":    {config.FileComposition, policy(`{"type": "path", "globs": ["web/**"]}`, ""), false},
		"always":             {config.FileComposition, policy(`{"type": "always"}`, ""), true},
		"switched off":       {config.FileComposition, policy(`{"type": "always"}`, `, "enabled": false`), false},
		"by its size":        {config.FileComposition, policy(`{"type": "size", "at_least": "L"}`, ""), false},
		"mapped to a domain": {config.FileDomains, `[{"id": "own", "type": "domain", "domain": "ui", "description": "d", "globs": ["src/**"], "weight": 1}]`, true},
		"no such agent":      {config.FileAgents, `[{"id": "design-auditor", "enabled": false}]`, true},
	} {
		cfg, problems := config.Load(config.Layer{Name: config.LayerRepository, Files: []config.File{{Path: tc.file, Text: []byte(tc.text)}}})
		if len(problems) > 0 {
			t.Fatalf("%s: %v", name, problems)
		}
		d := ports.Deferred{Kind: ports.DeferredGap, Path: "src/a.zz", Subject: "agent:design-auditor"}
		if gone, to, err := newChanges(&pipeline.PRFacts{}).judge(&d, cfg); err != nil || gone != tc.gone || to != d.Path {
			t.Errorf("%s: gone %t in %s, %v; want %t", name, gone, to, err, tc.gone)
		}
	}
}
