package classify

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

func testConfig() *config.Config {
	return &config.Config{
		Domains: []config.DomainMapping{
			{ID: "pricing", Enabled: true, Domain: "finance", Globs: []string{"pricing/**", "**/*total*"}, Weight: 15},
			{ID: "billing", Enabled: true, Domain: "finance", Globs: []string{"billing/**"}, Weight: 20},
			{ID: "ui", Enabled: true, Domain: "ui", Globs: []string{"**/*.tsx"}},
			{ID: "off", Domain: "everything", Globs: []string{"**"}},
		},
		Services: []config.ServiceMapping{
			{ID: "shop", Enabled: true, Service: "shop", Globs: []string{"pricing/**", "billing/**"}},
		},
		Risk: []config.RiskFactor{
			{ID: "lines", Enabled: true, Factor: config.RiskChangedLines, Points: 20},
			{ID: "domains", Enabled: true, Factor: config.RiskDomains, Points: 5},
			{ID: "prod", Enabled: true, Factor: config.RiskSensitivePath, Points: 12, Globs: []string{"deploy/**"}, Description: "What runs in production."},
			{ID: "ci", Enabled: true, Factor: config.RiskWorkflow, Points: 10},
			{ID: "deps", Enabled: true, Factor: config.RiskDependencies, Points: 9},
			{ID: "deleted", Enabled: true, Factor: config.RiskDeletedTests, Points: 8},
			{ID: "untested", Enabled: true, Factor: config.RiskSourceWithoutTest, Points: 7},
			{ID: "first", Enabled: true, Factor: config.RiskFirstTimeAuthor, Points: 6},
			{ID: "fork", Enabled: true, Factor: config.RiskFork, Points: 4},
			{ID: "off", Factor: config.RiskFork, Points: 99},
		},
	}
}

func classified(t *testing.T, facts pipeline.PRFacts) pipeline.Classification {
	t.Helper()
	c, err := New(testConfig())
	if err != nil {
		t.Fatal(err)
	}
	out := c.Classify(&facts)
	data, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	if err := config.ValidateData(config.SchemaClassification, data); err != nil {
		t.Errorf("classification against its schema: %v", err)
	}
	return out
}

func files(list ...pipeline.File) pipeline.List[pipeline.File] { return list }

