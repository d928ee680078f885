package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each value of the merged config has the layer, file and line that it was written in.
func TestShow(t *testing.T) {
	server := named(layer(
		FileRules, "[\n"+rule("a", `, "match": {"pattern": "<b>",`+"\n"+`"languages": ["Go"]}`)+"\n]",
		FileDomains, "[{\"id\": \"a\", \"type\": \"service\", \"service\": \"shop\", \"description\": \"d\", \"globs\": [\"shop/**\"],\n\"rules\": [\"Nobody pays twice.\"]}]",
		FileSettings, "{\n\"check\": {\"name\": \"gate\"}}",
	), LayerServer)
	server.Source = "/etc/reviewgate"
	repository := layer(
		".github/reviewgate/"+FileRules, "[\n\n{\"id\": \"a\", \"severity\": \"major\", \"enabled\": false,\n \"match\": {\"max_per_file\": 3}}]",
		".github/reviewgate/"+FileSettings, `{"gate": {"conditions": [{"when": "critical > 1", "decision": "fail"}]}}`,
	)
	s, problems := Show(server, repository)
	if len(problems) > 0 {
		t.Fatal(formatted(problems))
	}
	got := map[string]string{}
	for _, v := range s.Values {
		if v.ID == "a" || v.File == FileSettings {
			got[v.ID+v.Pointer] = strings.Join([]string{v.JSON, v.Layer, v.Source, v.Path}, " ") + ":" + string(rune('0'+v.Line))
		}
	}
	const file, at = ".github/reviewgate/", " repository acme/shop@1f2e3d4 .github/reviewgate/"
	for where, want := range map[string]string{
		"a/severity":                  `"major"` + at + FileRules + ":3",
		"a/enabled":                   `false` + at + FileRules + ":3",
		"a/match/max_per_file":        `3` + at + FileRules + ":4",
		"a/match/pattern":             `"<b>" server /etc/reviewgate ` + FileRules + ":2",
		"a/match/languages":           `["Go"] server /etc/reviewgate ` + FileRules + ":3",
		"a/rules":                     `["Nobody pays twice."] server /etc/reviewgate ` + FileDomains + ":2",
		"/check/name":                 `"gate" server /etc/reviewgate ` + FileSettings + ":2",
		"/gate/conditions/0/when":     `"critical > 1"` + at + FileSettings + ":1",
		"/gate/conditions/0/decision": `"fail"` + at + FileSettings + ":1",
		"/mode":                       `"enforce" defaults embedded ` + FileSettings + ":3",
	} {
		if got[where] != want {
			t.Errorf("%s is %s, want %s", where, got[where], want)
		}
	}
	if _, ok := got["/$schema"]; ok {
		t.Error("the settings' schema is shown as a setting")
	}

	var document struct {
		Rules, Composition, Agents, Domains []map[string]any
		Settings                            Settings
	}
	if err := json.Unmarshal(s.JSON, &document); err != nil {
		t.Fatal(err)
	}
	last := document.Rules[len(document.Rules)-1]
	if last["id"] != "a" || last["enabled"] != false {
		t.Errorf("the rule that is switched off is shown as %v", last)
	}
	if len(document.Composition) == 0 || len(document.Agents) == 0 || len(document.Domains) == 0 {
		t.Error("a file is missing")
	}
	if diff := cmp.Diff(s.Config.Settings, document.Settings); diff != "" {
		t.Errorf("settings (-config +shown):\n%s", diff)
	}
	if want, _ := Load(server, repository); want.InForce.Version != s.Config.InForce.Version {
		t.Error("the version differs from that of Load")
	}
	if !strings.Contains(string(s.JSON), `"<b>"`) {
		t.Error("characters of patterns are escaped")
	}
	if got := s.Config.LayerOf(FileRules, "a"); got != LayerServer {
		t.Errorf("the rule is of the layer %q", got)
	}
	if got := s.Config.LayerOf(FileRules, "none"); got != "" {
		t.Errorf("a rule that does not exist is of the layer %q", got)
	}
}

// A prompt is shown by its version and its layer.
func TestShowPrompts(t *testing.T) {
	s, problems := Show(named(layer("prompt-poet.md", "Look for rhymes.", "prompt-spec-reviewer.md", "Look closer."), LayerServer), layer(RepositoryDir+"/prompt-poet.md", "Look for metre."))
	if len(problems) > 0 {
		t.Fatal(formatted(problems))
	}
	for _, want := range []struct{ name, layer, source, path string }{
		{"poet", LayerRepository, "acme/shop@1f2e3d4", RepositoryDir + "/prompt-poet.md"},
		{"spec-reviewer", LayerServer, "acme/shop@1f2e3d4", "prompt-spec-reviewer.md"},
		{"finance-sme", LayerDefaults, "embedded", "prompt-finance-sme.md"},
	} {
		p, _ := s.Config.Prompt(&Agent{ID: want.name})
		v := Value{File: promptPath(want.name), Pointer: "/version", JSON: `"` + p.Version + `"`, Layer: want.layer, Source: want.source, Path: want.path, Line: 1}
		if !slices.Contains(s.Values, v) || p.Layer != want.layer {
			t.Errorf("%+v is not shown", v)
		}
	}
}

