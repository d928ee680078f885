package config

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/pipeline"
)

// asYAML writes JSON as YAML with a line for each field, and a comment.
func asYAML(t *testing.T, text []byte) []byte {
	t.Helper()
	var n yaml.Node // JSON is YAML
	if err := yaml.Unmarshal(text, &n); err != nil {
		t.Fatal(err)
	}
	var plain func(n *yaml.Node)
	plain = func(n *yaml.Node) {
		if n.Kind != yaml.ScalarNode {
			n.Style = 0
		}
		for _, c := range n.Content {
			plain(c)
		}
	}
	plain(&n)
	out, err := yaml.Marshal(&n)
	if err != nil {
		t.Fatal(err)
	}
	return append([]byte("# a comment\n"), out...)
}

// asJSONC adds a comment and a comma to JSON.
func asJSONC(t *testing.T, text []byte) []byte {
	t.Helper()
	text = bytes.TrimSpace(text)
	last := len(text) - 1
	return slices.Concat([]byte("// a comment\n"), bytes.TrimSpace(text[:last]), []byte(" /* the last */,\n"), text[last:])
}

// inFormat returns a layer with its config files in another format.
func inFormat(t *testing.T, l Layer, extension string) Layer {
	t.Helper()
	l.Files = slices.Clone(l.Files)
	for i, f := range l.Files {
		if FileOf(f.Path) == "" || len(bytes.TrimSpace(f.Text)) <= 2 {
			continue
		}
		text := asJSONC
		if extension != ".jsonc" {
			text = asYAML
		}
		l.Files[i] = File{Path: strings.TrimSuffix(f.Path, ".json") + extension, Text: text(t, f.Text)}
	}
	return l
}

// The shipped config and all examples mean the same in all formats.
func TestFormatsMeanTheSame(t *testing.T) {
	root := filepath.Join("..", "docs", "examples")
	examples, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	all := [][]Layer{{named(DefaultLayer(), LayerServer)}}
	for _, e := range examples {
		all = append(all, exampleLayers(t, filepath.Join(root, e.Name())))
	}
	for _, layers := range all {
		want := mustLoad(t, layers...)
		for _, extension := range formats[1:] {
			var others []Layer
			for _, l := range layers {
				others = append(others, inFormat(t, l, extension))
			}
			got := mustLoad(t, others...)
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Config{}, "InForce", "Key"), cmpopts.IgnoreFields(Floor{}, "Config"), cmpopts.IgnoreUnexported(Config{}, Floor{})); diff != "" {
				t.Errorf("config (-json +%s):\n%s", extension, diff)
			}
		}
	}
}

// Each mistake gives the same problems in all formats, and each points at the line of its value.
func TestProblemsAreTheSameInAllFormats(t *testing.T) {
	withoutPlace := func(list []pipeline.ConfigProblem) []pipeline.ConfigProblem {
		list = slices.Clone(list)
		for i := range list {
			list[i].File, list[i].Line, list[i].Column = FileOf(list[i].File), 0, 0
		}
		slices.SortFunc(list, func(a, b pipeline.ConfigProblem) int {
			return strings.Compare(FormatProblem(a), FormatProblem(b))
		})
		return list
	}
	for i, f := range slices.Concat(entryFaults, settingsFaults) {
		e := object{}
		if f.file != FileSettings {
			e = rapid.Custom(func(t *rapid.T) object { return validEntry(t, f.file, f.kind, "spoilt") }).Example(i)
		}
		f.seed(e)
		l := layerOfObjects(LayerRepository, map[string][]object{f.file: {e}})
		_, want := Load(fast, l)
		for _, extension := range []string{".jsonc", ".yaml"} {
			other := inFormat(t, l, extension)
			_, got := Load(fast, other)
			if diff := cmp.Diff(withoutPlace(want), withoutPlace(got)); diff != "" {
				t.Errorf("%s: problems (-json +%s):\n%s", f.name, extension, diff)
			}
			for _, p := range got {
				field := p.Pointer[strings.LastIndex(p.Pointer, "/")+1:]
				lines := strings.Split(string(other.Files[0].Text), "\n")
				if extension == ".yaml" && len(field) > 2 && !strings.Contains(strings.Join(lines[max(0, p.Line-2):p.Line], "\n"), field) {
					t.Errorf("%s: line %d does not hold %s:\n%s", FormatProblem(p), p.Line, field, other.Files[0].Text)
				}
			}
		}
	}
}

// A file in two formats is a mistake, since only one of the two could count.
func TestOneFileInTwoFormats(t *testing.T) {
	_, problems := Load(layer(FileRules, `[]`, "review-rules.yaml", `[]`, "review-rules.yml", `[]`, "review-settings.jsonc", `{"mode": "of"}`, "review-rule.yaml", "[]", "values.yaml", "[]"))
	want := []string{
		`review-rules.yaml: the layer has review-rules.json, too, so it is not clear which of the two counts; keep one of them`,
		`review-rules.yml: the layer has review-rules.json, too, so it is not clear which of the two counts; keep one of them`,
		`review-settings.jsonc:1:10: /mode: "of" is not a mode; use enforce, advisory or off`,
		`review-rule.yaml: there is no config file of this name; use review-rules.json, review-composition.json, review-agents.json, review-domains.json or review-settings.json, or one of these names with .jsonc, .yaml or .yml`,
	}
	if diff := cmp.Diff(want, formatted(problems)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// At most two formats of a file belong to a layer, however many there are.
func TestOfLayerInFormats(t *testing.T) {
	got := OfLayer([]string{"review-rules.yml", "review-settings.yaml", "README.yaml", "review-rules.yaml", "review-rules.json", "review-rules.jsonc", "review-agents.toml", "review-composition.json", "review-composition.yaml"})
	want := []string{"review-rules.json", "review-rules.jsonc", "review-composition.json", "review-composition.yaml", "review-settings.yaml", "review-agents.toml"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// Patches name the file that the repository has.
func TestPatchesInFormats(t *testing.T) {
	rules := "- id: test-focused-01\n  severity: info\n"
	l := layer(RepositoryDir+"/review-rules.yaml", rules, RepositoryDir+"/review-domains.jsonc", "[] // none")
	c := mustLoad(t, l)
	for file, want := range map[string]string{FileRules: "review-rules.yaml", FileDomains: "review-domains.jsonc", FileSettings: FileSettings} {
		if got := c.FileName(file); got != want {
			t.Errorf("%s is %s, want %s", file, got, want)
		}
	}
	pattern := allSchemas().lookup(schemaBase + "gap-log-entry.json#/properties/suggestion/properties/file")["pattern"].(string)
	allowed := regexp.MustCompile(pattern)
	for _, file := range FileNames() {
		for _, extension := range formats {
			if name := strings.TrimSuffix(file, ".json") + extension; !allowed.MatchString(name) {
				t.Errorf("the schema of gaps does not allow the file %s", name)
			}
		}
	}
	if allowed.MatchString("review-rules.toml") || allowed.MatchString("review-rules.json5") {
		t.Error("the schema of gaps allows files that are not config")
	}
	if c.DomainsForm != FormList {
		t.Errorf("form %q", c.DomainsForm)
	}
	patch := EvaluatePatch(l.Files, FileRules, "test-focused-01")
	text, err := json.Marshal(patch)
	if want := `{"file":"review-rules.yaml","operations":[{"op":"add","path":"/0/mode","value":"evaluate"}]}`; err != nil || string(text) != want {
		t.Errorf("patch %s, %v", text, err)
	}
}
