package config

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestExamplesAreValid checks every example of docs/guide.md as "config check" does, each layer
// over the layers below it. Examples are copied, so they must not even deserve a warning.
func TestExamplesAreValid(t *testing.T) {
	root := filepath.Join("..", "docs", "examples")
	examples, err := os.ReadDir(root)
	if err != nil || len(examples) < 5 {
		t.Fatalf("%d examples, %v", len(examples), err)
	}
	for _, e := range examples {
		t.Run(e.Name(), func(t *testing.T) {
			layers := exampleLayers(t, filepath.Join(root, e.Name()))
			c, problems := Load(layers...)
			for _, p := range append(problems, c.Warnings()...) {
				t.Error(FormatProblem(p))
			}
		})
	}
}

// exampleLayers reads an example, which has a directory for each layer.
func exampleLayers(t *testing.T, dir string) []Layer {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{LayerServer, LayerOrganisation, LayerRepository}
	var layers []Layer
	for _, name := range names {
		if slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == name }) {
			l, err := ReadDir(name, filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			layers = append(layers, l)
		}
	}
	if len(layers) != len(entries) {
		t.Errorf("%s holds a directory that is not a layer", dir)
	}
	return layers
}

// The settings for issues and labels that docs/guide.md shows are valid.
func TestGuideOnIssuesAndLabels(t *testing.T) {
	guide, err := os.ReadFile(filepath.Join("..", "docs", "guide.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, part, _ := strings.Cut(string(guide), "## Issues about what was merged\n")
	part, _, _ = strings.Cut(part, "## The fix loop\n")
	var layers []Layer
	for i, block := range strings.Split(part, "```") {
		if text, ok := strings.CutPrefix(block, "json\n"); ok && i%2 == 1 {
			layers = append(layers, layer(FileSettings, text))
		}
	}
	if len(layers) != 2 {
		t.Fatalf("the guide shows %d settings", len(layers))
	}
	issues, labels := mustLoad(t, layers[0]).Settings.Issues, mustLoad(t, layers[1]).Settings.Labels
	if !issues.TechDebt || !issues.Gaps || !labels.Risk {
		t.Errorf("the guide's settings give issues %+v and labels %+v", issues, labels)
	}
}

// The ignore comment that the guide shows is on a line that its rule finds.
func TestGuideOnInlineComments(t *testing.T) {
	text, err := os.ReadFile("../docs/guide.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(text), "```go\n")
	code, comment, _ := strings.Cut(example, " // reviewgate:ignore ")
	id, _, _ := strings.Cut(comment, " ")
	for _, r := range mustLoad(t).Rules {
		if r.ID == id && r.Match != nil && regexp.MustCompile(r.Match.Pattern).MatchString(code) {
			return
		}
	}
	t.Errorf("the rule %q does not find %s", id, code)
}

// The entry that the guide overrides a policy with does what the guide says.
func TestGuideOnMerging(t *testing.T) {
	guide, err := os.ReadFile("../docs/guide.md")
	if err != nil {
		t.Fatal(err)
	}
	_, part, _ := strings.Cut(string(guide), "\n### How two layers merge\n")
	_, example, _ := strings.Cut(part, "```yaml\n")
	example, _, _ = strings.Cut(example, "```")
	var finance Policy
	for _, p := range mustLoad(t, Layer{Name: LayerRepository, Files: []File{{Path: "review-composition.yaml", Text: []byte(example)}}}).Policies {
		if p.ID == "finance" {
			finance = p
		}
	}
	if !slices.Equal(finance.Dispatch.Agents, []string{"finance-sme", "dependency-reviewer"}) || !finance.Dispatch.Required || finance.Dispatch.Scope != ScopeMatched || !slices.Equal(finance.Trigger.Domains, []string{"finance"}) {
		t.Errorf("the guide's entry gives %+v", finance)
	}
}
