package rules

import (
	"fmt"
	"slices"
	"sync"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/internal/literals"
)

// Engine holds the compiled rules of one config version. It does not change
// after Compile, so any number of reviews may share it.
type Engine struct {
	rules    []*rule // the rules with a match, in the order of the config; rule.index is the position here
	scopes   *scopes
	added    *lineRules
	removed  *lineRules
	serious  *lineRules // the serious rules on added lines, which also read other forms of the code
	paths    *lineRules // on file or path
	messages []*rule    // on title, body or commit_message
	whole    []*rule    // with an expression instead of a match
	kinds    kinds

	scratches sync.Pool // the buffers of finished passes
}

// Compile compiles the enabled rules that have a match or an expression. It
// leaves the others out: they are prose for a model's checklist. The error names
// the rule whose pattern, glob or expression does not compile. The rules of the held
// agents don't trust what the base says about its files.
func Compile(cfg []config.Rule, held ...string) (*Engine, error) {
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
		r.held = slices.Contains(held, r.Agent)
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
	e.serious = newLineRules(slices.DeleteFunc(slices.Clone(added), func(r *rule) bool { return !r.serious() }))
	e.added, e.removed, e.paths = newLineRules(added), newLineRules(removed), newLineRules(paths)
	return e, nil
}

// Scan prepares the scan of one change. The scan runs when the first agent asks
// for its share. Facts and classification must not change while the Scan is in
// use.
func (e *Engine) Scan(facts *pipeline.PRFacts, classification *pipeline.Classification) *Scan {
	return &Scan{engine: e, facts: facts, classification: classification, running: make(chan struct{}, 1)}
}

// ReadsLabels reports whether a rule's expression reads the labels of a change.
func (e *Engine) ReadsLabels() bool {
	reads := func(r *rule) bool { return r.when != nil && r.when.ReadsLabels() }
	return slices.ContainsFunc(e.whole, reads) || slices.ContainsFunc(e.rules, reads)
}

// ReadsType reports whether a rule's expression reads the type of a change.
func (e *Engine) ReadsType() bool {
	reads := func(r *rule) bool { return r.when != nil && r.when.ReadsType() }
	return slices.ContainsFunc(e.whole, reads) || slices.ContainsFunc(e.rules, reads)
}

// ReadsCommits reports whether one of the agent's rules reads commit messages.
func (e *Engine) ReadsCommits(agent string) bool {
	return slices.ContainsFunc(e.messages, func(r *rule) bool { return r.on == config.OnCommitMessage && r.Agent == agent })
}

// lineRules are rules that look at one kind of line, or at paths.
type lineRules struct {
	rules    []*rule
	finder   *literals.Finder
	owners   [][]owner // by literal
	always   []*rule   // rules without a literal
	nonASCII []*rule   // rules without a literal that need a character beyond ASCII
}

// owner is a rule that needs a literal, and the literal as the rule needs it.
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
		case r.nonASCII != nil:
			l.nonASCII = append(l.nonASCII, r)
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
