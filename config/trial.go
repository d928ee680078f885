package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"

	"github.com/reviewgate/reviewgate/pipeline/jsontree"
)

// trial lays one layer over a valid stack to see whether the outcome is valid. All its
// problems are those of the layer.
type trial struct {
	*problems
	trusted bool // see layTrusted
	below   *stack
	stack   *stack
	roots   layerRoots
	names   map[string]string   // of the layer's files, by their names as JSON
	own     map[string][]*entry // the entries that the layer names, by file
	// unread names the files whose ids are not all known: references to their entries can't
	// be checked. invalid names those with a wrong entry: their effect is unknown.
	unread  map[string]bool
	invalid map[string]bool
	prompts []string // names of the layer's prompts, valid or not

	merged *mergedEntries
	values *valueChecks
	refs   *references
	finals *finals
}

// layerRoots are the files of a layer by name.
type layerRoots map[string]*jsontree.Node

// lay returns the stack with the layer over it, and the layer's problems. If there are any,
// the stack must not be used.
func lay(below *stack, l Layer) (*stack, *problems) {
	return newTrial(below, l).run(l)
}

// layTrusted is lay for a layer that is known to be valid. It skips the slowest checks: it
// does not check whole files against their schemas, and does not compile expressions. It
// still checks each entry before it decodes it.
func layTrusted(below *stack, l Layer) (*stack, *problems) {
	t := newTrial(below, l)
	t.trusted = true
	return t.run(l)
}

func newTrial(below *stack, l Layer) *trial {
	t := &trial{
		problems: &problems{layer: l.Name, source: l.Source},
		below:    below,
		stack:    below.clone(),
		roots:    layerRoots{},
		names:    map[string]string{},
		own:      map[string][]*entry{},
		unread:   map[string]bool{},
		invalid:  map[string]bool{},
	}
	t.merged = &mergedEntries{t.stack, map[string][]*entry{}}
	t.values = &valueChecks{problems: t.problems}
	t.refs = &references{problems: t.problems, below: below, roots: t.roots, unread: t.unread, merged: t.merged}
	t.finals = &finals{t.problems, below, below.guards()}
	return t
}

func (t *trial) run(l Layer) (*stack, *problems) {
	for _, f := range l.Files {
		t.read(f)
	}
	if l.Name == LayerOrganisation && l.Organisation != "" && !t.below.decoded.mayWeaken(l.Organisation) {
		t.dropWeakening(l.Organisation)
		t.explainServerOnly()
	}
	for _, file := range listFiles() {
		if root := t.roots[file]; root != nil {
			t.mergeList(file, root)
		}
	}
	if root := t.roots[FileSettings]; root != nil {
		t.mergeSettings(root)
	}
	if t.layer == LayerDefaults {
		t.stack.shipped = t.stack.kinds()
	}
	t.checkTrust()
	t.checkEntries()
	t.refs.check()
	t.finals.checkReviewers(t.own)
	t.finals.checkModels(t.own[FileComposition])
	if !t.invalid[FileComposition] {
		t.checkAlways()
		if !t.invalid[FileDomains] && !t.invalid[FileAgents] {
			t.checkOrphans()
		}
	}
	return t.stack, t.problems
}

// read parses one file. It ignores files that are neither config files nor prompts, such
// as a README, and reports those with misspelt names.
func (t *trial) read(f File) {
	name, file := path.Base(f.Path), FileOf(f.Path)
	doc := &jsontree.Document{Name: f.Path, Owner: t.problems}
	if IsPlace(f.Path) {
		t.whole(f.Path, "this is not a directory, so no config is read; links are not followed", "make "+RepositoryDir+" a directory with the config files in it, or remove this file or link")
		return
	}
	if prompt := promptName(name); prompt != "" {
		t.readPrompt(f, prompt)
		return
	}
	if file == "" {
		switch {
		case misnamedPrompt(name):
			t.whole(f.Path, "this is not a valid name for a prompt", "use prompt-NAME.md, with a name of at most 80 lower-case letters, digits and dashes that starts with a letter or digit")
		case misnamed(name):
			t.whole(f.Path, "there is no config file of this name", "use "+choices(FileNames())+", or one of these names with .jsonc, .yaml or .yml")
		}
		return
	}
	if first := t.names[file]; first == name {
		t.whole(f.Path, "the layer has this file twice", "keep one of them")
		return
	} else if first != "" {
		t.whole(f.Path, fmt.Sprintf("the layer has %s, too, so it is not clear which of the two counts", first), "keep one of them")
		return
	}
	t.names[file] = name
	root, errs := Parse(doc, f)
	for _, e := range errs {
		t.at(e.Place, e.Problem, e.Remedy)
	}
	t.unread[file] = slices.ContainsFunc(errs, func(e jsontree.Error) bool { return !e.Mended })
	t.invalid[file] = t.unread[file]
	if root != nil {
		t.roots[file] = root
	}
}

