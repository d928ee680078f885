package gapdetect

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/config"
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
	return raw.PullRequest{Title: "feat: things", Commits: 1, Head: pipeline.Head{SHA: "abcdef0"}, Totals: pipeline.Totals{Files: len(c.files)}}, nil
}

func (c change) Files(context.Context) (raw.Files, error) {
	var out raw.Files
	for _, f := range c.files {
		out.Files = append(out.Files, raw.ChangedFile{Path: f.Path, Status: pipeline.FileAdded, Additions: 1, Patch: "@@ -0,0 +1,1 @@\n+" + f.Line})
	}
	return out, nil
}

func (c change) Commits(context.Context) (raw.Commits, error) {
	return raw.Commits{Commits: []pipeline.Commit{{SHA: "abcdef0", Message: "feat: things"}}}, nil
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

// repository is the config in force if the repository has this file, or no file.
func repository(t *testing.T, file string, text []byte) *config.Config {
	t.Helper()
	l := config.Layer{Name: config.LayerRepository, Source: "test"}
	if text != nil {
		l.Files = []config.File{{Path: config.RepositoryDir + "/" + file, Text: text}}
	}
	cfg, problems := config.Load(l)
	if len(problems) > 0 {
		t.Fatalf("%s: %s", text, config.FormatProblem(problems[0]))
	}
	return cfg
}

// forms are the possible forms of a repository's file.
var forms = map[string]string{
	"no file":              "",
	"empty list":           `[]`,
	"list":                 `[{"id": "own", "type": "domain", "domain": "own", "description": "Ours.", "globs": ["own/**"], "weight": 1}]`,
	"empty items":          `{"items": []}`,
	"items":                `{"extends": ["defaults"], "items": [{"id": "own", "type": "domain", "domain": "own", "description": "Ours.", "globs": ["own/**"], "weight": 1}]}`,
	"object without items": `{"extends": ["defaults"]}`,
}

// For any form of the repository's file, a line that shows a concern in a file without a mapping is
// a gap. The gap's own patches, applied one after the other, close it: then a policy sends the
// agent to the file. By default each signal is tested with only one of the forms.
func TestPatchesCloseTheGaps(t *testing.T) {
	all := fixtures(t)
	for i, s := range repository(t, config.FileDomains, nil).Signals {
		fx := all[s.ID]
		if len(fx.Flag) < 2 || len(fx.OK) < 2 {
			t.Errorf("%s has %d lines to find and %d near misses, want at least two each", s.ID, len(fx.Flag), len(fx.OK))
			continue
		}
		for j, form := range slices.Sorted(maps.Keys(forms)) {
			if !sample.Full() && j != i%len(forms) {
				continue
			}
			text := forms[form]
			t.Run(s.ID+"/"+form, func(t *testing.T) { closes(t, s, fx, text) })
		}
		delete(all, s.ID)
	}
	for id := range all {
		t.Errorf("lines for %s, which is not a signal", id)
	}
}

func closes(t *testing.T, s config.Signal, fx fixture, text string) {
	// Two more files show the same concern.
	files := append([]placed{{"a/" + fx.Flag[0].Path, fx.Flag[0].Line}, {"b/" + fx.Flag[1].Path, fx.Flag[1].Line}}, fx.Flag[0])
	var doc []byte
	if text != "" {
		doc = []byte(text)
	}
	cfg := repository(t, config.FileDomains, doc)
	_, after, gaps := reviewed(t, cfg, files...)
	for _, f := range files {
		if !logged(gaps, s.Concern, f.Path) {
			t.Fatalf("no gap for %q in %s: %+v", f.Line, f.Path, gaps)
		}
		if !looksAt(after, s.Agent, f.Path) {
			t.Errorf("%s does not look at %s", s.Agent, f.Path)
		}
	}
	for _, g := range gaps {
		doc = apply(t, doc, g.Suggestion)
	}
	before, _, left := reviewed(t, repository(t, config.FileDomains, doc), files...)
	if len(left) > 0 {
		t.Errorf("the patched config leaves gaps: %+v\n%s", left, doc)
	}
	for _, f := range files {
		if !looksAt(before, s.Agent, f.Path) {
			t.Errorf("with the patched config no policy sends %s to %s", s.Agent, f.Path)
		}
	}
}

func TestSignals(t *testing.T) {
	cfg := repository(t, config.FileDomains, nil)
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
	for _, s := range repository(t, config.FileDomains, nil).Signals {
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

// apply applies the "add" operations of a JSON Patch, as in section 4.1 of RFC 6902.
func apply(t *testing.T, text []byte, patch pipeline.ConfigPatch) []byte {
	t.Helper()
	var doc any
	if text != nil {
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
	}
	for _, op := range patch.Operations {
		if op.Op != "add" {
			t.Fatalf("patch %+v, want one that adds", patch)
		}
		var err error
		if doc, err = add(doc, op.Path, op.Value); err != nil {
			t.Fatalf("apply %+v to %s: %v", op, text, err)
		}
	}
	out, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func add(doc any, pointer string, value any) (any, error) {
	if pointer == "" {
		return value, nil
	}
	key, rest, deeper := strings.Cut(pointer[1:], "/")
	if deeper {
		rest = "/" + rest
	}
	switch d := doc.(type) {
	case map[string]any:
		child, ok := d[key]
		if deeper && !ok {
			return nil, fmt.Errorf("there is no %q", key)
		}
		out, err := add(child, rest, value)
		d[key] = out
		return d, err
	case []any:
		at := len(d)
		if key != "-" {
			var err error
			if at, err = strconv.Atoi(key); err != nil || at > len(d) {
				return nil, fmt.Errorf("no place %q in a list of %d", key, len(d))
			}
		}
		if deeper {
			out, err := add(d[at], rest, value)
			d[at] = out
			return d, err
		}
		return append(d[:at:at], append([]any{value}, d[at:]...)...), nil
	}
	return nil, fmt.Errorf("%T has no members", doc)
}
