package rules

import (
	"strings"

	"github.com/reviewgate/reviewgate/pipeline/internal/comments"
)

// gone marks a byte that is removed. The byte never occurs in UTF-8.
const gone = 0xFF

// group is an open bracket. Positions are byte offsets in the text.
type group struct {
	at, start int // the bracket, and the start of the value that it belongs to once closed, or less than 0
	first     int // the start of its first token, or less than 0
	kind      byte
	before    byte // the character before it, spaces aside
	call      bool // it holds the arguments of a call, or the condition of a statement
	text      bool // it begins with a string in quotes
	comma     bool
}

// maxGroups bounds how deep brackets are followed.
const maxGroups = 1000

// grouper removes from a line what does not change the meaning of a string, a name or a
// constant: parentheses around it, and TypeScript's type assertions. Strings in backquotes
// without substitutions get other quotes.
type grouper struct {
	text  string
	out   []byte
	texts comments.Texts
	open  []group
	// The value that ends with the last token: a string, a name, a constant, a call, an index
	// or a group in parentheses. If start is below 0, the last token is not a value.
	start, last int
	lastByte    byte
	prefix      int  // the position of a cast or sign before the next value, or less than 0
	chained     bool // a dot comes before the next name
	word        string
	quoted      bool // the last token is a string
	changed     bool
}

// grouped is a text without what a grouper removes.
func grouped(text string) string {
	g := &grouper{text: text, texts: comments.TextsOf(text), start: -1, prefix: -1}
	for i := 0; i < len(text); {
		if isBlank(text[i]) {
			i++
			continue
		}
		i = g.next(i)
	}
	if !g.changed {
		return text
	}
	return g.rest()
}

// rest returns the remaining text.
func (g *grouper) rest() string {
	out := make([]byte, 0, len(g.text)+8)
	tick, escaped := false, false // within a string that was in backquotes; after a backslash
	for i, c := range g.out {
		switch {
		case c == gone && g.text[i] != gone:
			continue
		case g.text[i] == '`' && c == '"':
			tick = !tick
		case tick && c == '"' && !escaped:
			out = append(out, '\\')
		}
		escaped = c == '\\' && !escaped
		out = append(out, c)
	}
	return string(out)
}

// set writes a byte over a range of the text.
func (g *grouper) set(from, to int, by byte) {
	if !g.changed {
		g.out, g.changed = []byte(g.text), true
	}
	for i := from; i < to; i++ {
		g.out[i] = by
	}
}

// value records a value that ends at a position.
func (g *grouper) value(start, end int) int {
	g.start, g.last, g.lastByte = start, end, g.text[end-1]
	g.prefix, g.chained, g.word, g.quoted = -1, false, "", false
	return end
}

// other records a token that is not a value.
func (g *grouper) other(end int) int {
	g.value(-1, end)
	return end
}

// primary records a value that stands alone or continues the value before a dot.
func (g *grouper) primary(start, end int) {
	switch {
	case g.chained && g.start >= 0:
		start = g.start
	case g.prefix >= 0:
		start = g.prefix
	}
	g.value(start, end)
}

// next reads the token at a position and returns its end.
func (g *grouper) next(i int) int {
	text, c := g.text, g.text[i]
	if n := len(g.open); n > 0 && g.open[n-1].first < 0 && c != ')' && c != ']' && c != '}' {
		g.open[n-1].first = i
		g.open[n-1].text = quotes(c)
	}
	switch {
	case c == '\r': // it hides nothing of the text before it
		before := g.lastByte
		g.other(i + 1)
		g.lastByte = before
		return i + 1
	case quotes(c):
		return g.quote(i)
	case isWord(c):
		return g.name(i)
	case c == '.' || c == '?' && at(text, i+1) == '.' || c == '-' && at(text, i+1) == '>' || c == ':' && at(text, i+1) == ':':
		end := i + 1
		if c != '.' {
			end++
		}
		if g.start < 0 {
			return g.other(end)
		}
		g.chained, g.last, g.lastByte = true, end, text[end-1]
		return end
	case c == '!' && asserts(text, i) && g.start >= 0 && g.last == i:
		g.set(i, i+1, gone)
		return g.value(g.start, i+1)
	case c == '!' && isDigit(at(text, i+1)), c == '!' && at(text, i+1) == '(' && isDigit(at(text, i+2)):
		g.other(i + 1)
		g.prefix = i
		return i + 1
	case c == '<':
		if n := castBefore(text, i); n > 0 && g.start < 0 {
			prefix := g.prefix
			if prefix < 0 {
				prefix = i
			}
			g.set(i, i+n, gone)
			before := g.lastByte
			g.other(i + n)
			g.prefix, g.lastByte = prefix, before
			return i + n
		}
		if end := genericEnd(text, i); end > 0 && g.start >= 0 {
			g.set(g.last, end, gone)
			g.last = end
			return end
		}
	case c == '(' || c == '[' || c == '{':
		g.begin(i)
		return i + 1
	case c == ')' || c == ']' || c == '}':
		return g.end(i)
	case c == ',':
		if n := len(g.open); n > 0 {
			g.open[n-1].comma = true
		}
	}
	return g.other(i + 1)
}

