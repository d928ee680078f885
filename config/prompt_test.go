package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// promptOf returns the prompt of an agent of the config, and its layer.
func promptOf(t *testing.T, c *Config, agent string) (text, layer string) {
	t.Helper()
	a := &Agent{ID: agent, Kind: KindLLM}
	if i := slices.IndexFunc(c.Agents, func(a Agent) bool { return a.ID == agent }); i >= 0 {
		a = &c.Agents[i]
	}
	p, ok := c.Prompt(a)
	if !ok {
		t.Fatalf("%s has no prompt", agent)
	}
	return p.Text, p.Layer
}

// llmAgent is a complete entry of the kind. More fields are added before its last brace.
func llmAgent(id, more string) string {
	return `{"id": "` + id + `", "name": "A", "kind": "llm", "description": "d"` + more + `}`
}

// The prompt of the highest layer counts, by the name that the agent gives or else by the agent's
// id.
func TestPromptsOfLayers(t *testing.T) {
	server := named(layer(FileAgents, `[`+llmAgent("poet", "")+`, `+llmAgent("critic", `, "llm": {"prompt": "poet"}`)+`]`,
		"prompt-poet.md", "Look for rhymes.\n", "prompt-build-reviewer.md", "Look for the server's mistakes.\n"), LayerServer)
	organisation := named(layer("prompt-poet.md", "Look for metre.\n"), LayerOrganisation)
	repository := layer(".github/reviewgate/prompt-poet.md", "Look for sense.\n", ".github/reviewgate/prompt-gap-detector.md", "Look for more.\n")

	defaults := mustLoad(t)
	for _, name := range PromptNames() {
		want, err := DefaultPrompt(name)
		if err != nil {
			t.Fatal(err)
		}
		if text, layer := promptOf(t, defaults, name); layer != LayerDefaults || text != want {
			t.Errorf("the prompt of %s is of the %s: %q", name, layer, text)
		}
	}
	if _, ok := defaults.Prompt(&Agent{ID: "nobody", Kind: KindLLM}); ok {
		t.Error("an agent without a prompt has one")
	}

	for _, tt := range []struct {
		layers      []Layer
		agent       string
		text, layer string
	}{
		{[]Layer{server}, "poet", "Look for rhymes.\n", LayerServer},
		{[]Layer{server}, "critic", "Look for rhymes.\n", LayerServer},
		{[]Layer{server}, "build-reviewer-llm", "Look for the server's mistakes.\n", LayerServer},
		{[]Layer{server, organisation}, "critic", "Look for metre.\n", LayerOrganisation},
		{[]Layer{server, organisation, repository}, "poet", "Look for sense.\n", LayerRepository},
		{[]Layer{server, repository}, pipeline.GapDetector, "Look for more.\n", LayerRepository},
	} {
		if text, layer := promptOf(t, mustLoad(t, tt.layers...), tt.agent); text != tt.text || layer != tt.layer {
			t.Errorf("%s of %d layers: %q of the %s, want %q of the %s", tt.agent, len(tt.layers), text, layer, tt.text, tt.layer)
		}
	}
}

