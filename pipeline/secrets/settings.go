package secrets

import (
	"regexp"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline/internal/lazy"
)

// Keys that only their name identifies are set in more ways than isSetTo reads: with a type before
// the value, in calls, after another value, and with name and value in separate fields. Such a
// value counts if a quoted string, or the whole rest of a line, has the form of the key.

// maxSetting bounds the distance between a name and its value, in bytes.
const maxSetting = 400

// setting finds the value of a name that is set in ways that isSetTo does not read.
type setting struct{ quoted, bare, ended, before *lazy.Regexp }

// newSetting returns nil for a format that does not depend on a name.
func newSetting(f *format) *setting {
	value, ok := strings.CutPrefix(f.rest, isSetTo)
	if !ok {
		return nil
	}
	return &setting{
		quoted: lazy.MustCompile(`^` + value + "\\\\?[\"'`]"),
		bare:   lazy.MustCompile(`^` + value + `[ \t\r]*(?:\n|$)`),
		ended:  lazy.MustCompile("^" + value + "(?:[\"'`\\\\,;)<}\\]\\s]|$)"),
		before: lazy.MustCompile(`(?i:value)["']?[ \t]*[:=][ \t]*["']?` + value + `["']?[ \t]*,?\s{0,80}(?:-[ \t]+)?["']?(?i:name|key)["']?[ \t]*[:=][ \t]*["']?$`),
	}
}

// find returns the value of the name from start to end.
func (s *setting) find(text string, start, end int) (from, to int, ok bool) {
	take := func(value *lazy.Regexp, at int) bool {
		m := value.Get().FindStringSubmatchIndex(text[at:min(len(text), at+maxSetting)])
		if m != nil {
			from, to, ok = at+m[2], at+m[3], true
		}
		return ok
	}
	after := text[end:min(len(text), end+maxSetting)]
	if n := len(blockOfYAML.FindString(after)); n > 0 && take(s.bare, end+n) {
		return from, to, ok
	}
	if strings.HasPrefix(after, `"`) && strings.HasPrefix(strings.TrimLeft(after[1:], " \t"), "{") {
		if n := len(variableBlock.FindString(after)); n > 0 && take(s.quoted, end+n) {
			return from, to, ok
		}
	}
	quotedAfter(text, end, func(at int) bool { return take(s.quoted, at) })
	if ok {
		return from, to, ok
	}
	if from, to, ok = s.apart(text, end); ok {
		return from, to, ok
	}
	least := max(0, start-maxSetting)
	for start > least && isNameByte(text[start-1]) {
		start--
	}
	if before := text[least:start]; isNamed(before) {
		if m := s.before.Get().FindStringSubmatchIndex(before); m != nil {
			return least + m[2], least + m[3], true
		}
	}
	return 0, 0, false
}

// isNamed reports whether a text ends in words that introduce a name: name: or "key" =.
func isNamed(text string) bool {
	text = strings.TrimRight(text, " \t\"'")
	if !strings.HasSuffix(text, ":") && !strings.HasSuffix(text, "=") {
		return false
	}
	word := strings.ToLower(strings.TrimRight(text[:len(text)-1], " \t\"'"))
	return strings.HasSuffix(word, "name") || strings.HasSuffix(word, "key")
}

var (
	// blockOfYAML matches the text between a name and the YAML text below it.
	blockOfYAML = regexp.MustCompile(`^["']?[ \t]*:[ \t]*(?:[|>][-+0-9]{0,2})?[ \t]*(?:#[^\n]*)?(?:\r?\n[ \t]*)*\r?\n[ \t]+`)
	// variableBlock matches the text between the name of a Terraform variable and its default: at
	// most three lines of other settings.
	variableBlock = regexp.MustCompile(`^"[ \t]*\{[^\n}]*(?:\n[^\n}]*){0,4}?\bdefault[ \t]*=[ \t]*"`)
	// otherwise matches the words before a value that follows another value.
	otherwise = regexp.MustCompile(`(?i)\b(?:default|default_?value|fallback|value)[ \t]*$`)
)

