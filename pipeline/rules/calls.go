package rules

import (
	"regexp"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline/internal/comments"
)

// names are the functions that a rule lists, by whole name, or by ".name" for a method of any
// object. The value says which arguments the function makes harmless.
type names map[string]arguments

// arguments says which arguments a function makes harmless.
type arguments int

const (
	noArguments arguments = iota // the function is not listed
	onlyFirst                    // the first argument, if the others are plain constants
	allButFirst
)

// laterMark follows the name of a function that makes all arguments but its first harmless.
const laterMark = "(_, *)"

func namesOf(list []string) names {
	n := names{}
	for _, name := range list {
		if name, later := strings.CutSuffix(name, laterMark); later {
			n[name] = allButFirst
		} else {
			n[name] = onlyFirst
		}
	}
	return n
}

// of returns which arguments a function makes harmless, if it is listed.
func (n names) of(name string) arguments {
	if args := n[name]; args != noArguments || !strings.Contains(name, ".") {
		return args
	}
	return n[name[strings.LastIndexByte(name, '.'):]]
}

// has reports whether a function is listed.
func (n names) has(name string) bool { return n.of(name) != noArguments }

// safe reports whether a statement passes untrusted data only to functions that make it
// harmless, from the first match on. The code around such a call must leave the value
// unchanged.
func (r *rule) safe(statement, language string) bool {
	if r.source == nil {
		return false
	}
	c := callReader{
		rule: r, text: statement, code: comments.Code(language, statement), dots: language == "PHP",
		slashes: comments.HasRegexps(language) || !comments.Known(language), bound: map[string]bool{},
	}
	if m := r.pattern.Get().FindStringIndex(statement); m != nil {
		c.from = m[0]
	}
	c.sources = r.source.Get().FindAllStringIndex(c.code, maxSources+1)
	stop := c.read()
	if !comments.Known(language) {
		stop = 0 // what looks like a string may be code
	}
	if c.dots {
		stop = 0 // strings in double quotes hold variables
	}
	sources := r.source.Get().FindAllStringIndex(c.code[:stop]+statement[stop:], maxSources+1)
	sources = slices.DeleteFunc(sources, func(m []int) bool { return m[0] < c.from })
	return len(sources) > 0 && len(sources) <= maxSources && c.covers(sources)
}

const (
	// maxSources bounds how often a statement may name untrusted data. A statement above
	// it is a finding.
	maxSources = 200
	// maxSink bounds how far the call at the start of a match is searched for, in bytes.
	maxSink = 4 << 10
	// maxLinks bounds the members and methods after a value. More may do anything.
	maxLinks = 20
	// maxName bounds a function's name, in bytes.
	maxName = 100
)

// callReader finds the calls in a statement whose values are harmless.
type callReader struct {
	*rule
	text    string
	code    string // the text without the contents of strings
	from    int    // the start of the match
	slashes bool   // a slash may begin a regular expression
	dots    bool   // a dot joins strings
	sources [][]int
	bound   map[string]bool // whether the statement redefines a name
	open    []opened
	safes   []stretch // the harmless calls, in order
	sinks   int       // how often isSink ran
}

type stretch struct {
	start, end int
	sunk       bool // it was passed to the call that the match begins with
}

// opened is an open parenthesis, bracket, brace or quote.
type opened struct {
	mark      byte
	at, start int    // the offsets of the mark and of the name before it
	name      string // the function called or the value indexed; unknown if it can't be read, "" if it has no name
	first     int    // the number of harmless calls before it
	commas    []int  // the offsets of the commas between its arguments
	effects   bool   // something inside may have a side effect
	assigns   bool   // something inside assigns a value that may be used elsewhere
}

// unknown is the name of a function without one, such as that of f(x)(y).
const unknown = "?"

// covers reports whether each source, in order, is inside a harmless call.
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

// read reads the code until it can't tell what is code, and returns that position.
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
		name, start := c.called(at)
		if b == '[' && start == trimmed(c.code, at) {
			name = "" // a list, or an item of a list without a name
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
			f.name, f.start = c.called(at) // the template's tag, a function that gets its parts
		}
		c.push(f)
	case '/':
		return c.slash(at)
	case ',':
		if n := len(c.open); n > 0 {
			c.open[n-1].commas = append(c.open[n-1].commas, at)
		}
	case '=', '-', '+', 'l', 'f', 'd', 'i':
		if changes(c.code, at) {
			c.effect()
			if next := c.code[at+1:]; !strings.HasPrefix(next, ">") { // => does not assign
				c.assign()
			}
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
	if f.assigns {
		c.assign()
	}
	return f
}

