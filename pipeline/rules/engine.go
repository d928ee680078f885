package rules

import (
	"fmt"
	"slices"
	"sync"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/internal/literals"
)

// Engine holds the compiled rules of one config version. They are never changed
// after Compile, so that any number of reviews may share it.
type Engine struct {
	rules    []*rule // with a match, as in the config; a rule's index is its place here
	scopes   *scopes
	added    *lineRules
	removed  *lineRules
	serious  *lineRules // of those on added lines, what reads them as code
	paths    *lineRules // on file or path
	messages []*rule    // on title, body or commit_message
	whole    []*rule    // with an expression
	kinds    kinds

	memories sync.Pool // of passes that are done
}

// Compile compiles the enabled rules that have a match or an expression; the
// others are prose for a model's checklist and are left out. The error names
// the rule whose pattern, glob or expression does not compile.
func Compile(cfg []config.Rule) (*Engine, error) {
	e := &Engine{}
	var added, removed, paths []*rule
	for i := range cfg {
		if !cfg[i].Enabled || cfg[i].Match == nil && cfg[i].When == "" {
			continue
		}
		r, err := compileRule(&cfg[i])
		if err != nil {
			return nil, fmt.Errorf("compile rule %q: %w", cfg[i].ID, err)
		}
		if r.Match == nil {
			e.whole = append(e.whole, r)
			continue
		}
		r.index = len(e.rules)
		e.rules = append(e.rules, r)
		switch r.on {
		case config.OnAdded:
			added = append(added, r)
		case config.OnRemoved:
			removed = append(removed, r)
		case config.OnFile, config.OnPath:
			paths = append(paths, r)
		default:
			e.messages = append(e.messages, r)
		}
	}
	var err error
	if e.scopes, err = compileScopes(e.rules); err != nil {
		return nil, err
	}
	e.serious = newLineRules(slices.DeleteFunc(slices.Clone(added), func(r *rule) bool { return !r.serious() || r.Match.Net }))
	e.added, e.removed, e.paths = newLineRules(added), newLineRules(removed), newLineRules(paths)
	return e, nil
}

// Scan prepares the scan of one change; it runs when the first agent asks for
// its share. Facts and classification must not change while the Scan is in use.
func (e *Engine) Scan(facts *pipeline.PRFacts, classification *pipeline.Classification) *Scan {
	return &Scan{engine: e, facts: facts, classification: classification, turn: make(chan struct{}, 1)}
}

// ReadsLabels reports whether a rule's expression looks at the labels of a
// change.
func (e *Engine) ReadsLabels() bool {
	reads := func(r *rule) bool { return r.when != nil && r.when.ReadsLabels() }
	return slices.ContainsFunc(e.whole, reads) || slices.ContainsFunc(e.rules, reads)
}

// ReadsType reports whether a rule's expression looks at the type of a change.
func (e *Engine) ReadsType() bool {
	reads := func(r *rule) bool { return r.when != nil && r.when.ReadsType() }
	return slices.ContainsFunc(e.whole, reads) || slices.ContainsFunc(e.rules, reads)
}

// ReadsCommits reports whether a rule of an agent looks at the messages of
// commits.
func (e *Engine) ReadsCommits(agent string) bool {
	return slices.ContainsFunc(e.messages, func(r *rule) bool { return r.on == config.OnCommitMessage && r.Agent == agent })
}

// lineRules are the rules that look at lines of one kind, or at paths.
type lineRules struct {
	rules   []*rule
	finder  *literals.Finder
	owners  [][]owner // by literal
	always  []*rule   // rules without a literal
	foreign []*rule   // rules without one for characters beyond ASCII
}

// owner is a rule that looks for a literal, as it looks for it.
type owner struct {
	rule    *rule
	literal literals.Literal
}

func newLineRules(rules []*rule) *lineRules {
	l := &lineRules{rules: rules}
	var words []string
	at := map[string]int{}
	for _, r := range rules {
		switch {
		case r.foreign != nil:
			l.foreign = append(l.foreign, r)
		case r.literals == nil:
			l.always = append(l.always, r)
		}
		for _, literal := range r.literals {
			i, ok := at[literal.Text]
			if !ok {
				i = len(words)
				at[literal.Text] = i
				words = append(words, literal.Text)
				l.owners = append(l.owners, nil)
			}
			l.owners[i] = append(l.owners[i], owner{r, literal})
		}
	}
	l.finder = literals.NewFinder(words)
	return l
}