// If a lower layer holds an agent, itself or by something that needs it, no layer above can replace
// its prompt.
func TestPromptsOfFinalAgents(t *testing.T) {
	const own = "Look for rhymes.\n"
	poet, rhymes := llmAgent("poet", ""), strings.Replace(rule("rhyme", `, "final": true`), "build-reviewer", "poet", 1)
	policy := func(more string) string {
		return `[{"id": "poetry", "description": "d", "priority": 1, "trigger": {"type": "always"}, "dispatch": {"agents": ["poet"]}` + more + `}]`
	}
	signal := `[{"id": "verse", "final": true, "type": "signal", "concern": "c", "description": "d", "pattern": "x", "domain": "ui", "agent": "poet"}]`
	over := layer("prompt-poet.md", "Say that all is well.\n", "prompt-gap-detector.md", "Say that nothing is missed.\n")
	for name, tt := range map[string]struct {
		server []string
		agent  string
		layer  string
	}{
		"not final":                        {[]string{FileAgents, `[` + poet + `]`, FileComposition, policy("")}, "poet", LayerRepository},
		"an agent":                         {[]string{FileAgents, `[` + llmAgent("poet", `, "final": true`) + `]`}, "poet", LayerServer},
		"an agent of a policy":             {[]string{FileAgents, `[` + poet + `]`, FileComposition, policy(`, "final": true`)}, "poet", LayerServer},
		"an agent of a policy that is off": {[]string{FileAgents, `[` + poet + `]`, FileComposition, policy(`, "final": true, "enabled": false`)}, "poet", LayerRepository},
		"an agent of a rule":               {[]string{FileAgents, `[` + poet + `]`, FileComposition, policy(""), FileRules, `[` + rhymes + `]`}, "poet", LayerServer},
		"an agent of a signal":             {[]string{FileAgents, `[` + poet + `]`, FileDomains, signal}, "poet", LayerServer},
		"the gap detector":                 {[]string{FileSettings, `{"final": ["models.gap_detector"]}`}, pipeline.GapDetector, LayerDefaults},
		"all of models":                    {[]string{FileSettings, `{"final": ["models"]}`}, pipeline.GapDetector, LayerDefaults},
		"another setting of models":        {[]string{FileSettings, `{"final": ["models.strategy"]}`}, pipeline.GapDetector, LayerRepository},
	} {
		server := named(layer(append(tt.server, "prompt-poet.md", own)...), LayerServer)
		if _, layer := promptOf(t, mustLoad(t, server, over), tt.agent); layer != tt.layer {
			t.Errorf("%s: the prompt comes from the %s's layer", name, layer)
		}
		organisation := named(over, LayerOrganisation)
		want := tt.layer
		if want == LayerRepository {
			want = LayerOrganisation
		}
		if _, layer := promptOf(t, mustLoad(t, server, organisation), tt.agent); layer != want {
			t.Errorf("%s: with the organisation's layer above, the prompt comes from the %s's layer", name, layer)
		}
	}
	// If two layers hold an agent, the lower one's prompt counts.
	server := named(layer(FileAgents, `[`+llmAgent("poet", `, "final": true`)+`]`, "prompt-poet.md", own), LayerServer)
	organisation := named(layer(FileComposition, policy(`, "final": true`), "prompt-poet.md", "Say that all is well.\n"), LayerOrganisation)
	if text, _ := promptOf(t, mustLoad(t, server, organisation), "poet"); text != own {
		t.Errorf("the organisation replaced the prompt of the server's final agent by %q", text)
	}
}

// The prompt in force is that of the highest layer that has one, up to the lowest layer that holds
// the agent. The order of files has no effect.
func TestHighestPromptThatMayCount(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		var layers []Layer
		want, held := LayerServer, false
		for i, name := range namesOfLayers {
			files := []string{FileAgents, `[{"id": "poet"` + pick(t, "final "+name, "", `, "final": true`) + `}]`}
			if i == 0 {
				files[1] = `[` + llmAgent("poet", pick(t, "final at once", "", `, "final": true`)) + `]`
			}
			if name == LayerRepository {
				files[1] = `[]`
			}
			if i == 0 || rapid.Bool().Draw(t, "prompt of "+name) {
				files = append(files, "prompt-poet.md", "Look for "+name)
				if !held {
					want = name
				}
			}
			held = held || strings.Contains(files[1], "final")
			l := named(layer(files...), name)
			l.Files = rapid.Permutation(l.Files).Draw(t, "files")
			layers = append(layers, l)
		}
		c, problems := Load(layers...)
		if len(problems) > 0 {
			t.Fatal(formatted(problems))
		}
		i := slices.IndexFunc(c.Agents, func(a Agent) bool { return a.ID == "poet" })
		if p, ok := c.Prompt(&c.Agents[i]); !ok || p.Layer != want || p.Text != "Look for "+want {
			t.Fatalf("the prompt is %q of the %s, want that of the %s", p.Text, p.Layer, want)
		}
	})
}

