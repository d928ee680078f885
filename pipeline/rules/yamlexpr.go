package rules

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// Bounds of GitHub's expressions: the nesting, the bytes of a path and of a known string,
// the names in a path, the paths of a value, and how many bytes a plain form may have beyond
// twice the text.
const (
	maxExpressionDepth = 60
	maxPath            = 200
	maxNames           = 16
	maxPaths           = 20
	maxPlain           = 4 << 10
)

// plainForms are the forms of a text in which each expression names the contexts that become
// part of the text. The text itself is left out. In single quotes, a quote is written twice.
func plainForms(text string) (out []string) {
	if strings.IndexByte(text, '\\') >= 0 {
		if simple := simplified(spelt(text)); simple != text {
			if plain := plainly(simple); plain != simple {
				out = append(out, plain)
			}
		}
	}
	if !strings.Contains(text, "${{") {
		return out
	}
	if plain := plainly(text); plain != text {
		out = append(out, plain)
	}
	if strings.Contains(text, "''") {
		if plain := plainly(strings.ReplaceAll(text, "''", "'")); plain != text {
			out = append(out, plain)
		}
	}
	return out
}

// plainly replaces each expression by one expression for each context that becomes part of
// the text: ${{ format('{0}', github['head_ref']) }} becomes ${{ github.head_ref }}.
// Expressions that can't be read stay as they are. If the contexts take too much room, the
// rest of the text stays too, and counts as naming any context.
func plainly(text string) string {
	var b strings.Builder
	for room := 2*len(text) + maxPlain; ; {
		i := strings.Index(text, "${{")
		if i < 0 {
			break
		}
		n := expressionEnd(text[i:])
		if n < 0 {
			break
		}
		b.WriteString(text[:i])
		paths, ok := reaching(text[i+3 : i+n-2])
		if !ok {
			b.WriteString(text[i : i+n])
			paths = namedPaths(text[i+3 : i+n-2])
		}
		if b.Len()+len(paths)*(maxPath+len("${{ toJSON() }}")) > room && b.Len()+written(paths) > room {
			paths = []contextPath{anyPath}
			room = 0
		}
		for _, path := range paths {
			b.WriteString("${{ " + path.String() + " }}")
		}
		if text = text[i+n:]; room == 0 {
			break
		}
	}
	b.WriteString(text)
	return b.String()
}

// namedPaths are the paths in GitHub's context that an unreadable expression names outside
// strings.
func namedPaths(text string) (paths []contextPath) {
	e := expressionReader{text: text}
	for e.next() != 0 {
		switch c := at(e.text, e.at); {
		case c == '\'':
			end := strings.IndexByte(text[e.at+1:], c)
			if end < 0 {
				return paths
			}
			e.at += end + 2
		case c == '.' || !inWord(c):
			for e.at++; c == '.' && inWord(at(text, e.at)); e.at++ {
			}
		default:
			path := contextPath{text: e.name()}
			for e.takes(".") {
				name := "*"
				if !e.takes("*") {
					name = e.name()
				}
				if path.names++; path.names <= maxNames && len(path.text)+len(name) < maxPath {
					path.text += "." + name
				}
			}
			if root := strings.ToLower(plaintext.Bytes(path.text, 7)); root == "github" || root == "github." {
				paths = joinedPaths(paths, []contextPath{path})
			}
		}
	}
	return paths
}

// written is the number of bytes that expressions for some contexts take.
func written(paths []contextPath) (n int) {
	for _, path := range paths {
		n += len("${{ toJSON() }}") + len(path.text)
	}
	return n
}

// reaching are the contexts that may become part of an expression's value.
func reaching(text string) (paths []contextPath, ok bool) {
	e := expressionReader{text: text}
	v := e.either()
	if e.next() != 0 {
		e.bad = true
	}
	if e.bad {
		return nil, false
	}
	return v.paths, true
}

// contextPath is a path in one of GitHub's contexts.
type contextPath struct {
	text string
	json int  // how often it was encoded as JSON
	part bool // the JSON is part of a string, which may itself be JSON
	done bool // it has become a string, so its properties name no further context

	names int // the names after the first
}

// anyPath stands for too many contexts to list. Any of them may be untrusted.
var anyPath = contextPath{text: "github.*", done: true}

