package secrets

import (
	"math/big"
	"regexp"
	"strings"
)

// A piece of a token may be a number that a program joins to strings: "a" + 12 + "b", `a${12}b`,
// "a%db" % 12. The functions in this file read numbers between strings as strings.

const (
	// maxDigits bounds the length of a number, and maxNumbers how many numbers may follow each
	// other without a string between.
	maxDigits  = 160
	maxNumbers = 64
)

// numeral matches a number as programs write it: in decimal or after 0x, 0o and 0b, with
// underscores and a type suffix.
var numeral = regexp.MustCompile(`^(0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|[0-9][0-9_]*)(?:[uUlLnN]{1,3}|[ui](?:8|16|32|64|128|size))?$`)

// insertedNumber matches a number in the braces of a template, optionally in a call or with a
// format.
var insertedNumber = regexp.MustCompile(`^\s*(?:[\w.]{1,24}\(\s*)?(\w+)\s*\)?(?:\.\w{1,12}(?:\(\s*\))?)?(?:![rsa])?(?::[0-9]{0,3}([cdxX])?)?\s*$`)

// numberOf is the value of a word that is a number, in decimal, or "".
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

// formatNumber is how a format verb writes a number, or "" if that is not a character of a token.
func formatNumber(number string, verb byte) string {
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

// verbOf is the letter of a format placeholder, or 0.
func verbOf(place string) byte {
	if strings.HasPrefix(place, "%") {
		return place[len(place)-1]
	}
	if i := strings.IndexByte(place, ':'); i >= 0 && i+2 < len(place) {
		return place[len(place)-2]
	}
	return 0
}

// numberAt reads the word between two offsets as a number that is a piece of a string. An index in
// brackets is not.
func (s sourceText) numberAt(from, to int) string {
	number := numberOf(string(s[from:to]))
	if number == "" || s.at(from-1) == '[' && s.at(to) == ']' {
		return ""
	}
	if s.at(from-1) == '-' && strings.IndexByte("+(,&|.", s.at(from-2-blanksBefore(s, from-1))) >= 0 {
		return "-" + number
	}
	return number
}

// blanksBefore counts the spaces that end at an offset, up to a bound.
func blanksBefore(text []byte, at int) int {
	n := 0
	for n < min(at, 8) && (text[at-1-n] == ' ' || text[at-1-n] == '\t') {
		n++
	}
	return n
}

// numberBefore is the number before the quote of a string, with an operator between.
func (s sourceText) numberBefore(quote int) (chainPiece, bool) {
	const most = 24
	to, between := quote, 0
	for to > 0 && quote-to < most && strings.IndexByte(" \t\r\n+.&|,)<", s[to-1]) >= 0 {
		if s[to-1] > ' ' {
			between++
		}
		to--
	}
	from := to
	for from > 0 && to-from < maxDigits && isWord(s[from-1]) {
		from--
	}
	if between == 0 || from == to || !isDigit(s[from]) {
		return chainPiece{}, false
	}
	number := s.numberAt(from, to)
	return chainPiece{from: from, to: to, gap: gap{value: number}}, number != ""
}

// withoutNumbers is a row without its numbers.
func withoutNumbers(row []chainPiece) (texts []chainPiece) {
	var left gap
	for _, c := range row {
		if c.value != "" {
			left = gap{soft: true, list: left.list || c.list, plus: left.plus || c.plus, alternative: left.alternative || c.alternative}
			continue
		}
		c.soft, c.list, c.plus, c.alternative = c.soft || left.soft, c.list || left.list, c.plus || left.plus, c.alternative || left.alternative
		texts, left = append(texts, c), gap{}
	}
	return texts
}

// replaceNumber replaces an insertion that holds only a number by the number. It leaves an
// insertion that may also be a placeholder for a string.
func (p *rowReader) replaceNumber(from, begin, end, to int) bool {
	m := insertedNumber.FindSubmatch(p.text[begin:end])
	if m == nil || !isDigit(m[1][0]) {
		return false
	}
	verb := byte(0)
	if len(m[2]) > 0 {
		verb = m[2][0]
	}
	const place = 2 // digits of a placeholder's number
	number := formatNumber(numberOf(string(m[1])), verb)
	if number == "" || len(number) > to-from || p.text[from] == '{' && begin-from == 1 && end-begin <= place {
		return false
	}
	n := copy(p.text[from:], number)
	for i := from + n; i < to; i++ {
		p.text[i] = leftOut
	}
	return true
}
