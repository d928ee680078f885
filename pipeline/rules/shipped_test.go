package rules_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/classify"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/raw"
	"github.com/reviewgate/reviewgate/pipeline/rules"
)

// fixture holds what a shipped rule must flag, and near misses that it must not flag.
// Path is the file of the snippets. Rules about titles and commits have no Path. Rules
// about the change as a whole have Changes instead.
type fixture struct {
	Path    string   `json:"path"`
	Flag    []string `json:"flag"`
	OK      []string `json:"ok"`
	Changes struct {
		Flag []written `json:"flag"`
		OK   []written `json:"ok"`
	} `json:"changes"`
}

// sources are the changes that the rule must flag, and those that it must not flag.
func (f fixture) sources(rule string) (flag, ok []normalize.Source) {
	for _, s := range f.Flag {
		flag = append(flag, change{rule, f.Path, s})
	}
	for _, s := range f.OK {
		ok = append(ok, change{rule, f.Path, s})
	}
	for _, w := range f.Changes.Flag {
		flag = append(flag, w)
	}
	for _, w := range f.Changes.OK {
		ok = append(ok, w)
	}
	return flag, ok
}

func fixtures(t testing.TB) map[string]fixture {
	t.Helper()
	files, err := filepath.Glob("../../testdata/rules/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	all := map[string]fixture{}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var some map[string]fixture
		if err := json.Unmarshal(text, &some); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for id, f := range some {
			all[id] = f
		}
	}
	return all
}

// change is a source of one added file with one snippet, or of a title and a commit
// message.
type change struct{ rule, path, snippet string }

func (c change) PullRequest(context.Context) (raw.PullRequest, error) {
	pr := raw.PullRequest{Title: "feat: things", Body: "Because.", Commits: 1, Head: pipeline.Head{SHA: "abcdef0"}, Totals: pipeline.Totals{Files: 1}}
	if strings.Contains(c.rule, "title") {
		pr.Title = c.snippet
	}
	return pr, nil
}

func (c change) Files(context.Context) (raw.Files, error) {
	path, text := c.path, c.snippet
	if path == "" {
		path, text = "a.txt", "a"
	}
	lines := strings.Split(text, "\n")
	patch := fmt.Sprintf("@@ -0,0 +1,%d @@\n+%s", len(lines), strings.Join(lines, "\n+"))
	return raw.Files{Files: []raw.ChangedFile{{Path: path, Status: pipeline.FileAdded, Additions: len(lines), Patch: patch}}}, nil
}

func (c change) Commits(context.Context) (raw.Commits, error) {
	m := "feat: things"
	if c.path == "" {
		m = c.snippet
	}
	return raw.Commits{Commits: []pipeline.Commit{{SHA: "abcdef0", Message: m}}}, nil
}

func (c change) Config(context.Context) (normalize.ConfigRead, error) {
	return normalize.ConfigRead{Config: shippedConfig()}, nil
}

var shippedClassifier = sync.OnceValues(func() (*classify.Classifier, error) { return classify.New(shippedConfig()) })

// flagged returns the ids of the shipped rules that flag the change.
func flagged(t *testing.T, engine *rules.Engine, cfg *config.Config, source normalize.Source) map[string]bool {
	t.Helper()
	ids := map[string]bool{}
	for _, f := range found(t, engine, cfg, source) {
		ids[f.RuleID] = true
	}
	return ids
}

// found returns what the shipped rules find in the change.
func found(t *testing.T, engine *rules.Engine, cfg *config.Config, source normalize.Source) (all []pipeline.Finding) {
	t.Helper()
	facts, _, err := normalize.Normalize(context.Background(), source, normalize.Options{ObservedAt: time.Unix(0, 0)})
	if err != nil {
		t.Fatal(err)
	}
	classifier, err := shippedClassifier()
	if err != nil {
		t.Fatal(err)
	}
	classified := classifier.Classify(&facts)
	scan := engine.Scan(&facts, &classified)
	for _, a := range cfg.Agents {
		answer, err := scan.Agent(a.ID).Review(context.Background(), dispatch.Task{
			Entry: pipeline.ManifestEntry{Agent: a.ID, Scope: pipeline.AgentScope{All: true}}, Facts: &facts,
		})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, answer.Output.Findings...)
	}
	return all
}

// aboutTheChange are the shipped rules about a change as a whole. Their findings have no place.
var aboutTheChange = []string{"hygiene-breaking-changelog-01", "hygiene-description-01", "hygiene-size-01"}

// aboutFiles are the shipped rules about a whole file. Their findings name it, but no line.
var aboutFiles = []string{
	"dep-gradle-wrapper-01", "hygiene-generated-01", "hygiene-submodule-01", "infra-migration-down-01", "test-deleted-01", "test-missing-01",
}

