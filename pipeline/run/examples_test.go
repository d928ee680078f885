package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

// claim is a statement of docs/guide.md about one of its examples.
type claim struct {
	name     string
	example  string
	pr       raw.PullRequest
	files    []raw.ChangedFile
	agents   []string // agents that run
	not      []string // agents that don't run
	rules    []string // rules that find something
	silent   []string // rules that find nothing
	decision pipeline.Decision
}

func (c *claim) PullRequest(context.Context) (raw.PullRequest, error) {
	p := c.pr
	p.Repository = pipeline.Repository{Owner: "acme", Name: "web"}
	p.Number, p.Head.SHA, p.Totals.Files = 1, "h", len(c.files)
	if p.Title == "" {
		p.Title = "feat: PAY-7 totals"
	}
	p.Body = "So that totals are right to the cent, on every page."
	return p, nil
}

func (c *claim) Files(context.Context) (raw.Files, error) {
	return raw.Files{Files: c.files}, nil
}

func (c *claim) Commits(context.Context) (raw.Commits, error) { return raw.Commits{}, nil }

func (c *claim) Config(context.Context) (normalize.ConfigRead, error) {
	cfg, err := example(c.example)
	return normalize.ConfigRead{Config: cfg}, err
}

// example loads the layered config of an example.
func example(name string) (*config.Config, error) {
	var layers []config.Layer
	for _, layer := range []string{config.LayerServer, config.LayerOrganisation, config.LayerRepository} {
		dir := filepath.Join("..", "..", "docs", "examples", name, layer)
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		l, err := config.ReadDir(layer, dir)
		if err != nil {
			return nil, err
		}
		layers = append(layers, l)
	}
	cfg, problems := config.Load(layers...)
	if len(problems) > 0 {
		return nil, errors.New(config.FormatProblem(problems[0]))
	}
	return cfg, nil
}

func add(path string, lines ...string) raw.ChangedFile {
	return raw.ChangedFile{
		Path: path, Status: pipeline.FileAdded, Additions: len(lines),
		Patch: fmt.Sprintf("@@ -0,0 +1,%d @@\n+%s", len(lines), strings.Join(lines, "\n+")),
	}
}

func remove(path string, lines ...string) raw.ChangedFile {
	return raw.ChangedFile{
		Path: path, Status: pipeline.FileModified, Deletions: len(lines),
		Patch: fmt.Sprintf("@@ -1,%d +0,0 @@\n-%s", len(lines), strings.Join(lines, "\n-")),
	}
}

