package patch

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// several are patches as gap detection makes them, for two files.
func several() []pipeline.ConfigPatch {
	policy := func(id string) pipeline.ConfigPatch {
		return pipeline.ConfigPatch{File: "review-composition.yaml", Operations: pipeline.List[pipeline.PatchOperation]{{Op: "add", Path: "/-", Value: map[string]any{
			"id": id, "description": "A file # to look at: \"now\".", "priority": 50, "trigger": map[string]any{"type": "path", "globs": []string{"src/" + id + `\*.go`}},
			"dispatch": map[string]any{"agents": []string{"finance-sme"}, "scope": "matched"},
		}}}}
	}
	return []pipeline.ConfigPatch{mapping("m-one", "/items/-"), mapping("m-two", "/-"), policy("p-one"), mapping("m-three", "/items/-"), policy("p-two")}
}

// entry is a domain mapping of the file before the patches, in JSON.
func entry(i int) string {
	return fmt.Sprintf(`{"id": "own-%d", "type": "domain", "domain": "own", "description": "]}, # - {[ // /* it's", "globs": ["own/%d/**"], "weight": 1}`, i, i)
}

// spaces are what may stand between two parts of JSONC.
var spaces = []string{"", " ", "\n", "\r\n", "\t", "  \n\n    ", " // it's ] } \" , {\n", "\n// c\n\t", "/* ] \" // , */", " /*\n * }\n */ "}

// oddJSONC writes a file with blanks and comments in any place.
func oddJSONC(t *rapid.T, inObject bool) string {
	var parts []string
	for i := range rapid.IntRange(0, 3).Draw(t, "entries") {
		if i > 0 {
			parts = append(parts, ",")
		}
		parts = append(parts, entry(i))
	}
	if len(parts) > 0 && rapid.Bool().Draw(t, "a comma after the last") {
		parts = append(parts, ",")
	}
	parts = append(append([]string{"["}, parts...), "]")
	if inObject {
		parts = append(append([]string{"{", `"extends"`, ":", `["defaults"]`, ",", `"items"`, ":"}, parts...), "}")
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(rapid.SampledFrom(spaces).Draw(t, "blanks") + p)
	}
	return b.String() + rapid.SampledFrom(spaces).Draw(t, "end")
}

// oddYAML writes a file whose entries are written in different styles, with comments.
func oddYAML(t *rapid.T, inObject bool) string {
	indent := ""
	var b strings.Builder
	if inObject {
		b.WriteString(rapid.SampledFrom([]string{"", "# top\n", "extends: [defaults] # all\n"}).Draw(t, "top") + "items: # ours\n")
		indent = rapid.SampledFrom([]string{"", "  ", "    "}).Draw(t, "indent")
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "entries") {
		text := rapid.SampledFrom([]string{
			entry(i), "{id: own-%[1]d, type: domain, domain: own, description: d,\n   globs: [\"own/%[1]d/**\"], weight: 1} # it's ]",
			"id: own-%[1]d # noisy\n  type: domain\n  domain: own\n  description: |\n    one\n\n     # two\n  globs:\n  - own/%[1]d/**\n  weight: 1",
			"type: domain\n  weight: 1\n  domain: own\n  # the globs\n  globs: # here\n    - 'own/%[1]d/**'\n    # and there\n  id: own-%[1]d\n  description: >-\n    folded\n    text",
			"id: own-%[1]d\n  type: domain\n  domain: own\n  weight: 1\n  globs: [own/%[1]d/**]\n  description: \"over\n    two lines\"\n  # of the entry",
		}).Draw(t, "style")
		if strings.Contains(text, "%[1]d") {
			text = fmt.Sprintf(text, i)
		}
		b.WriteString(strings.ReplaceAll(indent+"- "+text, "\n", "\n"+indent) + rapid.SampledFrom([]string{"\n", "\n\n", "\n# between\n", "\n" + indent + "# between\n"}).Draw(t, "after"))
	}
	if inObject && rapid.Bool().Draw(t, "a key at the end") {
		b.WriteString("$schema: https://example.com/s # end\n")
	}
	return strings.TrimSuffix(b.String(), rapid.SampledFrom([]string{"", "\n"}).Draw(t, "without"))
}

