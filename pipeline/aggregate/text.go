package aggregate

import (
	"strings"
	"unicode"
)

// normalised is a title or section in lower case, without punctuation, and
// with its white space collapsed.
func normalised(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsPunct(r) || unicode.IsSymbol(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
	return collapsed(s)
}

// collapsed is code with its white space collapsed.
func collapsed(s string) string { return strings.Join(strings.Fields(s), " ") }

// title is what titles are compared by.
type title struct {
	norm string
}

// titles are those seen so far: many findings share a rule's.
type titles map[string]*title

func (ts titles) of(s string) *title {
	t := ts[s]
	if t == nil {
		t = &title{norm: normalised(s)}
		ts[s] = t
	}
	return t
}