// Every finding about a line or a file names it, and one about a text names the text.
func TestShippedRulesFindPlaces(t *testing.T) {
	cfg, engine := shipped(t)
	all := fixtures(t)
	for _, r := range cfg.Rules {
		flag, _ := all[r.ID].sources(r.ID)
		for _, s := range flag {
			for _, f := range found(t, engine, cfg, s) {
				if f.RuleID != r.ID {
					continue
				}
				switch {
				case slices.Contains(aboutTheChange, r.ID):
					if f.Path != "" || f.Section != pipeline.SectionChange {
						t.Errorf("%s has a finding at %q, section %q; want one about the change as a whole", r.ID, f.Path, f.Section)
					}
				case r.Match != nil && slices.Contains([]string{config.OnTitle, config.OnBody, config.OnCommitMessage}, r.Match.On):
					if f.Section == "" || f.Section == pipeline.SectionChange {
						t.Errorf("%s has a finding that does not name its text", r.ID)
					}
				case f.Path == "":
					t.Errorf("%s has a finding without a file in %+v", r.ID, s)
				case r.Match != nil && slices.Contains([]string{config.OnPath, config.OnFile}, r.Match.On), slices.Contains(aboutFiles, r.ID):
				case f.StartLine == 0:
					t.Errorf("%s has a finding without a line in %+v", r.ID, s)
				}
			}
		}
	}
}

func TestShippedRules(t *testing.T) {
	cfg, engine := shipped(t)
	all := fixtures(t)
	known := map[string]bool{}
	for _, r := range cfg.Rules {
		known[r.ID] = true
		if r.Match == nil && r.When == "" {
			continue
		}
		flag, ok := all[r.ID].sources(r.ID)
		if len(flag) < 2 || len(ok) < 2 {
			t.Errorf("%s has %d fixtures to flag and %d near misses, want at least two each", r.ID, len(flag), len(ok))
		}
		for _, s := range flag {
			if !flagged(t, engine, cfg, s)[r.ID] {
				t.Errorf("%s does not flag %+v", r.ID, s)
			}
		}
		for _, s := range ok {
			if flagged(t, engine, cfg, s)[r.ID] {
				t.Errorf("%s flags the near miss %+v", r.ID, s)
			}
		}
	}
	for id := range all {
		if !known[id] {
			t.Errorf("fixtures for %s, which is not a rule", id)
		}
	}
}

// The rule about programs has one finding for each added program.
func TestProgramsAreNamed(t *testing.T) {
	_, engine := shipped(t)
	facts := pipeline.PRFacts{Files: pipeline.List[pipeline.File]{
		{Path: "bin/tool.exe", Status: pipeline.FileAdded, Binary: true}, {Path: "lib/a.jar", Status: pipeline.FileAdded, Binary: true}, {Path: "main.go", Status: pipeline.FileAdded},
	}}
	answer, err := engine.Scan(&facts, &pipeline.Classification{}).Agent("pr-hygiene").Review(t.Context(), dispatch.Task{
		Entry: pipeline.ManifestEntry{Agent: "pr-hygiene", Scope: pipeline.AgentScope{All: true}}, Facts: &facts,
	})
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, f := range answer.Output.Findings {
		if f.RuleID == "hygiene-binary-01" {
			named = append(named, f.Path)
		}
	}
	if !slices.Equal(named, []string{"bin/tool.exe", "lib/a.jar"}) {
		t.Errorf("programs with a finding: %q", named)
	}
}

// A comment that calls a file generated does not hide the file's code.
func TestShippedRulesReadGeneratedFiles(t *testing.T) {
	cfg, engine := shipped(t)
	n := 0
	for id, f := range fixtures(t) {
		if !strings.HasSuffix(f.Path, ".go") {
			continue
		}
		n++
		text := "// Code generated by hand. DO NOT EDIT.\n\n" + f.Flag[0]
		if !flagged(t, engine, cfg, change{id, f.Path, text})[id] {
			t.Errorf("%s does not flag %q", id, text)
		}
	}
	if n == 0 {
		t.Error("no fixture is in Go")
	}
}

// machineChecked is the least number of shipped rules that the engine checks.
const machineChecked = 60

func TestEnoughRulesShip(t *testing.T) {
	cfg := shippedConfig()
	n := 0
	for _, r := range cfg.Rules {
		if r.Match != nil || r.When != "" {
			n++
		}
	}
	if n < machineChecked || len(cfg.Rules) < 80 {
		t.Errorf("%d rules ship, %d of them machine-checkable", len(cfg.Rules), n)
	}
}
