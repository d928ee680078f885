package gapdetect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
	"github.com/reviewgate/reviewgate/policies"
	"github.com/reviewgate/reviewgate/policies/glob"
)

func testConfig() *config.Config {
	return &config.Config{
		Agents: []config.Agent{{ID: "finance-sme", Enabled: true}, {ID: "security", Enabled: true}, {ID: "off"}},
		Policies: []config.Policy{{
			ID: "money", Enabled: true, Trigger: policies.Trigger{Type: policies.TriggerDomain, Domains: []string{"finance"}},
			Dispatch: config.Dispatch{Agents: []string{"finance-sme"}},
		}},
		Signals: []config.Signal{
			{ID: "money", Enabled: true, Concern: "money-arithmetic", Pattern: `(?i)price\w*\s*\*`, Domain: "finance", Agent: "finance-sme"},
			{ID: "money-too", Enabled: true, Concern: "money-arithmetic", Pattern: `total`, Domain: "finance", Agent: "finance-sme"},
			{ID: "auth", Enabled: true, Concern: "authentication", Pattern: `bcrypt\.|[0-9]{9}`, Domain: "auth", Agent: "security", Languages: []string{"Go"}, Globs: []string{"src/**"}},
			{ID: "unused", Enabled: true, Concern: "x", Pattern: `.`, Domain: "x", Agent: "off"},
			{ID: "disabled", Concern: "y", Pattern: `.`, Domain: "y", Agent: "security"},
		},
	}
}

// added is a changed file with the lines added from line 10 on.
func added(path, language string, lines ...string) pipeline.File {
	f := pipeline.File{Path: path, Language: language, Hunks: pipeline.List[pipeline.Hunk]{{NewStart: 10}}}
	for i, l := range lines {
		f.Hunks[0].Lines = append(f.Hunks[0].Lines, pipeline.Line{Op: pipeline.LineAdded, New: 10 + i, Text: l})
	}
	return f
}

func detect(t *testing.T, c *pipeline.Classification, m pipeline.AgentManifest, files ...pipeline.File) (pipeline.AgentManifest, []pipeline.GapLogEntry) {
	t.Helper()
	d, err := New(testConfig())
	if err != nil {
		t.Fatal(err)
	}
	before, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	out, log, err := d.Detect(t.Context(), &pipeline.PRFacts{Files: files}, c, m)
	if err != nil {
		t.Fatal(err)
	}
	if after, _ := json.Marshal(m); string(after) != string(before) {
		t.Errorf("the manifest given was changed:\n%s\n%s", before, after)
	}
	valid(t, config.SchemaAgentManifest, out)
	for _, e := range log {
		valid(t, config.SchemaGapLogEntry, e)
	}
	return out, log
}

func valid(t *testing.T, schema string, v any) {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := config.ValidateData(schema, data); err != nil {
		t.Errorf("%s against its schema: %v", schema, err)
	}
}

type (
	names   = pipeline.List[string]
	entries = pipeline.List[pipeline.ManifestEntry]
	skipped = pipeline.List[pipeline.SkippedAgent]
)

// chosen is the entry of an agent that a policy chose.
func chosen(agent string, s pipeline.AgentScope) pipeline.ManifestEntry {
	return pipeline.ManifestEntry{
		Agent: agent, Scope: s, Priority: 5, Required: true, OnFailure: pipeline.OnFailureBlock, AddedBy: pipeline.AddedByPolicy,
		Policies: pipeline.List[pipeline.PolicyMatch]{{Policy: "p", Priority: 5, Trigger: "every change"}},
	}
}

