package gapdetect

import (
	"slices"
	"strings"
	"unicode"

	"github.com/reviewgate/reviewgate/config"
)

// syntax is as much of a language as it takes to tell code, strings and
// comments apart on a line.
type syntax struct {
	line    []string // starts of comments that end with their line
	open    string   // of comments that may go over several lines
	close   string
	quotes  string // of strings that end on their line
	long    string // a quote of strings that may go over several lines
	holes   bool   // long strings hold code in ${}
	triples bool   // three quotes are one
}

var (
	goLike     = &syntax{line: []string{"//"}, open: "/*", close: "*/", quotes: `"`, long: "`"}
	scriptLike = &syntax{line: []string{"//"}, open: "/*", close: "*/", quotes: `"'`, long: "`", holes: true}
	javaLike   = &syntax{line: []string{"//"}, open: "/*", close: "*/", quotes: `"`, triples: true}
	phpLike    = &syntax{line: []string{"//", "#"}, open: "/*", close: "*/", quotes: `"'`}
	pythonLike = &syntax{line: []string{"#"}, quotes: `"'`, triples: true}
	shellLike  = &syntax{line: []string{"#"}, quotes: `"'`}
	sqlLike    = &syntax{line: []string{"--"}, open: "/*", close: "*/", quotes: `'`}
	markupLike = &syntax{open: "<!--", close: "-->", quotes: `"'`}
)

// syntaxes are the languages of which it is known, by the names that GitHub
// shows. In any other, every match counts.
var syntaxes = map[string]*syntax{
	"Go":         goLike,
	"TypeScript": scriptLike, "TSX": scriptLike, "JavaScript": scriptLike, "Dart": scriptLike,
	"Java": javaLike, "Kotlin": javaLike, "Scala": javaLike, "C#": javaLike, "Rust": javaLike, "Swift": javaLike,
	"Groovy": javaLike, "C": javaLike, "C++": javaLike, "Objective-C": javaLike,
	"PHP":    phpLike,
	"Python": pythonLike, "Elixir": pythonLike,
	"Ruby": shellLike, "Shell": shellLike, "PowerShell": shellLike, "Perl": shellLike, "YAML": shellLike,
	"HCL": shellLike, "Dockerfile": shellLike, "Makefile": shellLike, "TOML": shellLike,
	"SQL": sqlLike, "PLpgSQL": sqlLike, "PLSQL": sqlLike, "TSQL": sqlLike,
	"HTML": markupLike, "Vue": markupLike, "Svelte": markupLike, "XML": markupLike,
}

// kind is what a part of a line is, as bits, so that a signal may look within
// several.
type kind uint8

const (
	inCode kind = 1 << iota
	inStrings
	inComments
)

// kindsOf are the kinds that a signal looks within, 0 for all of them and for
// what can't be told apart.
func kindsOf(within []string) (kinds kind) {
	for _, w := range within {
		switch w {
		case config.WithinCode:
			kinds |= inCode
		case config.WithinStrings:
			kinds |= inStrings
		case config.WithinComments:
			kinds |= inComments
		}
	}
	return kinds
}

// reader tells what the parts of a hunk's lines are. Where a hunk starts in
// the middle of a comment or string, its first lines are taken for code.
type reader struct {
	*syntax
	comment bool   // goes on from the line before
	hole    bool   // there is code within a long string
	kinds   []kind // by byte of the line; none where it is not known
}

// next reads a line. Where nobody asks what it holds, only comments that go
// over several lines matter.
func (r *reader) next(text string, asked bool) {
	r.kinds, r.hole = r.kinds[:0], false
	if r.syntax == nil || !asked && (r.open == "" || !r.comment && !strings.Contains(text, r.open)) {
		return
	}
	r.kinds = slices.Grow(r.kinds, len(text))[:len(text)]
	at := 0
	if !r.comment && r.open == "/*" && continues(text) {
		at = r.mark(at, len(text), inComments)
	}
	for at < len(text) {
		at = r.part(text, at)
	}
}

