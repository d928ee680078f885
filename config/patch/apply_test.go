package patch

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// mapping is the patch that maps a file to a domain.
func mapping(id, pointer string) pipeline.ConfigPatch {
	return pipeline.ConfigPatch{File: config.FileDomains, Operations: pipeline.List[pipeline.PatchOperation]{{Op: "add", Path: pointer, Value: map[string]any{
		"weight": 0, "id": id, "type": "domain", "domain": "finance", "description": "Money.", "globs": []any{"src/" + id + ".ts"},
	}}}}
}

// patched applies patches to one file.
func patched(t *testing.T, name, text string, patches ...pipeline.ConfigPatch) (string, []Step) {
	t.Helper()
	var files []config.File
	if text != "" {
		files = []config.File{{Path: "d/" + name, Text: []byte(text)}}
	}
	var all []Step
	for _, p := range patches {
		next, steps, err := Apply("d", files, p)
		if err != nil {
			t.Fatalf("%s\n%s: %v", text, name, err)
		}
		files, all = next, append(all, steps...)
	}
	if len(files) != 1 {
		t.Fatalf("%d files", len(files))
	}
	return string(files[0].Text), all
}

// A patch only inserts its entry, whatever the file looks like, and inserts it once.
func TestOnlyTheEntryIsNew(t *testing.T) {
	const json = "{\n  \"id\": \"a\",\n  \"type\": \"domain\",\n  \"domain\": \"finance\",\n  \"description\": \"Money.\",\n  \"globs\": [\"src/a.ts\"],\n  \"weight\": 0\n}"
	const yaml = "- id: a\n  type: domain\n  domain: finance\n  description: Money.\n  globs: [src/a.ts]\n  weight: 0"
	const flow = `{"id": "a", "type": "domain", "domain": "finance", "description": "Money.", "globs": ["src/a.ts"], "weight": 0}`
	in := func(indent, text string) string { return strings.ReplaceAll(indent+text, "\n", "\n"+indent) }
	for name, tc := range map[string]struct{ file, text, want string }{
		"no file":                     {"review-domains.json", "", "{\n  \"$schema\": \"" + config.SchemaURL("review-domains") + "\",\n  \"items\": [\n" + in("    ", json) + "\n  ]\n}\n"},
		"an empty list":               {"review-domains.json", "[]\n", "[\n" + in("  ", json) + "\n]\n"},
		"a list on one line":          {"review-domains.json", `[{"id": "own"}]`, "[{\"id\": \"own\"},\n" + in("  ", json) + "\n]"},
		"a list":                      {"review-domains.json", "[\n  {\"id\": \"own\"}\n]\n", "[\n  {\"id\": \"own\"},\n" + in("  ", json) + "\n]\n"},
		"comments":                    {"review-domains.jsonc", "// Ours.\n[\n  {\"id\": \"own\" /* ] */} // noisy\n  // The end ].\n] // last\n", "// Ours.\n[\n  {\"id\": \"own\" /* ] */}, // noisy\n  // The end ].\n" + in("  ", json) + "\n] // last\n"},
		"a comma after the last":      {"review-domains.jsonc", "[\n  {\"id\": \"own\"}, // noisy\n]\n", "[\n  {\"id\": \"own\"}, // noisy\n" + in("  ", json) + ",\n]\n"},
		"only a comment":              {"review-domains.jsonc", "[ // none yet\n]", "[ // none yet\n" + in("  ", json) + "\n]"},
		"brackets in strings":         {"review-domains.json", `[{"id": "]\"}"}]`, "[{\"id\": \"]\\\"}\"},\n" + in("  ", json) + "\n]"},
		"line ends of Windows":        {"review-domains.json", "[\r\n  {\"id\": \"own\"}\r\n]\r\n", "[\r\n  {\"id\": \"own\"},\r\n" + strings.ReplaceAll(in("  ", json), "\n", "\r\n") + "\r\n]\r\n"},
		"tabs":                        {"review-domains.json", "{\n\t\"items\": [\n\t\t{\"id\": \"own\"}\n\t]\n}", "{\n\t\"items\": [\n\t\t{\"id\": \"own\"},\n" + in("\t\t", strings.ReplaceAll(json, "  ", "\t")) + "\n\t]\n}"},
		"an object without items":     {"review-domains.json", "{\"extends\": [\"defaults\"]}\n", "{\"extends\": [\"defaults\"],\n  \"items\": [\n" + in("    ", json) + "\n  ]\n}\n"},
		"a list in YAML":              {"review-domains.yaml", "# Ours.\n- id: own # noisy\n  # of the entry\n\n# The end.\n", "# Ours.\n- id: own # noisy\n  # of the entry\n" + yaml + "\n\n# The end.\n"},
		"items in YAML":               {"review-domains.yaml", "items:\n  - id: own\nextends: [defaults] # all\n", "items:\n  - id: own\n" + in("  ", yaml) + "\nextends: [defaults] # all\n"},
		"items that are not indented": {"review-domains.yml", "items:\n- id: own\nextends: [defaults]", "items:\n- id: own\n" + yaml + "\nextends: [defaults]"},
		"no items in YAML":            {"review-domains.yaml", "extends:\n- defaults\n# end", "extends:\n- defaults\nitems:\n" + in("  ", yaml) + "\n# end"},
		"a text of several lines":     {"review-domains.yaml", "- id: own\n  description: |\n    one\n\n    # two\n", "- id: own\n  description: |\n    one\n\n    # two\n" + yaml + "\n"},
		"a text that sticks out":      {"review-domains.yaml", "items:\n  - id: own\n    description: \"one\n two\"\n", "items:\n  - id: own\n    description: \"one\n two\"\n" + in("  ", yaml) + "\n"},
		"a list in brackets":          {"review-domains.yaml", "items: [{id: own, description: 'it''s ]'}] # all\n", "items: [{id: own, description: 'it''s ]'}, " + flow + "] # all\n"},
		"brackets over lines":         {"review-domains.yaml", "items: [\n  {id: own}, # one ]\n  {id: two} # two\n]\n", "items: [\n  {id: own}, # one ]\n  {id: two}, # two\n  " + flow + "\n]\n"},
		"an empty list in YAML":       {"review-domains.yaml", "# Ours.\nitems: [] # none yet\nextends: [defaults]\n", "# Ours.\nitems: # none yet\n" + in("  ", yaml) + "\nextends: [defaults]\n"},
		"a file that is []":           {"review-domains.yaml", "[] # none yet\n", yaml + " # none yet\n"},
		"a file that is {}":           {"review-domains.yaml", "{}\n", "items:\n" + in("  ", yaml) + "\n"},
		"Windows and YAML":            {"review-domains.yaml", "- id: own\r\n", "- id: own\r\n" + strings.ReplaceAll(yaml, "\n", "\r\n") + "\r\n"},
	} {
		got, steps := patched(t, tc.file, tc.text, mapping("a", "/items/-"))
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if want := (Step{File: "d/" + tc.file, Name: "a", New: tc.text == ""}); len(steps) != 1 || steps[0] != want {
			t.Errorf("%s: steps %+v, want %+v", name, steps, want)
		}
		again, steps := patched(t, tc.file, got, mapping("a", "/-"))
		if again != got || len(steps) != 1 || !steps[0].Present {
			t.Errorf("%s: the same patch again: %+v\n%s", name, steps, again)
		}
	}
}

