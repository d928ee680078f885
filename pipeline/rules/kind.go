package rules

import (
	"slices"
	"strconv"
	"sync"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/internal/literals"
)

// kind is shared by all files that the same rules look at. It says which literals to
// search their added lines for: a line of Go need not be searched for the literals
// of rules for Python.
type kind struct {
	added, serious *literals.Filter
	rules          []*rule
}

// lookers are the agents with a rule that reads the text of a file of this status.
func (k *kind) lookers(s pipeline.FileStatus) map[string]bool {
	agents := map[string]bool{}
	for _, r := range k.rules {
		if r.sees(s) && !r.Match.OnlyPaths() {
			agents[r.Agent] = true
		}
	}
	return agents
}

// maxKinds bounds the kinds that an engine remembers, each of some 35 KB. A repository
// has a few dozen. Files of further kinds are searched for all literals.
const maxKinds = 64

// kinds are the kinds of the files that an engine has read. Any number of scans
// share them.
type kinds struct {
	mu sync.Mutex
	m  map[string]*kind
}

// kindOf is the kind of the view's file.
func (e *Engine) kindOf(v *view) *kind {
	e.kinds.mu.Lock()
	defer e.kinds.mu.Unlock()
	key := v.kind()
	if k, ok := e.kinds.m[string(key)]; ok {
		return k
	}
	if len(e.kinds.m) >= maxKinds {
		return &kind{added: e.added.finder.All(), serious: e.serious.finder.All(), rules: e.lookingAt(v)}
	}
	k := &kind{added: e.added.only(v), serious: e.serious.only(v), rules: e.lookingAt(v)}
	if e.kinds.m == nil {
		e.kinds.m = map[string]*kind{}
	}
	e.kinds.m[string(key)] = k
	return k
}

// kind returns a key that differs between files that different rules look at. It
// covers everything that applies looks at.
func (v *view) kind() []byte {
	v.key = append(v.key[:0], v.file.Language...)
	v.key = strconv.AppendBool(append(v.key, 0), v.file.Test)
	v.key = strconv.AppendBool(v.key, v.anyLanguage)
	v.key = strconv.AppendBool(v.key, v.file.GeneratedByPath || v.file.Vendored)
	v.key = strconv.AppendBool(v.key, v.file.ByBase)
	for _, g := range v.globs {
		v.key = strconv.AppendInt(append(v.key, ' '), int64(g), 36)
	}
	return v.key
}

// only returns the filter for the literals of the rules that look at the file.
func (l *lineRules) only(v *view) *literals.Filter {
	return l.finder.Only(func(id int) bool {
		return slices.ContainsFunc(l.owners[id], func(o owner) bool { return v.applies(o.rule) })
	})
}