// quote reads a string in quotes.
func (g *grouper) quote(i int) int {
	n := g.texts.At(i)
	if n == 0 {
		return g.other(i + 1)
	}
	start, tagged := i, g.start >= 0 && g.last == i
	if tagged && i-g.wordStart() <= 2 && strings.Trim(g.word, "fFrRuUbB") == "" && g.word != "" {
		start = g.wordStart()
		if m := len(g.open); m > 0 && g.open[m-1].first == start {
			g.open[m-1].text = true
		}
	}
	if g.text[i] == '`' && g.start < 0 && g.free() && n > 2 && plainTick(g.text[i+1:i+n-1]) {
		g.set(i, i+1, '"')
		g.set(i+n-1, i+n, '"')
	}
	if start == i {
		g.primary(i, i+n)
	} else {
		g.value(start, i+n)
	}
	g.quoted = true
	return i + n
}

// free reports whether the next token does not follow a value.
func (g *grouper) free() bool {
	return operators[g.word] || conditions[g.word] || !ended(g.lastByte)
}

// ended reports whether a value may end in the character, even if its start is unknown.
func ended(c byte) bool { return closes(c) || c == '"' || c == '\'' || c == '`' || c == '.' }

// wordStart is the start of the last word.
func (g *grouper) wordStart() int { return g.last - len(g.word) }

// name reads a word.
func (g *grouper) name(i int) int {
	end := i
	for end < len(g.text) && isWord(g.text[end]) {
		end++
	}
	word := g.text[i:end]
	if g.start >= 0 && !g.chained && asWords[word] {
		if n := castBehind(g.text, end); n > 0 {
			g.set(g.last, n, gone)
			last := g.text[n-1]
			g.last, g.lastByte = n, last
			return n
		}
	}
	if !g.chained && (conditions[word] || operators[word]) {
		prefix := g.prefix
		if prefix < 0 {
			prefix = i
		}
		g.other(end)
		g.word = word
		if word == "await" || word == "new" {
			g.prefix = prefix
		}
		return end
	}
	g.primary(i, end)
	g.word = word
	return end
}

// begin opens a bracket.
func (g *grouper) begin(i int) {
	p := group{at: i, kind: g.text[i], start: i, first: -1, before: g.lastByte}
	if p.before == 0 {
		p.before = '('
	}
	switch {
	case p.kind != '{' && (g.start >= 0 || !g.free()):
		p.start, p.call = g.start, true
	case p.kind == '(' && conditions[g.word]:
		p.start, p.call = -1, true
	case g.prefix >= 0:
		p.start = g.prefix
	}
	if g.word != "" && operators[g.word] {
		p.before = '('
	}
	if len(g.open) == maxGroups {
		g.open = g.open[:0]
	}
	g.open = append(g.open, p)
	g.other(i + 1)
}

// opening maps a closing bracket to its opening bracket.
var opening = [256]byte{')': '(', ']': '[', '}': '{'}

// end closes a bracket.
func (g *grouper) end(i int) int {
	n := len(g.open)
	if n == 0 || g.open[n-1].kind != opening[g.text[i]] {
		g.open = g.open[:0]
		return g.other(i + 1)
	}
	p := g.open[n-1]
	g.open = g.open[:n-1]
	if p.kind == '{' {
		return g.other(i + 1)
	}
	if p.kind == '(' && !p.call && p.first >= 0 {
		switch g.unwrap(&p, i) {
		case leftCast:
			g.other(i + 1)
			g.prefix, g.lastByte = p.start, p.before
			return i + 1
		case leftOther:
			return g.other(i + 1)
		}
	}
	return g.value(p.start, i+1)
}