// A new file has the format of the files beside it, if they have the same.
func TestFormatOfANewFile(t *testing.T) {
	for _, tc := range []struct{ beside, want, has string }{
		{"", "review-domains.json", `{`},
		{"review-rules.json", "review-domains.json", `{`},
		{"review-rules.jsonc", "review-domains.jsonc", `{`},
		{"review-rules.yml", "review-domains.yml", "$schema: \"https://"},
		{"review-rules.yaml review-settings.json", "review-domains.json", `{`},
		{"review-rules.yaml prompt-x.md", "review-domains.yaml", "$schema: \"https://"},
	} {
		var files []config.File
		for _, name := range strings.Fields(tc.beside) {
			files = append(files, config.File{Path: "d/" + name, Text: []byte("[]")})
		}
		got, steps, err := Apply("d", files, mapping("a", "/items/-"))
		if err != nil || len(got) != len(files)+1 || got[len(files)].Path != "d/"+tc.want || !strings.HasPrefix(string(got[len(files)].Text), tc.has) || !steps[0].New {
			t.Errorf("beside %s: %+v, %v", tc.beside, got, err)
		}
	}
}

// A field is added to an entry or to settings, with the objects around it, and never replaced.
func TestFields(t *testing.T) {
	set := func(file, pointer string, value any) pipeline.ConfigPatch {
		return pipeline.ConfigPatch{File: file, Operations: pipeline.List[pipeline.PatchOperation]{{Op: "add", Path: pointer, Value: value}}}
	}
	for _, tc := range []struct {
		file, text string
		patch      pipeline.ConfigPatch
		want       string // of the file, or of the error
	}{
		{"review-rules.json", `[{"id": "x"}, {"id": "y"}]`, set("review-rules.json", "/1/mode", "evaluate"), "[{\"id\": \"x\"}, {\"id\": \"y\",\n  \"mode\": \"evaluate\"\n}]"},
		{"review-rules.yaml", "- id: x\n- id: y # ours\n- id: z\n", set("review-rules.json", "/items/1/mode", "evaluate"), "- id: x\n- id: y # ours\n  mode: evaluate\n- id: z\n"},
		{"review-rules.yaml", "- {id: x}\n", set("review-rules.yaml", "/0/mode", "evaluate"), "- {id: x, \"mode\": \"evaluate\"}\n"},
		{"review-rules.json", `[{"id": "x", "mode": "evaluate"}]`, set("review-rules.json", "/0/mode", "evaluate"), `[{"id": "x", "mode": "evaluate"}]`},
		{"review-rules.json", `[{"id": "x", "mode": "enforce"}]`, set("review-rules.json", "/0/mode", "evaluate"), `d/review-rules.json:1:22: /0/mode: the patch gives this field another value; change it by hand to "evaluate"`},
		{"review-rules.json", `[{"id": "x"}]`, set("review-rules.json", "/7/mode", "evaluate"), `d/review-rules.json:1:1: the patch changes entry 7, which is not in this list of 1; take a patch that was made for this file`},
		{"review-settings.yaml", "mode: off\n", set("review-settings.json", "/issues/gaps", true), "mode: off\nissues:\n  gaps: true\n"},
		{"review-settings.json", "", set("review-settings.json", "/ignore/-", map[string]any{"reason": "r"}), "{\n  \"$schema\": \"" + config.SchemaURL("review-settings") + "\",\n  \"ignore\": [\n    {\n      \"reason\": \"r\"\n    }\n  ]\n}\n"},
		{"review-settings.json", `{"mode": "off"}`, set("review-settings.json", "/mode/x", 1), `d/review-settings.json:1:10: /mode: the patch needs a list or an object here; take a patch that was made for this file`},
	} {
		var files []config.File
		if tc.text != "" {
			files = []config.File{{Path: "d/" + tc.file, Text: []byte(tc.text)}}
		}
		got, _, err := Apply("d", files, tc.patch)
		if err != nil {
			got = []config.File{{Text: []byte(err.Error())}}
		}
		if diff := cmp.Diff(tc.want, string(got[0].Text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.text, diff)
		}
	}
}

