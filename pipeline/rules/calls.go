package rules

import (
	"regexp"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline/internal/comments"
)

// names are those of functions, as a rule lists them: a whole name, or that of a method of
// anything, behind a dot.
type names map[string]bool

func namesOf(list []string) names {
	n := names{}
	for _, name := range list {
		n[name] = true
	}
	return n
}

// has reports whether a function is listed.
func (n names) has(name string) bool {
	return n[name] || strings.Contains(name, ".") && n[name[strings.LastIndexByte(name, '.'):]]
}

// safe reports whether a statement gives what is untrusted to functions that make it
// harmless, each time that it names it from the first match on. Whatever is around such a
// call must leave the value as it is.
func (r *rule) safe(statement, language string) bool {
	if r.source == nil {
		return false
	}
	c := callReader{rule: r, text: statement, code: comments.Code(language, statement), slashes: comments.HasRegexps(language) || !comments.Known(language)}
	if m := r.pattern.FindStringIndex(statement); m != nil {
		c.from = m[0]
	}
	stop := c.read()
	if !comments.Known(language) {
		stop = 0 // what looks like a text may be code
	}
	sources := r.source.FindAllStringIndex(c.code[:stop]+statement[stop:], maxSources+1)
	sources = slices.DeleteFunc(sources, func(m []int) bool { return m[0] < c.from })
	return len(sources) > 0 && len(sources) <= maxSources && c.covers(sources)
}

const (
	// maxSources bounds how often a statement may name what is untrusted. One that does so
	// more often is a finding.
	maxSources = 200
	// maxSink bounds the bytes in which the call that a match begins with is looked for.
	maxSink = 4 << 10
	// maxLinks bounds the members and methods behind a value. More may do anything.
	maxLinks = 20
	// maxName bounds the bytes of a function's name.
	maxName = 100
)

// callReader finds the calls in a statement whose values are harmless.
type callReader struct {
	*rule
	text    string
	code    string // the text without the contents of strings
	from    int    // where the match begins
	slashes bool   // a slash may begin a regular expression
	open    []opened
	safes   []stretch // that are harmless, in order
	sinks   int       // how often a call was asked to be one
}

type stretch struct{ start, end int }

// opened is a parenthesis, a bracket, a brace or a quote that nothing has closed yet.
type opened struct {
	mark      byte
	at, start int    // the offsets of the mark and of the name before it
	name      string // of the function called or the value indexed; unknown if it can't be read, "" if there is no such name
	first     int    // the number of harmless calls before it
	effects   bool   // something inside may have a side effect
}

// unknown is the name of a function that has none, such as that of f(x)(y).
const unknown = "?"

// covers reports whether each source, in order, stands in a harmless call.
func (c *callReader) covers(sources [][]int) bool {
	i := 0
	for _, m := range sources {
		for i < len(c.safes) && c.safes[i].end < m[1] {
			i++
		}
		if i == len(c.safes) || m[0] < c.safes[i].start {
			return false
		}
	}
	return true
}

// read reads the code as far as it is sure what is code, and returns where that ends.
func (c *callReader) read() int {
	at := 0
	for at < len(c.code) {
		n := c.mark(at)
		if n == 0 {
			break
		}
		at += n
	}
	for len(c.open) > 0 {
		f := c.pop()
		f.effects = f.effects || at < len(c.code)
		if isQuote(f.mark) {
			c.effect()
		}
		c.settle(f, len(c.code))
	}
	return at
}

// mark reads the mark at an offset and returns its length, or 0 if it can't tell what is code
// from there on.
func (c *callReader) mark(at int) int {
	switch b := c.code[at]; b {
	case '(', '[':
		name, start := called(c.code, at)
		if b == '[' && start == trimmed(c.code, at) {
			name = "" // a list, or what is in one without a name
		}
		c.push(opened{mark: b, at: at, start: start, name: name})
	case '{':
		c.push(opened{mark: b, at: at, start: at})
	case ')', ']', '}':
		if len(c.open) > 0 {
			return c.close(at)
		}
	case '"', '\'', '`':
		if len(c.open) > 0 && c.open[len(c.open)-1].mark == b {
			return c.close(at)
		}
		f := opened{mark: b, at: at, start: at}
		if b == '`' {
			f.name, f.start = called(c.code, at) // the template's tag, a function that gets its parts
		}
		c.push(f)
	case '/':
		return c.slash(at)
	case '=', '-', 'l', 'f':
		if changes(c.code, at) {
			c.effect()
		}
	}
	return 1
}

func (c *callReader) push(f opened) {
	f.first = len(c.safes)
	c.open = append(c.open, f)
}

func (c *callReader) pop() opened {
	f := c.open[len(c.open)-1]
	c.open = c.open[:len(c.open)-1]
	if f.effects {
		c.effect()
	}
	return f
}

// effect notes that something at the current position may have a side effect.
func (c *callReader) effect() {
	if len(c.open) > 0 {
		c.open[len(c.open)-1].effects = true
	}
}

// openers are the marks that others close. A quote closes its own.
var openers = map[byte]byte{')': '(', ']': '[', '}': '{', '"': '"', '\'': '\'', '`': '`'}

func isQuote(b byte) bool { return openers[b] == b }

// close reads the mark that closes the one opened last, and returns 0 if it does not fit.
func (c *callReader) close(at int) int {
	if c.open[len(c.open)-1].mark != openers[c.code[at]] {
		return 0
	}
	c.settle(c.pop(), at+1)
	return 1
}

// slash returns the length of the regular expression that a slash begins, 1 for a division,
// and 0 if it could be either.
func (c *callReader) slash(at int) int {
	if !c.slashes {
		return 1
	}
	begins, sure := comments.BeginsRegexp(c.code, at)
	switch {
	case !sure:
		return 0
	case !begins:
		return 1
	}
	c.effect()
	return max(0, comments.RegexpEnd(c.code, at)-at)
}

