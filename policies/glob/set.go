package glob

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Set is a compiled list of patterns. It does not change after Compile, so any number of goroutines
// may use it.
type Set struct {
	patterns int
	all      []int            // **
	exact    map[string][]int // a/b.go
	under    map[string][]int // a/b/**
	named    map[string][]int // **/b.go, **/a/b.go
	inside   map[string][]int // **/b/**

	suffix  map[string][]int     // a/**/*b.go and all other patterns, by the end that they require
	rest    map[string][]general // a/**/*b.go and all else, by the end they require
	lengths []int                // the lengths of the keys of suffix and rest, ascending
}

// general is an expansion that only doublestar can match. It has literal text that is in every path
// that it matches.
type general struct {
	index            int
	pattern          string
	prefix, contains string
}

// Compile validates and compiles the patterns. [Set.Match] returns their indexes in the list.
func Compile(patterns []string) (*Set, error) {
	s := &Set{
		patterns: len(patterns),
		exact:    map[string][]int{},
		under:    map[string][]int{},
		named:    map[string][]int{},
		inside:   map[string][]int{},
		suffix:   map[string][]int{},
		rest:     map[string][]general{},
	}
	for i, p := range patterns {
		expansions, err := parse(p)
		if err != nil {
			return nil, fmt.Errorf("compile pattern %q: %w", p, err)
		}
		for _, e := range expansions {
			s.add(i, e)
		}
	}
	for k := range s.suffix {
		s.lengths = append(s.lengths, len(k))
	}
	for k := range s.rest {
		s.lengths = append(s.lengths, len(k))
	}
	slices.Sort(s.lengths)
	s.lengths = slices.Compact(s.lengths)
	return s, nil
}

// add puts one expansion of the pattern with this index into the table for its shape.
func (s *Set) add(index int, e string) {
	put := func(m map[string][]int, key string) { m[key] = append(m[key], index) }
	if strings.ContainsAny(e, `?[\`) {
		s.addGeneral(index, e)
		return
	}
	head, deep := strings.CutPrefix(e, "**/")
	body, open := strings.CutSuffix(head, "/**")
	ext, star := strings.CutPrefix(head, "*")
	switch {
	case e == "**":
		s.all = append(s.all, index)
	case !strings.Contains(e, "*"):
		put(s.exact, e)
	case deep && !strings.Contains(head, "*"):
		put(s.named, head)
	case deep && star && !strings.ContainsAny(ext, "*/"):
		put(s.suffix, ext)
	case !deep && open && !strings.Contains(body, "*"):
		put(s.under, body)
	case deep && open && !strings.ContainsAny(body, "*/"):
		put(s.inside, body)
	default:
		s.addGeneral(index, e)
	}
}

// addGeneral takes the literal ends of an expansion. It trims the slashes next to a ** from them,
// because the ** may match nothing and take the slashes with it.
func (s *Set) addGeneral(index int, e string) {
	g := general{index: index, pattern: e, contains: longestLiteral(e)}
	suffix := ""
	if i := strings.IndexAny(e, `*?[\`); i >= 0 {
		g.prefix = strings.TrimRight(e[:i], "/")
	}
	if i := strings.LastIndexAny(e, `*?]\`); i >= 0 {
		suffix = strings.TrimLeft(e[i+1:], "/")
	}
	s.rest[suffix] = append(s.rest[suffix], g)
}

// longestLiteral returns the longest text, without slashes at its ends, that is in every path that
// the expansion matches.
func longestLiteral(e string) string {
	if strings.ContainsAny(e, `[\`) {
		return "" // text in a class or after a backslash is not literal
	}
	longest := ""
	for part := range strings.FieldsFuncSeq(e, func(r rune) bool { return r == '*' || r == '?' }) {
		if part = strings.Trim(part, "/"); len(part) > len(longest) {
			longest = part
		}
	}
	return longest
}

func (g *general) match(path string) bool {
	return strings.HasPrefix(path, g.prefix) && strings.Contains(path, g.contains) &&
		doublestar.MatchUnvalidated(g.pattern, path)
}

// Len returns the number of patterns.
func (s *Set) Len() int { return s.patterns }

// Match returns the indexes of the patterns that match the path, ascending. The empty path matches
// nothing.
func (s *Set) Match(path string) []int {
	var out []int
	s.visit(path, func(indexes []int) bool {
		out = append(out, indexes...)
		return true
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// Any reports whether any pattern matches the path.
func (s *Set) Any(path string) bool {
	found := false
	s.visit(path, func([]int) bool {
		found = true
		return false
	})
	return found
}

// visit calls f with the indexes of patterns that match, in any order and possibly more than once,
// until f returns false.
func (s *Set) visit(path string, f func([]int) bool) {
	if path == "" {
		return
	}
	if len(s.all) > 0 && !f(s.all) {
		return
	}
	hit := func(m map[string][]int, key string) bool {
		indexes, ok := m[key]
		return !ok || f(indexes)
	}
	if !hit(s.exact, path) || !hit(s.under, path) {
		return
	}
	for _, n := range s.lengths {
		if n > len(path) {
			break
		}
		end := path[len(path)-n:]
		if !hit(s.suffix, end) {
			return
		}
		rest := s.rest[end]
		for i := range rest {
			if g := &rest[i]; g.match(path) && !f([]int{g.index}) {
				return
			}
		}
	}
	for start := 0; ; {
		end := len(path)
		if n := strings.IndexByte(path[start:], '/'); n >= 0 {
			end = start + n
		}
		if !hit(s.named, path[start:]) || !hit(s.inside, path[start:end]) {
			return
		}
		if end == len(path) {
			break
		}
		if !hit(s.under, path[:end]) {
			return
		}
		start = end + 1
	}
}
