package secrets

import (
	"math/big"
	"regexp"
	"strings"
)

// A piece of a token may be a number, which a program writes out where it puts texts
// together: "a" + 12 + "b", `a${12}b`, "a%db" % 12. The functions of this file read numbers
// among texts as texts.

const (
	// maxDigits is how long a number may be, and maxNumbers how many of them follow each
	// other without a text.
	maxDigits  = 160
	maxNumbers = 64
)

// numeral is a number as programs write it: in decimal or after 0x, 0o and 0b, with
// underscores and a suffix that tells its type.
var numeral = regexp.MustCompile(`^(0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|[0-9][0-9_]*)(?:[uUlLnN]{1,3}|[ui](?:8|16|32|64|128|size))?$`)

// insertedNumber is one in the braces of a template, with a call around it, or with how it
// is to be written.
var insertedNumber = regexp.MustCompile(`^\s*(?:[\w.]{1,24}\(\s*)?(\w+)\s*\)?(?:\.\w{1,12}(?:\(\s*\))?)?(?:![rsa])?(?::[0-9]{0,3}([cdxX])?)?\s*$`)

// numberOf is what the number says that a word is, in decimal; empty for another word.
func numberOf(word string) string {
	if word == "" || !isDigit(word[0]) || len(word) > maxDigits {
		return ""
	}
	m := numeral.FindStringSubmatch(word)
	if m == nil {
		return ""
	}
	digits := strings.ReplaceAll(m[1], "_", "")
	if len(digits) < 2 || digits[0] != '0' || isDigit(digits[1]) {
		return digits
	}
	if n, ok := new(big.Int).SetString(digits, 0); ok {
		return n.String()
	}
	return ""
}

// written is how a format writes a number by one of its verbs; empty for what is no
// character of a token.
func written(number string, verb byte) string {
	if verb != 'c' && verb != 'x' && verb != 'X' {
		return number
	}
	n, ok := new(big.Int).SetString(number, 10)
	switch {
	case !ok:
		return ""
	case verb == 'x':
		return n.Text(16)
	case verb == 'X':
		return strings.ToUpper(n.Text(16))
	case !n.IsInt64() || n.Int64() >= 0x7f || n.Int64() < 0 || !isTokens(byte(n.Int64())):
		return ""
	}
	return string(rune(n.Int64()))
}

// verbOf is the letter by which a place in a format says how it writes what it gets, or 0.
func verbOf(place string) byte {
	if strings.HasPrefix(place, "%") {
		return place[len(place)-1]
	}
	if i := strings.IndexByte(place, ':'); i >= 0 && i+2 < len(place) {
		return place[len(place)-2]
	}
	return 0
}

// numberAt reads the word from an offset to another as a number that is a piece of a text. An
// index in brackets is none.
func (p *pieced) numberAt(from, to int) string {
	said := numberOf(string(p.text[from:to]))
	if said == "" || p.at(from-1) == '[' && p.at(to) == ']' {
		return ""
	}
	if p.at(from-1) == '-' && strings.IndexByte("+(,&|.", p.at(from-2-blanksBefore(p.text, from-1))) >= 0 {
		return "-" + said
	}
	return said
}

// blanksBefore counts the blanks that end at an offset, a few at most.
func blanksBefore(text []byte, at int) int {
	n := 0
	for n < min(at, 8) && (text[at-1-n] == ' ' || text[at-1-n] == '\t') {
		n++
	}
	return n
}

// numberBefore is the number that stands before the quote of a text, with an operator
// between.
func (p *pieced) numberBefore(quote int) (chainPiece, bool) {
	const most = 24
	to, between := quote, 0
	for to > 0 && quote-to < most && strings.IndexByte(" \t\r\n+.&|,)<", p.text[to-1]) >= 0 {
		if p.text[to-1] > ' ' {
			between++
		}
		to--
	}
	from := to
	for from > 0 && to-from < maxDigits && isWord(p.text[from-1]) {
		from--
	}
	if between == 0 || from == to || !isDigit(p.text[from]) {
		return chainPiece{}, false
	}
	said := p.numberAt(from, to)
	return chainPiece{from: from, to: to, gap: gap{said: said}}, said != ""
}

// withoutNumbers is a row without the numbers in it.
func withoutNumbers(row []chainPiece) (texts []chainPiece) {
	var left gap
	for _, c := range row {
		if c.said != "" {
			left = gap{soft: true, list: left.list || c.list, plus: left.plus || c.plus, other: left.other || c.other}
			continue
		}
		c.soft, c.list, c.plus, c.other = c.soft || left.soft, c.list || left.list, c.plus || left.plus, c.other || left.other
		texts, left = append(texts, c), gap{}
	}
	return texts
}

// writeOut writes in the place of an insertion the number that is all that stands in it, and
// leaves out the rest. What may be a place for another text as well is left.
func (p *pieced) writeOut(from, begin, end, to int) bool {
	m := insertedNumber.FindSubmatch(p.text[begin:end])
	if m == nil || !isDigit(m[1][0]) {
		return false
	}
	verb := byte(0)
	if len(m[2]) > 0 {
		verb = m[2][0]
	}
	const place = 2 // digits of the number of one
	said := written(numberOf(string(m[1])), verb)
	if said == "" || len(said) > to-from || p.text[from] == '{' && begin-from == 1 && end-begin <= place {
		return false
	}
	n := copy(p.text[from:], said)
	for i := from + n; i < to; i++ {
		p.text[i] = leftOut
	}
	return true
}