// settle decides about the harmless calls within what was closed: they stay harmless, or
// become one with the call that they are given to, or nobody knows any more what becomes of
// their values.
func (c *callReader) settle(f opened, end int) {
	makes, to := c.makesSafe(f, end)
	switch {
	case makes && c.leaves(to):
		c.safes = append(c.safes[:f.first], stretch{f.start, to})
	case len(c.safes) == f.first || f.at < c.from:
	case in("(`", f.mark) && f.name != "" && !c.within.has(f.name):
		if !c.isSink(f, end) {
			c.safes = c.safes[:f.first]
		}
	case !c.leaves(end):
		c.safes = c.safes[:f.first]
	}
}

// makesSafe reports whether a call makes what it is given harmless, and returns where it ends:
// a listed function does, or one of which a listed method is called right away.
func (c *callReader) makesSafe(f opened, end int) (makes bool, to int) {
	if f.name == "" || f.effects || f.mark == '`' {
		return false, end
	}
	if f.mark == '[' {
		return c.calls["[]"], end
	}
	if method, to := methodCall(c.code, end); method != "" && c.calls[f.name+"()"+method] {
		return true, to
	}
	return c.calls.has(f.name), end
}

// leaves reports whether what follows a value leaves it as it is: an operator, a member, or
// listed methods without arguments.
func (c *callReader) leaves(at int) bool {
	for range maxLinks {
		at += blanks(c.code, at)
		rest := c.code[at:]
		if member := memberAt.FindString(rest); member != "" {
			name, to := methodCall(c.code, at)
			if to > at && !c.within[name] {
				return false
			}
			at = max(to, at+len(member))
			continue
		}
		if index := indexAt.FindString(rest); index != "" {
			at += len(index)
			continue
		}
		return rest == "" || rest[0] != '(' && rest[0] != '['
	}
	return false
}

var (
	memberAt = regexp.MustCompile(`^!?\??\.\s{0,9}[\w$]{1,100}(?:\s{0,9}\()?`)
	indexAt  = regexp.MustCompile(`^!?\[[\w\s:-]{0,40}\]`)
	noMore   = regexp.MustCompile(`^\s{0,9}\)`)
)

// methodCall is the name of the method that is called at a place, with its dot, and the end
// of the call. If it is given anything the name is unknown.
func methodCall(code string, at int) (name string, to int) {
	member := memberAt.FindString(code[at:])
	if !strings.HasSuffix(member, "(") {
		return "", at
	}
	to = at + len(member)
	end := noMore.FindString(code[to:])
	if end == "" {
		return unknown, to
	}
	return "." + strings.Trim(member, "!?. \t\n("), to + len(end)
}

// isSink reports whether the match may begin with a call.
func (c *callReader) isSink(f opened, end int) bool {
	if c.sinks++; f.name == unknown || c.sinks > maxExcused {
		return false
	}
	m := c.pattern.FindStringIndex(c.text[f.start:min(end, f.start+maxSink)])
	return m != nil && f.start+m[0] <= f.at
}

// called is the name before the parenthesis or bracket at a place, and where it begins, with
// the word new. It is empty if nothing is called.
func called(code string, at int) (name string, start int) {
	end := trimmed(code, at)
	if end > 0 && code[end-1] == '>' {
		end = beforeTypes(code, end)
	}
	if end == 0 || !closes(code[end-1]) && !isQuote(code[end-1]) {
		return "", at
	}
	start = end
	for start > 0 && end-start < maxName && (isWord(code[start-1]) || code[start-1] == '.' || code[start-1] == '?' && code[start] == '.') {
		start--
	}
	if start == end || end-start == maxName || start > 0 && (code[start-1] >= 0x80 || in(`#@\`, code[start-1])) {
		return unknown, start
	}
	name = strings.ReplaceAll(code[start:end], "?.", ".")
	if keywords[name] || wordOperators[name] {
		return "", at
	}
	if before := code[:trimmed(code, start)]; strings.HasSuffix(before, "new") && len(before) < start {
		start = len(before) - len("new")
	}
	return name, start
}

// wordOperators are words before a parenthesis that calls nothing.
var wordOperators = map[string]bool{
	"await": true, "yield": true, "typeof": true, "throw": true, "raise": true, "assert": true, "with": true, "del": true, "do": true, "as": true,
}

// beforeTypes is where the types between angle brackets begin that end at a place, or 0.
func beforeTypes(code string, end int) int {
	at := strings.LastIndexByte(code[max(0, end-maxName):end], '<')
	if at < 0 || end > 1 && in("=-", code[end-2]) {
		return 0
	}
	return max(0, end-maxName) + at
}

var (
	assigned = regexp.MustCompile(`^=\s{0,9}(?:[Tt]rue|[Ff]alse|None|null|\d{1,9})\s{0,9}[,)]`)
	function = regexp.MustCompile(`^(?:lambda|function|func|fun)\b`)
)

// changes reports whether an assignment or a function begins at a place. An argument that is
// named and given a constant is neither.
func changes(code string, i int) bool {
	before := byte(0)
	if i > 0 {
		before = code[i-1]
	}
	switch code[i] {
	case '-':
		return at(code, i+1) == '>'
	case 'l', 'f':
		return !isWord(before) && before != '.' && function.MatchString(code[i:])
	}
	switch {
	case at(code, i+1) == '=' || in("=!", before):
		return false // a comparison, of which the last sign is looked at by itself
	case in("<>", before):
		return i > 1 && code[i-2] == before
	}
	return !isWord(before) && !isBlank(before) || !assigned.MatchString(code[i:])
}