func TestGuideTellsTheTruth(t *testing.T) {
	stranger := pipeline.Author{Login: "kim", Type: "User", Association: "FIRST_TIME_CONTRIBUTOR"}
	claims := []claim{
		{name: "payments", example: "monorepo", files: []raw.ChangedFile{add("services/payments/api.ts", "export const a = 1;")},
			agents: []string{"finance-sme", "dependency-reviewer"}, silent: []string{"mono-two-services"}},
		{name: "two services", example: "monorepo", files: []raw.ChangedFile{add("services/shop/a.ts", "export {};"), add("services/warehouse/a.ts", "export {};")},
			rules: []string{"mono-two-services"}},
		{name: "two services, and the label", example: "monorepo", pr: raw.PullRequest{Labels: []string{"cross-service"}},
			files: []raw.ChangedFile{add("services/shop/a.ts", "export {};"), add("services/warehouse/a.ts", "export {};")}, silent: []string{"mono-two-services"}},
		{name: "foreign import", example: "monorepo", files: []raw.ChangedFile{add("services/shop/a.ts", `import { charge } from "../../payments/internal/charge";`)},
			rules: []string{"mono-foreign-import"}, decision: pipeline.DecisionNeedsFixes},
		{name: "no ticket", example: "finance", pr: raw.PullRequest{Title: "feat: totals"}, files: []raw.ChangedFile{add("notes.txt", "x")},
			agents: []string{"finance-sme"}, rules: []string{"acme-ticket"}, decision: pipeline.DecisionFail},
		{name: "a ticket", example: "finance", files: []raw.ChangedFile{add("notes.txt", "x")}, silent: []string{"acme-ticket"}, decision: pipeline.DecisionPass},
		{name: "a booking changed", example: "finance", files: []raw.ChangedFile{add("db/fix.sql", "UPDATE bookings SET amount = 0 WHERE id = 7;")},
			rules: []string{"ledger-append-only"}, decision: pipeline.DecisionFail},
		{name: "a stranger's code", example: "open-source", pr: raw.PullRequest{Author: stranger}, files: []raw.ChangedFile{add("src/a.py", "x = 1")},
			agents: []string{"infra-reviewer"}, rules: []string{"oss-changelog"}},
		{name: "a stranger's documentation", example: "open-source", pr: raw.PullRequest{Author: stranger, Title: "docs: spelling"}, files: []raw.ChangedFile{add("docs/a.md", "Hello.")},
			not: []string{"infra-reviewer"}, silent: []string{"oss-changelog"}},
		{name: "a fork's workflow", example: "open-source", pr: raw.PullRequest{Head: pipeline.Head{Fork: true}}, files: []raw.ChangedFile{add(".github/workflows/ci.yml", "on: push")},
			rules: []string{"oss-fork-workflow"}, decision: pipeline.DecisionNeedsFixes},
		{name: "a colour", example: "design-system", files: []raw.ChangedFile{add("packages/components/button/button.css", ".b { color: #ff0000; }")},
			agents: []string{"design-auditor"}, rules: []string{"ds-colour-token"}},
		{name: "a token for a colour", example: "design-system", files: []raw.ChangedFile{add("packages/components/button/button.css", ".b { color: var(--ds-color-danger); }")},
			silent: []string{"ds-colour-token"}},
		{name: "a token removed", example: "design-system", files: []raw.ChangedFile{remove("packages/tokens/colors.css", "  --ds-color-danger: #c00;")},
			rules: []string{"ds-token-removed"}, decision: pipeline.DecisionNeedsFixes},
		{name: "no story", example: "design-system", files: []raw.ChangedFile{add("packages/components/badge/badge.tsx", "export {};")}, rules: []string{"ds-story"}},
		{name: "a story", example: "design-system", files: []raw.ChangedFile{add("packages/components/badge/badge.stories.tsx", "export {};"), add("packages/components/badge/badge.tsx", "export {};")},
			silent: []string{"ds-story"}},
		{name: "a foreign image", example: "platform-team", files: []raw.ChangedFile{add("Dockerfile", "FROM docker.io/library/node:22.11")},
			rules: []string{"acme-registry"}, decision: pipeline.DecisionNeedsFixes},
		{name: "our image", example: "platform-team", files: []raw.ChangedFile{add("Dockerfile", "FROM registry.acme.example/mirror/node:22.11 AS build", "FROM build")},
			silent: []string{"acme-registry"}},
	}
	runner, err := NewRunner(Config{Version: "devel", Now: time.Now, Engines: engines})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range claims {
		t.Run(c.example+": "+c.name, func(t *testing.T) {
			out, err := runner.Run(t.Context(), &c, Options{})
			if err != nil {
				t.Fatal(err)
			}
			c.check(t, &out.Review)
		})
	}
}

func (c *claim) check(t *testing.T, v *pipeline.Review) {
	t.Helper()
	found := map[string]bool{}
	for _, f := range v.Report.Findings {
		found[f.RuleID] = true
	}
	for _, id := range c.agents {
		if v.Manifest.Entry(id) == nil {
			t.Errorf("%s does not run", id)
		}
	}
	for _, id := range c.not {
		if v.Manifest.Entry(id) != nil {
			t.Errorf("%s runs", id)
		}
	}
	for _, id := range c.rules {
		if !found[id] {
			t.Errorf("%s finds nothing", id)
		}
	}
	if i := slices.IndexFunc(c.silent, func(id string) bool { return found[id] }); i >= 0 {
		t.Errorf("%s finds something", c.silent[i])
	}
	if c.decision != "" && v.Report.Decision != c.decision {
		t.Errorf("decision %s by %q, want %s", v.Report.Decision, v.Report.Gate.Condition, c.decision)
	}
}

func TestGuideTellsTheTruthAboutModes(t *testing.T) {
	cfg, err := example("platform-team")
	if err != nil {
		t.Fatal(err)
	}
	for repository, want := range map[string]string{
		"acme/sandbox-kim": config.ModeOff, "acme/web": config.ModeAdvisory, "acme/payments": config.ModeEnforce,
	} {
		if got := cfg.Mode(repository); got != want {
			t.Errorf("%s is %s, want %s", repository, got, want)
		}
	}
}
