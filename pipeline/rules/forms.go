package rules

import (
	"html"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/reviewgate/reviewgate/pipeline/internal/comments"
)

// forms returns the other forms of a line of code that mean the same in its language: its
// parts, if more than the line feed ends a line, and the line as people usually write it.
// Most lines have no other forms.
func forms(text string, m dialect) []string {
	if !unusual(text) {
		return m.more(nil, text)
	}
	out := comments.Lines(text)
	if len(out) > 0 {
		if whole := unbroken(text); whole != "" {
			out = append(out, whole)
			out, whole = formsOf(out, whole)
			out = m.more(out, whole)
		}
	}
	out, last := formsOf(out, text)
	return m.more(out, last)
}

// formsOf adds the forms of a text as people usually write it, and returns the last one.
func formsOf(forms []string, text string) (all []string, last string) {
	plain := plain(text)
	if plain != text {
		forms = append(forms, plain)
	}
	if simple := simplified(plain); simple != plain {
		plain = dotted(simple)
		forms = append(forms, plain)
	}
	return forms, plain
}

// unbroken replaces characters with spaces that some languages read as the end of a line and
// others as white space. It returns "" if the line has no such character.
func unbroken(text string) string {
	if isASCII(text) && !strings.ContainsAny(text, "\r\v\f\x1c\x1d\x1e") {
		return ""
	}
	text = strings.TrimRightFunc(text, breaksLine)
	if strings.IndexFunc(text, breaksLine) < 0 {
		return ""
	}
	return strings.Map(func(r rune) rune {
		if breaksLine(r) {
			return ' '
		}
		return r
	}, text)
}

// breaksLine reports whether a character ends a line in some language.
func breaksLine(r rune) bool {
	switch r {
	case '\r', '\v', '\f', '\x1c', '\x1d', '\x1e', '\u0085', '\u2028', '\u2029':
		return true
	}
	return false
}

// readingsIn returns the forms of a statement that mean the same.
func readingsIn(text string, m dialect) []string {
	out := readings(text)
	if whole := unbroken(text); whole != "" {
		out = append(out, readings(whole)...)
	}
	return m.more(out, out[len(out)-1])
}

// plain is code as people usually write it: in the usual spelling, and without spaces around
// dots and before the parentheses of calls. A name in brackets, or passed to getattr, follows
// a dot instead.
func plain(text string) string { return dotted(spelt(text)) }

// spelt removes invisible characters and replaces letters by their usual form.
func spelt(text string) string {
	if !isASCII(text) {
		text = latin(text)
	}
	if strings.IndexByte(text, '\\') >= 0 {
		text = unslashed(unescaped(text))
	}
	if strings.Contains(text, "&#") { // a character reference can spell code in an HTML attribute
		text = html.UnescapeString(text)
	}
	if isAnywhere(text, &referenceMarks, func(text string, i int) bool { return reference(text, i) != "" }) {
		text = named.ReplaceAllStringFunc(text, func(name string) string {
			switch r := reference(name, 0); r {
			case "":
				return name
			case "\t", "\n": // URLs ignore these
				return ""
			default:
				return r
			}
		})
	}
	return text
}

// maxLetters bounds how many ASCII letters one character may stand for, so that a text keeps
// about its length: one Arabic ligature stands for a sentence.
const maxLetters = 4

// latin removes invisible characters, and replaces characters of other widths and styles by
// the ASCII letters that they stand for.
func latin(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for _, c := range strings.ToValidUTF8(text, "\uFFFD") {
		switch {
		case c < utf8.RuneSelf:
			b.WriteByte(byte(c))
		case invisible(c):
		default:
			letters := norm.NFKC.PropertiesString(string(c)).Decomposition()
			if len(letters) == 0 || len(letters) > maxLetters || !isASCII(string(letters)) {
				b.WriteRune(c)
				continue
			}
			b.Write(letters)
		}
	}
	return b.String()
}

var (
	referenceMarks = byteSet("&")
	named          = regexp.MustCompile(`&[A-Za-z][A-Za-z0-9]{1,30};`)
)

// reference is the ASCII character of the named character reference at position i. It ignores
// the references that documents need to display such characters.
func reference(text string, i int) string {
	end := i + 1
	for end < len(text) && end-i < 32 && isWord(text[end]) {
		end++
	}
	if at(text, end) != ';' || !isName(at(text, i+1)) {
		return ""
	}
	switch text[i+1 : end] {
	case "lt", "gt", "amp", "quot", "nbsp", "LT", "GT", "AMP", "QUOT":
		return ""
	}
	r := html.UnescapeString(text[i : end+1])
	if len(r) != 1 {
		return ""
	}
	return r
}