// assign records an assignment at the current position.
func (c *callReader) assign() {
	if len(c.open) > 0 {
		c.open[len(c.open)-1].assigns = true
	}
}

// effect records that the code at the current position may have a side effect.
func (c *callReader) effect() {
	if len(c.open) > 0 {
		c.open[len(c.open)-1].effects = true
	}
}

// openers maps a closing mark to its opening mark. A quote is both.
var openers = map[byte]byte{')': '(', ']': '[', '}': '{', '"': '"', '\'': '\'', '`': '`'}

func isQuote(b byte) bool { return openers[b] == b }

// close reads a closing mark. It returns 0 if the mark does not fit the one opened last.
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

// settle decides about the harmless calls inside a closed group. They stay harmless, or they
// merge with the call that they are passed to, or they are dropped because their values may
// go anywhere.
func (c *callReader) settle(f opened, end int) {
	makes, to := c.makesSafe(f, end)
	if in("(`", f.mark) && f.name != "" && !makes && !c.within.has(f.name) && !pure.has(f.name) && !c.isOfSource(f) {
		c.effect() // the function is unknown
	}
	switch {
	case makes && c.leaves(to):
		c.safes = append(c.safes[:f.first], stretch{start: f.start, end: to})
	case len(c.safes) == f.first || f.at < c.from:
	case in("([", f.mark) && f.assigns:
		c.safes = c.safes[:f.first]
	case in("(`", f.mark) && f.name != "" && !c.within.has(f.name):
		if !c.isSink(f, end) || at(c.code, end+blanks(c.code, end)) == '(' || slices.ContainsFunc(c.safes[f.first:], func(s stretch) bool { return s.sunk }) {
			c.safes = c.safes[:f.first]
		}
		for i := range c.safes[f.first:] {
			c.safes[f.first+i].sunk = true
		}
	case !c.leaves(end):
		c.safes = c.safes[:f.first]
	}
}

// makesSafe reports whether a call makes its arguments harmless, and returns its end. It does
// if its function is listed, or if a listed method is called on its result right away.
func (c *callReader) makesSafe(f opened, end int) (makes bool, to int) {
	if f.name == "" || f.effects || f.mark == '`' {
		return false, end
	}
	which := c.calls.of(f.name)
	to = end
	if f.mark == '[' {
		which = c.calls["[]"]
	} else if method, behind := methodCall(c.code, end); method != "" && c.calls[f.name+"()"+method] != noArguments {
		which, to = onlyFirst, behind
	}
	if which == noArguments || c.isBound(f.name) || c.holdsSink(f, end) {
		return false, end
	}
	return c.takesSource(f, end, which), to
}

// constant is an argument that can't carry data, such as a radix. Options can carry anything,
// so it allows only those that permit nothing.
var constant = regexp.MustCompile(`^\s*(?:(?:\w+\s*[=:]\s*)?(?:[1-9]\d*|[Tt]rue)|safe\s*=\s*(?:''|"")|\{\s*\}|` +
	`\{\s*(?:(?:USE_PROFILES\s*:\s*\{\s*html\s*:\s*true\s*\}|(?:ALLOWED_TAGS|ALLOWED_ATTR|allowedTags|allowedAttributes)\s*:\s*(?:\[\s*\]|\{\s*\}))\s*,?\s*)+\})?\s*$`)

// takesSource reports whether the untrusted data in a call's arguments is only in arguments
// that the call makes harmless.
func (c *callReader) takesSource(f opened, end int, which arguments) bool {
	if len(f.commas) == 0 {
		return which == onlyFirst
	}
	if first := strings.TrimSpace(c.text[f.at+1 : f.commas[0]]); first == "" || first[0] == '*' || strings.HasPrefix(first, "...") {
		return false
	}
	if which == allButFirst {
		return !slices.ContainsFunc(c.sources, func(m []int) bool { return m[0] > f.at && m[0] < f.commas[0] })
	}
	for i, from := range f.commas {
		to := end - 1
		if i+1 < len(f.commas) {
			to = f.commas[i+1]
		}
		if to < from || !constant.MatchString(c.text[from+1:to]) {
			return false
		}
	}
	return true
}

