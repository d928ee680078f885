package gapdetect

import (
	"slices"
	"strings"
	"unicode"

	"github.com/reviewgate/reviewgate/config"
)

// syntax is the part of a language's syntax that tells code, strings and comments apart on a line.
type syntax struct {
	line    []string // starts of comments that end with their line
	open    string   // the start of comments that may span lines
	close   string
	quotes  string // of strings that end on their line
	long    string // a quote of strings that may span lines
	holes   bool   // long strings hold code in ${}
	triples bool   // a triple quote also begins a string
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

// syntaxes are the known languages, by the names that GitHub shows. In any other language, every
// match counts.
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

// kind is the kind of a part of a line, as a bit, so that a signal may look within several.
type kind uint8

const (
	inCode kind = 1 << iota
	inStrings
	inComments
)

// kindsOf are the kinds that a signal looks within, or 0 if it looks within all or they can't be
// told apart.
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

// reader finds the parts of a hunk's lines. If a hunk starts inside a comment or string, its first
// lines count as code.
type reader struct {
	*syntax
	comment bool   // continues from the line before
	hole    bool   // within code in a long string
	kinds   []kind // by byte of the line, or empty if unknown
}

// next reads a line. If asked is not set, it only tracks comments that span lines.
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

// continues reports whether the line looks like a line within a /* comment.
func continues(text string) bool {
	text = strings.TrimSpace(text)
	return text == "*" || strings.HasPrefix(text, "* ") || strings.HasPrefix(text, "*/")
}

// mark sets the kind of a part of the line and returns the part's end.
func (r *reader) mark(from, to int, k kind) int {
	for i := from; i < to; i++ {
		r.kinds[i] = k
	}
	return to
}

// part reads one comment, string or character of code, and returns the start of the next part.
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

// startsComment reports whether the rest of the line is a comment. The slashes of a URL and PHP's
// attributes don't start one.
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

// str returns the length of the string at the start of a text, and the end of its opening quotes.
// Both are 0 if there is no string. A quote without a partner is an apostrophe or a lifetime's.
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

// apostrophe reports whether a single quote after a text is part of a word, such as don't, and not
// of a string such as rb'...'.
func apostrophe(before string) bool {
	word := before[strings.LastIndexFunc(before, func(c rune) bool { return !unicode.IsLetter(c) })+1:]
	return word != "" && !slices.Contains([]string{"b", "f", "r", "u", "br", "fr", "rb", "rf"}, strings.ToLower(word))
}

// character is the length of a character literal such as '"' or '\n', or 0.
func character(text string) int {
	switch {
	case len(text) > 3 && text[1] == '\\' && text[3] == '\'':
		return 4
	case len(text) > 2 && text[1] != '\\' && text[2] == '\'':
		return 3
	}
	return 0
}

// longString is the length of a string up to its end, to code within it, or to the end of the line.
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
