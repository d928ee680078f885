package comments

import "strings"

// Code returns code with the contents of strings replaced by spaces, except code inside them, as in
// `a${b}`. In an unknown language, quotes mark strings. In a language whose words need no quotes,
// nothing is replaced.
func Code(name, text string) string {
	l := languages[name]
	if l != nil && l.words || !strings.ContainsAny(text, "\"'`") {
		return text
	}
	c := newCoder(name, text)
	c.code(0, 0)
	return string(c.out)
}

func newCoder(name, text string) *coder {
	l := languages[name]
	c := &coder{text: text, out: []byte(text), texts: l.texts(text), regex: l != nil && l.regex}
	switch name {
	case "Python":
		c.formats = true
	case "Kotlin", "Gradle Kotlin DSL", "Scala", "Groovy", "Gradle":
		c.holes = true
	}
	return c
}

// maxNested bounds strings within code within strings.
const maxNested = 10

// coder replaces the contents of strings by spaces.
type coder struct {
	text    string
	out     []byte
	texts   Texts
	closed  []bool // by position, whether a regular expression that continues there ends; computed when needed
	regex   bool   // there are regular expressions between slashes
	formats bool   // strings with the prefix f have holes in braces
	unsure  bool   // a slash may begin a regular expression, so a quote may be in it
	holes   bool   // strings in double quotes have the same holes as those in backquotes
}

// code reads code from a position on, and returns its end. Within a string, it stops at the brace
// that ends a hole.
func (c *coder) code(at, depth int) int {
	braces := 0
	for at < len(c.text) {
		b := c.text[at]
		switch {
		case b == '"' || b == '\'' || b == '`':
			at = c.quoted(at, depth)
		case b == '/' && c.regex:
			at = c.slash(at)
		case b == '{':
			braces++
			at++
		case b == '}':
			if braces--; braces < 0 && depth > 0 {
				return at
			}
			at++
		default:
			at++
		}
	}
	return at
}

// slash returns the position after a slash or after the regular expression that it begins.
func (c *coder) slash(at int) int {
	begins, sure := BeginsRegexp(c.text, at)
	c.unsure = c.unsure || !sure
	if begins {
		return c.regexp(at)
	}
	return at + 1
}

// quoted replaces the string that starts at a position, and returns the position after it. A quote
// without a closing quote begins no string.
func (c *coder) quoted(start, depth int) int {
	if c.unsure {
		return blank(c.out, start, len(c.text))
	}
	quote := c.text[start : start+1]
	if rest := c.text[start:]; len(rest) > 2 && rest[1] == rest[0] && rest[2] == rest[0] {
		quote = rest[:3]
	}
	hole := ""
	switch {
	case quote == "`" || c.holes && quote[0] == '"':
		hole = "${"
	case c.formats && formatted(c.text[:start]):
		hole = "{"
	}
	at := start + len(quote)
	if c.texts.end(at, quote) < 0 {
		return at
	}
	for at < len(c.text) {
		rest := c.text[at:]
		switch {
		case strings.HasPrefix(rest, quote):
			return at + len(quote)
		case hole == "{" && strings.HasPrefix(rest, `\{`):
			at = blank(c.out, at, at+1) // in Python this escapes no brace
		case rest[0] == '\\' && len(rest) > 1 && strings.IndexByte(c.texts.raw, quote[0]) < 0:
			at = blank(c.out, at, at+2)
		case hole == "{" && strings.HasPrefix(rest, "{{"):
			at = blank(c.out, at, at+2)
		case hole != "" && depth < maxNested && strings.HasPrefix(rest, hole):
			at = min(c.code(at+len(hole), depth+1)+1, len(c.text)) // after the brace
		default:
			at = blank(c.out, at, at+1)
		}
	}
	return at
}

// formatted reports whether the prefix of a Python string, at the end of the text before it, makes
// it a format string.
func formatted(before string) bool {
	prefix := before[len(strings.TrimRight(before, "fFrRtT")):]
	return len(prefix) <= 2 && strings.ContainsAny(prefix, "fFtT")
}

// regexp returns the position after the regular expression that starts at a position. A slash
// without a closing slash begins none.
func (c *coder) regexp(start int) int {
	if c.closed != nil && !c.closed[start+1] {
		return start + 1
	}
	if end := RegexpEnd(c.text, start); end > 0 {
		c.texts.read += end - 1 - start
		return end
	}
	c.texts.read += len(c.text) - start
	c.close(start + 1)
	return start + 1
}

// BeginsRegexp reports whether the slash at a position begins a regular expression, by the text
// before it, and whether that is certain.
func BeginsRegexp(text string, at int) (begins, sure bool) {
	before := strings.TrimRight(text[:at], " \t")
	if before == "" {
		return true, true
	}
	last := before[len(before)-1]
	if strings.IndexByte("(,=:[&|?{;", last) >= 0 {
		return true, true
	}
	from := len(before)
	for from > 0 && wordLength(before[from-1:from]) > 0 {
		from--
	}
	switch {
	case from < len(before):
	case strings.IndexByte(quotes+"]", last) >= 0:
		return false, true // it divides a value
	default:
		return strings.IndexByte("!};+-*%~^", last) >= 0 || strings.HasSuffix(before, "=>"), false
	}
	name := strings.TrimRight(before[:from], " \t")
	sure = name == "" || strings.IndexByte(".#$@", name[len(name)-1]) < 0
	switch before[from:] {
	case "return", "typeof", "case", "in", "delete", "void", "throw", "do", "else", "instanceof":
		return true, sure
	case "of", "yield", "await": // these may be names
		return true, false
	}
	return false, true
}

// RegexpEnd returns the offset after the regular expression that starts with the slash at a
// position, or 0 if it has no end.
func RegexpEnd(text string, start int) int {
	class := false
	for at := start + 1; at < len(text); at++ {
		switch text[at] {
		case '\\':
			at++
		case '[':
			class = true
		case ']':
			class = false
		case '/':
			if !class {
				return at + 1
			}
		}
	}
	return 0
}

// close computes for each position from the first on whether a regular expression that continues
// there ends. A later expression may end although an earlier one does not, since a bracket in the
// earlier one does not affect it. So one backward pass computes all positions.
func (c *coder) close(first int) {
	c.closed = make([]bool, len(c.text)+1)
	// Whether an expression that continues at the next position ends, and at the one after that,
	// outside brackets and within them.
	var out, out2, in, in2 bool
	for at := len(c.text) - 1; at >= first; at-- {
		o, i := out, in
		switch c.text[at] {
		case '\\':
			o, i = out2, in2
		case '[':
			o = in
		case ']':
			i = out
		case '/':
			o = true
		}
		out, out2, in, in2 = o, out, i, in
		c.closed[at] = o
	}
	c.texts.read += len(c.text) - first
}

// Whole reports whether all of a line is certainly a comment, wherever the line is.
func Whole(name, text string) bool {
	l := languages[name]
	if l == nil {
		return false
	}
	r := Reader{language: l}
	n := r.next(text)
	return n > 0 && strings.Trim(text[n:], " \t\r") == ""
}