func (p contextPath) String() string {
	if p.json > 0 {
		return "toJSON(" + p.text + ")"
	}
	return p.text
}

// exprValue is what is known about an expression's value.
type exprValue struct {
	paths []contextPath // that may become part of it
	text  string
	known bool // the value is text
}

// or returns what is known about a value that is either v or w.
func (v exprValue) or(w exprValue) exprValue {
	return exprValue{paths: joinedPaths(v.paths, w.paths), text: v.text, known: v.known && w.known && v.text == w.text}
}

// joinedPaths merges two lists of paths without duplicates. If there are too many, it
// returns anyPath.
func joinedPaths(all, more []contextPath) []contextPath {
	for _, path := range more {
		switch {
		case slices.Contains(all, path):
		case len(all) == maxPaths:
			return []contextPath{anyPath}
		default:
			all = append(all, path)
		}
	}
	if len(all) > 1 && slices.Contains(all, anyPath) {
		return []contextPath{anyPath}
	}
	return all
}

// property is a property of a value. The name is * if it is not known.
func (v exprValue) property(name string) exprValue {
	out := exprValue{paths: v.paths}
	for i := range out.paths {
		if p := &out.paths[i]; p.json == 0 && !p.done && p.names < maxNames && len(p.text)+len(name) < maxPath {
			p.text += "." + name
			p.names++
		}
	}
	return out
}

// expressionReader reads an expression.
type expressionReader struct {
	text  string
	at    int
	depth int
	bad   bool // the text is not an expression
}

// next returns the next character, or 0 at the end.
func (e *expressionReader) next() byte {
	for e.at < len(e.text) {
		c, n := utf8.DecodeRuneInString(e.text[e.at:])
		if !unicode.IsSpace(c) {
			break
		}
		e.at += n
	}
	return at(e.text, e.at)
}

// takes skips some characters if they come next.
func (e *expressionReader) takes(what string) bool {
	e.next()
	if !strings.HasPrefix(e.text[min(e.at, len(e.text)):], what) {
		return false
	}
	e.at += len(what)
	return true
}

// either reads operands of ||, of which the value is one.
func (e *expressionReader) either() exprValue {
	if e.depth++; e.depth > maxExpressionDepth {
		e.bad = true
	}
	defer func() { e.depth-- }()
	if e.bad {
		return exprValue{}
	}
	v := e.both()
	for !e.bad && e.takes("||") {
		v = v.or(e.both())
	}
	return v
}

// both reads operands of &&. The value is the last, unless an earlier one is false or empty.
func (e *expressionReader) both() exprValue {
	v := e.compared()
	for !e.bad && e.takes("&&") {
		v = e.compared()
	}
	return v
}

// compared reads a value or a comparison. A comparison's value holds no text of its operands.
func (e *expressionReader) compared() exprValue {
	v := e.operand()
	for !e.bad && in("=!<>", e.next()) {
		if !e.takes("==") && !e.takes("!=") && !e.takes("<=") && !e.takes(">=") && !e.takes("<") && !e.takes(">") {
			e.bad = true
		}
		e.operand()
		v = exprValue{}
	}
	return v
}

// operand reads a value with its properties.
func (e *expressionReader) operand() exprValue {
	not := false
	for e.next() == '!' {
		not = true
		e.at++
	}
	v := e.start()
	for !e.bad {
		switch {
		case e.takes("."):
			name := "*"
			if !e.takes("*") {
				name = e.name()
			}
			v = v.property(name)
		case e.takes("["):
			name := "*"
			if !e.takes("*") {
				if of := e.either(); of.known && isNames(of.text) {
					name = of.text
				}
			}
			e.bad = e.bad || !e.takes("]")
			v = v.property(name)
		default:
			if not {
				return exprValue{}
			}
			return v
		}
	}
	return exprValue{}
}

// isNames reports whether a text is a property name.
func isNames(text string) bool {
	return text != "" && !isDigit(text[0]) && strings.IndexFunc(text, func(r rune) bool { return r > 0x7f || !inWord(byte(r)) }) < 0
}

