package aggregate

import (
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline/plaintext"
	"github.com/reviewgate/reviewgate/policies/words"
)

// title is a title in the form in which titles are compared.
type title struct {
	norm     string
	words    []int32 // the significant words, distinct and ascending
	tradeOff bool    // it is the title of combined findings
}

// titles caches titles: many findings share their rule's title.
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
	t := &title{norm: words.Normalised(subject), tradeOff: tradeOff}
	if t.norm == "" {
		t.norm = plaintext.Line(subject) // it is only punctuation: "==" differs from "!="
	}
	for _, w := range significant(t.norm) {
		id, ok := ts.words[w]
		if !ok {
			id = int32(len(ts.words))
			ts.words[w] = id
		}
		t.words = append(t.words, id)
	}
	slices.Sort(t.words)
	ts.known[s] = t
	return t
}

// significant returns the significant words of a normalised title. A title of only stop words keeps
// them.
func significant(norm string) []string {
	if some := words.Significant(norm); len(some) > 0 {
		return some
	}
	return words.Distinct(norm)
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

// alike reports whether two titles are equal or share half of the significant words of the shorter
// one.
func (t *title) alike(other *title) bool {
	return t.norm == other.norm || words.Alike(t.common(other), len(t.words), len(other.words))
}