// withoutComments reads the text around the name from start to end without comments, and returns
// the name's position in the reading. It returns nil if there are no comments.
func withoutComments(text string, start, end int) (r *reading, name int) {
	least, most := max(0, start-maxSetting), min(len(text), end+maxCommented)
	if !slices.ContainsFunc([]string{"/*", "//", "#", "--", "(*", "{-"}, func(mark string) bool { return strings.Contains(text[least:most], mark) }) {
		return nil, 0
	}
	var out *reader
	copied, run := least, least // run is the start of the last run of base64
	for i := least; i < most; i++ {
		piece := text[i:most]
		switch {
		case i == start:
			if name = i - least; out != nil {
				name = out.out.Len() + i - copied
			}
			run, i = end, end-1
			continue
		case i < start:
			piece = text[i:start]
		}
		before := byteAt(text, i-1)
		if i != end && !isBase64(before) {
			run = i
		}
		switch n := comment(piece, true); {
		case isQuote(piece[0]) && i != end && !isLifetime(text, i):
			// A quoted string is not a comment.
			line, _, _ := strings.Cut(piece[1:], "\n")
			i += strings.IndexByte(line, piece[0]) + 1
		case n == 0, piece[0] == '#' && isWord(before) && isQuote(byteAt(piece, 1)), isBase64(byteAt(piece, 1)) && i > run && endOfBase64(piece, 0)+i-run >= minNamed:
			// A Rust quote, r#", or two slashes in a key are not comments either.
		default:
			if out == nil {
				out = newReader(text[least:most])
			}
			out.copy(text, copied, i)
			copied = i + n
			i = copied - 1
		}
	}
	if out == nil {
		return nil, 0
	}
	out.copy(text, copied, most)
	return out.reading(text[:most]), name
}

const (
	// maxCommented bounds the distance between a name and its value with comments between them,
	// in bytes.
	maxCommented = 600
	// minNamed is the least length of keys that only their name identifies.
	minNamed = 24
)

// isLifetime reports whether a quote begins a Rust lifetime.
func isLifetime(text string, at int) bool {
	return text[at] == '\'' && (byteAt(text, at-1) == '&' || byteAt(text, at-1) == '<')
}

// maxDeclared bounds the distance of a value from its name in a statement, in bytes.
const maxDeclared = 200

// quotedAfter calls take with the starts of the quoted strings that may be the value of the name
// that ends at an offset, until take returns true. It reads types, calls, operators, other
// arguments, and several names with several values. It stops where another name gets a value.
func quotedAfter(text string, end int, take func(at int) bool) {
	set, listed, names := false, false, true // names says that there were only names so far
	var several *values
	for i := end; i < min(len(text), end+maxDeclared); i++ {
		switch c := text[i]; {
		case isLifetime(text, i):
		case isQuote(c):
			if i == end {
				names = byteAt(text, i+1) == ']'
				continue // it ends the name
			}
			names = false
			begin := endOfQuotes(text, i)
			n := strings.IndexByte(text[begin:min(len(text), begin+maxName)], c)
			if set && begin-i != 2 && (several == nil || several.holds(text, begin+max(n, 0)+1)) && take(begin) {
				return
			}
			if begin-i != 1 || n < 0 || strings.Contains(text[begin:begin+n], "\n") {
				return
			}
			i = begin + n
			if next := i + 1 + white(text[i+1:min(len(text), i+maxName)]); byteAt(text, next) == ':' || byteAt(text, next) == '=' {
				return
			}
		case c == ':' && names && byteAt(text, i+1) != '=' && strings.HasSuffix(strings.TrimRight(text[end:i], " \t"), "]"):
			// The type of several names.
		case c == '=' || c == ':':
			if listed && byteAt(text, i-1) != c && (c == '=' || byteAt(text, i+1) != ':') && !otherwise.MatchString(text[max(end, i-20):i]) {
				if !names || c == ':' && byteAt(text, i+1) != '=' {
					return
				}
				several = valuesOf(text, end, i)
			}
			if c == ':' && byteAt(text, i+1) == '=' {
				i++
			}
			set, names = true, false
		case c == '\n':
			before, next := strings.TrimRight(text[end:i], " \t\r\n"), text[i+white(text[i:min(len(text), i+maxDeclared)]):]
			if !goesOn(before, next) {
				return
			}
			listed = listed || set // a value with another name in the list is another value
		case c == '{' && set && isQuote(byteAt(text, i+1+white(text[i+1:min(len(text), i+maxName)]))):
			// A Ruby block.
		case strings.IndexByte("(),|?>", c) >= 0:
			if several != nil && !several.read(text, i) {
				return
			}
			names = names && (c == ',' || c == ')')
			set, listed = true, listed || c == ','
		case !isWord(c) && strings.IndexByte(" \t\r.&*!$@[]<-+\\", c) < 0 && !(c == '#' && isQuote(byteAt(text, i+1))):
			return
		}
	}
}