// holdsSink reports whether the pattern matches inside a call. Such a match takes effect
// before the call.
func (c *callReader) holdsSink(f opened, end int) bool {
	for at := f.at + 1; at < end; {
		if c.sinks++; c.sinks > maxExcused || end-at > maxSink {
			return true
		}
		m := c.pattern.Get().FindStringIndex(c.text[at:end])
		if m == nil {
			return false
		}
		paren := strings.IndexByte(c.code[at+m[0]:end], '(')
		if paren < 0 {
			return true
		}
		paren += at + m[0]
		if name, _ := c.called(paren); !c.within.has(name) && !c.calls.has(name) {
			return true
		}
		at = paren + 1
	}
	return false
}

// pure are functions that only return another value. Their results may be passed to a
// harmless call.
var pure = namesOf([]string{
	"String", "str", "string", "decodeURI", "decodeURIComponent", "unescape", "atob", "unquote", ".unquote", "URL", "URLSearchParams",
	".get", ".slice", ".substr", ".substring", ".split", ".join", ".concat", ".trim", ".strip", ".lower", ".upper", ".toLowerCase", ".toUpperCase",
	".replace", ".replaceAll", ".toString", ".charAt", ".at", ".format", ".encode", ".decode", ".getName", ".getPath", ".getFileName",
	"strings.TrimSpace", "strings.TrimPrefix", "strings.TrimSuffix", "strings.Trim", "strings.ToLower", "strings.ToUpper", "strings.ReplaceAll", "fmt.Sprint", "fmt.Sprintf",
	"trim", "strtolower", "strtoupper", "urldecode",
})

// isBound reports whether a statement may redefine a function's name: it uses the first part
// of the name other than to call it or a member, or it assigns to a member of the name.
func (c *callReader) isBound(name string) bool {
	name = strings.TrimPrefix(name, ".")
	if name == "" {
		return false
	}
	bound, known := c.bound[name]
	if !known {
		first, _, _ := strings.Cut(name, ".")
		bound = c.rebinds(first, true) || c.rebinds(name[strings.LastIndexByte(name, '.')+1:], false) || c.slashes && withBlock.MatchString(c.code)
		c.bound[name] = bound
	}
	return bound
}

var (
	// defines is the word before a function's own name in its definition.
	defines = regexp.MustCompile(`\b(?:function|func|fun|def|fn|class)\s+$`)
	// assigns matches after a name that is assigned to: as a member, by its name in brackets,
	// or by one of its own methods.
	assigns = regexp.MustCompile(`^(?:["'` + "`" + `]?\]|\s*\.\s*[\w$]+|\s*\[[^\]]{0,40}\])*\s*[-+|&?*/]{0,2}=(?:[^=>]|$)|^\s*\.\s*(?:set|add|remove|clear|use)\w*\s*\(`)
	// withBlock is JavaScript's with statement, where an object's members hide other names.
	withBlock = regexp.MustCompile(`\bwith\s*\(`)
)

// rebinds reports whether the code assigns to a name. For the first part of a function's name
// it also reports any use other than a call.
func (c *callReader) rebinds(name string, first bool) bool {
	for end := 0; ; {
		i := strings.Index(c.text[end:], name)
		if i < 0 {
			return false
		}
		i += end
		end = i + len(name)
		if i > 0 && isWord(c.text[i-1]) || isWord(at(c.text, end)) {
			continue
		}
		if assigns.MatchString(c.text[end:min(len(c.text), end+maxName)]) {
			return true
		}
		if !first || i > 0 && c.code[i-1] == '.' || c.code[i:end] != name {
			continue
		}
		next := end + blanks(c.code, end)
		declares := next > end && isName(at(c.code, next)) && name[0] >= 'A' && name[0] <= 'Z' // it is a type
		if !declares && !in("(.?!`<[", at(c.code, next)) || defines.MatchString(c.code[max(0, i-20):i]) {
			return true
		}
	}
}

