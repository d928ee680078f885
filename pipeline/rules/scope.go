package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/glob"
)

// scopes decides which rules look at which file. The globs of all rules are
// matched at once.
type scopes struct {
	rules    []*rule
	set      *glob.Set
	includes [][]int // by glob, the rules that name it
	excludes [][]int
}

func compileScopes(rules []*rule) (*scopes, error) {
	s := &scopes{rules: rules}
	var patterns []string
	at := map[string]int{}
	index := func(r *rule, pattern string) (int, error) {
		i, ok := at[pattern]
		if ok {
			return i, nil
		}
		if err := glob.Validate(pattern); err != nil {
			return 0, fmt.Errorf("compile rule %q: path %q: %w", r.ID, pattern, err)
		}
		i = len(patterns)
		at[pattern] = i
		patterns = append(patterns, pattern)
		s.includes, s.excludes = append(s.includes, nil), append(s.excludes, nil)
		return i, nil
	}
	for _, r := range rules {
		for _, p := range r.Match.Paths {
			i, err := index(r, p)
			if err != nil {
				return nil, err
			}
			s.includes[i] = append(s.includes[i], r.index)
		}
		for _, p := range r.Match.ExcludePaths {
			i, err := index(r, p)
			if err != nil {
				return nil, err
			}
			s.excludes[i] = append(s.excludes[i], r.index)
		}
	}
	var err error
	if s.set, err = glob.Compile(patterns); err != nil {
		return nil, fmt.Errorf("compile the rules' paths: %w", err)
	}
	return s, nil
}

// apply writes into active, which has a place for each rule, which rules look
// at the file.
func (s *scopes) apply(f *pipeline.File, active []bool) {
	for i, r := range s.rules {
		active[i] = len(r.Match.Paths) == 0
	}
	matched := s.set.Match(f.Path)
	for _, p := range matched {
		for _, i := range s.includes[p] {
			active[i] = true
		}
	}
	for _, p := range matched {
		for _, i := range s.excludes[p] {
			active[i] = false
		}
	}
	for i, r := range s.rules {
		active[i] = active[i] && r.looksAt(f)
	}
}

func (r *rule) looksAt(f *pipeline.File) bool {
	return !r.passesOver(f) &&
		(r.tests || !f.Test) &&
		(len(r.Match.Languages) == 0 || slices.ContainsFunc(r.Match.Languages, func(l string) bool {
			return strings.EqualFold(l, f.Language)
		}))
}

// passesOver says whether the rule leaves the file's lines alone because they
// are nobody's own work. Whoever opens the pull request chose the path, so
// that rules of major and critical findings look all the same.
func (r *rule) passesOver(f *pipeline.File) bool {
	onPath := r.on == config.OnFile || r.on == config.OnPath
	return !onPath && (f.GeneratedByPath || f.Vendored) && r.Severity.Rank() < pipeline.SeverityMajor.Rank()
}