// goesOn reports whether a statement continues on the next line.
func goesOn(before, next string) bool {
	if before != "" && strings.IndexByte("(,=|?[", before[len(before)-1]) >= 0 || strings.HasSuffix(before, "=>") {
		return true
	}
	if strings.HasSuffix(before, ":") {
		return next != "" && isQuote(next[0])
	}
	return next != "" && strings.IndexByte("=:,|?", next[0]) >= 0 && byteAt(next, 1) != next[0] || strings.HasPrefix(next, "||") || strings.HasPrefix(next, "??")
}

// values are the values of several names, as in a, b = "1", "2".
type values struct {
	nth    int  // which of them belongs to the name
	unsure bool // nth is not known
	call   bool // it may be a call with named arguments, f(a, b="2")

	before      int // the number of values before the current position
	open, calls int // the open parentheses, and those of them that are calls or inside calls
}

// valuesOf finds out which value belongs to the name that ends at an offset, by what comes before
// the name and before the operator.
func valuesOf(text string, end, operator int) *values {
	v := &values{}
	i := end - 1
	for ; i >= max(0, end-maxDeclared) && (isWord(text[i]) || strings.IndexByte(" \t.,*$@&[]\"'", text[i]) >= 0); i-- {
		if text[i] == ',' {
			v.nth++
		}
		v.unsure = v.unsure || text[i] == '*'
	}
	switch byteAt(text, i) {
	case 0, ';', ':', '{', '}':
	case '\n':
		above := strings.TrimRight(text[max(0, i-maxDeclared):i], " \t\r\n")
		v.unsure = v.unsure || strings.HasSuffix(above, ",")
		v.call = strings.HasSuffix(above, ",") || strings.HasSuffix(above, "(")
	default:
		v.call = true
	}
	names := strings.TrimRight(text[end:operator], " \t")
	v.call = v.call && !strings.HasSuffix(names, ")") && !strings.HasSuffix(names, "]")
	return v
}

// read reads a parenthesis, a comma or another operator between values, and reports whether more
// values may follow.
func (v *values) read(text string, at int) bool {
	switch text[at] {
	case '(':
		v.open++
		if v.calls > 0 || isWord(byteAt(text, at-1)) {
			v.calls++
		}
	case ')':
		v.open--
		v.calls = max(0, v.calls-1)
	case ',':
		if v.calls == 0 {
			v.before++
		}
	}
	return v.open >= 0
}

// holds reports whether the value that ends at an offset belongs to the name.
func (v *values) holds(text string, end int) bool {
	return (v.unsure || v.before == v.nth) && !(v.call && closes(text[min(len(text), end):min(len(text), end+maxDeclared)], v.open))
}

// closes reports whether the rest of a statement closes one more parenthesis than is open.
func closes(rest string, open int) bool {
	last := byte(0)
	for i := 0; i < len(rest); i++ {
		c := rest[i]
		switch n := comment(rest[i:], true); {
		case n > 0:
			i += n - 1
			continue
		case isQuote(c):
			line, _, _ := strings.Cut(rest[i+1:], "\n")
			i += strings.IndexByte(line, c) + 1
		case c == '(':
			open++
		case c == ')':
			if open--; open < 0 {
				return true
			}
		case c == ';':
			return false
		case c == '\n' && open == 0 && last != ',':
			return strings.HasPrefix(strings.TrimLeft(rest[i:], " \t\r\n"), ")")
		}
		if strings.IndexByte(" \t\r\n", c) < 0 {
			last = c
		}
	}
	return false
}

// maxApart bounds the distance of a value from its name in a block of settings.
const maxApart = 1200