// isOfSource reports whether a call is part of the untrusted expression, such as get in
// request.args.get("q").
func (c *callReader) isOfSource(f opened) bool {
	return slices.ContainsFunc(c.sources, func(m []int) bool {
		return m[0] <= f.at && (f.at < m[1] || strings.Trim(c.code[m[1]:f.at], "?.!_$0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == "")
	})
}

// leaves reports whether the code after a value leaves it unchanged: an operator, a member,
// or listed methods without arguments.
func (c *callReader) leaves(at int) bool {
	for range maxLinks {
		at += blanks(c.code, at)
		rest := c.code[at:]
		if c.dots && rest != "" && in(".-:", rest[0]) {
			return !strings.HasPrefix(rest, "->") && !strings.HasPrefix(rest, "::")
		}
		if member := memberAt.FindString(rest); member != "" {
			name, to := methodCall(c.code, at)
			if to > at && !c.within.has(name) {
				return false
			}
			at = max(to, at+len(member))
			continue
		}
		if index := indexAt.FindString(rest); index != "" {
			at += len(index)
			continue
		}
		return rest == "" || !in("([{", rest[0]) && (!isName(rest[0]) || strings.HasPrefix(rest, "${") || plainWord.MatchString(rest))
	}
	return false
}

// plainWord is a word after a value that does nothing with it.
var plainWord = regexp.MustCompile(`^(?:if|else|and|or|in|is|not|for|as|instanceof|then|end|do)\b`)

var (
	memberAt = regexp.MustCompile(`^!?\??\.\s{0,9}[\w$]{1,100}(?:\s{0,9}\()?`)
	indexAt  = regexp.MustCompile(`^!?\[[\w\s:-]{0,40}\]`)
	noMore   = regexp.MustCompile(`^\s{0,9}\)`)
)

// methodCall is the name of the method called at a position, with its dot, and the end of the
// call. If the call has arguments, the name is unknown.
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
	m := c.pattern.Get().FindStringIndex(c.text[f.start:min(end, f.start+maxSink)])
	return m != nil && f.start+m[0] <= f.at
}

// called is the name before the parenthesis or bracket at a position, including the word new,
// and the name's start. It is empty if nothing is called.
func (c *callReader) called(at int) (name string, start int) {
	code := c.code
	end := trimmed(code, at)
	if end > 0 && code[end-1] == '>' {
		end = beforeTypes(code, end)
	}
	if end == 0 || !closes(code[end-1]) && !isQuote(code[end-1]) {
		return "", at
	}
	start = end
	for start > 0 && end-start < maxName && (isWord(code[start-1]) || !c.dots && (code[start-1] == '.' || code[start-1] == '?' && code[start] == '.')) {
		start--
	}
	if start == end || end-start == maxName || start > 0 && (code[start-1] >= 0x80 || in(`#@\`, code[start-1]) || c.dots && in(">:", code[start-1])) {
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

// wordOperators can stand before a parenthesis without being called.
var wordOperators = map[string]bool{
	"await": true, "yield": true, "typeof": true, "throw": true, "raise": true, "assert": true, "with": true, "del": true, "do": true, "as": true,
}

// beforeTypes is the start of the type arguments that end at a position, or 0.
func beforeTypes(code string, end int) int {
	at := strings.LastIndexByte(code[max(0, end-maxName):end], '<')
	if at < 0 || end > 1 && in("=-", code[end-2]) {
		return 0
	}
	return max(0, end-maxName) + at
}

var (
	assigned = regexp.MustCompile(`^=\s{0,9}(?:[Tt]rue|[Ff]alse|None|null|\d{1,9})\s{0,9}[,)]`)
	function = regexp.MustCompile(`^(?:lambda|function|func|fun|for|delete|import)\b`)
)

// changes reports whether an assignment or a function begins at position i. A named argument
// with a constant value is neither.
func changes(code string, i int) bool {
	before := byte(0)
	if i > 0 {
		before = code[i-1]
	}
	switch code[i] {
	case '-':
		return at(code, i+1) == '>' || at(code, i+1) == '-'
	case '+':
		return at(code, i+1) == '+'
	case 'l', 'f', 'd', 'i':
		return !isWord(before) && before != '.' && function.MatchString(code[i:])
	}
	switch {
	case at(code, i+1) == '=' || in("=!", before):
		return false // a comparison; its last sign is checked separately
	case in("<>", before):
		return i > 1 && code[i-2] == before
	}
	return !isWord(before) && !isBlank(before) || !assigned.MatchString(code[i:])
}