// blankEscapes are letters that mean white space after a backslash.
const blankEscapes = "ntrfv"

// sameEscapes are characters that stand for themselves after a backslash in JavaScript.
const sameEscapes = "cdeghijklmopqswyzABCDEFGHIJKLMOPQRSTVWXYZ/.:-_ <>=;,@#"

// mayBeUnslashed reports whether unslashed may make a difference to a rule at the backslash
// at position i. It usually doesn't: a line feed at the end of a string is at most a space,
// and nothing runs the contents of regular expressions.
func mayBeUnslashed(text string, i int) bool {
	c, next, before := at(text, i+1), at(text, i+2), byte(0)
	if i > 0 {
		before = text[i-1]
	}
	switch {
	case c == '/':
		return true
	case in(blankEscapes, c):
		return isWord(next) || quotes(before) && (isBlank(next) || next == '\\')
	case isWord(c):
		return in(sameEscapes, c) && (isWord(next) || next == '\\' || quotes(next))
	}
	return in(sameEscapes, c) && (isWord(before) || quotes(before)) && (isWord(next) || next == '\\')
}

// unslashed replaces escapes for white space by spaces. Within strings, it also removes the
// backslash before characters that stand for themselves.
func unslashed(text string) string {
	if strings.IndexByte(text, '\\') < 0 {
		return text
	}
	out := make([]byte, 0, len(text))
	texts, within := comments.TextsOf(text), 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		if i >= within && quotes(c) {
			within = max(i+1, i+texts.At(i))
		}
		if c != '\\' || i+1 == len(text) {
			out = append(out, c)
			continue
		}
		i++
		switch c := text[i]; {
		case in(blankEscapes, c) && (isWord(at(text, i+1)) || len(out) > 0 && (quotes(out[len(out)-1]) || isBlank(out[len(out)-1]))):
			out = append(out, ' ')
		case i < within && in(sameEscapes, c):
			out = append(out, c)
		default:
			out = append(out, '\\', c)
		}
	}
	return string(out)
}

func byteSet(bytes string) (set [256]bool) {
	for i := range len(bytes) {
		set[bytes[i]] = true
	}
	return set
}

// isAnywhere reports whether holds is true at one of the marks in a text.
func isAnywhere(text string, marks *[256]bool, holds func(text string, i int) bool) bool {
	for i := range len(text) {
		if marks[text[i]] && holds(text, i) {
			return true
		}
	}
	return false
}

// marks are the bytes at which a line may have another form.
var marks = byteSet("\r\v\f\x1c\x1d\x1e\\&.([?!\"'<`s")

// unusual reports whether a line may have another form. Most have none, so it looks at each
// byte once.
func unusual(text string) bool {
	if !isASCII(text) || commented(text) {
		return true
	}
	for i := range len(text) {
		c := text[i]
		if !marks[c] {
			continue
		}
		if mayBeSimpler(text, i) {
			return true
		}
		switch c {
		case '!', '"', '\'', '<', '`', 's':
		case '.':
			if at(text, i+1) == '`' {
				return true
			}
			if i > 0 && isBlank(text[i-1]) && (isBlank(at(text, i+1)) || isName(at(text, i+1))) || i > 0 && (closes(text[i-1]) || quotes(text[i-1])) && isBlank(at(text, i+1)) && usesName(text, i+1) {
				return true
			}
		case '(':
			if i > 1 && isBlank(text[i-1]) && callsName(text, i) || strings.HasSuffix(text[:i], "getattr") {
				return true
			}
		case '[':
			if q := at(text, i+1+blanks(text, i+1)); q == '"' || q == '\'' || q == '`' {
				return true
			}
		case '?':
			if at(text, i+1) == '.' {
				return true
			}
		case '\\':
			if c := at(text, i+1); c == 'u' || c == 'x' || c == 'U' || c >= '0' && c <= '7' || mayBeUnslashed(text, i) {
				return true
			}
		case '&':
			if at(text, i+1) == '#' || reference(text, i) != "" {
				return true
			}
		default:
			return true
		}
	}
	return false
}

// usesName reports whether spaces and a name that code uses follow at position i: the name is
// called, indexed, assigned to, followed by another name, or ends a value. Names in prose
// mostly are not.
func usesName(text string, i int) bool {
	i += blanks(text, i)
	start := i
	for i < len(text) && i-start < 100 && isWord(text[i]) {
		i++
	}
	i += blanks(text, i)
	return i-start >= 100 || i > start && (i == len(text) || in("(.=[);,]", text[i])) && (at(text, i) != '.' || isName(at(text, i+1)))
}

