package aggregate

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// ground finds the models' findings whose evidence quotes the diff: each line of the evidence must
// occur in the diff, with white space collapsed. Evidence without a word of some length proves
// nothing.
func ground(in *input, findings []*item) {
	var diff *quotes
	for _, f := range findings {
		if f.Model == "" || in.proven(f) || f.Severity.Rank() < pipeline.SeverityMajor.Rank() {
			continue // it makes no difference
		}
		if diff == nil {
			diff = newQuotes(in.Facts.Files)
		}
		f.proof.Grounded = diff.hold(f.Evidence)
	}
}

// The bounds of the search for a quote: the shortest word that is looked up, in bytes, and how many
// lines with that word are compared, in the order of the diff.
const (
	minQuotedWord  = 3
	maxQuotedLines = 256
)

// quotes indexes the lines of a diff by their words.
type quotes struct {
	by map[string][]string
}

func newQuotes(files []pipeline.File) *quotes {
	q := &quotes{by: map[string][]string{}}
	for i := range files {
		for _, h := range files[i].Hunks {
			for _, l := range h.Lines {
				q.add(plaintext.Line(l.Text))
			}
		}
	}
	return q
}

func (q *quotes) add(line string) {
	for _, word := range quotedWords(line) {
		if lines := q.by[word]; len(lines) < maxQuotedLines {
			q.by[word] = append(lines, line)
		}
	}
}

// hold reports whether all lines of the evidence occur in the diff.
func (q *quotes) hold(evidence []string) bool {
	found := false
	for _, e := range evidence {
		for line := range strings.Lines(e) {
			line = strings.Trim(plaintext.Line(line), "`\"'")
			if line == "" {
				continue
			}
			if found = q.contains(line); !found {
				return false
			}
		}
	}
	return found
}

// contains reports whether a line of the diff contains the text word by word. The first and last
// word may be parts of longer ones.
func (q *quotes) contains(text string) bool {
	words := quotedWords(text)
	if len(words) == 0 {
		return false
	}
	rarest := slices.MinFunc(words, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(q.by[a]), len(q.by[b])), cmp.Compare(a, b))
	})
	return slices.ContainsFunc(q.by[rarest], func(line string) bool { return strings.Contains(line, text) })
}

// quotedWords are the distinct words of a line that are long enough to look up.
func quotedWords(line string) []string {
	var words []string
	for word := range strings.FieldsFuncSeq(line, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }) {
		if len(word) >= minQuotedWord && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return words
}
