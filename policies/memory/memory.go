package memory

import (
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/glob"
	"github.com/reviewgate/reviewgate/policies/words"
)

// A record and a finding that are compared by their titles share at least leastWords significant
// words, half of those of the shorter title, and one in longest of those of the longer one. So a title
// of one word, or one stuffed with words, does not match everything.
const (
	leastWords = 2
	longest    = 4
)

// Set holds false positives in the form in which findings are compared with them. It does not change
// after New, so any number of goroutines may use it.
type Set struct {
	records []record
	byRule  map[string][]int
	byWord  map[string][]int
}

// record is a false positive with what New made of it.
type record struct {
	*pipeline.FalsePositive
	globs *glob.Set // nil if it holds for any file
	words int       // number of significant words of the title
}

// New prepares false positives for comparing. It keeps pointers to them. A record with a glob that is
// not valid matches nothing.
func New(list []pipeline.FalsePositive) *Set {
	s := &Set{byRule: map[string][]int{}, byWord: map[string][]int{}}
	for i := range list {
		r := record{FalsePositive: &list[i]}
		if len(r.Globs) > 0 {
			var err error
			if r.globs, err = glob.Compile(r.Globs); err != nil {
				continue
			}
		}
		n := len(s.records)
		if r.Rule != "" {
			s.byRule[r.Rule] = append(s.byRule[r.Rule], n)
		} else {
			significant := wordsOf(r.Title)
			r.words = len(significant)
			for _, w := range significant {
				s.byWord[w] = append(s.byWord[w], n)
			}
		}
		s.records = append(s.records, r)
	}
	return s
}

// Matching returns the records that a finding matches, in their order in the list. services are the
// services of the finding's file. A finding that no model made matches none.
func (s *Set) Matching(f *pipeline.Finding, services []string) (out []*pipeline.FalsePositive) {
	if f.Model == "" {
		return nil
	}
	var found []int
	if f.RuleID != "" {
		found = slices.Clone(s.byRule[f.RuleID])
	}
	if len(s.byWord) > 0 {
		own := wordsOf(f.Title)
		common := map[int]int{}
		for _, w := range own {
			for _, i := range s.byWord[w] {
				common[i]++
			}
		}
		for i, n := range common {
			if r := &s.records[i]; alike(n, r.words, len(own)) && r.isAbout(f.Agent, f.Category) {
				found = append(found, i)
			}
		}
	}
	slices.Sort(found)
	for _, i := range found {
		if r := &s.records[i]; r.covers(f.Path, services) {
			out = append(out, r.FalsePositive)
		}
	}
	return out
}

// Like reports whether two records are about the same thing in one scope, so that the people who
// taught them agree. Records without a rule whose titles have too few words are never alike.
func Like(a, b *pipeline.FalsePositive) bool {
	if a.Service != b.Service || !slices.Equal(sorted(a.Globs), sorted(b.Globs)) || a.Rule != b.Rule {
		return false
	}
	if a.Rule != "" {
		return true
	}
	one, other := wordsOf(a.Title), wordsOf(b.Title)
	common := 0
	for _, w := range one {
		if slices.Contains(other, w) {
			common++
		}
	}
	return alike(common, len(one), len(other)) && (&record{FalsePositive: a}).isAbout(b.Agent, b.Category)
}

// Wider reports whether a record may be about findings that another one, which it is like, is not
// about: it leaves out the agent or the category, or its title has words that the other title lacks.
func Wider(a, than *pipeline.FalsePositive) bool {
	if a.Rule != "" {
		return false
	}
	other := wordsOf(than.Title)
	return a.Agent != than.Agent || words.Normalised(a.Category) != words.Normalised(than.Category) ||
		slices.ContainsFunc(wordsOf(a.Title), func(w string) bool { return !slices.Contains(other, w) })
}

// isAbout reports whether the record is about an agent and a category of findings. What either side
// leaves empty agrees with anything.
func (r *record) isAbout(agent, category string) bool {
	return agree(r.Agent, agent) && agree(words.Normalised(r.Category), words.Normalised(category))
}

func agree(a, b string) bool { return a == b || a == "" || b == "" }

// covers reports whether the record is about a file. A finding without a file has neither a service
// nor a path that a glob matches.
func (r *record) covers(path string, services []string) bool {
	if r.Service != "" && !slices.Contains(services, r.Service) {
		return false
	}
	return r.globs == nil || path != "" && r.globs.Any(path)
}

func wordsOf(title string) []string { return words.Significant(words.Normalised(title)) }

// alike reports whether titles with a and b significant words have enough of them in common.
func alike(common, a, b int) bool {
	return common >= leastWords && words.Alike(common, a, b) && longest*common >= max(a, b)
}

func sorted(list []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(list)))
}