// callsName reports whether a name other than a keyword comes before the spaces before a
// position.
func callsName(text string, i int) bool {
	end := trimmed(text, i)
	start := end
	for start > 0 && end-start < 10 && isWord(text[start-1]) {
		start--
	}
	return start < end && !keywords[text[start:end]]
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// isASCII checks eight bytes at once, since it runs on every line.
func isASCII(text string) bool {
	for ; len(text) >= 8; text = text[8:] {
		if (text[0]|text[1]|text[2]|text[3]|text[4]|text[5]|text[6]|text[7])&utf8.RuneSelf != 0 {
			return false
		}
	}
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// invisible reports whether a character shows nothing and takes no room.
func invisible(r rune) bool {
	switch r {
	case '\u034F', '\u115F', '\u1160', '\u17B4', '\u17B5', '\u3164', '\uFFA0':
		return true
	}
	return r >= utf8.RuneSelf && (unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r))
}

// escapes gives the largest number of digits after a backslash and a letter.
var escapes = map[byte]int{'u': 4, 'U': 8, 'x': 2}

// unescaped replaces \u0065, \u{65} and \x65 by the visible ASCII characters that they spell.
// Names stay the same, and in Java all code does.
func unescaped(text string) string {
	var out strings.Builder
	for {
		i := strings.IndexByte(text, '\\')
		if i < 0 || i+1 == len(text) {
			return out.String() + text
		}
		out.WriteString(text[:i])
		kind := text[i+1]
		start, most, base := i+2, escapes[kind], 16
		if kind >= '0' && kind <= '7' {
			start, most, base = i+1, 3, 8
			if kind > '3' {
				most = 2
			}
		}
		for kind == 'u' && at(text, start) == 'u' { // Java allows any number of them
			start++
		}
		braces := kind == 'u' && at(text, start) == '{'
		if braces {
			start, most = start+1, 8
		}
		end, value := start, 0
		for end < len(text) && end-start < most && isHex(text[end]) && hexOf(text[end]) < base {
			value = value*base + hexOf(text[end])
			end++
		}
		if braces {
			end++
		}
		if value >= '\t' && value <= '\r' {
			value = ' '
		}
		if value < ' ' || value > '~' || end > len(text) || braces && text[end-1] != '}' {
			out.WriteString(text[i : i+2])
			text = text[i+2:]
			continue
		}
		out.WriteByte(byte(value))
		text = text[end:]
	}
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func hexOf(c byte) int {
	if c <= '9' {
		return int(c - '0')
	}
	return int(c|0x20-'a') + 10
}

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// dotted removes the spaces around dots and before a call's parenthesis. It writes a["b"],
// a?.b, a.`b` and getattr(a, "b") as a.b, and {["a"]: b} as {a: b}.
func dotted(text string) string {
	if !isAnywhere(text, &dotMarks, mayBeDotted) {
		return text
	}
	return dot(text)
}

func dot(text string) string {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == ' ' || c == '\t':
			n := blanks(text, i)
			if next := at(text, i+n); !(joins(out, next) || next == '[' && opensName(out, text[i+n:]) || next == '.' && isName(at(text, i+n+1+blanks(text, i+n+1))) && len(out) > 0 && (closes(out[len(out)-1]) || quotes(out[len(out)-1]) && calls(text, i+n+1)) || endsInDot(out) && isName(next)) {
				out = append(out, text[i:i+n]...)
			}
			i += n - 1
		case c == '?' && at(text, i+1) == '.' && isName(at(text, i+2)):
		case c == '?' && at(text, i+1) == '.' && at(text, i+2) == '[':
			i++
		case c == '`' && len(out) > 0 && out[len(out)-1] == '.':
			name, n := quotedName(text[i:])
			if n == 0 {
				out = append(out, c)
				continue
			}
			out = append(out, name...)
			i += n - 1
		case c == '[':
			name, n := bracketed(text[i:])
			switch {
			case n > 0 && len(out) > 0 && closes(out[len(out)-1]):
				out = append(append(out, '.'), name...)
			case n > 0 && at(text, i+n+blanks(text, i+n)) == ':':
				out = append(out, name...)
			default:
				out = append(out, c)
				continue
			}
			i += n - 1
		case c == 'g' && strings.HasPrefix(text[i:], "getattr(") && (len(out) == 0 || !isWord(out[len(out)-1])):
			object, rest := firstArgument(text[i+len("getattr(") : min(len(text), i+200)])
			object = strings.TrimSpace(object)
			name, n := quotedName(strings.TrimLeft(rest, " \t"))
			if n == 0 || object == "" {
				out = append(out, c)
				continue
			}
			tail := strings.TrimLeft(rest, " \t")[n:]
			end := strings.IndexByte(tail, ')')
			if end < 0 || strings.IndexByte(",)", at(tail, blanks(tail, 0))) < 0 {
				out = append(out, c)
				continue
			}
			out = append(append(append(out, object...), '.'), name...)
			i += len(text[i:min(len(text), i+200)]) - len(tail) + end
		default:
			out = append(out, c)
		}
	}
	return string(out)
}

