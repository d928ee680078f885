package secrets

import (
	"bytes"
	"encoding/base64"
	"html"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A token can be written so that no line contains it literally: with escapes, with invisible
// characters, in pieces that the program joins, or encoded. The functions in this file read a text
// as a program or a person would, and record where each character of the reading comes from.

// reading is the meaning of a text. For each of its bytes it has the offset in the source and the
// number of source bytes that the byte stands for. It ends with the offset of the source's end.
type reading struct {
	text string
	from []int
	wide []uint8
}

// spanIn returns the stretch of the source behind a stretch of the reading.
func (r *reading) spanIn(from, to int) (int, int) {
	first, last := r.from[from], 0
	for i := from; i < to; i++ { // a string inside a format comes after the format in the source
		first, last = min(first, r.from[i]), max(last, r.from[i]+int(r.wide[i]))
	}
	return first, last
}

// changed returns the lines of a reading that differ from the source, as a reading of its own. The
// other lines were searched already. It returns nil if no line differs.
func (r *reading) changed() *reading {
	var text []byte
	var from []int
	var wide []uint8
	for start := 0; start < len(r.text); {
		end := lineEnd(r.text, start)
		for i := start; i < end; i++ {
			if r.from[i+1] != r.from[i]+1 {
				text, from, wide = append(text, r.text[start:end]...), append(from, r.from[start:end]...), append(wide, r.wide[start:end]...)
				break
			}
		}
		start = end
	}
	if text == nil {
		return nil
	}
	return &reading{string(text), append(from, r.from[len(r.text)]), wide}
}

type reader struct {
	out  strings.Builder
	from []int
	wide []uint8
	odd  bool // the reading differs from the source
}

// put adds a character that n bytes of the source stand for. Of very many bytes, such as a number
// after a row of zeros, it keeps only the last, which carry the meaning.
func (r *reader) put(c rune, at, n int) {
	if n > math.MaxUint8 {
		at, n = at+n-math.MaxUint8, math.MaxUint8
	}
	before := r.out.Len()
	r.out.WriteRune(c)
	for i := range r.out.Len() - before {
		if r.out.Len()-before == n { // it is the same as in the source
			r.from, r.wide = append(r.from, at+i), append(r.wide, 1)
		} else {
			r.from, r.wide = append(r.from, at), append(r.wide, uint8(n))
		}
	}
}

// plainly decodes escapes, removes invisible characters, and writes letters of other widths and
// styles in ASCII. It returns nil if that changes nothing.
func plainly(text string) *reading {
	if isPlain(text) {
		return nil
	}
	r := newReader(text)
	for i := 0; i < len(text); {
		if n := r.points(text, i) + r.ligature(text, i); n > 0 {
			r.odd = true
			i += n
			continue
		}
		c, n := r.unit(text, i)
		if c >= 0 {
			r.put(c, i, n)
		}
		i += n
	}
	if !r.odd {
		return nil
	}
	return r.reading(text)
}

func newReader(text string) *reader {
	r := &reader{from: make([]int, 0, len(text)+1), wide: make([]uint8, 0, len(text))}
	r.out.Grow(len(text))
	return r
}

func (r *reader) reading(of string) *reading {
	return &reading{r.out.String(), append(r.from, len(of)), r.wide}
}

// isPlain reports whether a text has no other reading.
func isPlain(s string) bool {
	for i := 0; i < len(s); i++ {
		if mayBeOdd[s[i]] && (s[i] != '\r' || isTokens(byteAt(s, i-1)) && isTokens(byteAt(s, i+1))) {
			return false
		}
	}
	return true
}

var mayBeOdd = func() (odd [256]bool) {
	for c := range odd {
		odd[c] = c >= 0x7f || c < ' ' && c != '\t' && c != '\n' || c == '\\' || c == '%' || c == '&'
	}
	return odd
}()

// unit reads one character at an offset, and returns its length in bytes. The character is -1 if it
// has no meaning.
func (r *reader) unit(text string, i int) (rune, int) {
	b := text[i]
	if !mayBeOdd[b] {
		return rune(b), 1
	}
	var c rune
	n := 0
	switch {
	case b == '\\':
		if c, n = cssEscape(text[i:]); n == 0 {
			c, n = escaped(text[i:])
		}
	case b == '%':
		if v, ok := number(text, i+1, 2, 16); ok {
			c, n = canonical(v), 3
		} else if v, ok := number(text, i+2, 4, 16); ok && (text[i+1] == 'u' || text[i+1] == 'U') {
			c, n = canonical(v), 6
		}
	case b == '&':
		c, n = entity(text[i:])
	case b == '\r':
		if !isTokens(byteAt(text, i-1)) || !isTokens(byteAt(text, i+1)) {
			return '\r', 1
		}
		c, n = -1, 1
	case b < utf8.RuneSelf:
		c, n = -1, 1
	default:
		c, n = utf8.DecodeRuneInString(text[i:])
		m := canonical(c)
		switch {
		case c == utf8.RuneError:
			m = -1 // such as a soft hyphen of Latin-1
		case m == ' ' && isTokens(byteAt(text, i-1)) && isTokens(byteAt(text, i+n)):
			m = -1 // a space at which no program splits a token
		}
		r.odd = r.odd || m != c
		return m, n
	}
	if n == 0 {
		return rune(b), 1
	}
	r.odd = true
	return c, n
}

// canonical is the character that a character stands for: a space for white space, -1 for an
// invisible character, and ASCII for another width or style.
func canonical(c rune) rune {
	switch {
	case c < ' ' && (c < '\t' || c > '\r'):
		return -1 // such as the second byte of a letter in UTF-16
	case c <= ' ':
		return ' '
	case c < 0x7f:
		return c
	case invisible(c), c == '\u2800': // an empty pattern of Braille
		return -1
	case c == '\u2010', c == '\u2011', c == '\u2212':
		return '-'
	}
	if like, ok := lookAlikes[c]; ok {
		return like
	}
	if d := norm.NFKC.PropertiesString(string(c)).Decomposition(); len(d) == 1 {
		return rune(d[0])
	}
	return c
}

// lookAlikes maps letters of other scripts to the ASCII letters that they look like. They count as
// these at the beginning of a token or key.
var lookAlikes = func() map[rune]rune {
	out := map[rune]rune{}
	for _, pair := range [][2]string{
		{"аеорсхуіјѕһԁԛԝкӏѵАВЕКМНОРСТХУІЈЅԌҺԚԜ", "aeopcxyijshdqwklvABEKMHOPCTXYIJSGhQW"},
		{"οανικρχυΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "oavikpxuABEZHIKMNOPTYX"},
		{"ɡıցհոսօԼՏՕ", "gighnuoLSO"},
	} {
		ascii := []rune(pair[1])
		for i, c := range []rune(pair[0]) {
			out[c] = ascii[i]
		}
	}
	return out
}()

// escaped reads an escape of the common programming languages: \xHH, \uHHHH, \UHHHHHHHH, \OOO, an
// escape of white space, a line break after a backslash, and a backslash before any other
// character. points reads escapes with braces.
func escaped(s string) (rune, int) {
	if len(s) < 2 {
		return 0, 0
	}
	switch c := s[1]; {
	case c == 'N' || c == 'o':
		if v, n := namedCharacter(s); n > 0 {
			return canonical(v), n
		}
		return rune(c), 2
	case c == 'x' || c == 'u' || c == 'U':
		if v, n := hexadecimal(s); n > 0 {
			return canonical(v), n
		}
	case '0' <= c && c <= '7':
		n := 1
		for n < min(len(s), 4) && '0' <= s[n] && s[n] <= '7' {
			n++
		}
		if v, ok := number(s, 1, n-1, 8); ok {
			return canonical(v), n
		}
	case c == '\n' || c == '\r':
		return -1, 1 + white(s[1:])
	case strings.IndexByte("nrtfvabe", c) >= 0:
		return ' ', 2
	case c > ' ' && c < 0x7f:
		return rune(c), 2
	}
	return 0, 0
}

// hexadecimal reads \xHH, \uHHHH with any number of u, and \UHHHHHHHH.
func hexadecimal(s string) (rune, int) {
	at := 2
	for s[1] == 'u' && byteAt(s, at) == 'u' {
		at++
	}
	// A shell reads fewer digits too.
	const least = 2
	most := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[1]]
	digits := 0
	for digits < most && kinds[byteAt(s, at+digits)]&hex != 0 {
		digits++
	}
	if v, ok := number(s, at, digits, 16); ok && digits >= least {
		return v, at + digits
	}
	return 0, 0
}

// points adds the characters that an escape with braces names by numbers: \u{67}, \x{67}, and
// Ruby's \u{67 68} with several. Each comes from the position of its own number, so the escape may
// have any length. It returns the escape's length, or 0.
func (r *reader) points(text string, at int) int {
	open := at + 2
	switch {
	case text[at] != '\\':
		return 0
	case byteAt(text, at+1) == 'u':
		for byteAt(text, open) == 'u' {
			open++
		}
	case byteAt(text, at+1) != 'x':
		return 0
	}
	if byteAt(text, open) != '{' {
		return 0
	}
	end := numbers(text, open+1, func(rune, int, int) {})
	if end == 0 {
		return 0
	}
	first := at
	numbers(text, open+1, func(v rune, from, to int) {
		if first >= 0 {
			from, first = first, -1
		}
		if text[to] == '}' {
			to++
		}
		if c := canonical(v); c >= 0 {
			r.put(c, from, to-from)
		}
	})
	return end - at
}

// numbers reads hexadecimal numbers of characters from an offset to a closing brace. They may have
// spaces between them and, as in Rust, underscores in them. It returns the end of the brace, or 0
// for anything else.
func numbers(text string, at int, take func(v rune, from, to int)) int {
	some := false
	for at < len(text) {
		switch c := text[at]; {
		case c == '}' && some:
			return at + 1
		case c == ' ' || '\t' <= c && c <= '\r':
			at++
		case kinds[c]&hex != 0:
			from, v := at, rune(0)
			for ; kinds[byteAt(text, at)]&hex != 0 || byteAt(text, at) == '_'; at++ {
				if digit, ok := number(text, at, 1, 16); ok {
					v = min(v<<4|digit, unicode.MaxRune+1)
				}
			}
			if v > unicode.MaxRune || at == len(text) {
				return 0
			}
			take(v, from, at)
			some = true
		default:
			return 0
		}
	}
	return 0
}

// ligature adds the letters that Unicode combines into one character, such as fi, Roman numerals
// and units. It returns the character's length in bytes, or 0 for another character.
func (r *reader) ligature(text string, at int) int {
	if text[at] < utf8.RuneSelf {
		return 0
	}
	const most = 4
	letters := norm.NFKC.PropertiesString(text[at:]).Decomposition()
	if len(letters) < 2 || len(letters) > most {
		return 0
	}
	for _, c := range letters {
		if !isTokens(c) {
			return 0
		}
	}
	_, n := utf8.DecodeRuneInString(text[at:])
	for _, c := range letters {
		r.put(rune(c), at, n)
	}
	return n
}

// cssEscape reads a CSS escape that a space ends, such as "\67 ", if it is a character of a token.
func cssEscape(s string) (rune, int) {
	n := 1
	for n < min(len(s), 7) && kinds[s[n]]&hex != 0 {
		n++
	}
	if n < 3 || byteAt(s, n) != ' ' || byteAt(s, n+1) != '\\' && !isTokens(byteAt(s, n+1)) {
		return 0, 0
	}
	if c, ok := number(s, 1, n-1, 16); ok && c < utf8.RuneSelf && isTokens(byte(c)) {
		return c, n + 1
	}
	return 0, 0
}

// white counts the white space at the start of a text.
func white(s string) int { return len(s) - len(strings.TrimLeft(s, " \t\r\n")) }

// entity reads an HTML character reference, by number or by name. A number need not end in a
// semicolon.
func entity(s string) (rune, int) {
	if !strings.HasPrefix(s, "&#") {
		const longest = 34
		end := strings.IndexByte(s[:min(len(s), longest)], ';')
		if end < 3 {
			return 0, 0
		}
		c, n := utf8.DecodeRuneInString(html.UnescapeString(s[:end+1]))
		if c == '&' && n > 0 && s[:end+1] != "&amp;" {
			return 0, 0 // not a name
		}
		return canonical(c), end + 1
	}
	base, at := 10, 2
	if len(s) > 2 && (s[2] == 'x' || s[2] == 'X') {
		base, at = 16, 3
	}
	end := at
	for end < len(s) && kinds[s[end]]&hex != 0 && (base == 16 || s[end] <= '9') {
		end++
	}
	v, ok := number(s, at, end-at, base)
	if !ok {
		return 0, 0
	}
	if end < len(s) && s[end] == ';' {
		end++
	}
	return canonical(v), end
}

// number reads n digits as the number of a character.
func number(s string, at, n, base int) (rune, bool) {
	if n < 1 || at+n > len(s) {
		return 0, false
	}
	v, err := strconv.ParseUint(s[at:at+n], base, 32)
	if err != nil || v > unicode.MaxRune {
		return 0, false
	}
	return rune(v), true
}

// invisible reports whether a character is invisible: a control character, a soft hyphen, a
// zero-width or bidi character, a variation selector, a tag, a character that could not be decoded,
// or one that Unicode reserves for more of these.
func invisible(c rune) bool {
	switch {
	case 0x7f <= c && c < 0xa0, 0xfff0 <= c && c <= 0xfffd, 0xe0000 <= c && c <= 0xe0fff:
		return true
	}
	return unicode.In(c, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// joinStrings reads pieces of text that a program joins as one text: "a" + "b", 'a' . 'b', "a" "b",
// "a""b", a${'b'}, a#{'b'}, a{'b'}, also over several lines. If lists is set, it also reads the
// items of lists and the arguments of calls as pieces: join(["a", "b"]), concat("a", "b"), "a%s" %
// "b", format("a{}", "b"). It returns nil if the text has no such pieces. It can't tell whether a
// quote begins or ends a string, and so whether "--" or "#" after it begins a comment. If quotedToo
// is set, it counts comments that contain quotes as comments too.
func joinStrings(text string, quotedToo, lists bool) *reading {
	var out *reader
	copied := 0
	leaveOut := func(from, to int) {
		if out == nil {
			out = newReader(text)
		}
		out.copy(text, copied, from)
		copied = to
	}
	var inserted byte // the closing quote of ${'...'}, or the closing brace of ${A:-...}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case (c == '$' || c == '#') && byteAt(text, i+1) == '{':
			n := insertion(text[i:min(len(text), i+maxInsertion)])
			if n == 0 {
				continue
			}
			if inserted = text[i+n-1]; !isQuote(inserted) {
				inserted = '}'
			}
			leaveOut(i, i+n)
			i += n - 1
		case c == '}' && inserted == '}':
			inserted = 0
			leaveOut(i, i+1)
		case c == '{' && isQuote(byteAt(text, i+1)) && isTokens(byteAt(text, i-1)):
			inserted = text[i+1]
			leaveOut(i, i+2)
			i++
		case !isQuote(c):
		case c == inserted && byteAt(text, i+1+blanks(text[i+1:])) == '}':
			n := 2 + blanks(text[i+1:])
			inserted = 0
			leaveOut(i, i+n)
			i += n - 1
		case quotedToo && isTokens(byteAt(text, i-1)) && (isWord(byteAt(text, i+1)) || byteAt(text, i+1) == '.' && isWord(byteAt(text, i+2)) && !isCall(text[i+1:])):
			leaveOut(i, i+1) // g'h' in a shell, and g`h in PowerShell
		default:
			if end := junction(text, i, quotedToo, lists); end > 0 {
				from := i
				if lists {
					from = max(copied, i-len(placeOf.FindString(text[max(0, i-12):i])))
				}
				leaveOut(from, end)
				i = end - 1
			}
		}
	}
	if out == nil {
		return nil
	}
	out.copy(text, copied, len(text))
	return out.reading(text)
}

// maxInsertion bounds the beginning of an insertion.
const maxInsertion = 64

var insertionBegins = regexp.MustCompile("^[$#]\\{(?:[ \\t]*[\"'`]|\\w+:?[-=+])")

// insertion is the length of the beginning of an insertion: ${' or a shell's ${A:-, which gives a
// default for a variable. It is 0 for anything else.
func insertion(s string) int { return len(insertionBegins.FindString(s)) }

// blanks counts the spaces at the start of a text, up to a bound.
func blanks(s string) int {
	n := 0
	for n < min(len(s), 8) && (s[n] == ' ' || s[n] == '\t') {
		n++
	}
	return n
}

func (r *reader) copy(text string, from, to int) {
	r.out.WriteString(text[from:to])
	for i := from; i < to; i++ {
		r.from, r.wide = append(r.from, i), append(r.wide, 1)
	}
}

// placeOf matches one or more format placeholders at the end of a piece.
var placeOf = regexp.MustCompile(`(?:%s|%v|\{\w{0,9}\})+$`)

// makesLists reports whether a text has calls that join the items of lists.
func makesLists(text string) bool {
	return slices.ContainsFunc([]string{"join", "Join", "oncat", "ormat", "rint", "paste0", "strcat", "implode", "append", "%s"}, func(word string) bool { return strings.Contains(text, word) })
}

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

// byteAt is byte i of the text, or 0 beyond its end.
func byteAt(text string, i int) byte {
	if i < 0 || i >= len(text) {
		return 0
	}
	return text[i]
}

// maxJunction bounds the text between two pieces: operators, spaces, comments, line breaks and
// indentation.
const maxJunction = 600

// junction returns the start of the next piece if the quote at an offset ends a piece and only a
// joining operator is between them, or -1.
func junction(text string, at int, quotedToo, lists bool) int {
	i := endOfQuotes(text, at)
	if !(lists && isCall(text[i:])) && isTokens(byteAt(text, at-1)) && isTokens(byteAt(text, i)) && (i-at > 1 || text[at] == '"' && isBase64(byteAt(text, at-2)) && !hasPrefixBefore(text, at)) {
		return i // "a""b", and a"b" in a shell
	}
	operators, listed := 0, false
	for end, first := min(len(text), at+maxJunction), i; i < end; {
		switch c := text[i]; {
		case c == '`' && strings.IndexByte("\r\n", byteAt(text, i+1)) >= 0:
			i++ // PowerShell continues on the next line
		case isQuote(c):
			if i == first {
				return -1
			}
			next := endOfQuotes(text, i)
			if listed && !mayGoOn(text[next:]) {
				return -1
			}
			return next
		case lists && (c == ',' || c == '%'):
			listed = true
			i++
		case lists && isCall(text[i:]):
			listed = true
			i += strings.IndexByte(text[i:], '(') + 1
			i += len(nameOfPiece.FindString(text[i:min(len(text), i+maxInsertion)]))
		case strings.IndexByte(" \t\n\r\\)", c) >= 0:
			i++
		case comment(text[i:end], quotedToo) > 0:
			i += comment(text[i:end], quotedToo)
		case c == '(':
			i++
		case strings.IndexByte("+.&|~<>^_*", c) >= 0:
			if operators++; operators > 3 {
				return -1
			}
			i++
		case i > first && stringPrefix(text[i:end]) > 0:
			i += stringPrefix(text[i:end])
		case operators > 0 && asText.MatchString(text[i:min(end, i+8)]):
			i += strings.IndexByte(text[i:], '(')
		default:
			return -1
		}
	}
	return -1
}

// mayGoOn reports whether an item of a list looks like a part of a token and not like a word.
func mayGoOn(item string) bool {
	const least, most = 8, 64
	digits, capitals, n := 0, 0, 0
	for n < min(len(item), most) && !isQuote(item[n]) {
		switch c := item[n]; {
		case '0' <= c && c <= '9':
			digits++
		case 'A' <= c && c <= 'Z':
			capitals++
		}
		n++
	}
	return n >= least && (digits > 0 || capitals > 2)
}

// isCall reports whether a text begins with a method that appends its arguments.
func isCall(s string) bool {
	return strings.HasPrefix(s, ".format(") || strings.HasPrefix(s, ".concat(") || strings.HasPrefix(s, ".append(")
}

var (
	// nameOfPiece matches the name before a piece that a format takes by name.
	nameOfPiece = regexp.MustCompile(`^[ \t]*\w+[ \t]*=`)
	// asText matches a call that returns its string unchanged.
	asText = regexp.MustCompile(`^(?:str|Str|string|String|strval|text)\(`)
)

// endOfQuotes is the end of a run of at most three quotes.
func endOfQuotes(text string, at int) int {
	i := at
	for i < len(text) && i-at < 3 && isQuote(text[i]) {
		i++
	}
	return i
}

// comments are the marks that begin comments and those that end them. A line break that ends a
// comment is not part of it; an end mark is.
var comments = []struct{ begin, end string }{
	{"/*", "*/"}, {"//", "\n"}, {"--[[", "]]"}, {"--", "\n"}, {"<#", "#>"}, {"#", "\n"}, {"<!--", "-->"}, {"(*", "*)"}, {"{-", "-}"}, {"{#", "#}"},
}

const (
	commentBegins  = "/-<#({" // the first characters of the marks
	maxCommentMark = 4        // the length of the longest mark
)

// comment is the length of the comment at the start of a text, or 0.
func comment(s string, quotedToo bool) int {
	if s == "" || strings.IndexByte(commentBegins, s[0]) < 0 {
		return 0
	}
	for _, c := range comments {
		if !strings.HasPrefix(s, c.begin) {
			continue
		}
		n := strings.Index(s[len(c.begin):], c.end)
		if n < 0 {
			continue
		}
		n += len(c.begin)
		if c.end != "\n" {
			n += len(c.end)
		}
		if !quotedToo && strings.ContainsAny(s[:n], "\"'`") {
			return 0
		}
		return n
	}
	return 0
}

// stringPrefix is the length of the prefix right before the quote of a string, as in f"...",
// rb'...' and u8"...", or 0.
func stringPrefix(s string) int {
	n := 0
	for n < min(len(s), 3) && strings.IndexByte("fFrRbBuULl8sS$@", s[n]) >= 0 {
		n++
	}
	if n > 0 && n < len(s) && isQuote(s[n]) {
		return n
	}
	return 0
}

// isTokens reports whether a character can be in a token.
func isTokens(c byte) bool { return isBase64(c) || c == '.' || c == '~' }

// hasPrefixBefore reports whether the word before a quote is a string prefix.
func hasPrefixBefore(text string, quote int) bool {
	from := quote
	for from > 0 && quote-from <= 3 && isBase64(text[from-1]) {
		from--
	}
	return from < quote && stringPrefix(text[from:]) == quote-from
}

// through maps a reading of a reading to the source.
func (r *reading) through(below *reading) *reading {
	if below == nil {
		return r
	}
	from, wide := make([]int, len(r.from)), make([]uint8, len(r.wide))
	for i, n := range r.wide {
		start, end := below.spanIn(r.from[i], r.from[i]+int(n))
		start = max(start, end-math.MaxUint8)
		from[i], wide[i] = start, uint8(end-start)
	}
	from[len(r.wide)] = below.from[r.from[len(r.wide)]]
	return &reading{r.text, from, wide}
}

// disguised returns the tokens and keys that a text contains in another form. unique finds further
// ones in a reading.
func (s *formatSet) disguised(text string, unique func(string) []match) []match {
	out := slices.Concat(s.encoded(text), s.gathered(text), scatteredKeys(text), openSSHKeys(text), jwkMembers(text))
	plain := plainly(text)
	source := text
	if plain != nil {
		out = append(out, s.in(plain, unique)...)
		source = plain.text
		// For text that is escaped twice.
		if lines := plain.changed(); lines != nil {
			if again := plainly(lines.text); again != nil {
				out = append(out, s.in(again.through(lines), unique)...)
			}
		}
	}
	pieces := joinStrings(source, false, false)
	if pieces != nil {
		out = append(out, s.in(pieces.through(plain), unique)...)
	}
	if cut := decodeNotations(text, true); cut != nil {
		out = append(out, s.in(cut, unique)...)
	}
	if plain != nil {
		if cut := decodeNotations(source, false); cut != nil {
			out = append(out, s.in(cut.through(plain), unique)...)
		}
	}
	if more := joinStrings(source, true, makesLists(source)); more != nil && (pieces == nil || more.text != pieces.text) {
		out = append(out, s.in(more.through(plain), unique)...)
	}
	if more, soft := asPieces(source); more != nil {
		out = append(out, s.inPieces(more.through(plain), soft, unique)...)
	}
	if inner := nested(text); inner != nil {
		if more := joinStrings(inner.text, true, makesLists(inner.text)); more != nil {
			out = append(out, s.in(more.through(inner), unique)...)
		}
		if more, soft := asPieces(inner.text); more != nil {
			out = append(out, s.inPieces(more.through(inner), soft, unique)...)
		}
	}
	if plain != nil && strings.Contains(text, "%") { // %1 may be a placeholder
		if more, soft := asPieces(text); more != nil {
			out = append(out, s.inPieces(more, soft, unique)...)
		}
	}
	return out
}

// inPieces is in for the lines of asPieces. A match over the place where two loosely related
// strings meet counts only if its shape alone makes it a token.
func (s *formatSet) inPieces(r *reading, soft []int, unique func(string) []match) []match {
	var out []match
	for _, m := range slices.Concat(s.find(r.text), s.encoded(r.text), unique(r.text)) {
		i, _ := slices.BinarySearch(soft, m.from+1)
		m.to = s.wholeUpTo(r.text, m, soft[i:])
		if i < len(soft) && soft[i] < m.to && m.rule != keyInBase64 && !isRandom(r.text[m.from:m.to]) {
			continue
		}
		m.start, _ = r.spanIn(m.start, m.start+1)
		m.from, m.to = r.spanIn(m.from, m.to)
		out = append(out, m)
	}
	return append(out, keysIn(r)...)
}

// in returns the secrets in the lines of a reading that differ from the source.
func (s *formatSet) in(r *reading, unique func(string) []match) []match {
	lines := r.changed()
	if lines == nil {
		return nil
	}
	var out []match
	for _, m := range slices.Concat(s.find(lines.text), s.encoded(lines.text), s.gathered(lines.text), jwkMembers(lines.text), unique(lines.text)) {
		m.start, _ = lines.spanIn(m.start, m.start+1)
		m.from, m.to = lines.spanIn(m.from, m.to)
		out = append(out, m)
	}
	return append(out, keysIn(r)...)
}

// wholeUpTo is the end of a match that is already a token where strings meet, if what follows
// begins another token or is a word, such as the next name in a list.
func (s *formatSet) wholeUpTo(text string, m match, soft []int) int {
	const most = 8
	begins := func(part string) bool {
		found := s.find(part)
		return len(found) > 0 && found[0].from == 0
	}
	for i := 0; i < min(len(soft), most) && soft[i] < m.to; i++ {
		if rest := text[soft[i]:m.to]; begins(text[m.from:soft[i]]) && (begins(rest) || !isRandom(rest)) {
			return soft[i]
		}
	}
	return m.to
}

// asIs reports whether a stretch of the reading equals the source.
func (r *reading) asIs(from, to int) bool {
	return r.from[to]-r.from[from] == to-from
}

// keysIn returns the private keys in a reading that differ from the source.
func keysIn(r *reading) []match {
	var out []match
	for _, m := range append(scatteredKeys(r.text), openSSHKeys(r.text)...) {
		if !r.asIs(m.from, m.to) {
			m.from, m.to = r.spanIn(m.from, m.to)
			m.start = m.from
			out = append(out, m)
		}
	}
	if !strings.Contains(r.text, "PRIVATE KEY") {
		return out
	}
	text := keyText{text: r.text}
	for _, line := range firstLine.FindAllStringIndex(r.text, maxDisguisedKeys) {
		end := keyEnd(r.text, line[1]-len("-----"))
		if end == 0 || end-line[0] > maxEncoded {
			end = text.after(lineEnd(r.text, line[1]))
		}
		if r.asIs(line[0], end) {
			continue
		}
		if text.material(line[1], end) {
			from, to := r.spanIn(line[0], end)
			out = append(out, match{rule: keyInBase64, start: from, from: from, to: to})
		}
	}
	return out
}

// maxDisguisedKeys bounds how many keys in another form are searched for in one text.
const maxDisguisedKeys = 100

// The bounds of the search for encoded tokens: at least 28 characters, the encoding of 20 bytes. A
// longer text is searched in windows of 16 KB that overlap by 4 KB. That is longer than a key or a
// file of credentials.
const (
	minEncoded  = 28
	minDecoded  = 20
	maxEncoded  = 16 << 10
	nextEncoded = 12 << 10
	// minWrapped is the least length of the lines of a wrapped text.
	minWrapped = 16
	// maxBegins is how many positions in a run are tried as the start of the encoded text.
	maxBegins = 8
)

// encoded returns the runs of base64 that hold a token or a private key. Lines with nothing else
// form one run.
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

// isLineOfBase64 reports whether a run is long enough to be one of several lines, and its line
// holds nothing else except what frames such lines in comments, lists and programs.
func isLineOfBase64(text string, from, to int) bool {
	return to-from >= minWrapped && to < len(text) && framed(text[lineStart(text, from):from], maxIndented) && framed(text[to:lineEnd(text, to)], maxFrame)
}

// maxFrame is how many characters may come after a line of base64, and maxIndented how many before
// it.
const (
	maxFrame    = 8
	maxIndented = 100
)

// framed reports whether a text is only what frames a line of base64.
func framed(s string, most int) bool {
	for i := range len(s) {
		if i == most || strings.IndexByte(" \t\r\n\"'`#*/+|>,;:.()[]=-\\", s[i]) < 0 {
			return false
		}
	}
	return true
}

// unwrapped returns the run that begins with a line of base64 and continues on the lines after it,
// as long as they hold nothing else. It also returns the run's end in the text.
func unwrapped(text string, from, to int) (run string, end int) {
	var b strings.Builder
	b.WriteString(text[from:to])
	for to < len(text) {
		begin := lineEnd(text, to)
		next, last := firstRun(text, begin)
		if next == last || text[begin-1] != '\n' || !framed(text[begin:next], maxIndented) || !framed(text[last:lineEnd(text, last)], maxFrame) {
			break
		}
		b.WriteString(text[next:last])
		if to = last; to == len(text) || text[to] == '=' || last-next < minWrapped {
			break
		}
	}
	return b.String(), to
}

// firstRun returns the first run of base64 on a line with a letter or a digit. The frame of a line
// may consist of runs without one.
func firstRun(text string, from int) (start, end int) {
	for i := from; i < len(text) && text[i] != '\n'; i++ {
		if !isBase64(text[i]) {
			continue
		}
		end := endOfBase64(text, i)
		if strings.Trim(text[i:end], "+/-_") != "" {
			return i, end
		}
		i = end - 1
	}
	return from, from
}

func isBase64(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '+' || c == '/' || c == '-' || c == '_'
}

// hides returns the rule of what a run of base64 contains, or nil.
func (s *formatSet) hides(run string) *rule {
	// Up to three letters at the start of a run may not belong to it, and neither may a path.
	begins := []int{0, 1, 2, 3}
	for i := 0; i < len(run) && len(begins) < 4+maxBegins; i++ {
		if c := run[i]; c == '/' || c == '-' || c == '_' || c == '+' {
			begins = append(begins, i+1)
		}
	}
	for _, at := range begins {
		if r := s.hidesFrom(run[min(at, len(run)):], mostEncoded); r != nil {
			return r
		}
	}
	return nil
}

// sameAlphabet converts the URL alphabet of base64 to the standard alphabet.
var sameAlphabet = strings.NewReplacer("-", "+", "_", "/")

// mostEncoded bounds how often encoded text may be encoded again, as credentials in a Docker config
// are.
const mostEncoded = 3

// hidesFrom is hides for a text that is encoded from its beginning. again is how many more levels
// are decoded.
func (s *formatSet) hidesFrom(part string, again int) *rule {
	if len(part)%4 == 1 {
		part = part[:len(part)-1]
	}
	decoded := hexText(part)
	if decoded == nil {
		decoded, _ = base64.RawStdEncoding.DecodeString(sameAlphabet.Replace(part)) // as far as possible
	}
	return s.holds(decoded, again)
}

// holds returns the rule of what some bytes contain, or nil.
func (s *formatSet) holds(decoded []byte, again int) *rule {
	if i := bytes.Index(decoded, []byte(openSSHMagic)); i >= 0 && len(decoded)-i >= leastOpenSSH {
		return keyInBase64
	}
	if bytes.Count(decoded, []byte{0}) > len(decoded)/3 {
		decoded = bytes.ReplaceAll(decoded, []byte{0}, nil) // UTF-16
	}
	for _, plain := range bytes.FieldsFunc(decoded, func(c rune) bool { return c < ' ' && c != '\n' && c != '\r' && c != '\t' || c == 0x7f }) {
		if len(plain) < minDecoded {
			continue
		}
		plain := string(plain)
		if strings.Contains(plain, "PRIVATE KEY-----") {
			return keyInBase64
		}
		if found := s.find(plain); len(found) > 0 {
			return found[0].rule
		}
		for i := 0; again > 0 && i < len(plain); i++ {
			from := i
			if i = endOfBase64(plain, i); i-from < minEncoded {
				continue
			}
			if r := s.hidesFrom(plain[from:i], again-1); r != nil {
				return r
			}
		}
	}
	return nil
}

// hexText is the text that hexadecimal digits encode, or nil. The digits of a hash hardly ever
// begin like text.
func hexText(part string) []byte {
	n := 0
	for n < len(part) && kinds[part[n]]&hex != 0 {
		n++
	}
	const begin = 4
	if n < 2*minDecoded {
		return nil
	}
	for i := range begin {
		if c := part[2*i]; c < '2' || c > '7' {
			return wideHexText(part[:n])
		}
	}
	return bytesOfDigits([]byte(part[:n]))
}

// wideHexText is hexText for UTF-16 and UTF-32, optionally with a byte order mark. Their characters
// have zeros beside them.
func wideHexText(part string) []byte {
	for _, mark := range []string{"fffe", "feff", "FFFE", "FEFF"} {
		part = strings.TrimPrefix(part, mark)
	}
	const begin, least = 8, 2
	if len(part) < 4*minDecoded {
		return nil
	}
	text := 0
	for i := range begin {
		switch c := part[2*i]; {
		case '2' <= c && c <= '7':
			text++
		case c != '0' || part[2*i+1] != '0':
			return nil
		}
	}
	if text < least {
		return nil
	}
	return bytesOfDigits([]byte(part))
}

var keyInBase64 = &rule{id: rulePrivateKey, description: title(rulePrivateKey)}
