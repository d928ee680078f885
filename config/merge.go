package config

import (
	"maps"
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
)

// stack is the result of merging some layers. A stack never changes: a layer laid over it
// makes a new one.
type stack struct {
	lists    map[string]*list // by file, without the settings
	settings *jsontree.Node
	decoded  Settings
	prompts  map[string][]Prompt      // by name, lowest layer first
	shipped  map[string]string        // the kinds of the embedded agents, also of removed ones
	weakened []pipeline.ConfigProblem // the parts of the organisation's layer that do not count
}

// list has the merged entries of one file, in the order in which they were first named.
type list struct {
	entries []*entry
	index   map[string]int // the index in entries, by id
	dropped *jsontree.Node // the "extends" of the highest layer that dropped the shipped entries, or nil
}

// entry is one merged entry of a list.
type entry struct {
	id    string
	layer string // the layer that named it first
	final string // the first layer that made it final, or ""
	node  *jsontree.Node
	value any // *Rule, *Policy, *Agent, *DomainMapping, *ServiceMapping, *RiskFactor or *Signal
	size  int // the size of its patterns
}

func newStack() *stack {
	s := &stack{lists: map[string]*list{}, prompts: map[string][]Prompt{}}
	for _, file := range listFiles() {
		s.lists[file] = &list{index: map[string]int{}}
	}
	return s
}

// listFiles returns the files that hold lists.
func listFiles() []string {
	return []string{FileRules, FileComposition, FileAgents, FileDomains}
}

func (s *stack) clone() *stack {
	out := *s
	out.lists, out.prompts = map[string]*list{}, maps.Clone(s.prompts)
	for file, l := range s.lists {
		out.lists[file] = &list{entries: slices.Clone(l.entries), index: maps.Clone(l.index), dropped: l.dropped}
	}
	return &out
}

func (l *list) get(id string) *entry {
	if i, ok := l.index[id]; ok {
		return l.entries[i]
	}
	return nil
}

func (l *list) put(e *entry) {
	if i, ok := l.index[e.id]; ok {
		l.entries[i] = e
		return
	}
	l.index[e.id] = len(l.entries)
	l.entries = append(l.entries, e)
}

// dropLayer removes the entries that a layer named first, except those to keep.
func (l *list) dropLayer(layer string, keep func(*entry) bool) {
	kept := l.entries[:0]
	l.index = map[string]int{}
	for _, e := range l.entries {
		if e.layer != layer || keep(e) {
			l.index[e.id] = len(kept)
			kept = append(kept, e)
		}
	}
	l.entries = kept
}

// mergedEntries are the entries of a stack with a layer over it. broken are entries of the
// layer that could not, or must not, be merged: the stack keeps the entries below.
type mergedEntries struct {
	stack  *stack
	broken map[string][]*entry
}

func (m *mergedEntries) entries(file string) []*entry {
	return slices.Concat(m.stack.lists[file].entries, m.broken[file])
}

func (m *mergedEntries) agentIDs() map[string]bool {
	names := map[string]bool{}
	for _, e := range m.entries(FileAgents) {
		names[e.id] = true
	}
	return names
}

// mapped returns the names that entries of a type map files to. It reads the
// JSON, so that an entry with another fault still counts.
func (m *mergedEntries) mapped(itemType string) map[string]bool {
	names := map[string]bool{}
	for _, e := range m.entries(FileDomains) {
		name := e.node.Get(itemType)
		if kind := e.node.Get("type"); name != nil && kind != nil && kind.Text == itemType {
			names[name.Text] = true
		}
	}
	return names
}

// all returns the decoded entries of one type in a list. Entries that could not be decoded are left
// out.
func all[T any](l *list) []T {
	var out []T
	for _, e := range l.entries {
		if v, ok := e.value.(T); ok {
			out = append(out, v)
		}
	}
	return out
}

// deepFields are merged field by field if two layers set them; every other field is
// replaced whole. So are triggers, since the fields of one type make no sense in another.
func deepFields(file string) []string {
	switch file {
	case FileRules:
		return []string{"match", "severity_in"}
	case FileComposition:
		return []string{"dispatch"}
	case FileAgents:
		return agentSections()
	case FileSettings:
		return []string{"gate", "synthesis", "comment", "check", "limits", "fix_loop", "thresholds", "models", "commands", "memory", "secrets", "sessions", "issues", "labels", "model_budget"}
	}
	return nil
}

// joinList puts a layer's list after that of the layers below; any other list replaces
// theirs. The nodes are the settings, or a section of them: merged is own laid over below.
// A list that is final below does not change.
func joinList(merged, below, own *jsontree.Node, list string) {
	mine, theirs := own.Get(list), below.Get(list)
	if mine == nil || theirs == nil || len(theirs.Elems) == 0 {
		return
	}
	both := *mine
	both.Elems = slices.Concat(theirs.Elems, mine.Elems)
	for i := range merged.Members {
		if merged.Members[i].Key == list && merged.Members[i].Value == mine {
			merged.Members[i].Value = &both
		}
	}
}