// firstArgument splits the arguments of a call at the first comma between them. If there is
// no such comma, rest is empty.
func firstArgument(text string) (first, rest string) {
	depth := 0
	texts := comments.TextsOf(text)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"', '\'', '`':
			i += max(0, texts.At(i)-1)
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth < 0 {
				return text[:i], ""
			}
		case ',':
			if depth == 0 {
				return text[:i], text[i+1:]
			}
		}
	}
	return text, ""
}

// dotMarks are the bytes at which mayBeDotted may be true.
var dotMarks = byteSet(" \t[?`g")

// mayBeDotted reports whether dotted may change a text, by the byte at position i.
func mayBeDotted(text string, i int) bool {
	switch text[i] {
	case '[':
		q := at(text, i+1+blanks(text, i+1))
		return q == '"' || q == '\'' || q == '`'
	case '?':
		return at(text, i+1) == '.'
	case '`':
		return i > 0 && text[i-1] == '.'
	case 'g':
		return strings.HasPrefix(text[i:], "getattr(")
	}
	switch at(text, i+1) {
	case '.':
		return true
	case '(':
		return callsName(text, i+1)
	}
	return i > 0 && text[i-1] == '.'
}

// bracketed is the name in quotes and brackets at the start of a text, and the length of all
// that.
func bracketed(text string) (name string, length int) {
	from := 1 + blanks(text, 1)
	name, n := quotedName(text[from:])
	if n == 0 {
		return "", 0
	}
	to := from + n + blanks(text, from+n)
	if at(text, to) != ']' {
		return "", 0
	}
	return name, to + 1
}

// opensName reports whether a name in brackets follows a value and spaces.
func opensName(before []byte, text string) bool {
	_, n := bracketed(text)
	return n > 0 && joins(before, '(')
}

// keywords can stand before a parenthesis without being called.
var keywords = map[string]bool{
	"if": true, "for": true, "while": true, "switch": true, "return": true, "func": true, "function": true, "import": true, "var": true, "as": true, "satisfies": true,
	"const": true, "catch": true, "and": true, "or": true, "not": true, "in": true, "is": true, "type": true, "case": true, "elif": true, "else": true,
}

// joins reports whether the spaces between a text and the next character separate a name from
// the parenthesis of its call.
func joins(text []byte, next byte) bool {
	if next != '(' || len(text) == 0 || !isWord(text[len(text)-1]) {
		return false
	}
	start := len(text)
	for start > 0 && isWord(text[start-1]) && len(text)-start < 10 {
		start--
	}
	return !keywords[string(text[start:])]
}

func isName(c byte) bool { return isWord(c) && (c < '0' || c > '9') }

// closes reports whether a value may end in the character.
func closes(c byte) bool { return isWord(c) || c == ')' || c == ']' }

// endsInDot reports whether a text ends in the dot after a value.
func endsInDot(text []byte) bool {
	n := len(text)
	return n > 1 && text[n-1] == '.' && (closes(text[n-2]) || quotes(text[n-2]))
}

// calls reports whether spaces, a name and the parenthesis of its call follow at position i.
func calls(text string, i int) bool {
	i += blanks(text, i)
	start := i
	for i < len(text) && i-start < 100 && isWord(text[i]) {
		i++
	}
	return i > start && at(text, i+blanks(text, i)) == '('
}

// at is byte i of the text, or 0 beyond its end.
func at(text string, i int) byte {
	if i < len(text) {
		return text[i]
	}
	return 0
}

// blanks is the number of spaces and tabs from position i on.
func blanks(text string, i int) int {
	n := 0
	for i+n < len(text) && (text[i+n] == ' ' || text[i+n] == '\t') {
		n++
	}
	return n
}

// quotedName is the name in quotes at the start of a text, and its length with the quotes.
func quotedName(text string) (name string, length int) {
	if text == "" || strings.IndexByte("\"'`", text[0]) < 0 {
		return "", 0
	}
	n := 1
	for n < len(text) && n < 100 && isWord(text[n]) {
		n++
	}
	if n == 1 || !isName(text[1]) || at(text, n) != text[0] {
		return "", 0
	}
	return text[1:n], n + 1
}