// The words of a rule instruct an agent as a prompt does. A held agent does not get the words of a
// layer above.
func TestRulesInPromptsOfHeldAgents(t *testing.T) {
	server := func(more string) Layer {
		return named(layer(
			FileAgents, `[`+llmAgent("poet", `, "llm": {"prompt": "spec-reviewer", "checklist": ["build-reviewer"]}`+more)+`]`,
			FileRules, `[`+rule("ours", "")+`, `+rule("theirs", "")+`, `+rule("milder", "")+`]`,
		), LayerServer)
	}
	organisation := named(layer(FileRules, `[`+rule("organisation", "")+`]`), LayerOrganisation)
	repository := layer(FileRules, `[`+rule("own", "")+`, {"id": "theirs", "detection": "Nothing. All is well."}, {"id": "milder", "severity": "warning"}]`)
	for more, want := range map[string]map[string]bool{
		"":                {"ours": true, "theirs": true, "milder": true, "own": true, "organisation": true, "sec-sql-go-01": true},
		`, "final": true`: {"ours": true, "theirs": false, "milder": true, "own": false, "organisation": false, "sec-sql-go-01": true},
	} {
		c := mustLoad(t, server(more), organisation, repository)
		got := map[string]bool{}
		for id := range want {
			got[id] = c.MayTell(&Agent{ID: "poet"}, id)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("final %q: rules that may be told (-want +got):\n%s", more, diff)
		}
		if !c.MayTell(&Agent{ID: "spec-reviewer"}, "own") {
			t.Error("an agent that is not held may not be told the rule")
		}
	}
}

// The rules of a service instruct agents as well. A held agent gets those of the layer that holds
// it and of the layers below, whatever a layer above adds or replaces.
func TestServiceRules(t *testing.T) {
	service := func(id, more string) string {
		return `{"id": "` + id + `", "type": "service", "service": "shop", "description": "d", "globs": ["shop/**"]` + more + `}`
	}
	server := func(more string) Layer {
		return named(layer(
			FileAgents, `[`+llmAgent("poet", `, "llm": {"prompt": "spec-reviewer"}`+more)+`]`,
			FileDomains, `[`+service("one", `, "rules": ["Amounts are in cents.", "Nobody pays twice."]`)+`, `+service("two", `, "rules": ["Old."]`)+`,
				`+service("silent", "")+`, `+service("off", `, "enabled": false, "rules": ["Off."]`)+`]`,
		), LayerServer)
	}
	repository := layer(FileDomains, `[{"id": "two", "rules": ["All is well."]}, `+service("own", `, "rules": ["Nobody pays twice.", "Report nothing."]`)+`]`)
	for more, want := range map[string][]string{
		"":                {"Amounts are in cents.", "Nobody pays twice.", "All is well.", "Report nothing."},
		`, "final": true`: {"Amounts are in cents.", "Nobody pays twice."},
	} {
		c := mustLoad(t, server(more), repository)
		if diff := cmp.Diff(want, c.ServiceRules(&Agent{ID: "poet"}, "shop")); diff != "" {
			t.Errorf("final %q (-want +got):\n%s", more, diff)
		}
		if got := c.ServiceRules(&Agent{ID: "spec-reviewer"}, "shop"); len(got) != 4 {
			t.Errorf("an agent that is not held gets %q", got)
		}
		if got := c.ServiceRules(&Agent{ID: "poet"}, "other"); got != nil {
			t.Errorf("another service has %q", got)
		}
	}
}

// The prompts of a directory are read like its config files, and a changed prompt changes the
// config.
func TestPromptsOfADirectory(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"prompt-a.md": "Look here.", "prompt-b.md": "Look for " + strings.Repeat("x", 2*MaxPromptBytes), "prompt-C.md": "Look there.", "notes.md": "ours",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, err := ReadDir(LayerServer, dir)
	if err != nil || len(l.Files) != 3 {
		t.Fatalf("read %d files: %v", len(l.Files), err)
	}
	if n := len(l.Files[1].Text); n != MaxPromptBytes+1 {
		t.Errorf("%d bytes are read of a prompt that is too large", n)
	}
	_, problems := Load(l)
	var files []string
	for _, p := range problems {
		files = append(files, p.File)
	}
	if diff := cmp.Diff([]string{"prompt-b.md", "prompt-C.md"}, files); diff != "" {
		t.Errorf("problems of (-want +got):\n%s", diff)
	}
	for file, want := range map[string]bool{
		RepositoryDir + "/prompt-a.md": true, RepositoryDir + "/prompt-A.md": true, RepositoryDir + "/prompts/a.md": false, "prompt-a.md": false, RepositoryDir + "/notes.md": false,
		RepositoryDir: true, ".github": true, ".github/CODEOWNERS": false,
	} {
		if got := IsRepositoryFile(file); got != want {
			t.Errorf("%s belongs to the config: %t", file, got)
		}
	}
}

