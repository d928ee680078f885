package model

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// minQuote is how many characters that are not blank a quote has at least, so
// that a brace or a return proves nothing.
const minQuote = 8

// minWord is how many letters or digits in a row it has, for the same reason.
const minWord = 3

// maxPlaces bounds the places at which a quote is looked for in a hunk.
const maxPlaces = 200

// passage is lines that stand together after the change, with blanks collapsed.
type passage struct {
	text    string
	starts  []int // of each line, in text
	numbers []int // of each line, in the file; all 0 of words
	added   []bool
}

// span is where a quote stands: a range of lines.
type span struct {
	from, to int
	added    bool   // by the change, one of them at least
	text     string // the quote, or the lines that it runs across
}

// passageOf is what lines are after the change. Blank ones count for nothing, as
// blanks do.
func passageOf(lines []line) passage {
	var b strings.Builder
	var p passage
	for _, l := range lines {
		text := plaintext.Line(l.text)
		if l.sign == '-' || text == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		p.starts, p.numbers, p.added = append(p.starts, b.Len()), append(p.numbers, l.number), append(p.added, l.sign == '+')
		b.WriteString(text)
	}
	p.text = b.String()
	return p
}

// spans are the places where a quote stands.
func (p *passage) spans(quote string) (out []span) {
	for at := 0; len(out) < maxPlaces; {
		i := strings.Index(p.text[at:], quote)
		if i < 0 {
			break
		}
		i += at
		first, last := p.line(i), p.line(i+len(quote)-1)
		s := span{from: p.numbers[first], to: p.numbers[last], added: slices.Contains(p.added[first:last+1], true), text: quote}
		if first < last {
			s.text = p.lines(first, last)
		}
		out = append(out, s)
		at = i + 1
	}
	return out
}

// lines are those of a quote that runs across several, one by one, so that each
// can be looked for again. Those that prove nothing are left out, unless all do.
func (p *passage) lines(first, last int) string {
	var all, telling []string
	for i := first; i <= last; i++ {
		end := len(p.text)
		if i+1 < len(p.starts) {
			end = p.starts[i+1] - 1
		}
		line := p.text[p.starts[i]:end]
		if all = append(all, line); hasWord(line) {
			telling = append(telling, line)
		}
	}
	if len(telling) == 0 {
		telling = all
	}
	return strings.Join(telling, "\n")
}

// line is the index of the line that a byte of the text is in.
func (p *passage) line(at int) int {
	i, found := slices.BinarySearch(p.starts, at)
	if !found {
		i--
	}
	return i
}

// proves reports whether a quote, with blanks collapsed, says enough to prove
// that somebody read it.
func proves(quote string) bool {
	solid := 0
	for _, r := range quote {
		if !unicode.IsSpace(r) {
			solid++
		}
	}
	return solid >= minQuote && hasWord(quote)
}

// hasWord reports whether a text has a word that is long enough to tell it from
// others.
func hasWord(text string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }),
		func(word string) bool { return utf8.RuneCountInString(word) >= minWord })
}

// sign is what stands before a line in the question.
var sign = regexp.MustCompile(`^(?:[+ ]?\d+|[>@])\|`)

// readings are what a quote may mean, with blanks collapsed: as it is, or with the
// signs that its lines had in the question taken off.
func readings(quote string) []string {
	out := []string{plaintext.Line(quote)}
	lines := strings.Split(quote, "\n")
	signs := 0
	for i, l := range lines {
		if s := sign.FindString(l); s != "" {
			lines[i], signs = l[len(s):], signs+1
		}
	}
	if signs > 0 {
		out = append(out, plaintext.Line(strings.Join(lines, "\n")))
	}
	return slices.DeleteFunc(out, func(q string) bool { return !proves(q) })
}
