package comments

import (
	"reflect"
	"strings"
	"unicode/utf8"
)

// Reader reads the lines of one side of a hunk, one after the other. Its zero value knows no
// language.
type Reader struct {
	language *language
	open     bool // a block comment continues from the line before
	joined   bool // the line before ends in a backslash, so this line may be part of it
	heredocs heredocs
}

// NewReader reads a hunk of a file in the language.
func NewReader(name string) Reader { return Reader{language: languages[name]} }

// Same reports whether both readers treat any following lines the same.
func (r *Reader) Same(other *Reader) bool { return reflect.DeepEqual(r, other) }

// Knows reports whether the reader knows the language's comments.
func (r *Reader) Knows() bool { return r.language != nil }

// Next returns how many bytes at the start of the next line are certainly a comment.
func (r *Reader) Next(text string) int {
	l := r.language
	switch {
	case l == nil:
		return 0
	case l.heredoc == "":
		return r.next(text)
	case r.heredocs.inside():
		r.heredocs.end(l, text)
		r.heredocs.begin(l, text)
		return 0
	}
	n := r.next(text)
	r.heredocs.begin(l, text[n:])
	return n
}

func (r *Reader) next(text string) int {
	joined := r.joined
	end := strings.TrimRight(text, " \t\r")
	r.joined = strings.HasSuffix(end, `\`) || strings.HasSuffix(end, "??/")
	switch {
	case r.open:
		return r.block(text, 0)
	case joined:
		return 0
	}
	start := len(text) - len(strings.TrimLeft(text, " \t"))
	rest := text[start:]
	l := r.language
	for _, n := range l.never {
		if strings.HasPrefix(rest, n) {
			return 0
		}
	}
	if l.open != "" && strings.HasPrefix(rest, l.open) {
		return r.block(text, start+len(l.open))
	}
	for _, mark := range l.line {
		if strings.HasPrefix(rest, mark) {
			return l.lineComment(text, start+len(mark))
		}
	}
	return 0
}

// lineComment is how much of a line is a comment whose mark ends at a position. The end of a block
// comment matters too: the hunk may start in one.
func (l *language) lineComment(text string, at int) int {
	end := at + lineEnd(text[at:])
	body := text[at:end]
	if l.blank && body != "" && body[0] != ' ' && body[0] != '\t' {
		return 0
	}
	if safe, _ := l.runsNothing(body); !safe || l.close != "" && strings.Contains(body, l.close) {
		return 0
	}
	return end
}

// block is how much of a line belongs to a block comment that continues at a position. If the
// comment may be part of something else, it is forgotten, so that everything after it counts as
// code.
func (r *Reader) block(text string, at int) int {
	l := r.language
	body, closes := text[at:], false
	if i := strings.Index(body, l.close); i >= 0 {
		body, closes = body[:i], true
	}
	safe, stays := l.runsNothing(body)
	r.open = stays && !closes && !l.oneLine && !r.joined
	switch {
	case !safe, !closes && (l.oneLine || r.joined):
		return 0
	case closes:
		return at + len(body) + len(l.close)
	}
	return len(text)
}

// runsNothing reports whether a comment's text would run nothing if it were not a comment but part
// of a string, a template or markup, and whether the text after it would still be in the same.
func (l *language) runsNothing(body string) (safe, stays bool) {
	for _, e := range l.ends {
		if strings.Contains(body, e) {
			return false, false
		}
	}
	if !l.holes {
		return true, true
	}
	depth := 0
	for i := range len(body) {
		switch body[i] {
		case '<': // </p> may contain spaces and line breaks
			if rest := strings.TrimLeft(body[i+1:], " \t\r"); rest == "" || rest[0] == '/' {
				return false, false
			}
		case '{':
			depth++
		case '}':
			depth--
		}
		if depth < 0 {
			return false, false
		}
	}
	return !strings.ContainsAny(body, "{}"), depth == 0
}

// lineEnd is where a line ends in some language: at a carriage return, a vertical tab, a form feed,
// one of ASCII's file, group and record separators, as in pip, or Unicode's next line, line
// separator or paragraph separator. Git knows only the line feed.
func lineEnd(text string) int {
	for i := range len(text) {
		if n := separator(text[i:]); n > 0 {
			return i
		}
	}
	return len(text)
}

// separator is the length of the line separator at the start of a text, or 0.
func separator(text string) int {
	switch text[0] {
	case '\r', '\v', '\f', '\x1c', '\x1d', '\x1e':
		return 1
	case 0xC2:
		if strings.HasPrefix(text, "\u0085") {
			return len("\u0085")
		}
	case 0xE2:
		if c, n := utf8.DecodeRuneInString(text); c == '\u2028' || c == '\u2029' {
			return n
		}
	}
	return 0
}

// maxLines bounds how many lines one line of a diff may count as.
const maxLines = 1000

// Lines splits a line of a diff for languages with other line ends, or returns nil if it is a
// single line in all of them. The last of maxLines lines holds the rest.
func Lines(text string) []string {
	if lineEnd(text) == len(text) {
		return nil
	}
	var out []string
	for from := 0; ; {
		end := from + lineEnd(text[from:])
		if end == len(text) || len(out) == maxLines {
			return append(out, text[from:])
		}
		out = append(out, text[from:end])
		from = end + separator(text[end:])
	}
}
