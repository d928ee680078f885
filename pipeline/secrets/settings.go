package secrets

import (
	"regexp"
	"strings"
)

// Keys that only their name tells are set in more ways than isSetTo reads: with a type
// before the value, in calls, behind another value, and by a name and a value that stand
// in fields of their own. What stands so is taken where a text in quotes, or all that a
// line holds, has the form of the key.

// maxSetting is how far a name and its value may stand apart, in bytes.
const maxSetting = 400

// setting finds the value of a name in the ways that isSetTo does not read.
type setting struct{ quoted, bare, before *regexp.Regexp }

// newSetting returns nil for a format that is not known by a name.
func newSetting(f *format) *setting {
	value, ok := strings.CutPrefix(f.rest, isSetTo)
	if !ok {
		return nil
	}
	return &setting{
		quoted: regexp.MustCompile(`^` + value + "\\\\?[\"'`]"),
		bare:   regexp.MustCompile(`^` + value + `[ \t\r]*(?:\n|$)`),
		before: regexp.MustCompile(`(?i:value)["']?[ \t]*[:=][ \t]*["']?` + value + `["']?[ \t]*,?\s{0,80}(?:-[ \t]+)?["']?(?i:name|key)["']?[ \t]*[:=][ \t]*["']?$`),
	}
}

// find returns the value of the name that stands from start to end.
func (s *setting) find(text string, start, end int) (from, to int, ok bool) {
	take := func(value *regexp.Regexp, at int) bool {
		m := value.FindStringSubmatchIndex(text[at:min(len(text), at+maxSetting)])
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
	least := max(0, start-maxSetting)
	for start > least && isNameByte(text[start-1]) {
		start--
	}
	if before := text[least:start]; isNamed(before) {
		if m := s.before.FindStringSubmatchIndex(before); m != nil {
			return least + m[2], least + m[3], true
		}
	}
	return 0, 0, false
}

// isNamed reports whether a text ends in what says that a name follows: name: or "key" =.
func isNamed(text string) bool {
	text = strings.TrimRight(text, " \t\"'")
	if !strings.HasSuffix(text, ":") && !strings.HasSuffix(text, "=") {
		return false
	}
	word := strings.ToLower(strings.TrimRight(text[:len(text)-1], " \t\"'"))
	return strings.HasSuffix(word, "name") || strings.HasSuffix(word, "key")
}

var (
	// blockOfYAML is what stands between a name and the text that YAML gives below it.
	blockOfYAML = regexp.MustCompile(`^["']?[ \t]*:[ \t]*[|>][-+0-9]{0,2}[ \t]*(?:#[^\n]*)?\r?\n[ \t]+`)
	// variableBlock is what stands between the name of a variable of Terraform and its
	// default: at most three lines of other settings.
	variableBlock = regexp.MustCompile(`^"[ \t]*\{[^\n}]*(?:\n[^\n}]*){0,4}?\bdefault[ \t]*=[ \t]*"`)
	// otherwise is what may be said of a value that stands behind another.
	otherwise = regexp.MustCompile(`(?i)\b(?:default|default_?value|fallback|value)[ \t]*$`)
)

// maxDeclared is how far a value may stand from its name in a statement, in bytes.
const maxDeclared = 200

// quotedAfter tells where the texts in quotes begin that may be the value of the name that
// ends at an offset, until take takes one. It reads types, calls, operators and other
// arguments, and ends where another name gets a value.
func quotedAfter(text string, end int, take func(at int) bool) {
	set, listed := false, false
	for i := end; i < min(len(text), end+maxDeclared); i++ {
		switch c := text[i]; {
		case c == '\'' && (byteAt(text, i-1) == '&' || byteAt(text, i-1) == '<'):
			// A lifetime of Rust.
		case isQuote(c):
			if i == end {
				continue // it ends the name
			}
			begin := endOfQuotes(text, i)
			if set && begin-i != 2 && take(begin) {
				return
			}
			n := strings.IndexByte(text[begin:min(len(text), begin+maxName)], c)
			if begin-i != 1 || n < 0 || strings.Contains(text[begin:begin+n], "\n") {
				return
			}
			i = begin + n
			if next := i + 1 + white(text[i+1:min(len(text), i+maxName)]); byteAt(text, next) == ':' || byteAt(text, next) == '=' {
				return
			}
		case c == '=' || c == ':':
			if listed && byteAt(text, i-1) != c && !otherwise.MatchString(text[max(end, i-20):i]) {
				return
			}
			set = true
		case c == '\n':
			if before := strings.TrimRight(text[end:i], " \t\r\n"); before == "" || strings.IndexByte("(,=|?[", before[len(before)-1]) < 0 {
				return
			}
		case c == '{' && set && isQuote(byteAt(text, i+1+white(text[i+1:min(len(text), i+maxName)]))):
			// A block of Ruby.
		case strings.IndexByte("(),|?>", c) >= 0:
			set, listed = true, listed || c == ','
		case !isWord(c) && strings.IndexByte(" \t\r.&*!$@[]<-+\\", c) < 0 && !(c == '#' && isQuote(byteAt(text, i+1))):
			return
		}
	}
}