// The order of patches does not matter, each may come twice, and what people wrote stays as it is.
func TestPatchesInAnyOrder(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"", "review-domains.jsonc", "review-domains.yaml"}).Draw(t, "file")
		text := ""
		switch name {
		case "review-domains.jsonc":
			text = oddJSONC(t, rapid.Bool().Draw(t, "in an object"))
		case "review-domains.yaml":
			text = oddYAML(t, rapid.Bool().Draw(t, "in an object"))
		}
		var files []config.File
		if name != "" {
			files = []config.File{{Path: config.RepositoryDir + "/" + name, Text: []byte(text)}}
			if _, problems := loaded(files); len(problems) > 0 {
				t.Fatalf("the test's own config is wrong: %s\n%s", config.FormatProblem(problems[0]), text)
			}
		}
		patches := several()
		want := inOrder(t, files, patches)
		mixed := rapid.Permutation(append(patches, rapid.SampledFrom(patches).Draw(t, "twice"))).Draw(t, "order")
		if diff := cmp.Diff(want, inOrder(t, files, mixed)); diff != "" {
			t.Fatalf("the order matters (-want +got):\n%s", diff)
		}
	})
}

func loaded(files []config.File) (*config.Config, []pipeline.ConfigProblem) {
	return config.Load(config.Layer{Name: config.LayerRepository, Source: "test", Files: files})
}

// inOrder applies patches and returns the domains and policies of the config, in the order of their ids.
func inOrder(t *rapid.T, files []config.File, patches []pipeline.ConfigPatch) (entries []string) {
	for _, p := range patches {
		after, _, err := Apply(config.RepositoryDir, files, p)
		if err != nil {
			t.Fatalf("%v: %s", err, files)
		}
		for i, f := range files {
			if !onlyAdds(f.Text, after[i].Text) {
				t.Fatalf("the text was changed from\n%s\nto\n%s", f.Text, after[i].Text)
			}
		}
		files = after
	}
	c, problems := loaded(files)
	if len(problems) > 0 {
		t.Fatalf("%s", config.FormatProblem(problems[0]))
	}
	for _, d := range c.Domains {
		entries = append(entries, fmt.Sprintf("%+v", d))
	}
	for _, p := range c.Policies {
		entries = append(entries, fmt.Sprintf("%+v", p))
	}
	slices.Sort(entries)
	return entries
}

// onlyAdds reports whether a text is another one with an insertion, or with a comma and an insertion
// behind it.
func onlyAdds(before, after []byte) bool {
	for len(before) > 0 && len(after) > 0 && before[0] == after[0] {
		before, after = before[1:], after[1:]
	}
	for len(before) > 0 && len(after) > 0 && before[len(before)-1] == after[len(after)-1] {
		before, after = before[:len(before)-1], after[:len(after)-1]
	}
	return len(before) == 0 || bytes.HasPrefix(after, append([]byte(","), before...))
}

// No file makes the program fail, and a file that is patched has the patch's entry.
func FuzzApply(f *testing.F) {
	for _, text := range []string{"[]", "- a", "items: [", "{\"items\": [1,]}", "a: |\n  - b\n- c", "[ // x\n]", "? a\n: b", "- \"a\n\" \n", "- 'a''[b': {"} {
		for name := range 3 {
			f.Add(text, name)
		}
	}
	f.Fuzz(func(t *testing.T, text string, name int) {
		file := config.File{Path: []string{"review-domains.json", "review-domains.jsonc", "review-domains.yaml"}[uint(name)%3], Text: []byte(text)}
		files, _, err := Apply("", []config.File{file}, mapping("a", "/-"))
		if err != nil {
			return
		}
		root, errs := config.Parse(&jsontree.Document{}, files[0])
		if len(errs) > 0 || !bytes.Contains(root.AppendJSON(nil), []byte(`"id":"a"`)) {
			t.Fatalf("%s", files[0].Text)
		}
	})
}