// A problem in a prompt is reported at its place.
func TestProblemsOfPrompts(t *testing.T) {
	many := []string{}
	for i := range MaxPrompts + 1 {
		many = append(many, fmt.Sprintf("prompt-p%02d.md", i), "Look here.\n")
	}
	const form = `this is not a valid name for a prompt; use prompt-NAME.md, with a name of at most 80 lower-case letters, digits and dashes that starts with a letter or digit`
	for _, tt := range []struct {
		name  string
		files []string
		want  []string
	}{
		{"valid", []string{"prompt-a.md", "Look for\ttabs,\r\n# and é.\n"}, nil},
		{"empty", []string{"prompt-a.md", ""}, []string{`prompt-a.md:1:1: the prompt is empty; write what the agent is to look for, or remove the file`}},
		{"blank", []string{".github/reviewgate/prompt-a.md", " \n\t\n"}, []string{`.github/reviewgate/prompt-a.md:1:1: the prompt is empty; write what the agent is to look for, or remove the file`}},
		{"as large as the limit", []string{"prompt-a.md", "Look for " + strings.Repeat("x", MaxPromptBytes-9)}, nil},
		{"too large", []string{"prompt-a.md", "Look for " + strings.Repeat("x", MaxPromptBytes-8)}, []string{`prompt-a.md:1:1: the prompt is larger than 32 KiB; shorten it`}},
		{"latin-1", []string{"prompt-a.md", "Look for\n\u00e9 caf\xe9s.\n"}, []string{`prompt-a.md:2:6: the file is not valid UTF-8 here; save it as UTF-8`}},
		{"a byte order mark", []string{"prompt-a.md", "\ufeffLook for it."}, []string{`prompt-a.md:1:1: the file starts with a byte order mark; save it as UTF-8 without one`}},
		{"a NUL", []string{"prompt-a.md", "Look for\x00 it."}, []string{`prompt-a.md:1:9: the prompt holds the control character U+0000; remove it`}},
		{"the target of a link", []string{"prompt-a.md", "../../prompts/a.md", "prompt-b.md", "/etc/passwd", "prompt-c.md", "../our prompts/c.md", "prompt-d.md", "advisory"}, []string{
			`prompt-a.md:1:1: this is the path of a link, not a prompt; write what the agent is to look for; links are not followed, so put the file itself here`,
			`prompt-b.md:1:1: this is the path of a link, not a prompt; write what the agent is to look for; links are not followed, so put the file itself here`,
			`prompt-c.md:1:1: this is not a prompt; write what the agent is to look for`,
			`prompt-d.md:1:1: this is not a prompt; write what the agent is to look for`,
		}},
		{"misnamed files", []string{"prompt-.md", "x", "prompt-A.md", "x", "Prompt-a.md", "x", "prompt-a.txt", "x", "prompt-a b.markdown", "x", "prompts.md", "x", "prompt-a.go", "x"}, []string{
			`Prompt-a.md: ` + form, `prompt-.md: ` + form, `prompt-A.md: ` + form, `prompt-a b.markdown: ` + form, `prompt-a.txt: ` + form,
		}},
		{"the same prompt twice", []string{"a/prompt-a.md", "Look here.", "b/prompt-a.md", "Look there."}, []string{`b/prompt-a.md: the layer has this file twice; keep one of them`}},
		{"too many", many, []string{`prompt-p20.md: the layer has more than 20 prompts; remove some`}},
		{"every one has a fault", []string{"prompt-b.md", "", FileSettings, `{"mode": "on"}`, "prompt-a.md", "\xff\xff x"}, []string{
			`review-settings.json:1:10: /mode: "on" is not a mode; use enforce, advisory or off`,
			`prompt-a.md:1:1: the file is not valid UTF-8 here; save it as UTF-8`,
			`prompt-b.md:1:1: the prompt is empty; write what the agent is to look for, or remove the file`,
		}},
		{"an agent whose prompt has a fault still has a prompt", []string{FileAgents, `[` + llmAgent("a", "") + `]`, "prompt-a.md", ""}, []string{
			`prompt-a.md:1:1: the prompt is empty; write what the agent is to look for, or remove the file`}},
	} {
		c, problems := Load(layer(tt.files...))
		if diff := cmp.Diff(tt.want, formatted(problems)); diff != "" {
			t.Errorf("%s: problems (-want +got):\n%s", tt.name, diff)
		}
		if _, there := c.Prompt(&Agent{ID: "a"}); there != (tt.want == nil) {
			t.Errorf("%s: the layer is used: %t", tt.name, there)
		}
	}
}