func TestGapAddsTheAgentAndIsLogged(t *testing.T) {
	m, log := detect(t, &pipeline.Classification{},
		pipeline.AgentManifest{Skipped: skipped{{Agent: "finance-sme", Reason: "no file is finance"}, {Agent: "off", Reason: "switched off in config"}}},
		added("src/cart.ts", "TypeScript", "", "  const t = unitPrice * n // total", "price * 2"))
	want := pipeline.AgentManifest{
		Entries: entries{{Agent: "finance-sme", Scope: pipeline.AgentScope{Files: names{"src/cart.ts"}}, OnFailure: pipeline.OnFailureWarn, AddedBy: pipeline.AddedByGapDetect}},
		Skipped: skipped{{Agent: "off", Reason: "switched off in config"}},
	}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Errorf("manifest (-want +got):\n%s", diff)
	}
	wantLog := []pipeline.GapLogEntry{{
		Concern: "money-arithmetic", Name: "money arithmetic", Path: "src/cart.ts", Line: 11, Quote: "const t = unitPrice * n // total",
		Missed: "no mapping puts src/cart.ts into finance, which the policy money reads",
		Suggestion: pipeline.ConfigPatch{File: config.FileDomains, Operations: pipeline.List[pipeline.PatchOperation]{{Op: "add", Path: "/items/-",
			Value: map[string]any{"type": "domain", "id": "finance-9e48af65", "domain": "finance",
				"description": "Unmapped code of finance, found by money.", "globs": []string{"src/cart.ts"}}}}},
		Agent: "finance-sme", Source: Source, Confidence: 0.6,
	}}
	if diff := cmp.Diff(wantLog, log); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

func TestGapWidensTheScopeOfAnAgentThatRuns(t *testing.T) {
	m, log := detect(t, &pipeline.Classification{},
		pipeline.AgentManifest{Entries: entries{
			chosen("z", pipeline.AgentScope{All: true}),
			chosen("finance-sme", pipeline.AgentScope{Files: names{"m.go", "z.go"}}),
		}},
		added("a.go", "Go", "price * 2"), added("m.go", "Go", "price * 2"))
	want := entries{
		chosen("finance-sme", pipeline.AgentScope{Files: names{"a.go", "m.go", "z.go"}}),
		chosen("z", pipeline.AgentScope{All: true}),
	}
	if diff := cmp.Diff(want, m.Entries); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	if len(log) != 1 || log[0].Path != "a.go" || log[0].Agent != "finance-sme" || log[0].ID() == "" {
		t.Errorf("log = %+v, want a.go alone: the agent looks at m.go anyway", log)
	}
}