// left says what remains of a pair of parentheses.
type left int

const (
	leftValue left = iota // a value, with or without parentheses
	leftOther             // something that is not a value by itself
	leftCast              // nothing: it was a cast of the next value
)

// unwrap removes a pair of parentheses if that makes no difference.
func (g *grouper) unwrap(p *group, i int) left {
	text := g.text
	from := i + 1 + blanks(text, i+1)
	next := at(text, from)
	if inPattern(p.before) || next == '\\' || next == '=' && at(text, from+1) == '>' || isWord(next) && !follows(text[from:]) || p.before == '}' && strings.IndexByte("([.", next) < 0 {
		return leftValue
	}
	out := leftValue
	switch {
	case g.start == p.first && (quotes(next) || next == '(' && javaTypes[text[p.first:i]]):
		if !isName(text[p.first]) || g.quoted {
			return leftValue
		}
		g.set(p.at, i+1, gone)
		return leftCast
	case g.start == p.first:
	case g.start >= 0 && p.comma && (next == '(' || next == '.') && g.start-p.first < maxLook && text[trimmed(text, g.start)-1] == ',':
		g.set(p.at, g.start, gone) // (0, f)(x)
		g.drop(i, false)
		return leftValue
	case p.comma:
		return leftValue
	case p.text && in("(,:=[{", p.before) && (in("),]};+%.", next) || next == 0),
		in("(,", p.before) && (in("),]};", next) || next == 0):
		out = leftOther
	default:
		return leftValue
	}
	g.drop(p.at, p.at > 0 && isWord(text[p.at-1]))
	g.drop(i, isWord(at(text, i+1)))
	return out
}

// inPattern reports whether a parenthesis after the character is most likely part of a
// regular expression.
func inPattern(c byte) bool { return c == '/' || c == '\\' }

// javaTypes are types that a string may be cast to.
var javaTypes = map[string]bool{"String": true, "CharSequence": true, "Object": true, "string": true, "java.lang.String": true}

func quotes(c byte) bool { return c == '"' || c == '\'' || c == '`' }

// in reports whether a set contains a character other than 0.
func in(some string, c byte) bool { return c != 0 && strings.IndexByte(some, c) >= 0 }