// start reads a value without its properties.
func (e *expressionReader) start() exprValue {
	switch c := e.next(); {
	case c == '(':
		e.at++
		v := e.either()
		e.bad = e.bad || !e.takes(")")
		return v
	case c == '\'':
		return e.literal()
	case isDigit(c) || c == '-' || c == '+' || c == '.':
		for e.at++; isWord(at(e.text, e.at)) || in(".+-", at(e.text, e.at)); e.at++ {
		}
		return exprValue{}
	}
	name := e.name()
	switch {
	case e.bad:
		return exprValue{}
	case e.takes("("):
		return e.call(strings.ToLower(name))
	}
	return exprValue{paths: []contextPath{{text: name}}}
}

// name reads a name.
func (e *expressionReader) name() string {
	e.next()
	from := e.at
	for inWord(at(e.text, e.at)) {
		e.at++
	}
	if from == e.at {
		e.bad = true
	}
	return e.text[from:e.at]
}

// literal reads a string in quotes.
func (e *expressionReader) literal() exprValue {
	from := e.at + 1
	for e.at++; ; e.at++ {
		i := strings.IndexByte(e.text[min(e.at, len(e.text)):], '\'')
		if i < 0 {
			e.bad = true
			return exprValue{}
		}
		if e.at += i; at(e.text, e.at+1) != '\'' {
			break
		}
		e.at++
	}
	text := e.text[from:e.at]
	e.at++
	return known(strings.ReplaceAll(text, "''", "'"))
}

// known is a known value, unless it is too long for a name.
func known(text string) exprValue {
	return exprValue{text: text, known: len(text) <= maxPath}
}

// wordless are functions whose value holds no text of their arguments.
var wordless = map[string]bool{
	"contains": true, "startswith": true, "endswith": true, "hashfiles": true,
	"success": true, "always": true, "failure": true, "cancelled": true,
}

// call reads the arguments of a function and returns its value.
func (e *expressionReader) call(name string) exprValue {
	var args []exprValue
	for !e.bad && !e.takes(")") {
		args = append(args, e.either())
		if !e.takes(",") && e.next() != ')' {
			e.bad = true
		}
	}
	switch {
	case e.bad || wordless[name]:
		return exprValue{}
	case name == "tojson" && len(args) == 1:
		return toJSON(args[0])
	case name == "fromjson" && len(args) == 1:
		return fromJSON(args[0])
	case name == "format" && len(args) > 0 && args[0].known:
		if v, ok := formatted(args); ok {
			return v
		}
		if len(args) == 2 && args[0].text == "{0}" {
			return asText(args[1])
		}
	}
	var v exprValue
	for i, arg := range args {
		if name == "case" && i%2 == 0 && i < len(args)-1 {
			continue // a condition
		}
		v.paths = joinedPaths(v.paths, arg.paths)
	}
	for i := range v.paths {
		p := &v.paths[i]
		if name != "case" {
			p.done = p.done || p.json == 0
			p.part = p.part || p.json > 0
		}
	}
	return v
}

// asText converts a value to a string.
func asText(v exprValue) exprValue {
	for i := range v.paths {
		p := &v.paths[i]
		p.done = p.done || p.json == 0
	}
	return v
}

// toJSON encodes a value as JSON.
func toJSON(v exprValue) exprValue {
	if v.known {
		text, err := json.Marshal(v.text)
		if err == nil {
			return known(string(text))
		}
	}
	for i := range v.paths {
		v.paths[i].json++
	}
	return exprValue{paths: v.paths}
}

// fromJSON decodes a value from JSON.
func fromJSON(v exprValue) exprValue {
	var text string
	if v.known && json.Unmarshal([]byte(v.text), &text) == nil {
		return known(text)
	}
	for i := range v.paths {
		p := &v.paths[i]
		switch {
		case p.json == 0:
			p.done = true
		case !p.part || p.json > 1:
			p.json--
		}
	}
	return exprValue{paths: v.paths}
}

// formatted is the value of format if all arguments are known.
func formatted(args []exprValue) (exprValue, bool) {
	text := args[0].text
	for i, arg := range args[1:] {
		if !arg.known || i > 9 {
			return exprValue{}, false
		}
		if text = strings.ReplaceAll(text, fmt.Sprintf("{%d}", i), arg.text); len(text) > maxPath {
			return exprValue{}, false
		}
	}
	return known(text), true
}