func TestNoGapWhereNothingWasMissed(t *testing.T) {
	line := "price * 2"
	flagged := func(set func(*pipeline.File)) pipeline.File {
		f := added("src/a.go", "Go", line)
		set(&f)
		return f
	}
	finance := &pipeline.Classification{Domains: pipeline.List[pipeline.Domain]{{ID: "finance", Files: pipeline.List[pipeline.DomainFile]{{Path: "src/a.go"}}}}}
	none := &pipeline.Classification{}
	tests := []struct {
		name  string
		class *pipeline.Classification
		file  pipeline.File
	}{
		{"file in the domain", finance, added("src/a.go", "Go", line)},
		{"generated", none, flagged(func(f *pipeline.File) { f.GeneratedByPath = true })},
		{"vendored", none, flagged(func(f *pipeline.File) { f.Vendored = true })},
		{"test", none, flagged(func(f *pipeline.File) { f.Test = true })},
		{"documentation", none, flagged(func(f *pipeline.File) { f.Documentation = true })},
		{"context line", none, flagged(func(f *pipeline.File) { f.Hunks[0].Lines[0].Op = pipeline.LineContext })},
		{"other language", none, added("src/a.py", "Python", "bcrypt.hash")},
		{"other directory", none, added("lib/a.go", "Go", "bcrypt.hash")},
		{"far into a generated line", none, added("src/a.go", "Go", strings.Repeat("x", maxLine)+line)},
	}
	for _, tt := range tests {
		m := pipeline.AgentManifest{Entries: entries{chosen("finance-sme", pipeline.AgentScope{})}}
		out, log := detect(t, tt.class, m, tt.file)
		if len(log) != 0 {
			t.Errorf("%s: log = %+v, want nothing", tt.name, log)
		}
		if diff := cmp.Diff(m, out); diff != "" {
			t.Errorf("%s: manifest (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestFileThatCallsItselfGeneratedIsRead(t *testing.T) {
	f := added("src/a.go", "Go", "price * 2")
	f.Generated = true
	if _, log := detect(t, &pipeline.Classification{}, pipeline.AgentManifest{}, f); len(log) == 0 {
		t.Error("nothing was logged")
	}
}

func TestLogIsBoundedButScopesAreNot(t *testing.T) {
	var files []pipeline.File
	for i := range 3 * maxPerConcern {
		files = append(files, added(fmt.Sprintf("src/f%03d.go", i), "Go", "price * 2", "x 123456789"))
	}
	m, log := detect(t, &pipeline.Classification{}, pipeline.AgentManifest{}, files...)
	if len(log) != 2*maxPerConcern {
		t.Errorf("%d log entries, want %d for each of two concerns", len(log), maxPerConcern)
	}
	last := map[string]string{}
	for _, e := range log {
		last[e.Concern] = e.Missed
	}
	for concern, missed := range last {
		if !strings.HasSuffix(missed, ", and 10 more files show the concern") {
			t.Errorf("the last of %s says %q, want it to count the rest", concern, missed)
		}
	}
	for _, e := range m.Entries {
		if len(e.Scope.Files) != len(files) {
			t.Errorf("%s looks at %d files, want %d", e.Agent, len(e.Scope.Files), len(files))
		}
	}
}

func TestDetectStopsWhenCancelled(t *testing.T) {
	d, err := New(testConfig())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = d.Detect(ctx, &pipeline.PRFacts{Files: pipeline.List[pipeline.File]{{Path: "a"}}}, &pipeline.Classification{}, pipeline.AgentManifest{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Detect = %v, want context.Canceled", err)
	}
}

func TestNewNamesTheSignalThatDoesNotCompile(t *testing.T) {
	for _, change := range []func(*config.Signal){
		func(s *config.Signal) { s.Pattern = "(" },
		func(s *config.Signal) { s.Globs = []string{"/abs"} },
	} {
		cfg := testConfig()
		change(&cfg.Signals[0])
		if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), "money") {
			t.Errorf("New = %v, want an error that names the signal", err)
		}
	}
}

// The prefilter hides no match: a signal matches the same lines with it as without it.
func TestPrefilterHidesNothing(t *testing.T) {
	cfg := testConfig()
	cfg.Signals[0].Pattern = `(?i)ask|si\w+k`
	d, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	text := rapid.StringOfN(rapid.RuneFrom([]rune("aAsSkKitol \u212a\u017f.bcrypt123")), 0, 30, -1)
	sample.Check(t, func(t *rapid.T) {
		line := text.Draw(t, "line")
		may := make([]bool, len(d.signals))
		d.filter.candidates(line, may)
		for i, s := range d.signals {
			if s.pattern.MatchString(line) && !may[i] {
				t.Fatalf("%s matches %q and was not a candidate", s.ID, line)
			}
		}
	})
}

// The suggested mapping covers the file, whatever its name, and no other file.
func TestSuggestedGlobCoversTheFile(t *testing.T) {
	segment := rapid.StringOfN(rapid.RuneFrom([]rune("ab.*?[]{}\\!,-é\n\uFFFD ")), 1, 40, -1).
		Filter(func(s string) bool { return s != "." && s != ".." })
	sample.Check(t, func(t *rapid.T) {
		path := strings.Join(rapid.SliceOfN(segment, 1, 12).Draw(t, "segments"), "/")
		set, err := glob.Compile([]string{fileGlob(path)})
		if err != nil {
			t.Fatalf("%q: %v", path, err)
		}
		if !set.Any(path) {
			t.Fatalf("%q does not match %q", fileGlob(path), path)
		}
		if set.Any("other/" + path) {
			t.Fatalf("%q matches %q too", fileGlob(path), "other/"+path)
		}
	})
	for _, path := range []string{strings.Repeat("é", 200), strings.Repeat("dir/", 80) + "x.go", strings.Repeat("[", 250)} {
		set, err := glob.Compile([]string{fileGlob(path)})
		if err != nil || !set.Any(path) {
			t.Errorf("%q does not match %q: %v", fileGlob(path), path, err)
		}
	}
}
