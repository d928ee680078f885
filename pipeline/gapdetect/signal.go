package gapdetect

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/internal/literals"
	"github.com/reviewgate/reviewgate/policies/glob"
)

// signal is a compiled config.Signal.
type signal struct {
	config.Signal
	pattern *regexp.Regexp
	within  kind      // where matches must start, or 0 for anywhere
	globs   *glob.Set // nil for every file

	experts  []expert
	policies []string // that read the domain
}

func compileSignal(s config.Signal) (*signal, error) {
	out := &signal{Signal: s, within: kindsOf(s.Within)}
	var err error
	if out.pattern, err = regexp.Compile(s.Pattern); err != nil {
		return nil, fmt.Errorf("compile signal %s: %w", s.ID, err)
	}
	if len(s.Globs) == 0 {
		return out, nil
	}
	if out.globs, err = glob.Compile(s.Globs); err != nil {
		return nil, fmt.Errorf("compile signal %s: %w", s.ID, err)
	}
	return out, nil
}

// looksAt reports whether the signal applies to such a file.
func (s *signal) looksAt(f *pipeline.File) bool {
	if len(s.Languages) > 0 && !slices.Contains(s.Languages, f.Language) {
		return false
	}
	return s.globs == nil || s.globs.Any(f.Path)
}

// matches reports whether the line shows the concern. If the line's parts are unknown, a match
// counts wherever it starts.
func (s *signal) matches(text string, kinds []kind) bool {
	if s.within == 0 || len(kinds) == 0 {
		return s.pattern.MatchString(text)
	}
	return slices.ContainsFunc(s.pattern.FindAllStringIndex(text, -1), func(m []int) bool { return m[0] < len(kinds) && kinds[m[0]]&s.within != 0 })
}

// prefilter finds the signals that may match a line by the literals that their patterns require, in
// one pass for all signals.
type prefilter struct {
	matcher *literals.Matcher
	owners  [][]int // by literal, the signals that require it
	always  []int   // signals without a literal
}

func newPrefilter(signals []*signal) *prefilter {
	p := &prefilter{}
	var words []string
	at := map[string]int{}
	put := func(word string, owner int) {
		i, ok := at[word]
		if !ok {
			i = len(words)
			at[word] = i
			words = append(words, word)
			p.owners = append(p.owners, nil)
		}
		p.owners[i] = append(p.owners[i], owner)
	}
	for i, s := range signals {
		required := literals.Required(s.Pattern)
		if required == nil {
			p.always = append(p.always, i)
			continue
		}
		for _, w := range append(required, literals.Folds[:]...) {
			put(w, i)
		}
	}
	p.matcher = literals.NewMatcher(words)
	return p
}

// candidates marks in may the signals that may match the line, and reports whether there are any.
func (p *prefilter) candidates(line string, may []bool) bool {
	clear(may)
	found := len(p.always) > 0
	for _, i := range p.always {
		may[i] = true
	}
	p.matcher.Find(line, func(ids []int, _ int) {
		found = true
		for _, id := range ids {
			for _, i := range p.owners[id] {
				may[i] = true
			}
		}
	})
	return found
}