func TestDomainsAndServices(t *testing.T) {
	got := classified(t, pipeline.PRFacts{Files: files(
		pipeline.File{Path: "README.md"},
		pipeline.File{Path: "billing/a.go"},
		pipeline.File{Path: "pricing/total.ts"},
		pipeline.File{Path: "ui/total.tsx"},
	)})
	type paths = pipeline.List[string]
	want := pipeline.List[pipeline.Domain]{
		{ID: "finance", Files: pipeline.List[pipeline.DomainFile]{
			{Path: "billing/a.go", Mappings: paths{"billing/**"}},
			{Path: "pricing/total.ts", Mappings: paths{"**/*total*", "pricing/**"}},
			{Path: "ui/total.tsx", Mappings: paths{"**/*total*"}}}},
		{ID: "ui", Files: pipeline.List[pipeline.DomainFile]{{Path: "ui/total.tsx", Mappings: paths{"**/*.tsx"}}}},
	}
	if diff := cmp.Diff(want, got.Domains); diff != "" {
		t.Errorf("domains (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(paths{"README.md"}, got.Unclassified); diff != "" {
		t.Errorf("unclassified (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(pipeline.List[pipeline.Service]{{ID: "shop", Files: paths{"billing/a.go", "pricing/total.ts"}}}, got.Services); diff != "" {
		t.Errorf("services (-want +got):\n%s", diff)
	}
	if got.Scope.Breadth != "several" {
		t.Errorf("breadth = %s, want several", got.Scope.Breadth)
	}
}

func TestType(t *testing.T) {
	source := pipeline.File{Path: "a.go", Language: "Go", Status: pipeline.FileAdded, Additions: 1}
	grown := pipeline.File{Path: "a.go", Language: "Go", Status: pipeline.FileModified, Additions: 1}
	doc := pipeline.File{Path: "a.md", Documentation: true}
	test := pipeline.File{Path: "a_test.go", Language: "Go", Test: true, Status: pipeline.FileAdded, Additions: 1}
	ci := pipeline.File{Path: ".github/workflows/ci.yml"}
	deps := pipeline.File{Path: "web/package.json"}
	lock := pipeline.File{Path: "go.sum"}
	tests := []struct {
		name         string
		facts        pipeline.PRFacts
		want, source string
	}{
		{"title", pipeline.PRFacts{Title: "feat(cart)!: add totals", Labels: pipeline.List[string]{"bug"}}, "feature", `the title's prefix "feat(cart)!:"`},
		{"title in capitals", pipeline.PRFacts{Title: "Fix: rounding"}, "fix", `the title's prefix "Fix:"`},
		{"scope says dependencies", pipeline.PRFacts{Title: "chore(deps): bump x"}, "deps", `the title's prefix "chore(deps):"`},
		{"no conventional title", pipeline.PRFacts{Title: "Note: fix it", Labels: pipeline.List[string]{"urgent", "type: bug"}}, "fix", `the label "type: bug"`},
		{"label before branch", pipeline.PRFacts{Labels: pipeline.List[string]{"documentation"}, Head: pipeline.Head{Ref: "fix/x"}}, "docs", `the label "documentation"`},
		{"branch", pipeline.PRFacts{Head: pipeline.Head{Ref: "dependabot/npm/x"}}, "deps", `the branch's prefix "dependabot/"`},
		{"branch of no known prefix", pipeline.PRFacts{Head: pipeline.Head{Ref: "kim/fix"}, Files: files(grown)}, "change", "nothing says more"},
		{"only documentation", pipeline.PRFacts{Files: files(doc, doc)}, "docs", "every file is documentation"},
		{"only tests", pipeline.PRFacts{Files: files(test)}, "test", "every file is a test"},
		{"only workflows", pipeline.PRFacts{Files: files(ci)}, "ci", "every file is a workflow"},
		{"only dependencies", pipeline.PRFacts{Files: files(deps, lock)}, "deps", "every file is a manifest or lock file"},
		{"new source", pipeline.PRFacts{Files: files(doc, source)}, "feature", "new source: a.go"},
		{"new source that calls itself generated", pipeline.PRFacts{Files: files(pipeline.File{
			Path: "a.go", Language: "Go", Status: pipeline.FileAdded, Additions: 1, Generated: true,
		})}, "feature", "new source: a.go"},
		{"a mixture", pipeline.PRFacts{Files: files(doc, test)}, "change", "nothing says more"},
		{"no files", pipeline.PRFacts{}, "change", "there are no files"},
	}
	for _, tt := range tests {
		got := classified(t, tt.facts)
		if got.Type != tt.want || got.TypeSource != tt.source {
			t.Errorf("%s: type %s by %s, want %s by %s", tt.name, got.Type, got.TypeSource, tt.want, tt.source)
		}
	}
}

// The guide lists the types of a change, and the words that name them, as they are.
func TestGuideListsTheTypes(t *testing.T) {
	guide, err := os.ReadFile("../../docs/guide.md")
	if err != nil {
		t.Fatal(err)
	}
	var types []string
	for _, name := range pipeline.ChangeTypes() {
		words := typeWords[name]
		if len(words) == 0 {
			continue
		}
		types = append(types, name)
		if row := fmt.Sprintf("| `%s` | `%s` |", name, strings.Join(words, "`, `")); !strings.Contains(string(guide), row) {
			t.Errorf("docs/guide.md lacks the row %s", row)
		}
	}
	if len(types) != len(typeWords) || len(types)+1 != len(pipeline.ChangeTypes()) {
		t.Errorf("ChangeTypes has %q, the words %d types", pipeline.ChangeTypes(), len(typeWords))
	}
}

func TestSizeLeavesGeneratedAndVendoredOut(t *testing.T) {
	for lines, want := range map[int]pipeline.Size{0: "XS", 10: "XS", 11: "S", 50: "S", 51: "M", 250: "M", 251: "L", 1000: "L", 1001: "XL"} {
		got := classified(t, pipeline.PRFacts{Files: files(
			pipeline.File{Path: "a.go", Additions: lines},
			pipeline.File{Path: "go.sum", Generated: true, Additions: 5000},
			pipeline.File{Path: "vendor/x.go", Vendored: true, Deletions: 5000},
		)})
		if got.Scope.Size != want || got.Scope.ChangedLines != lines {
			t.Errorf("%d lines: scope %+v, want %s", lines, got.Scope, want)
		}
	}
}

func TestRiskNamesItsReasons(t *testing.T) {
	got := classified(t, pipeline.PRFacts{
		Author: pipeline.Author{Association: "FIRST_TIMER"},
		Head:   pipeline.Head{Fork: true},
		Files: files(
			pipeline.File{Path: ".github/workflows/ci.yml", Additions: 9},
			pipeline.File{Path: "billing/a.go", Language: "Go", Additions: 90},
			pipeline.File{Path: "deploy/a.tf"}, pipeline.File{Path: "deploy/b.tf"},
			pipeline.File{Path: "go.mod"},
			pipeline.File{Path: "ui/a.tsx"},
		),
	})
	want := pipeline.List[pipeline.RiskReason]{
		{Factor: "domain", Points: 20, Reason: "touches finance: billing/a.go"},
		{Factor: "sensitive_path", Points: 12, Reason: "what runs in production: deploy/a.tf and 1 more"},
		{Factor: "changed_lines", Points: 10, Reason: "changed lines: 99"},
		{Factor: "workflow", Points: 10, Reason: "changes the workflow .github/workflows/ci.yml"},
		{Factor: "dependencies", Points: 9, Reason: "changes dependencies in go.mod"},
		{Factor: "source_without_test", Points: 7, Reason: "adds source but touches no test: billing/a.go"},
		{Factor: "first_time_author", Points: 6, Reason: "the author contributes for the first time"},
		{Factor: "domains", Points: 5, Reason: "touches 2 domains: finance, ui"},
		{Factor: "fork", Points: 4, Reason: "the change comes from a fork"},
	}
	if diff := cmp.Diff(want, got.Risk.Reasons); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
	if got.Risk.Score != 83 || got.Risk.Level != pipeline.RiskCritical {
		t.Errorf("risk = %d, %s, want 83, critical", got.Risk.Score, got.Risk.Level)
	}
}

func TestRiskOfTests(t *testing.T) {
	got := classified(t, pipeline.PRFacts{Files: files(
		pipeline.File{Path: "a.go", Language: "Go", Additions: 1},
		pipeline.File{Path: "a_test.go", Test: true, Status: pipeline.FileRemoved},
	)})
	want := pipeline.List[pipeline.RiskReason]{
		{Factor: "deleted_tests", Points: 8, Reason: "deletes the test a_test.go"},
		{Factor: "changed_lines", Points: 2, Reason: "changed lines: 1"},
	}
	if diff := cmp.Diff(want, got.Risk.Reasons); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
}

// Source without a test is code that people write tests for, and not infrastructure beside it.
func TestRiskOfTestsLeavesInfrastructureOut(t *testing.T) {
	terraform := pipeline.File{Path: "infra/main.tf", Language: "HCL", Status: pipeline.FileAdded, Additions: 1}
	for want, list := range map[string]pipeline.List[pipeline.File]{
		"": files(terraform),
		"adds source but touches no test: services/a.go": files(terraform, pipeline.File{Path: "services/a.go", Language: "Go", Additions: 1}),
	} {
		got := ""
		for _, r := range classified(t, pipeline.PRFacts{Files: list}).Risk.Reasons {
			if r.Factor == config.RiskSourceWithoutTest {
				got = r.Reason
			}
		}
		if got != want {
			t.Errorf("%d files: %q, want %q", len(list), got, want)
		}
	}
}

func TestRiskIsCapped(t *testing.T) {
	cfg := testConfig()
	cfg.Domains[1].Weight = 100
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	got := c.Classify(&pipeline.PRFacts{Head: pipeline.Head{Fork: true}, Files: files(pipeline.File{Path: "billing/a", Additions: 9_999_999})})
	if got.Risk.Score != 100 {
		t.Errorf("score = %d, want 100", got.Risk.Score)
	}
	for _, r := range got.Risk.Reasons {
		if r.Factor == config.RiskChangedLines && r.Points != 20 {
			t.Errorf("changed lines earn %d points, want no more than 20", r.Points)
		}
	}
}

func TestClassifyIsDeterministic(t *testing.T) {
	var list pipeline.List[pipeline.File]
	for i := range 50 {
		list = append(list, pipeline.File{Path: fmt.Sprintf("pricing/%02d_total.tsx", i)})
	}
	var first string
	for range 20 {
		b, err := json.Marshal(classified(t, pipeline.PRFacts{Files: list}))
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = string(b)
		} else if string(b) != first {
			t.Fatalf("two runs differ:\n%s\n%s", first, b)
		}
	}
}

func TestNewNamesWhatDoesNotCompile(t *testing.T) {
	cfg := testConfig()
	cfg.Domains[0].Globs = []string{"/abs"}
	if _, err := New(cfg); err == nil {
		t.Error("New accepts a mapping with an absolute glob")
	}
}
