package rules_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/rules"
)

// fixture is what a shipped rule must flag, and near misses that it must not.
// Path is the file the snippets stand in; rules about titles and commits have
// none.
type fixture struct {
	Path string   `json:"path"`
	Flag []string `json:"flag"`
	OK   []string `json:"ok"`
}

func fixtures(t *testing.T) map[string]fixture {
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

// change is a Source of one added file with one snippet, or of a title and
// commit message.
type change struct{ rule, path, snippet string }

func (c change) PullRequest(context.Context) (normalize.PullRequest, error) {
	pr := normalize.PullRequest{Title: "feat: things", Body: "Because.", Commits: 1, Head: pipeline.Head{SHA: "abcdef0"}, Totals: pipeline.Totals{Files: 1}}
	if strings.Contains(c.rule, "title") {
		pr.Title = c.snippet
	}
	return pr, nil
}

func (c change) Files(context.Context) (normalize.Files, error) {
	path, text := c.path, c.snippet
	if path == "" {
		path, text = "a.txt", "a"
	}
	lines := strings.Split(text, "\n")
	patch := fmt.Sprintf("@@ -0,0 +1,%d @@\n+%s", len(lines), strings.Join(lines, "\n+"))
	return normalize.Files{Files: []normalize.ChangedFile{{Path: path, Status: pipeline.FileAdded, Additions: len(lines), Patch: patch}}}, nil
}

func (c change) Commits(context.Context) (normalize.Commits, error) {
	m := "feat: things"
	if c.path == "" {
		m = c.snippet
	}
	return normalize.Commits{Commits: []pipeline.Commit{{SHA: "abcdef0", Message: m}}}, nil
}

func (c change) Config(context.Context) (*config.Config, error) {
	cfg, _ := config.Load()
	return cfg, nil
}

// flagged returns the ids of the shipped rules that flag the snippet.
func flagged(t *testing.T, engine *rules.Engine, agents []config.Agent, c change) map[string]bool {
	t.Helper()
	facts, _, err := normalize.Normalize(context.Background(), c, normalize.Options{ObservedAt: time.Unix(0, 0)})
	if err != nil {
		t.Fatal(err)
	}
	scan := engine.Scan(&facts)
	ids := map[string]bool{}
	for _, a := range agents {
		out, err := scan.Agent(a.ID).Review(context.Background(), dispatch.Task{
			Entry: pipeline.ManifestEntry{Agent: a.ID, Scope: pipeline.AgentScope{All: true}}, Facts: &facts,
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range out.Findings {
			ids[f.RuleID] = true
		}
	}
	return ids
}

func TestShippedRules(t *testing.T) {
	cfg, _ := config.Load()
	engine, err := rules.Compile(cfg.Rules)
	if err != nil {
		t.Fatal(err)
	}
	all := fixtures(t)
	known := map[string]bool{}
	for _, r := range cfg.Rules {
		known[r.ID] = true
		if r.Match == nil {
			continue
		}
		f := all[r.ID]
		if len(f.Flag) < 2 || len(f.OK) < 2 {
			t.Errorf("%s has %d snippets to flag and %d near misses, want at least two each", r.ID, len(f.Flag), len(f.OK))
		}
		for _, s := range f.Flag {
			if !flagged(t, engine, cfg.Agents, change{r.ID, f.Path, s})[r.ID] {
				t.Errorf("%s does not flag %q", r.ID, s)
			}
		}
		for _, s := range f.OK {
			got := flagged(t, engine, cfg.Agents, change{r.ID, f.Path, s})
			if got[r.ID] {
				t.Errorf("%s flags %q", r.ID, s)
			}
		}
	}
	for id := range all {
		if !known[id] {
			t.Errorf("fixtures for %s, which is no rule", id)
		}
	}
}

// machineChecked is how many of the shipped rules the engine checks at least.
const machineChecked = 60

func TestEnoughRulesShip(t *testing.T) {
	cfg, _ := config.Load()
	n := 0
	for _, r := range cfg.Rules {
		if r.Match != nil {
			n++
		}
	}
	if n < machineChecked || len(cfg.Rules) < 80 {
		t.Errorf("%d rules ship, %d of them machine-checkable", len(cfg.Rules), n)
	}
}
