package gapdetect

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/config/patch"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/classify"
	"github.com/reviewgate/reviewgate/pipeline/compose"
	"github.com/reviewgate/reviewgate/pipeline/internal/literals"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/raw"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// fixture holds what a shipped signal must find in files without a mapping, and near misses that it
// must not find.
type fixture struct {
	Flag []placed `json:"flag"`
	OK   []placed `json:"ok"`
}

type placed struct{ Path, Line string }

func fixtures(t *testing.T) map[string]fixture {
	t.Helper()
	text, err := os.ReadFile("../../testdata/signals/signals.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]fixture
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// change is a change that adds files of one line each.
type change struct {
	cfg   *config.Config
	files []placed
}

func (c change) PullRequest(context.Context) (raw.PullRequest, error) {
	return raw.PullRequest{Title: "refactor: things", Commits: 1, Head: pipeline.Head{SHA: "abcdef0"}, Totals: pipeline.Totals{Files: len(c.files)}}, nil
}

func (c change) Files(context.Context) (raw.Files, error) {
	var out raw.Files
	for _, f := range c.files {
		out.Files = append(out.Files, raw.ChangedFile{Path: f.Path, Status: pipeline.FileAdded, Additions: 1, Patch: "@@ -0,0 +1,1 @@\n+" + f.Line})
	}
	return out, nil
}

func (c change) Commits(context.Context) (raw.Commits, error) {
	return raw.Commits{Commits: []pipeline.Commit{{SHA: "abcdef0", Message: "refactor: things"}}}, nil
}

func (c change) Config(context.Context) (normalize.ConfigRead, error) {
	return normalize.ConfigRead{Config: c.cfg}, nil
}

// stages are the stages up to this one, compiled for a config.
type stages struct {
	config     *config.Config
	classifier *classify.Classifier
	composer   *compose.Composer
	detector   *Detector
}

// lastStages are the stages that were compiled last: many reviews in a row use one config.
var lastStages stages

func stagesOf(t *testing.T, cfg *config.Config) stages {
	t.Helper()
	if lastStages.config == cfg {
		return lastStages
	}
	s := stages{config: cfg}
	var err error
	if s.classifier, err = classify.New(cfg); err != nil {
		t.Fatal(err)
	}
	if s.composer, err = compose.New(cfg); err != nil {
		t.Fatal(err)
	}
	if s.detector, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	lastStages = s
	return s
}

// reviewed runs the stages up to this one.
func reviewed(t *testing.T, cfg *config.Config, files ...placed) (before, after pipeline.AgentManifest, gaps []pipeline.GapLogEntry) {
	t.Helper()
	facts, _, err := normalize.Normalize(t.Context(), change{cfg, files}, normalize.Options{ObservedAt: time.Unix(0, 0)})
	if err != nil {
		t.Fatal(err)
	}
	s := stagesOf(t, cfg)
	c := s.classifier.Classify(&facts)
	before = s.composer.Compose(&facts, &c)
	after, gaps, err = s.detector.Detect(t.Context(), &facts, &c, before)
	if err != nil {
		t.Fatal(err)
	}
	return before, after, gaps
}

// repository is the config in force if the repository has these files, over a server's layer that may
// have models.
func repository(t *testing.T, models bool, files ...config.File) *config.Config {
	t.Helper()
	server := config.Layer{Name: config.LayerServer}
	if models {
		server.Files = []config.File{{Path: config.FileSettings, Text: []byte(`{
			"model_endpoints": [{"name": "small", "api": "openai", "base_url": "https://models.example/v1", "model": "m"}],
			"models": {"reviewers": ["small"]}
		}`)}}
	}
	cfg, problems := config.Load(server, config.Layer{Name: config.LayerRepository, Source: "test", Files: files})
	if len(problems) > 0 {
		t.Fatalf("%s: %s", files, config.FormatProblem(problems[0]))
	}
	return cfg
}

// repositories are the files that a repository may have, by their names without the directory.
var repositories = map[string]map[string]string{
	"no files":             nil,
	"empty list":           {config.FileDomains: `[]`},
	"empty items":          {config.FileDomains: `{"items": []}`},
	"object without items": {config.FileDomains: `{"extends": ["defaults"]}`},
	"JSON with comments": {
		"review-domains.jsonc": `[{"id": "own", "type": "domain", "domain": "own", "description": "Ours.", "globs": ["own/**"], "weight": 1}, /* more */ ] // end`,
		config.FileComposition: `{"extends": ["defaults"], "items": [{"id": "hygiene", "priority": 51}]}`,
		config.FileSettings:    `{"mode": "advisory"}`,
		"review-rules.json":    `[{"id": "test-focused-01", "enabled": false}]`,
		"review-agents.json":   `[{"id": "docs-reviewer", "enabled": false}]`,
	},
	"YAML": {
		"review-domains.yaml":     "# Ours.\nitems:\n- id: own\n  type: domain\n  domain: own\n  description: Ours. # all\n  globs: [own/**]\n  weight: 1\nextends: [defaults]\n",
		"review-composition.yaml": "- id: hygiene # early\n  priority: 51\n",
	},
	// No policy reads a domain: most agents wait for a label.
	"own policies": {config.FileComposition: `{"extends": [], "items": [
		{"id": "own", "description": "d", "priority": 1, "trigger": {"type": "always"}, "dispatch": {"agents": ["secrets"]}},
		{"id": "wanted", "description": "d", "priority": 1, "trigger": {"type": "label", "labels": ["full review"]}, "dispatch": {"agents": [
			"build-reviewer", "security-reviewer", "finance-sme", "design-auditor", "dependency-reviewer", "test-reviewer", "api-reviewer",
			"infra-reviewer", "docs-reviewer", "pr-hygiene", "finance-sme-llm"
		]}}
	]}`},
	// A signal's own agent is not the policy's.
	"another agent": {config.FileDomains: `[{"id": "signal-authentication", "agent": "docs-reviewer"}]`, config.FileComposition: `[{"id": "sensitive", "dispatch": {"required": true}}]`},
	// A policy of the repository reads the domains, with an agent that runs anyway.
	"a required agent": {config.FileComposition: `[
		{"id": "own", "description": "d", "priority": 1, "trigger": {"type": "any", "triggers": [
			{"type": "domain", "domains": ["auth", "concurrency", "crypto", "database", "privacy", "secrets", "finance", "infra", "migrations", "api", "ui"]}
		]}, "dispatch": {"agents": ["pr-hygiene"], "required": true}}
	]`},
}

func filesOf(texts map[string]string) (files []config.File) {
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		files = append(files, config.File{Path: config.RepositoryDir + "/" + name, Text: []byte(texts[name])})
	}
	return files
}

// Each shipped signal speaks in a file without a mapping, whatever the repository has configured and
// whether there is a model. What config apply makes of the gaps' patches, from the last to the first,
// closes the gaps: then policies send all the agents that the gaps sent. By default each signal is
// tested with only some of the repositories.
func TestPatchesCloseTheGaps(t *testing.T) {
	all := fixtures(t)
	for i, s := range repository(t, false).Signals {
		fx := all[s.ID]
		if len(fx.Flag) < 2 || len(fx.OK) < 2 {
			t.Errorf("%s has %d lines to find and %d near misses, want at least two each", s.ID, len(fx.Flag), len(fx.OK))
			continue
		}
		for j, name := range slices.Sorted(maps.Keys(repositories)) {
			for k, models := range []bool{false, true} {
				if sample.Full() || (2*j+k)%5 == i%5 || name == "no files" {
					t.Run(fmt.Sprintf("%s/%s/%t", s.ID, name, models), func(t *testing.T) { closes(t, s, fx, filesOf(repositories[name]), models) })
				}
			}
		}
		delete(all, s.ID)
	}
	for id := range all {
		t.Errorf("lines for %s, which is not a signal", id)
	}
}

func closes(t *testing.T, s config.Signal, fx fixture, own []config.File, models bool) {
	// Two more files show the same concern.
	files := append([]placed{{"a/" + fx.Flag[0].Path, fx.Flag[0].Line}, {"b/" + fx.Flag[1].Path, fx.Flag[1].Line}}, fx.Flag[0])
	cfg := repository(t, models, own...)
	before, after, gaps := reviewed(t, cfg, files...)
	for _, f := range files {
		if !logged(gaps, s.Concern, f.Path) {
			t.Fatalf("no gap for %q in %s: %+v", f.Line, f.Path, gaps)
		}
	}
	patched := own
	for _, g := range slices.Backward(gaps) {
		var err error
		if patched, _, err = patch.Apply(config.RepositoryDir, patched, g.Suggestion); err != nil {
			t.Fatal(err)
		}
	}
	mended, again, left := reviewed(t, repository(t, models, patched...), files...)
	if len(left) > 0 || !cmp.Equal(mended, again) {
		t.Errorf("the patched config leaves gaps: %+v\n%s", left, patched)
	}
	for _, g := range gaps {
		sent := append([]string{g.Agent}, g.Others...)
		if g.Agent == "" {
			sent = nil
			if cmp.Equal(before.Entries, mended.Entries) {
				t.Errorf("the gap in %s changes nothing: %+v", g.Path, g)
			}
		}
		for _, agent := range sent {
			if looksAt(before, agent, g.Path) || !looksAt(after, agent, g.Path) {
				t.Errorf("the gap did not send %s to %s", agent, g.Path)
			}
			if e := mended.Entry(agent); e == nil || len(e.Policies) == 0 || !looksAt(mended, agent, g.Path) {
				t.Errorf("with the patched config no policy sends %s to %s", agent, g.Path)
			}
		}
	}
}

// With a model, a gap sends the twin of a rules agent, too.
func TestGapSendsTheTwin(t *testing.T) {
	for _, texts := range []map[string]string{nil, repositories["own policies"]} {
		for _, models := range []bool{false, true} {
			_, after, gaps := reviewed(t, repository(t, models, filesOf(texts)...), fixtures(t)["signal-money-arithmetic"].Flag[0])
			if len(gaps) != 1 || gaps[0].Agent != "finance-sme" || slices.Contains(gaps[0].Others, "finance-sme-llm") != models {
				t.Errorf("with models %t: %+v", models, gaps)
			}
			if e := after.Entry("finance-sme-llm"); (e != nil) != models || models && !slices.Equal(e.Models, []string{"small"}) {
				t.Errorf("with models %t: entry %+v", models, e)
			}
		}
	}
}

// A concern whose agents look at the file anyway is not a gap.
func TestSilentSignals(t *testing.T) {
	flagged := fixtures(t)["signal-authentication"].Flag[0]
	for name, text := range map[string]string{
		"no policy reads the domain":    `[{"id": "sensitive", "enabled": false}]`,
		"the policy's agent runs":       `[{"id": "sensitive", "dispatch": {"agents": ["security-reviewer"]}}]`,
		"the policy's agent is off":     `[{"id": "sensitive", "dispatch": {"agents": ["code-scanning"]}}]`,
		"the trigger needs more":        `[{"id": "sensitive", "trigger": {"type": "all", "triggers": [{"type": "domain", "domains": ["auth"]}, {"type": "risk", "at_least": "high"}]}}]`,
		"the trigger needs two domains": `[{"id": "sensitive", "trigger": {"type": "domain", "domains": ["auth", "crypto"], "match": "all"}}]`,
	} {
		before, after, gaps := reviewed(t, repository(t, false, filesOf(map[string]string{config.FileComposition: text})...), flagged)
		if len(gaps) > 0 || !cmp.Equal(before, after) {
			t.Errorf("%s: %+v", name, gaps)
		}
	}
	// A signal's own agent goes there in any case, with the required one of the policy.
	own := filesOf(map[string]string{
		config.FileDomains: `[{"id": "signal-authentication", "agent": "finance-sme"}]`, config.FileComposition: `[{"id": "sensitive", "dispatch": {"required": true}}]`,
	})
	if _, _, gaps := reviewed(t, repository(t, false, own...), flagged); len(gaps) != 1 || gaps[0].Agent != "finance-sme" || !slices.Equal(gaps[0].Others, []string{"test-reviewer"}) ||
		gaps[0].Suggestion.Operations[0].Value.(map[string]any)["dispatch"].(map[string]any)["required"] != true {
		t.Errorf("an agent that the policy does not send: %+v", gaps)
	}
	if _, _, gaps := reviewed(t, repository(t, false), flagged); len(gaps) != 1 || gaps[0].Agent != "test-reviewer" {
		t.Errorf("by default: %+v", gaps)
	}
}

func TestSignals(t *testing.T) {
	cfg := repository(t, false)
	for id, fx := range fixtures(t) {
		concern := ""
		for _, s := range cfg.Signals {
			if s.ID == id {
				concern = s.Concern
			}
		}
		for _, f := range fx.Flag {
			if _, _, gaps := reviewed(t, cfg, f); !logged(gaps, concern, f.Path) {
				t.Errorf("%s does not find %q in %s", id, f.Line, f.Path)
			}
		}
		for _, f := range fx.OK {
			if _, _, gaps := reviewed(t, cfg, f); logged(gaps, concern, f.Path) {
				t.Errorf("%s finds %q in %s", id, f.Line, f.Path)
			}
		}
	}
}

// A signal without a literal would run on every line.
func TestSignalsHoldLiterals(t *testing.T) {
	for _, s := range repository(t, false).Signals {
		if literals.Required(s.Pattern) == nil {
			t.Errorf("%s runs on every line: reword its pattern so that each alternative holds two fixed characters", s.ID)
		}
	}
}

func logged(gaps []pipeline.GapLogEntry, concern, path string) bool {
	for _, g := range gaps {
		if g.Concern == concern && g.Path == path {
			return true
		}
	}
	return false
}

func looksAt(m pipeline.AgentManifest, agent, path string) bool {
	e := m.Entry(agent)
	if e == nil {
		return false
	}
	for _, f := range e.Scope.Files {
		if f == path {
			return true
		}
	}
	return e.Scope.All
}