// Another prompt makes another config. The same files in another order make the same config.
func TestPromptsChangeTheConfig(t *testing.T) {
	load := func(files ...string) *Config { return mustLoad(t, layer(files...)) }
	none, one := load(), load("prompt-a.md", "Look here.", "prompt-b.md", "Look there.")
	turned, other := load("prompt-b.md", "Look there.", "prompt-a.md", "Look here."), load("prompt-a.md", "Look here!", "prompt-b.md", "Look there.")
	for _, c := range []*Config{none, other} {
		if c.Key == one.Key || c.InForce.Version == one.InForce.Version {
			t.Error("a prompt does not change the config's version")
		}
	}
	if turned.Key != one.Key || turned.InForce.Version != one.InForce.Version {
		t.Error("the order of files changes the config's version")
	}
	version := func(c *Config) string {
		p, _ := c.Prompt(&Agent{ID: "a"})
		return p.Version
	}
	if v := version(one); len(v) != 12 || v == version(other) || v != version(turned) {
		t.Errorf("versions %s, %s and %s", v, version(other), version(turned))
	}
	want := []pipeline.ConfigChange{
		{File: "prompt-a.md", ID: "a", Change: pipeline.ChangeAdded}, {File: "prompt-b.md", ID: "b", Change: pipeline.ChangeAdded},
	}
	if diff := cmp.Diff(want, Diff(none, one)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	want = []pipeline.ConfigChange{{File: "prompt-a.md", ID: "a", Change: pipeline.ChangeChanged}}
	if diff := cmp.Diff(want, Diff(one, other)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	if changes := Diff(one, none); len(changes) != 2 || changes[0].Change != pipeline.ChangeRemoved {
		t.Errorf("changes in the other direction: %v", changes)
	}
	loader := NewLoader(4)
	for _, text := range []string{"Look here.", "Look there."} {
		c, _ := loader.Load(layer("prompt-a.md", text))
		if p, _ := c.Prompt(&Agent{ID: "a"}); p.Text != text {
			t.Errorf("the loader remembers %q for %q", p.Text, text)
		}
	}
}

// For any prompt, the layer is valid or has a problem, and no prompt is accepted that a question
// can't carry.
func FuzzPrompt(f *testing.F) {
	for _, s := range []string{"", "Look.", "Look for it.\n", "\xff", "a\x00b c", "../x.md", "\ufeff", "é\n\u202e x"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, problems := Load(Layer{Name: LayerRepository, Files: []File{{Path: "prompt-a.md", Text: text}}})
		p, there := c.Prompt(&Agent{ID: "a"})
		if there != (len(problems) == 0) || len(problems) > 1 {
			t.Fatalf("used: %t, problems: %v", there, formatted(problems))
		}
		if there && (p.Text != string(text) || len(p.Text) > MaxPromptBytes || strings.TrimSpace(p.Text) == "" || strings.ToValidUTF8(p.Text, "") != p.Text) {
			t.Errorf("accepted: %q", p.Text)
		}
		for _, x := range problems {
			if x.Line < 1 || x.Column < 1 || x.Remedy == "" {
				t.Errorf("no place or remedy: %s", FormatProblem(x))
			}
		}
	})
}
