package secrets

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A token can be written so that it stands in no line as it is: with escapes, with
// characters that nobody sees, in pieces that the program puts together, or encoded.
// The functions of this file read a text as a program or a person would, and remember
// where each character of the reading comes from.

// reading is a text as it is meant, with the offset in the source of each of its bytes
// and, at the end, of the source's end.
type reading struct {
	text string
	from []int
}

// spanIn returns the stretch of the source that a stretch of the reading stands for.
func (r *reading) spanIn(from, to int) (int, int) {
	return r.from[from], r.from[to-1] + r.width(to-1)
}

// width is how many bytes of the source one byte of the reading stands for, without
// what was left out after it.
func (r *reading) width(i int) int {
	return max(1, min(maxUnit, r.from[i+1]-r.from[i]))
}

// maxUnit is the longest way to write one character that is read: "&#x1F600;" and
// "\u{10ffff}" have nine and ten bytes.
const maxUnit = 12

type reader struct {
	out  strings.Builder
	from []int
	odd  bool // the reading differs from the source
}

func (r *reader) put(c rune, at int) {
	n := r.out.Len()
	r.out.WriteRune(c)
	for range r.out.Len() - n {
		r.from = append(r.from, at)
	}
}

// plainly reads escapes as the characters that they stand for, leaves out what is not
// seen, and spells letters of other widths and styles in ASCII. It returns nil where
// that changes nothing.
func plainly(text string) *reading {
	if !strings.ContainsAny(text, `\%&`) && isASCII(text) {
		return nil
	}
	r := &reader{from: make([]int, 0, len(text)+1)}
	r.out.Grow(len(text))
	for i := 0; i < len(text); {
		c, n := r.unit(text, i)
		if c >= 0 {
			r.put(c, i)
		}
		i += n
	}
	if !r.odd {
		return nil
	}
	return &reading{text: r.out.String(), from: append(r.from, len(text))}
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// unit reads one character at an offset, and how many bytes it has there. The
// character is -1 for what says nothing.
func (r *reader) unit(text string, i int) (rune, int) {
	switch b := text[i]; {
	case b == '\\':
		if c, n := escaped(text[i:]); n > 0 {
			r.odd = true
			return c, n
		}
	case b == '%':
		if c, ok := number(text, i+1, 2, 16); ok {
			r.odd = true
			return c, 3
		}
	case b == '&':
		if c, n := entity(text[i:]); n > 0 {
			r.odd = true
			return c, n
		}
	case b >= utf8.RuneSelf:
		c, n := utf8.DecodeRuneInString(text[i:])
		if unseen(c) {
			r.odd = true
			return -1, n
		}
		if p := norm.NFKC.PropertiesString(text[i : i+n]); p.Decomposition() != nil {
			if d := norm.NFKC.String(text[i : i+n]); len(d) == 1 {
				r.odd = true
				return rune(d[0]), n
			}
		}
		return c, n
	}
	return rune(text[i]), 1
}

// escaped reads an escape of the programming languages in most use: \xHH, \uHHHH,
// \u{H...}, \UHHHHHHHH, \OOO, and a line's end that a backslash continues.
func escaped(s string) (rune, int) {
	if len(s) < 2 {
		return 0, 0
	}
	switch s[1] {
	case 'x':
		if c, ok := number(s, 2, 2, 16); ok {
			return c, 4
		}
	case 'u':
		if c, ok := number(s, 2, 4, 16); ok {
			return c, 6
		}
		if end := strings.IndexByte(s[:min(len(s), maxUnit)], '}'); end > 3 && s[2] == '{' {
			if c, ok := number(s, 3, end-3, 16); ok {
				return c, end + 1
			}
		}
	case 'U':
		if c, ok := number(s, 2, 8, 16); ok {
			return c, 10
		}
	case '0', '1':
		if c, ok := number(s, 1, 3, 8); ok {
			return c, 4
		}
	case '\n':
		return -1, 2 + blanks(s[2:])
	case '\r':
		if strings.HasPrefix(s[2:], "\n") {
			return -1, 3 + blanks(s[3:])
		}
	}
	return 0, 0
}

// blanks counts the blanks that a text begins with, up to a line's usual indentation.
func blanks(s string) int {
	n := 0
	for n < min(len(s), 64) && (s[n] == ' ' || s[n] == '\t') {
		n++
	}
	return n
}

// entity reads a character reference of HTML by number.
func entity(s string) (rune, int) {
	end := strings.IndexByte(s[:min(len(s), maxUnit)], ';')
	if end < 3 || s[1] != '#' {
		return 0, 0
	}
	base, at := 10, 2
	if s[2] == 'x' || s[2] == 'X' {
		base, at = 16, 3
	}
	if c, ok := number(s, at, end-at, base); ok {
		return c, end + 1
	}
	return 0, 0
}

// number reads n digits as the number of an ASCII character that is seen: nothing else
// is part of a token.
func number(s string, at, n, base int) (rune, bool) {
	if n < 1 || at+n > len(s) {
		return 0, false
	}
	v, err := strconv.ParseUint(s[at:at+n], base, 32)
	if err != nil || v <= ' ' || v >= 0x7f {
		return 0, false
	}
	return rune(v), true
}

// unseen reports whether a character is not seen where it stands: a soft hyphen, a
// zero-width or a bidi character, a variation selector, a tag.
func unseen(c rune) bool {
	return unicode.Is(unicode.Cf, c) || unicode.Is(unicode.Variation_Selector, c) || c == 0x034f || c == 0x115f || c == 0x1160 || c == 0x17b4 || c == 0x17b5 || c == 0x3164 || c == 0xffa0
}

// joined reads pieces of text that a program puts together as one text: "a" + "b",
// 'a' . 'b', "a" "b", also over lines. It returns nil where the text has no such pieces.
func joined(text string) *reading {
	var out *reader
	kept := 0
	for i := 0; i < len(text); i++ {
		if !isQuote(text[i]) {
			continue
		}
		end := junction(text, i)
		if end < 0 {
			continue
		}
		if out == nil {
			out = &reader{from: make([]int, 0, len(text)+1)}
			out.out.Grow(len(text))
		}
		out.copy(text, kept, i)
		kept, i = end, end-1
	}
	if out == nil {
		return nil
	}
	out.copy(text, kept, len(text))
	return &reading{text: out.out.String(), from: append(out.from, len(text))}
}

func (r *reader) copy(text string, from, to int) {
	r.out.WriteString(text[from:to])
	for i := from; i < to; i++ {
		r.from = append(r.from, i)
	}
}

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

// maxJunction is how far two pieces may stand apart: an operator, blanks, a line's end
// and an indentation.
const maxJunction = 80

// junction returns where the next piece begins if the quote at an offset ends one and
// nothing but an operator that joins them stands between, or -1.
func junction(text string, at int) int {
	operators := 0
	for i := at + 1; i < min(len(text), at+maxJunction); i++ {
		switch c := text[i]; {
		case isQuote(c):
			if i == at+1 && operators == 0 {
				return -1 // an empty text, or a quote that is doubled
			}
			return i + 1
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\\' || c == '(' || c == ')':
		case c == '+' || c == '.' || c == '&' || c == '|' || c == '~' || c == '<':
			if operators++; operators > 2 {
				return -1
			}
		default:
			return -1
		}
	}
	return -1
}

// through maps a reading of a reading back to the source.
func (r *reading) through(below *reading) *reading {
	if below == nil {
		return r
	}
	from := make([]int, len(r.from))
	for i, at := range r.from {
		from[i] = below.from[at]
	}
	return &reading{text: r.text, from: from}
}

// disguised returns the tokens in a text that stand there in another form.
func (s *formatSet) disguised(text string) []match {
	var out []match
	plain := plainly(text)
	source := text
	if plain != nil {
		out = append(out, s.in(plain)...)
		source = plain.text
	}
	if pieces := joined(source); pieces != nil {
		out = append(out, s.in(pieces.through(plain))...)
	}
	return append(out, s.encoded(text)...)
}

func (s *formatSet) in(r *reading) []match {
	found := s.find(r.text)
	out := found[:0]
	for _, m := range found {
		if isPlaceholderToken(r.text[m.from:m.to]) {
			continue
		}
		m.start, _ = r.spanIn(m.start, m.start+1)
		m.from, m.to = r.spanIn(m.from, m.to)
		out = append(out, m)
	}
	return out
}

// What is looked into for an encoded token: at least 28 characters, as 20 bytes have. A
// longer text is looked into by windows of 16 KB, which is more than a key or a file with
// credentials has, and which overlap by 4 KB.
const (
	minEncoded  = 28
	minDecoded  = 20
	maxEncoded  = 16 << 10
	nextEncoded = 12 << 10
	// minWrapped is how long the lines are of a text that is wrapped.
	minWrapped = 16
	// maxBegins is at how many places within a run the encoded text is taken to begin.
	maxBegins = 8
)

// encoded returns the runs of base64 that hold a token or a private key. Lines of nothing
// else are one run.
func (s *formatSet) encoded(text string) []match {
	var out []match
	for i := 0; i < len(text); {
		if !isBase64(text[i]) {
			i++
			continue
		}
		from := i
		var run string
		if i = endOfBase64(text, i); isLineOfBase64(text, from, i) {
			run, i = unwrapped(text, from, i)
		} else {
			run = text[from:i]
		}
		for at := 0; len(run)-at >= minEncoded; at += nextEncoded {
			if r := s.hides(run[at:min(len(run), at+maxEncoded)]); r != nil {
				out = append(out, match{rule: r, start: from, from: from, to: i})
				break
			}
		}
	}
	return out
}

func endOfBase64(text string, i int) int {
	for i < len(text) && isBase64(text[i]) {
		i++
	}
	return i
}

// isLineOfBase64 reports whether a run is all that its line holds, and long enough for
// one of several.
func isLineOfBase64(text string, from, to int) bool {
	begins := strings.TrimLeft(text[lineStart(text, from):from], " \t") == ""
	return begins && to-from >= minWrapped && to < len(text) && (text[to] == '\n' || strings.HasPrefix(text[to:], "\r\n"))
}

// unwrapped returns the run that begins with a line of base64 and goes on with the lines
// after it, as far as they hold nothing else, and where it ends in the text.
func unwrapped(text string, from, to int) (run string, end int) {
	var b strings.Builder
	b.WriteString(text[from:to])
	for to < len(text) {
		next := to + 1 + strings.IndexByte(text[to:], '\n')
		for next < len(text) && (text[next] == ' ' || text[next] == '\t') {
			next++
		}
		last := endOfBase64(text, next)
		if last == next || last < len(text) && !strings.ContainsRune("\r\n=", rune(text[last])) {
			break
		}
		b.WriteString(text[next:last])
		if to = last; to == len(text) || text[to] == '=' || last-next < minWrapped {
			break
		}
	}
	return b.String(), to
}

func isBase64(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '+' || c == '/' || c == '-' || c == '_'
}

// hides returns the rule of what a run of base64 holds, or nil.
func (s *formatSet) hides(run string) *rule {
	// A run may begin with letters that are not part of it, up to three, and with a path.
	begins := []int{0, 1, 2, 3}
	for i := 0; i < len(run) && len(begins) < 4+maxBegins; i++ {
		if c := run[i]; c == '/' || c == '-' || c == '_' || c == '+' {
			begins = append(begins, i+1)
		}
	}
	for _, at := range begins {
		if r := s.hidesFrom(run[min(at, len(run)):]); r != nil {
			return r
		}
	}
	return nil
}

func (s *formatSet) hidesFrom(part string) *rule {
	encoding := base64.RawStdEncoding
	if strings.ContainsAny(part, "-_") {
		encoding = base64.RawURLEncoding
	}
	if len(part)%4 == 1 {
		part = part[:len(part)-1]
	}
	decoded, _ := encoding.DecodeString(part) // as far as it can be
	for _, plain := range bytes.FieldsFunc(decoded, func(c rune) bool { return c < ' ' && c != '\n' && c != '\r' && c != '\t' || c == 0x7f }) {
		if len(plain) < minDecoded {
			continue
		}
		plain := string(plain)
		if strings.Contains(plain, "PRIVATE KEY-----") {
			return keyInBase64
		}
		for _, m := range s.find(plain) {
			if !isPlaceholderToken(plain[m.from:m.to]) {
				return m.rule
			}
		}
	}
	return nil
}

var keyInBase64 = &rule{id: rulePrivateKey, description: title(rulePrivateKey)}
