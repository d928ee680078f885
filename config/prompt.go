package config

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
)

const (
	// MaxPrompts is the greatest number of prompts in a layer.
	MaxPrompts = 20
	// MaxPromptBytes is the size of the largest prompt, some 8,000 tokens. Each question carries
	// the whole prompt.
	MaxPromptBytes = 32 << 10
)

// Prompt tells an agent of kind [KindLLM] what to look for.
type Prompt struct {
	Name    string
	Layer   string // the layer that it comes from
	Text    string // Markdown
	Version string // of the text: 12 hex digits of its SHA-256
}

// promptFile matches the name of a prompt's file.
var promptFile = regexp.MustCompile(`^prompt-([a-z0-9][a-z0-9-]{0,79})\.md$`)

// promptName returns the name of the prompt in a file, or "" for other files.
func promptName(file string) string {
	if m := promptFile.FindStringSubmatch(file); m != nil {
		return m[1]
	}
	return ""
}

// promptPath returns the name of a prompt's file.
func promptPath(name string) string { return "prompt-" + name + ".md" }

// misnamedPrompt reports whether a file was probably meant to be a prompt.
func misnamedPrompt(file string) bool {
	ext := strings.ToLower(path.Ext(file))
	return promptName(file) == "" && strings.HasPrefix(strings.ToLower(file), "prompt-") && slices.Contains([]string{".md", ".markdown", ".txt"}, ext)
}

// Prompt returns the prompt of an agent, by the name that the agent gives or by its id, from
// the highest layer that has one. It returns false if there is none. If a layer made the
// agent final, or something that needs the agent, the prompts of the layers above don't
// count: they could talk the agent out of its task.
//
// An agent with the id pipeline.GapDetector stands for the search for gaps, which the
// settings' "final" can hold.
func (c *Config) Prompt(a *Agent) (Prompt, bool) {
	name := a.ID
	if a.LLM != nil && a.LLM.Prompt != "" {
		name = a.LLM.Prompt
	}
	return upTo(c.prompts[name], c.heldBy[a.ID])
}

// MayTell reports whether an agent's prompt may quote a rule. A rule that was worded by a
// layer above the one that holds the agent could talk the agent out of its task.
func (c *Config) MayTell(a *Agent, rule string) bool {
	return within(c.wordedBy[rule], c.heldBy[a.ID])
}

// ServiceRules returns the rules of a service that an agent's questions may quote, in the order of
// the service's mappings, each once. As with [Config.MayTell], rules from a layer above the one that
// holds the agent are left out.
func (c *Config) ServiceRules(a *Agent, service string) (rules []string) {
	for i := range c.Services {
		m := &c.Services[i]
		if m.Service != service || !within(c.ruledBy[m.ID], c.heldBy[a.ID]) {
			continue
		}
		for _, r := range m.Rules {
			if !slices.Contains(rules, r) {
				rules = append(rules, r)
			}
		}
	}
	return rules
}

// upTo returns the prompt of the highest layer that is not above the named one; "" is above
// all.
func upTo(prompts []Prompt, layer string) (Prompt, bool) {
	for _, p := range slices.Backward(prompts) {
		if within(p.Layer, layer) {
			return p, true
		}
	}
	return Prompt{}, false
}

// within reports whether a layer is not above another; "" is the highest.
func within(layer, other string) bool {
	return other == "" || LayerRank(layer) <= LayerRank(other)
}

// readPrompt reads one prompt of the layer, or reports what is wrong with it.
func (t *trial) readPrompt(f File, name string) {
	switch {
	case slices.Contains(t.prompts, name):
		t.whole(f.Path, "the layer has this file twice", "keep one of them")
		return
	case len(t.prompts) == MaxPrompts:
		t.whole(f.Path, fmt.Sprintf("the layer has more than %d prompts", MaxPrompts), "remove some")
		return
	}
	t.prompts = append(t.prompts, name)
	if !t.checkPrompt(f) {
		return
	}
	sum := sha256.Sum256(f.Text)
	p := Prompt{Name: name, Layer: t.layer, Text: string(f.Text), Version: hex.EncodeToString(sum[:])[:versionLength]}
	t.stack.prompts[name] = append(slices.Clip(t.stack.prompts[name]), p)
}