// A patch that can't be used gives an error that says what to do.
func TestUnusablePatches(t *testing.T) {
	op := func(op, path string, value any) pipeline.List[pipeline.PatchOperation] {
		return pipeline.List[pipeline.PatchOperation]{{Op: op, Path: path, Value: value}}
	}
	own := []config.File{{Path: "d/review-domains.json", Text: []byte(`[{"id": "a", "domain": "other"}]`)}}
	for _, tc := range []struct {
		patch pipeline.ConfigPatch
		want  string
	}{
		{pipeline.ConfigPatch{File: "../review-domains.json", Operations: op("add", "/-", map[string]any{})}, `"../review-domains.json" is not a config file`},
		{pipeline.ConfigPatch{File: "main.go", Operations: op("add", "/-", map[string]any{})}, `"main.go" is not a config file`},
		{pipeline.ConfigPatch{File: config.FileDomains}, "has no operations"},
		{pipeline.ConfigPatch{File: config.FileDomains, Operations: op("remove", "/0", nil)}, `"remove" is not supported`},
		{pipeline.ConfigPatch{File: config.FileDomains, Operations: op("add", "items", nil)}, "not a JSON Pointer"},
		{pipeline.ConfigPatch{File: config.FileDomains, Operations: op("add", "", "x")}, "would replace the file"},
		{pipeline.ConfigPatch{File: config.FileDomains, Operations: op("add", "/-", "x")}, "an entry is not an object"},
		{pipeline.ConfigPatch{File: config.FileSettings, Operations: op("add", "", map[string]any{})}, "would replace the file"},
		{pipeline.ConfigPatch{File: config.FileDomains, Operations: op("add", "/-", map[string]any{"id": 7})}, "the id 7, which is not text"},
		{pipeline.ConfigPatch{File: config.FileDomains, Operations: op("add", "", slices.Repeat([]any{map[string]any{"id": "b"}}, MaxAdditions+1))}, "more than 100 entries: apply it in parts"},
		{mapping("a", "/-"), "d/review-domains.json:1:2: /0: this entry has the id of the patch's, but is not the same; change it by hand"},
	} {
		_, _, err := Apply("d", own, tc.patch)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: %v, want %q", tc.patch, err, tc.want)
		}
	}
	if _, _, err := Apply("d", []config.File{{Path: "d/review-domains.yaml", Text: []byte("a: [")}}, mapping("a", "/-")); err == nil || !strings.Contains(err.Error(), "d/review-domains.yaml:1:") {
		t.Errorf("a file that can't be read: %v", err)
	}
}

// Patches that older versions wrote give the whole list.
func TestPatchesOfTheWholeFile(t *testing.T) {
	for _, pointer := range []string{"", "/items"} {
		p := mapping("a", pointer)
		entries := []any{p.Operations[0].Value}
		p.Operations[0].Value = any(entries)
		if pointer == "" {
			p.Operations[0].Value = map[string]any{"items": entries}
		}
		got, _ := patched(t, "review-domains.yaml", "- id: own\n", p)
		want, _ := patched(t, "review-domains.yaml", "- id: own\n", mapping("a", "/-"))
		if got != want {
			t.Errorf("%q: %s", pointer, got)
		}
	}
}