func TestReadDir(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	read := func() Layer {
		t.Helper()
		l, err := ReadDir(LayerServer, dir)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	if l := read(); len(l.Files) != 0 || l.Name != LayerServer || l.Source != dir {
		t.Errorf("an empty directory is %+v", l)
	}
	write(FileSettings, `{"mode": "off"}`)
	write("README.md", "ours")
	if err := os.Mkdir(filepath.Join(dir, "old"), 0o700); err != nil {
		t.Fatal(err)
	}
	if c := mustLoad(t, read()); c.Settings.Mode != ModeOff {
		t.Errorf("mode %q", c.Settings.Mode)
	}
	write("review-rule.json", `[]`)
	_, problems := Load(read())
	if got := formatted(problems); len(got) != 1 || !strings.HasPrefix(got[0], "review-rule.json: there is no config file of this name") {
		t.Errorf("problems %q", got)
	}
	write(FileRules, "["+strings.Repeat(" ", 5<<20)+"]")
	if _, problems = Load(read()); !slices.ContainsFunc(formatted(problems), func(s string) bool {
		return strings.Contains(s, "more than 4194304 bytes")
	}) {
		t.Errorf("a file that is too large gives the problems %q", formatted(problems))
	}
	if err := syscall.Mkfifo(filepath.Join(dir, FileAgents), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadDir(LayerServer, dir); err == nil || !strings.Contains(err.Error(), FileAgents+": this is not a regular file") {
		t.Errorf("reading a pipe gives the error %v", err)
	}
	linked := t.TempDir()
	if err := os.WriteFile(filepath.Join(linked, "shared"), []byte("[]"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("shared", filepath.Join(linked, FileRules)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{LayerServer: "[]", LayerRepository: "shared", LayerOrganisation: "shared"} {
		l, err := ReadDir(name, linked)
		if err != nil || len(l.Files) != 1 || string(l.Files[0].Text) != want {
			t.Errorf("a linked file of the %s layer reads %v, %v, want %q", name, l.Files, err, want)
		}
	}
	if _, err := ReadDir(LayerServer, filepath.Join(dir, "none")); err == nil {
		t.Error("a directory that does not exist gives no error")
	}
}

func TestMode(t *testing.T) {
	server := named(layer(FileSettings, `{"mode": "off", "repositories": [{"globs": ["Acme/shop", "acme/pay-*"], "mode": "enforce"}, {"globs": ["acme/*"], "mode": "advisory"}]}`), LayerServer)
	organisation := named(layer(FileSettings, `{"mode": "enforce"}`), LayerOrganisation)
	tests := []struct {
		name       string
		layers     []Layer
		repository string
		want       string
	}{
		{"defaults", nil, "acme/shop", ModeEnforce},
		{"first glob", []Layer{server}, "acme/shop", ModeEnforce},
		{"a name in another case", []Layer{server}, "ACME/Pay-In", ModeEnforce},
		{"second entry", []Layer{server}, "acme/blog", ModeAdvisory},
		{"a name that no glob matches", []Layer{server}, "other/shop", ModeOff},
		{"the organisation sets the mode", []Layer{server, organisation}, "other/shop", ModeEnforce},
		{"the repository sets the mode", []Layer{server, organisation, layer(FileSettings, `{"mode": "advisory"}`)}, "acme/shop", ModeAdvisory},
		// Otherwise a repository could escape a final mode by repeating it.
		{"the repository repeats a final mode", []Layer{server, named(layer(FileSettings, `{"final": ["mode"]}`), LayerOrganisation), layer(FileSettings, `{"mode": "off"}`)}, "acme/shop", ModeEnforce},
		{"the repository's settings don't have the mode", []Layer{server, layer(FileSettings, `{"drafts": "skip"}`)}, "acme/blog", ModeAdvisory},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := mustLoad(t, test.layers...).Mode(test.repository); got != test.want {
				t.Errorf("mode %q, want %q", got, test.want)
			}
		})
	}
}

// What a rule has because of its other fields is not listed as changed. If a file has it, it is.
func TestChangedLeavesOutWhatFollows(t *testing.T) {
	const text = `[{"id": "a", "severity": "major", "description": "Old API.", "match": {"literal": "x"}},
		{"id": "b", "severity": "major", "description": "Old API.", "category": "custom", "name": "Old API", "match": {"literal": "x"}}]`
	s, problems := Show(named(layer(FileRules, text), LayerRepository))
	if len(problems) > 0 {
		t.Fatal(formatted(problems))
	}
	got := map[string][]string{}
	for _, v := range s.Changed() {
		got[v.ID] = append(got[v.ID], v.Pointer)
	}
	want := map[string][]string{"a": {"/id", "/severity", "/description", "/match/literal"}, "b": {"/id", "/severity", "/description", "/category", "/name", "/match/literal"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
}
