package aggregate

import (
	"slices"
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

// maxWords bounds how many different words of a title count, so that what it
// costs to compare two is bounded.
const maxWords = 64

// title is what titles are compared by.
type title struct {
	norm     string
	words    []int32 // distinct, ascending
	tradeOff bool    // it is the title of findings that were combined
}

// titles are those seen so far: many findings share a rule's.
type titles struct {
	known map[string]*title
	words map[string]int32
}

func newTitles() *titles { return &titles{map[string]*title{}, map[string]int32{}} }

func (ts *titles) of(s string) *title {
	if t := ts.known[s]; t != nil {
		return t
	}
	subject, tradeOff := strings.CutPrefix(s, tradeOffPrefix)
	t := &title{norm: normalised(subject), tradeOff: tradeOff}
	if t.norm == "" {
		t.norm = collapsed(subject) // nothing but punctuation: "==" is not "!="
	}
	for w := range strings.SplitSeq(t.norm, " ") {
		id, ok := ts.words[w]
		if !ok {
			id = int32(len(ts.words))
			ts.words[w] = id
		}
		if !slices.Contains(t.words, id) {
			t.words = append(t.words, id)
		}
		if len(t.words) == maxWords {
			break
		}
	}
	slices.Sort(t.words)
	ts.known[s] = t
	return t
}

// common counts the words that two titles share.
func (t *title) common(other *title) int {
	n := 0
	for i, k := 0, 0; i < len(t.words) && k < len(other.words); {
		switch a, b := t.words[i], other.words[k]; {
		case a == b:
			n, i, k = n+1, i+1, k+1
		case a < b:
			i++
		default:
			k++
		}
	}
	return n
}

// alike reports whether two titles are equal or share half of their words: of
// those of the title that has more.
func (t *title) alike(other *title) bool {
	return t.norm == other.norm || 2*t.common(other) >= max(len(t.words), len(other.words))
}

// half is half of a number of words, rounded up.
func half(words int) int { return (words + 1) / 2 }
