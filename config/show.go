package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
	"github.com/reviewgate/reviewgate/policies/glob"
)

// Value is one value of the merged config, with the place where it was written. Entries are split
// into their fields. A list of plain values is one value.
type Value struct {
	File    string // such as review-rules.json
	ID      string // the entry's id, empty for settings and prompts
	Pointer string // RFC 6901, within the entry or the settings; /version for a prompt
	JSON    string // on one line
	Layer   string // LayerDefaults, ...
	Source  string // where the layer's files come from
	Path    string // the file that it was written in
	Line    int    // 1-based

	derived bool // no file has it: see withRuleDefaults
}

// MarshalJSON writes the value itself, not a text of it, as "value".
func (v Value) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		File    string          `json:"file"`
		ID      string          `json:"id"`
		Pointer string          `json:"pointer"`
		Value   json.RawMessage `json:"value"`
		Layer   string          `json:"layer"`
		Source  string          `json:"source"`
		Path    string          `json:"path"`
		Line    int             `json:"line"`
	}{v.File, v.ID, v.Pointer, json.RawMessage(v.JSON), v.Layer, v.Source, v.Path, v.Line})
}

// Shown is the merged config, including entries that are switched off.
type Shown struct {
	Config *Config
	// Values are in the order of FileNames, then of the entries, then of their fields. The versions
	// of prompts come last.
	Values []Value
	// JSON is the merged config as one document with the keys rules,
	// composition, agents, domains and settings, indented by two spaces.
	JSON []byte

	dropped map[string]*jsontree.Node // by file; see list
}

// Show merges the layers as Load does, and lists where each value comes from.
func Show(layers ...Layer) (*Shown, []pipeline.ConfigProblem) {
	s, inForce := layAll(defaults(), layers)
	out := &Shown{Config: s.loaded(layers, inForce), dropped: map[string]*jsontree.Node{}}
	for _, file := range listFiles() {
		out.dropped[file] = s.lists[file].dropped
		for _, e := range s.lists[file].entries {
			out.add(Value{File: file, ID: e.id}, e.node)
		}
	}
	out.add(Value{File: FileSettings}, withoutSchema(s.settings))
	for _, name := range slices.Sorted(maps.Keys(s.prompts)) {
		out.addPrompt(name, inForce.Layers)
	}
	out.JSON = s.json()
	return out, inForce.Problems
}

// Changed lists the values that differ from the defaults, in the order of Values, without those that
// no file has because they follow from others, such as the name of a rule. A list of objects
// is listed whole if anything in it differs. If a layer drops the shipped entries of a file, the value
// "extends" of the file comes first and stands for all of them.
func (s *Shown) Changed() []Value {
	type place struct{ file, id, pointer string }
	text := func(values []Value) map[place]string {
		out := map[place]string{}
		for _, v := range values {
			out[place{v.File, v.ID, fieldOf(v.Pointer)}] += v.Pointer + " " + v.JSON + "\n"
		}
		return out
	}
	defaults, _ := Show()
	shipped, merged, entries := text(defaults.Values), text(s.Values), map[place]bool{}
	for _, v := range defaults.Values {
		entries[place{file: v.File, id: v.ID}] = true
	}
	out := &Shown{Values: []Value{}}
	for _, file := range listFiles() {
		if extends := s.dropped[file]; extends != nil {
			out.add(Value{File: file, Pointer: "/extends"}, extends)
		}
	}
	for _, v := range s.Values {
		at := place{v.File, v.ID, fieldOf(v.Pointer)}
		if was, ok := shipped[at]; v.derived || ok && was == merged[at] || !ok && entries[place{file: v.File, id: v.ID}] && unset[v.Pointer] == v.JSON {
			continue
		}
		out.Values = append(out.Values, v)
	}
	slices.SortStableFunc(out.Values, func(a, b Value) int { return fileRank(a.File) - fileRank(b.File) })
	return out.Values
}

// unset are the values, by pointer, that mean the same as their absence in an entry.
var unset = map[string]string{"/enabled": "true", "/mode": strconv.Quote(ModeEnforce), "/final": "false", "/profile": strconv.Quote(ProfileDefault)}