// checkPrompt reports whether a text can be a prompt.
func (t *trial) checkPrompt(f File) bool {
	place := func(offset int) jsontree.Place {
		before := f.Text[:offset]
		line := before[bytes.LastIndexByte(before, '\n')+1:]
		return jsontree.Place{
			Document: &jsontree.Document{Name: f.Path, Owner: t.problems},
			Line:     1 + bytes.Count(before, []byte("\n")), Column: 1 + utf8.RuneCount(line),
		}
	}
	text := bytes.TrimSpace(f.Text)
	switch {
	case len(f.Text) > MaxPromptBytes:
		t.at(place(0), fmt.Sprintf("the prompt is larger than %d KiB", MaxPromptBytes>>10), "shorten it")
		return false
	case len(text) == 0:
		t.at(place(0), "the prompt is empty", "write what the agent is to look for, or remove the file")
		return false
	case bytes.HasPrefix(f.Text, []byte("\uFEFF")):
		t.at(place(0), "the file starts with a byte order mark", "save it as UTF-8 without one")
		return false
	case jsontree.IsPath(string(text)):
		t.at(place(0), "this is the path of a link, not a prompt", "write what the agent is to look for; links are not followed, so put the file itself here")
		return false
	case saysNothing(string(text)):
		t.at(place(0), "this is not a prompt", "write what the agent is to look for")
		return false
	}
	for i := 0; i < len(f.Text); {
		r, size := utf8.DecodeRune(f.Text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			t.at(place(i), "the file is not valid UTF-8 here", "save it as UTF-8")
			return false
		case unicode.IsControl(r) && !strings.ContainsRune("\n\r\t", r):
			t.at(place(i), fmt.Sprintf("the prompt holds the control character %U", r), "remove it")
			return false
		}
		i += size
	}
	return true
}

// saysNothing reports whether a text is a single word, or a single line that ends like the name of
// a prompt's file.
func saysNothing(text string) bool {
	return !strings.ContainsAny(text, " \t\r\n") || !strings.Contains(text, "\n") && strings.HasSuffix(text, ".md")
}

// heldBy returns, for each agent that is final or that something final needs, the lowest
// layer that made it so.
func (s *stack) heldBy() map[string]string {
	held := map[string]string{}
	hold := func(agent, layer string) {
		if now := held[agent]; now == "" || LayerRank(layer) < LayerRank(now) {
			held[agent] = layer
		}
	}
	for _, file := range listFiles() {
		for _, e := range s.lists[file].entries {
			if e.final == "" {
				continue
			}
			if a, ok := e.value.(*Agent); ok {
				hold(a.ID, e.final)
			}
			for _, id := range neededAgents(e.value) {
				hold(id, e.final)
			}
		}
	}
	for _, name := range elems(s.settings.Get("final")) {
		if name.Text == "models" || name.Text == "models.gap_detector" {
			hold(pipeline.GapDetector, layerOf(name))
		}
		if name.Text == "models" || name.Text == "models.verify" {
			hold(pipeline.Verifier, layerOf(name))
		}
	}
	return held
}

// checkPromptOf checks that the prompt of an agent of kind llm exists.
func (t *trial) checkPromptOf(e *entry) {
	a, ok := e.value.(*Agent)
	if !ok || a.Kind != KindLLM || !a.Enabled {
		return
	}
	at, name := e.node.Get("llm").Get("prompt"), a.ID
	if given(at) {
		name = at.Text
	}
	if _, there := t.stack.prompts[name]; there || slices.Contains(t.prompts, name) {
		return
	}
	switch {
	case given(at) && t.owns(at):
	case t.owns(e.node.Get("kind")):
		at = e.node.Get("kind")
	default:
		at = e.node
	}
	remedy := t.didYouMean(name, maps.Keys(t.stack.prompts), fmt.Sprintf(`write %s beside this file, or name one of those that exist by "prompt" in "llm"`, promptPath(name)))
	t.of(at, fmt.Sprintf("there is no prompt %s for the agent %s", shown(name), shown(a.ID)), remedy)
}

//go:embed prompts/*.md
var promptFiles embed.FS

// PromptNames lists the shipped prompts, sorted.
func PromptNames() []string { return embedded(promptFiles, "prompts", ".md") }

// DefaultPrompt returns the shipped prompt with this name, in Markdown, or an error if there is
// none.
func DefaultPrompt(name string) (string, error) {
	text, err := promptFiles.ReadFile("prompts/" + name + ".md")
	if err != nil {
		return "", fmt.Errorf("there is no prompt %q; use one of %s", name, strings.Join(PromptNames(), ", "))
	}
	return string(text), nil
}
