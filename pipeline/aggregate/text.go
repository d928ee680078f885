package aggregate

import (
	"slices"
	"strings"
	"unicode"

	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// normalised is a title or section in lower case, without punctuation, and with collapsed white
// space.
func normalised(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsPunct(r) || unicode.IsSymbol(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
	return plaintext.Line(s)
}

// maxWords bounds the distinct words of a title that count, and so the cost of comparing two.
const maxWords = 64

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
	t := &title{norm: normalised(subject), tradeOff: tradeOff}
	if t.norm == "" {
		t.norm = plaintext.Line(subject) // it is only punctuation: "==" differs from "!="
	}
	for _, w := range significant(t.norm) {
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

// significant are the words of a normalised title without stop words and plural endings. A title of
// only stop words keeps them.
func significant(norm string) []string {
	all := strings.Fields(norm)
	var out []string
	for _, w := range all {
		if !stopWords[w] {
			out = append(out, singular(w))
		}
	}
	if len(out) == 0 {
		return all
	}
	return out
}

// stopWords say nothing about the subject of a title. Words that reverse its meaning, such as "not"
// and "without", are not among them.
var stopWords = func() map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(`a an the this that these those it its is are was were be been being
		has have had do does did can could may might will would should must and or but if then than so as of in
		on at by for from to into onto with over under up out off via per when where which who what how there
		here also just only very all any each every some`) {
		set[w] = true
	}
	return set
}()

// singular is a word without its plural ending, and without an e that may be part of one: "caches"
// becomes "cach", and so does "cache".
func singular(w string) string {
	switch {
	case len(w) > 4 && strings.HasSuffix(w, "ies"):
		return w[:len(w)-3] + "y"
	case len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us") && !strings.HasSuffix(w, "is"):
		w = w[:len(w)-1]
	}
	if len(w) > 3 {
		w = strings.TrimSuffix(w, "e")
	}
	return w
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
	return t.norm == other.norm || 2*t.common(other) >= min(len(t.words), len(other.words))
}