// apart returns the value after a name with other text between: YAML marks, XML elements, other
// fields, another key, or a command that prints the value.
func (s *setting) apart(text string, end int) (from, to int, ok bool) {
	after := text[end:min(len(text), end+maxSetting)]
	i := 0
	for i < len(after) && i < 3 && (isQuote(after[i]) || after[i] == '\\') {
		i++
	}
	rest := strings.TrimLeft(after[i:], " \r\n")
	if rest == "" {
		return 0, 0, false
	}
	if rest[0] == '{' {
		after = text[end:min(len(text), end+maxApart)]
	}
	for _, a := range betweenNameAndValue {
		if strings.IndexByte(a.first, rest[0]) < 0 || a.named && !slices.ContainsFunc(valueWords, func(word string) bool { return strings.Contains(after, word) }) {
			continue
		}
		n := len(a.between.FindString(after))
		if n == 0 || ofDigests.MatchString(after[:n]) {
			continue
		}
		if m := s.ended.Get().FindStringSubmatchIndex(after[n:min(len(after), n+maxSetting)]); m != nil {
			return end + n + m[2], end + n + m[3], true
		}
	}
	return 0, 0, false
}

// betweenNameAndValue lists what may be between a name and its value, by the characters that it
// begins with after the quote of the name.
var betweenNameAndValue = []struct {
	first   string
	between *regexp.Regexp
	named   bool // the value has a name of its own
}{
	// YAML tags and anchors, and the block after them.
	{":", regexp.MustCompile(`^["']?[ \t]*:[ \t]+(?:[!&][^\s"']*\s+){1,3}(?:[|>][-+0-9]{0,2}\s+)?["']?`), false},
	// A string on the next line, or after the mark of an explicit key.
	{":=", regexp.MustCompile("^[\"'`]?\\s*(?:[:=]|=>|:=)\\s*(?:(?:\"\"\"|'''|[\"'`])\\s*)?"), false},
	// Lists and maps in JSON and YAML, at most three deep.
	{":=", regexp.MustCompile("^[\"'`]?\\s*(?::|=>?)\\s*(?:[\\[{(]\\s*(?:[\"']?[\\w.-]+[\"']?\\s*(?::|=>?)\\s*)?){1,3}[\"'`]?"), false},
	{":", regexp.MustCompile(`^["']?:[ \t]*\r?\n[ \t]*(?:-[ \t]+|[ \t]["']?[\w.-]+["']?:\s+)(?:\s*(?:-[ \t]+|["']?[\w.-]+["']?:\s+)){0,2}["']?`), false},
	{";|\t", regexp.MustCompile("^[\"'`]?[ \t]*[;|\t][ \t]*[\"'`]?"), false},
	// Commands that print their arguments.
	{":=", regexp.MustCompile("^[\"'`]?\\s*[:=]\\s*[\"']?(?:\\$\\(|`)\\s*(?:echo|printf|cat[ \t]*<<<)(?:[ \t]+-\\w+|[ \t]+[\"']?%s(?:\\\\n)?[\"']?)*[ \t]*[\"']?"), false},
	// Elements and attributes.
	{"<", regexp.MustCompile(`^["']?</[\w:.-]+>\s*<[\w:.-]+[^<>]*>\s*(?:<!\[CDATA\[)?\s*`), false},
	{">t", regexp.MustCompile(`^["'][^<>\n]{0,80}>\s*(?:<[\w:.-]+[^<>]*>\s*)?(?:<!\[CDATA\[)?\s*`), false},
	// Other fields before the value.
	{",;-/" + fieldBegins, regexp.MustCompile("^[\"'`]?(?:\\s*[-,;]?\\s*[\"']?\\w+[\"']?[ \t]*[:=][ \t]*(?:\"[^\"\n]*\"|'[^'\n]*'|[\\w ./-]*)){0,8}?\\s*[-,;]?\\s*[\"']?(?i:(?:default_?|string_?)?value|default|content|plaintext)[\"']?[ \t]*[:=][ \t]*[\"'`]?"), true},
	// A block with a default, among other settings and nested blocks.
	{"{", regexp.MustCompile(`^["']?[ \t]*\{(?:[^{}]|\{[^{}]*\})*?\b(?:default|value)[ \t]*[:=][ \t]*["']?`), true},
}

// valueWords occur in the names of values.
var valueWords = []string{"alue", "ALUE", "efault", "EFAULT", "ontent", "laintext", "lainText"}

// ofDigests matches names of values that only look like keys.
var ofDigests = regexp.MustCompile(`(?i)md5|sha-?[0-9]|sum\b|hash|digest|etag|commit|revision`)

// fieldBegins are the characters that another field may begin with.
const fieldBegins = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ\"'"