// layerOf returns the name of the layer that wrote a value, or "" if there is no value.
func layerOf(n *jsontree.Node) string {
	if p := writer(n); p != nil {
		return p.layer
	}
	return ""
}

// writer returns the problems of the layer that wrote a value, or nil if there is no value.
func writer(n *jsontree.Node) *problems {
	if n == nil {
		return nil
	}
	p, _ := n.Document().Owner.(*problems)
	return p
}

// blame returns what to report if the layer breaks an entry of a lower layer: its "extends"
// in the file, else the file, else any file that it has.
func (roots layerRoots) blame(file string) *jsontree.Node {
	for _, f := range append([]string{file}, FileNames()...) {
		if root := roots[f]; root != nil {
			if extends := root.Get("extends"); extends != nil {
				return extends
			}
			return root
		}
	}
	// A layer without files changes nothing, so it can't be at fault.
	panic("config: a layer without files is blamed")
}

// mergeList merges a file's entries over those with the same id.
func (t *trial) mergeList(file string, root *jsontree.Node) {
	wrong := t.checkSchema(file, root)
	l := t.stack.lists[file]
	if extends := root.Get("extends"); extends != nil && len(extends.Elems) == 0 {
		l.dropped = extends
		l.dropLayer(LayerDefaults, func(e *entry) bool { return t.finals.guards.lock(e) != nil })
	}
	lines := map[string]int{}
	for i, n := range itemsOf(root) {
		id := n.Get("id")
		if id == nil || id.Kind != jsontree.String {
			t.unread[file] = true
			continue
		}
		if line, twice := lines[id.Text]; twice {
			t.of(id, fmt.Sprintf("the id %s is used twice in this file, first on line %d", shown(id.Text), line), "give one of the two another id, or remove it")
			t.checkDuplicate(file, &entry{id: id.Text, layer: t.layer, node: n}, wrong[i])
			continue
		}
		lines[id.Text] = id.Place().Line
		e := &entry{id: id.Text, layer: t.layer, node: n}
		below := l.get(id.Text)
		if below != nil {
			e.layer, e.final = below.layer, below.final
		}
		ok := !wrong[i] && t.sameType(n, below)
		if ok && below != nil {
			e.node = n.Overlay(below.node, deepFields(file)...)
		}
		if ok {
			ok = t.decode(file, e, below == nil)
		}
		t.invalid[file] = t.invalid[file] || !ok
		if ok && e.final == "" && isTrue(n.Get("final")) {
			e.final = t.layer
		}
		if ok && below != nil {
			ok = t.finals.checkEntry(n, below, e)
		}
		t.own[file] = append(t.own[file], e)
		if !ok && below != nil {
			t.merged.broken[file] = append(t.merged.broken[file], e)
			continue
		}
		l.put(e)
	}
}

// checkDuplicate reports the other mistakes in the second entry of an id, if it is complete.
func (t *trial) checkDuplicate(file string, e *entry, wrong bool) {
	found := problems{layer: t.layer}
	schemas().check(schemas().schema(file, entrySchemas[file]), e.node, &found)
	if !wrong && len(found.list) == 0 && t.decode(file, e, true) {
		t.own[file] = append(t.own[file], e)
	}
}

// itemsOf returns the entries of a file that is a list or has one.
func itemsOf(root *jsontree.Node) []*jsontree.Node {
	if root != nil && root.Kind == jsontree.Array {
		return root.Elems
	}
	return elems(root.Get("items"))
}

// checkSchema validates a layer's file and returns the indexes of the wrong entries.
func (t *trial) checkSchema(file string, root *jsontree.Node) map[int]bool {
	wrong := map[int]bool{}
	if t.trusted {
		return wrong
	}
	for _, location := range schemas().check(schemas().schema(file, ""), root, t.problems) {
		t.invalid[file] = true
		if root.Kind == jsontree.Object && len(location) > 0 {
			location = location[1:] // skip "items"
		}
		if len(location) == 0 {
			t.unread[file] = true
			continue
		}
		if i, err := strconv.Atoi(location[0]); err == nil {
			wrong[i] = true
		}
	}
	return wrong
}