// continues reports whether the line looks like one within a comment of stars.
func continues(text string) bool {
	text = strings.TrimSpace(text)
	return text == "*" || strings.HasPrefix(text, "* ") || strings.HasPrefix(text, "*/")
}

// mark notes what a part of the line is and returns its end.
func (r *reader) mark(from, to int, k kind) int {
	for i := from; i < to; i++ {
		r.kinds[i] = k
	}
	return to
}

// part reads one comment, string or character of code and returns where the
// next starts.
func (r *reader) part(text string, at int) int {
	rest := text[at:]
	switch {
	case r.comment || r.open != "" && strings.HasPrefix(rest, r.open):
		n := 0
		if !r.comment {
			n = len(r.open)
		}
		end := strings.Index(rest[n:], r.close)
		if r.comment = end < 0; r.comment {
			return r.mark(at, len(text), inComments)
		}
		return r.mark(at, at+n+end+len(r.close), inComments)
	case r.startsComment(text, at):
		return r.mark(at, len(text), inComments)
	}
	if n, body := r.str(rest); n > 0 && (rest[0] != '\'' || !apostrophe(text[:at])) {
		r.mark(at, at+body, inCode) // the quotes
		return r.mark(at+body, at+n, inStrings)
	}
	return r.mark(at, at+1, inCode)
}

// startsComment reports whether the rest of the line is a comment. A URL's
// slashes and PHP's attributes start none.
func (r *reader) startsComment(text string, at int) bool {
	for _, mark := range r.line {
		switch {
		case !strings.HasPrefix(text[at:], mark):
		case mark == "//" && at > 0 && text[at-1] == ':':
		case mark == "#" && strings.HasPrefix(text[at:], "#["):
		case mark == "#" && at > 0 && strings.IndexByte(" \t;", text[at-1]) < 0:
		default:
			return true
		}
	}
	return false
}

// str returns the length of the string that a text starts with, and where in
// it the opening quotes end; 0 where none does. A quote without its fellow is an
// apostrophe, or that of a lifetime.
func (r *reader) str(text string) (length, body int) {
	switch c := text[0]; {
	case c == '\'' && strings.IndexByte(r.quotes, c) < 0:
		return character(text), 1
	case r.triples && (strings.HasPrefix(text, `"""`) || strings.HasPrefix(text, `'''`)):
		if end := strings.Index(text[3:], text[:3]); end >= 0 {
			return end + 6, 3
		}
		return len(text), 3
	case r.long != "" && c == r.long[0], r.hole && c == '}':
		r.hole = false
		return r.longString(text), 1
	case strings.IndexByte(r.quotes, c) >= 0:
		for i := 1; i < len(text); i++ {
			switch text[i] {
			case '\\':
				i++
			case c:
				return i + 1, 1
			}
		}
	}
	return 0, 0
}

// apostrophe reports whether a single quote that follows a text is part of a
// word, such as don't, and not of a string such as rb'...'.
func apostrophe(before string) bool {
	word := before[strings.LastIndexFunc(before, func(c rune) bool { return !unicode.IsLetter(c) })+1:]
	return word != "" && !slices.Contains([]string{"b", "f", "r", "u", "br", "fr", "rb", "rf"}, strings.ToLower(word))
}

// character is the length of a character such as '"' or '\n', or 0.
func character(text string) int {
	switch {
	case len(text) > 3 && text[1] == '\\' && text[3] == '\'':
		return 4
	case len(text) > 2 && text[1] != '\\' && text[2] == '\'':
		return 3
	}
	return 0
}

// longString is the length of a string up to its end, to code within it, or to
// the end of the line.
func (r *reader) longString(text string) int {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == r.long[0]:
			return i + 1
		case r.holes && text[i] == '\\':
			i++
		case r.holes && strings.HasPrefix(text[i:], "${"):
			r.hole = true
			return i
		}
	}
	return len(text)
}