// drop removes a parenthesis. It leaves a space if the parenthesis separates two words.
func (g *grouper) drop(i int, apart bool) {
	by := byte(gone)
	if apart {
		by = ' '
	}
	g.set(i, i+1, by)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// asWords are words before a type.
var asWords = map[string]bool{"as": true, "satisfies": true}

// operators are words before an operand, which may be in parentheses.
var operators = map[string]bool{
	"return": true, "await": true, "yield": true, "typeof": true, "void": true, "delete": true, "new": true, "throw": true, "raise": true, "assert": true,
	"in": true, "of": true, "is": true, "and": true, "or": true, "not": true, "else": true, "case": true, "go": true, "defer": true, "lambda": true, "default": true, "from": true,
}

// conditions are words before parentheses that make a difference.
var conditions = map[string]bool{
	"if": true, "for": true, "while": true, "switch": true, "catch": true, "elif": true, "func": true, "function": true, "import": true, "var": true, "const": true, "type": true,
	"with": true, "synchronized": true, "until": true, "unless": true, "when": true, "match": true, "foreach": true,
}

// follows reports whether a text begins with a word that may follow a value.
func follows(text string) bool {
	n := 0
	for n < len(text) && n < 12 && isWord(text[n]) {
		n++
	}
	switch text[:n] {
	case "as", "satisfies", "if", "else", "and", "or", "in", "is", "not", "instanceof", "for":
		return true
	}
	return false
}

// asserts reports whether the exclamation mark at position i may assert that the value
// before it is not null.
func asserts(text string, i int) bool {
	if i == 0 || !closes(text[i-1]) && !in("\"'`!", text[i-1]) {
		return false
	}
	next := at(text, i+1)
	if isBlank(next) {
		return in("+),}]?|&%*", at(text, i+1+blanks(text, i+1)))
	}
	return in(".[(),}];+%?!", next)
}

// castBefore is the length of the type in angle brackets at position i if it may cast the
// next value, or 0.
func castBefore(text string, i int) int {
	if c := at(text, i+1); !isName(c) && !isBlank(c) {
		return 0
	}
	before := trimmed(text, i)
	if before == 0 || !in("(,=[:+&|?>", text[before-1]) {
		return 0
	}
	end := typeEnd(text, i+1)
	if end < 0 {
		return 0
	}
	end += blanks(text, end)
	if at(text, end) != '>' {
		return 0
	}
	end++
	if next := at(text, end+blanks(text, end)); isName(next) || in("\"'`(<", next) {
		return end - i
	}
	return 0
}

// castBehind is the end of the type after the word "as" that ends at position i, if the type
// may be one of TypeScript's, or 0.
func castBehind(text string, i int) int {
	if !isBlank(at(text, i)) {
		return 0
	}
	end := typeEnd(text, i)
	if end < 0 {
		return 0
	}
	next := end + blanks(text, end)
	if in("),]}", at(text, next)) || strings.HasPrefix(text[next:], "as ") || strings.HasPrefix(text[next:], "satisfies ") {
		return end
	}
	return 0
}

// genericEnd is the position of a call's parenthesis after the type arguments at position i,
// or 0. It looks only for type arguments that patterns don't allow for: those that name
// functions or have spaces around them.
func genericEnd(text string, i int) int {
	before := trimmed(text, i)
	if before == 0 || !isWord(text[before-1]) && text[before-1] != '.' {
		return 0
	}
	if c := at(text, i+1); !isName(c) && !isBlank(c) && !in("({[\"'", c) {
		return 0
	}
	end := bracketEnd(text[:min(len(text), i+maxType)], i)
	if end < 0 || text[end-1] != '>' {
		return 0
	}
	call := end + blanks(text, end)
	types := text[i:end]
	if at(text, call) != '(' || before == i && call == end && strings.IndexByte(types, '(') < 0 || strings.IndexByte(types, ';') >= 0 || strings.Contains(types, "&&") || strings.Contains(types, "||") {
		return 0
	}
	return call
}

// maxType bounds the types that are read, in bytes.
const maxType = 200

// typeEnd is the end of the type that starts at position i, or less than 0 if no type of at
// most maxType bytes does.
func typeEnd(text string, i int) int {
	text = text[:min(len(text), i+maxType)]
	if i += blanks(text, i); at(text, i) == '|' || at(text, i) == '&' {
		i++
	}
	for {
		i += blanks(text, i)
		start := i
		for i < len(text) && (isWord(text[i]) || text[i] == '.') {
			i++
		}
		switch word := text[start:i]; {
		case i > start && (word == "readonly" || word == "keyof" || word == "typeof" || word == "unique" || word == "new" || word == "abstract"):
			continue
		case i > start:
		case quotes(at(text, i)):
			n := strings.IndexByte(text[i+1:], text[i])
			if n < 0 {
				return -1
			}
			i += n + 2
		default:
			if i = bracketEnd(text, i); i < 0 {
				return -1
			}
		}
		for i < len(text) && (text[i] == '<' || text[i] == '[') {
			if i = bracketEnd(text, i); i < 0 {
				return -1
			}
		}
		from := i + blanks(text, i)
		switch c := at(text, from); {
		case (c == '|' || c == '&') && at(text, from+1) != c:
			i = from + 1
		case c == '=' && at(text, from+1) == '>':
			i = from + 2
		default:
			return i
		}
	}
}

// bracketEnd is the position after the brackets that open at position i, or less than 0.
func bracketEnd(text string, i int) int {
	depth := 0
	for ; i < len(text); i++ {
		switch c := text[i]; c {
		case '(', '[', '{', '<':
			depth++
		case ')', ']', '}', '>':
			if c == '>' && text[i-1] == '=' {
				continue
			}
			if depth--; depth <= 0 {
				return i + 1
			}
		default:
			if depth == 0 {
				return -1
			}
		}
	}
	return -1
}

// isAs reports whether the letters between two positions are a word between a value and its
// type.
func isAs(text string, from, to int) bool {
	if from == 0 || isWord(text[from-1]) || isWord(at(text, to)) {
		return false
	}
	before := text[max(0, trimmed(text, from)-1)]
	return (closes(before) || in("\"'`}!>", before)) && castBehind(text, to) > 0
}

// mayBeGrouped reports whether grouped may change a text, by the byte at position i.
func mayBeGrouped(text string, i int) bool {
	switch text[i] {
	case 's':
		if !isBlank(at(text, i+1)) || i == 0 {
			return false
		}
		return text[i-1] == 'a' && isAs(text, i-1, i+1) || strings.HasSuffix(text[:i+1], "satisfies") && isAs(text, i+1-len("satisfies"), i+1)
	case '!':
		return asserts(text, i)
	case '<':
		return castBefore(text, i) > 0 || genericEnd(text, i) > 0
	case '`':
		if end := trimmed(text, i); end > 0 && ended(text[end-1]) && !isOperator(text, end) && !conditions[lastWord(text, end)] {
			return false
		}
		n := strings.IndexByte(text[i+1:], '`')
		return n > 0 && plainTick(text[i+1:i+1+n])
	case '(':
		return mayBeWrapped(text, i)
	}
	return false
}

// plainTick reports whether a string in backquotes could use other quotes. A string that does
// not begin with a word is mostly markup or data, where the quotes don't matter.
func plainTick(text string) bool {
	c := at(text, blanks(text, 0))
	return (isWord(c) || c == '-' || c == '%') && c != '$' && !strings.Contains(text, "${")
}

// lastWord is the word that ends at a position, if it is no longer than keywords are.
func lastWord(text string, end int) string {
	start := end
	for start > 0 && end-start < 13 && isWord(text[start-1]) {
		start--
	}
	return text[start:end]
}

// isOperator reports whether the word that ends at a position is one that a value follows.
func isOperator(text string, end int) bool { return operators[lastWord(text, end)] }

// mayBeWrapped reports whether the parenthesis at position i may make no difference.
func mayBeWrapped(text string, i int) bool {
	before := byte('(')
	end := trimmed(text, i)
	if end > 0 && !isOperator(text, end) {
		if before = text[end-1]; ended(before) || inPattern(before) {
			return false
		}
	}
	from := i + 1 + blanks(text, i+1)
	start := from
	for start-from < 2 && in("fFrRuUbB", at(text, start)) {
		start++
	}
	switch c := at(text, from); {
	case quotes(at(text, start)):
		return end > 0 && text[end-1] == '(' || mayBeFirst(text, start) || mayBeOne(text, from, before)
	case c == '!' && (isDigit(at(text, from+1)) || at(text, from+1) == '('), c == '<', c == '{', c == '[':
		return true
	case c != '(' && !isWord(c):
		return c != ')' && (in("(,", before) || mayBeOne(text, from, before))
	}
	return mayBeOne(text, from, before)
}

// mayBeFirst reports whether the string at position i may be all that parentheses hold, or
// the first operand in them.
func mayBeFirst(text string, i int) bool {
	for j := i + 1; j < len(text); j++ {
		switch {
		case j-i > maxLook:
			return true
		case text[j] == '\\':
			j++
		case text[j] == text[i]:
			return at(text, j+1+blanks(text, j+1)) != ','
		}
	}
	return true
}

// mayBeOne reports whether the text from a position to the end of the parentheses around it
// may be a single value, or everything between the parentheses. Of several values before a
// call or a dot, the last one counts.
func mayBeOne(text string, from int, before byte) bool {
	depth, one, comma := 0, true, false
	for j := from; j < len(text); j++ {
		if j-from > maxLook {
			return true
		}
		switch c := text[j]; c {
		case '(', '[', '{':
			depth++
		case ']', '}':
			depth--
		case ')':
			if depth--; depth < 0 {
				next := j + 1 + blanks(text, j+1)
				if comma {
					return one && (at(text, next) == '(' || at(text, next) == '.')
				}
				return !strings.HasPrefix(text[next:], "=>") && (!isWord(at(text, next)) || follows(text[next:])) &&
					(one || in("(,", before) && (next == len(text) || in("),]};", text[next])))
			}
		case '"', '\'', '`':
			for k := j + 1; k < len(text) && k-from <= maxLook; k++ {
				if text[k] == '\\' {
					k++
				} else if text[k] == c {
					j = k
					break
				}
			}
		case ',':
			if depth == 0 {
				one, comma = true, true
			}
		case '+', '-', '*', '/', '%', '=', '&', '|', '^', ';':
			if depth == 0 && !(c == '-' && at(text, j+1) == '>') {
				one = false
			}
		}
	}
	return false
}