// sameType refuses an entry that has another type than the lower layer's entry with its id.
func (t *trial) sameType(n *jsontree.Node, below *entry) bool {
	own := n.Get("type")
	if own == nil || below == nil || own.Text == below.node.At("type").Text {
		return true
	}
	t.of(own, fmt.Sprintf("%s is the id of %s in a lower layer", shown(below.id), article(below.node.At("type").Text)), "choose another id")
	return false
}

// decode checks that a merged entry is complete and decodes it into its type.
func (t *trial) decode(file string, e *entry, isNew bool) bool {
	found := problems{layer: t.layer}
	schemas().check(schemas().schema(file, entrySchemas[file]), e.node, &found)
	if len(found.list) > 0 {
		if isNew {
			const whole = "check the id, or complete the entry"
			if remedy := t.didYouMean(e.id, maps.Keys(t.below.lists[file].index), whole); remedy != whole || overridesOnly(file, e.node) {
				if remedy == whole && len(found.list) == 1 {
					remedy += ": " + found.list[0].Remedy
				}
				t.of(e.node.At("id"), fmt.Sprintf("no lower layer has an entry %s, and this one is not complete", shown(e.id)), remedy)
				return false
			}
		}
		t.list = append(t.list, found.list...)
		return false
	}
	if file == FileRules && isNew {
		e.node = withRuleDefaults(e.node)
	}
	value := newEntry(file, e.node.At("type").Text)
	if err := json.Unmarshal(e.node.AppendJSON(nil), value); err != nil {
		t.of(e.node, "the entry cannot be decoded: "+err.Error(), "see the schema of the file")
		return false
	}
	e.value = value
	return true
}

// overridesOnly reports whether an entry was probably meant to change one of a lower layer:
// it sets nothing but "enabled" or "final", has less than half of the required fields, or is a rule
// without a description.
func overridesOnly(file string, n *jsontree.Node) bool {
	required, _ := schemas().lookup(schemaBase + file + "#" + entrySchemas[file])["required"].([]any)
	there := 0
	for _, name := range required {
		if n.Get(name.(string)) != nil {
			there++
		}
	}
	more := slices.ContainsFunc(n.Members, func(m jsontree.Member) bool {
		return !slices.Contains([]string{"id", "type", "enabled", "final"}, m.Key)
	})
	return !more || 2*there < len(required) || file == FileRules && n.Get("description") == nil
}

// newEntry returns a pointer to an entry of a file, with its defaults.
func newEntry(file, itemType string) any {
	switch file {
	case FileRules:
		return &Rule{Enabled: true}
	case FileComposition:
		return &Policy{Enabled: true}
	case FileAgents:
		return &Agent{Enabled: true}
	}
	switch itemType {
	case "service":
		return &ServiceMapping{Enabled: true}
	case "risk":
		return &RiskFactor{Enabled: true}
	case "signal":
		return &Signal{Enabled: true}
	}
	return &DomainMapping{Enabled: true}
}

// mergeSettings merges the layer's settings over those below.
func (t *trial) mergeSettings(root *jsontree.Node) {
	t.checkSettings(root)
	if t.below.settings != nil {
		t.finals.checkSettings(root)
	}
	t.checkSchema(FileSettings, root)
	if t.invalid[FileSettings] {
		return
	}
	merged := root
	if t.below.settings != nil {
		merged = root.Overlay(t.below.settings, deepFields(FileSettings)...)
		keepFinal(merged, t.below.settings)
		joinList(merged, t.below.settings, root, "ignore")
		joinList(merged.Get("secrets"), t.below.settings.Get("secrets"), root.Get("secrets"), "allow")
	}
	if len(schemas().check(schemas().schema(FileSettings, entrySchemas[FileSettings]), merged, t.problems)) > 0 {
		return
	}
	var s Settings
	if err := json.Unmarshal(merged.AppendJSON(nil), &s); err != nil {
		t.of(merged, "the settings cannot be decoded: "+err.Error(), "see the schema of the file")
		return
	}
	t.stack.settings, t.stack.decoded = merged, s
}