// fieldOf cuts a pointer before its first index.
func fieldOf(pointer string) string {
	steps := strings.Split(pointer, "/")
	if at := slices.IndexFunc(steps, func(s string) bool { _, err := strconv.Atoi(s); return err == nil }); at >= 0 {
		steps = steps[:at]
	}
	return strings.Join(steps, "/")
}

// addPrompt adds the version of the prompt of the highest layer that has one.
func (s *Shown) addPrompt(name string, layers []pipeline.ConfigLayer) {
	p, _ := upTo(s.Config.prompts[name], "")
	v := Value{File: promptPath(name), Pointer: "/version", JSON: strconv.Quote(p.Version), Layer: p.Layer, Line: 1}
	for _, l := range layers {
		for _, f := range l.Files {
			if l.Name == p.Layer && l.Used && path.Base(f.Path) == v.File {
				v.Source, v.Path = l.Source, f.Path
			}
		}
	}
	s.Values = append(s.Values, v)
}

// add adds a value, or the parts of one that has parts. v is its place.
func (s *Shown) add(v Value, n *jsontree.Node) {
	switch {
	case n.Kind == jsontree.Object && len(n.Members) > 0:
		for _, m := range n.Members {
			part := v
			part.Pointer += "/" + jsontree.EscapePointer(m.Key)
			part.derived = m.Value.Key() != m.Key // Node.With keeps the key of the object
			s.add(part, m.Value)
		}
	case n.Kind == jsontree.Array && slices.ContainsFunc(n.Elems, func(e *jsontree.Node) bool { return e.Kind == jsontree.Object || e.Kind == jsontree.Array }):
		for i, e := range n.Elems {
			part := v
			part.Pointer += "/" + strconv.Itoa(i)
			s.add(part, e)
		}
	default:
		v.JSON = string(n.AppendJSON(nil))
		if by := writer(n); by != nil {
			v.Layer, v.Source = by.layer, by.source
		}
		place := n.Place()
		v.Path, v.Line = place.Document.Name, place.Line
		s.Values = append(s.Values, v)
	}
}

// withoutSchema returns the settings without the address of their schema, which belongs to a
// file and not to the config.
func withoutSchema(settings *jsontree.Node) *jsontree.Node {
	out := *settings
	out.Members = slices.DeleteFunc(slices.Clone(settings.Members), func(m jsontree.Member) bool { return m.Key == "$schema" })
	return &out
}

func (s *stack) json() []byte {
	b := []byte{'{'}
	for _, file := range listFiles() {
		b = append(b, `"`+strings.TrimSuffix(strings.TrimPrefix(file, "review-"), ".json")+`":[`...)
		for i, e := range s.lists[file].entries {
			if i > 0 {
				b = append(b, ',')
			}
			b = e.node.AppendJSON(b)
		}
		b = append(b, `],`...)
	}
	b = append(b, `"settings":`...)
	b = append(withoutSchema(s.settings).AppendJSON(b), '}')
	var out bytes.Buffer
	if err := json.Indent(&out, b, "", "  "); err != nil {
		panic(fmt.Errorf("indent the merged config: %w", err)) // the text was just written as JSON
	}
	return out.Bytes()
}

// Mode returns the mode in which a repository (owner/name) is reviewed: the mode of its own
// or its organisation's layer, else that of the first of the server's Repositories that
// matches, else the server's or the defaults' mode. If the mode of a floor is stricter, that
// one counts: a check that never blocks would let final findings pass. Of the repository's
// Names, the one with the strictest mode counts. The case of names does not matter, as on
// GitHub.
func (c *Config) Mode(repository string) string {
	mode := c.ownMode(repository)
	for _, name := range append(slices.Clip(c.Names), repository) {
		mode = StricterMode(mode, c.ownMode(name))
		for i := range c.Floors {
			mode = StricterMode(mode, c.Floors[i].Config.ownMode(name))
		}
	}
	return mode
}

func (c *Config) ownMode(repository string) string {
	if c.modeLayer == LayerRepository || c.modeLayer == LayerOrganisation {
		return c.Settings.Mode
	}
	for _, r := range c.Settings.Repositories {
		globs := make([]string, len(r.Globs))
		for i, g := range r.Globs {
			globs[i] = strings.ToLower(g)
		}
		set, err := glob.Compile(globs)
		if err == nil && len(set.Match(strings.ToLower(repository))) > 0 {
			return r.Mode
		}
	}
	return c.Settings.Mode
}
