package words

import (
	"slices"
	"strings"
	"unicode"

	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// MaxWords bounds the distinct words of a title that count, and so the cost of comparing two.
const MaxWords = 64

// Normalised returns a title or section in lower case, without punctuation, and with collapsed white
// space.
func Normalised(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsPunct(r) || unicode.IsSymbol(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
	return plaintext.Line(s)
}

// Significant returns the first MaxWords distinct words of a normalised title, without stop words and
// plural endings. A title of only stop words has none.
func Significant(normalised string) []string {
	return distinct(normalised, func(w string) (string, bool) { return singular(w), !stopWords[w] })
}

// Distinct returns the first MaxWords distinct words of a normalised title as they are.
func Distinct(normalised string) []string {
	return distinct(normalised, func(w string) (string, bool) { return w, true })
}

func distinct(normalised string, read func(string) (word string, counts bool)) (out []string) {
	for w := range strings.FieldsSeq(normalised) {
		word, counts := read(w)
		if !counts || slices.Contains(out, word) {
			continue
		}
		if out = append(out, word); len(out) == MaxWords {
			break
		}
	}
	return out
}

// Alike reports whether two titles with a and b distinct words have enough words in common: half of
// those of the shorter one.
func Alike(common, a, b int) bool { return 2*common >= min(a, b) }

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
