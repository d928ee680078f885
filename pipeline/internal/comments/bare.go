package comments

import (
	"slices"
	"strings"
)

// Known reports whether a language's comments are known, or it is known to have none.
func Known(name string) bool { return languages[name] != nil || name == "JSON" }

// Bare returns a line with everything that may be a comment replaced by spaces, byte by byte. In an
// unknown language nothing is replaced.
func Bare(name, text string) string {
	l := languages[name]
	if l == nil || !l.marked(text) {
		return text
	}
	out, _ := l.bare(text)
	return out
}

// bare also reports whether a block comment continues on the next line.
func (l *language) bare(text string) (bare string, goesOn bool) {
	out := []byte(text)
	slash := len(text) // the first slash in code, in a language with regular expressions between slashes
	unsure, texts := false, l.texts(text)
	for at := 0; at < len(text); {
		rest := text[at:]
		switch n := l.mayStart(text, at); {
		case n > 0 && l.open != "" && strings.HasPrefix(rest, l.open):
			end, i := len(rest), strings.Index(rest[n:], l.close)
			if i >= 0 && !unsure {
				end = n + i + len(l.close)
			}
			goesOn = i < 0
			at = blank(out, at, at+end)
		case n > 0:
			blank(out, at, len(out))
			return string(out), false
		case strings.IndexByte(quotes, rest[0]) >= 0:
			// A quote without a partner, or one that may be in a regular expression, says nothing
			// about the text after it.
			length := 0
			if unsure = unsure || at > slash; !unsure {
				length = texts.At(at)
			}
			unsure = unsure || length == 0
			at += max(1, length)
		default:
			if l.regex && rest[0] == '/' {
				slash = min(slash, at)
			}
			at++
		}
	}
	return string(out), goesOn
}

// Closes reports whether a line holds the mark that ends a block comment.
func Closes(name, text string) bool {
	l := languages[name]
	return l != nil && l.open != "" && strings.Contains(text, l.close)
}

// AfterBlock returns the code of a line after the end of a block comment, in the form of Bare. If
// open is set, the comment continues from the line before. Otherwise it may have begun before the
// known lines. goesOn reports whether a comment continues on the next line. That is uncertain,
// since the marks may be in a string of several lines.
func AfterBlock(name, text string, open bool) (code string, goesOn bool) {
	l := languages[name]
	if l == nil || l.open == "" {
		return Bare(name, text), false
	}
	end := 0
	if open {
		i := strings.Index(text, l.close)
		if i < 0 {
			return "", true
		}
		end = i + len(l.close)
	} else if i := l.ended(text, &Texts{line: text}); i >= 0 {
		end = i + len(l.close)
	}
	return l.bare(text[end:])
}

// ended is the position of the mark that ends a block comment with an unknown start, or -1. A mark
// inside quotes ends nothing.
func (l *language) ended(text string, texts *Texts) int {
	if !strings.Contains(text, l.close) {
		return -1
	}
	for at := 0; at < len(text); {
		switch rest := text[at:]; {
		case strings.HasPrefix(rest, l.close):
			return at
		case strings.HasPrefix(rest, l.open):
			return -1
		case strings.IndexByte(quotes, rest[0]) >= 0:
			at += max(1, texts.At(at))
		default:
			at++
		}
	}
	return -1
}

// marked reports whether a text contains a comment mark anywhere.
func (l *language) marked(text string) bool {
	if l.open != "" && strings.Contains(text, l.open) {
		return true
	}
	return slices.ContainsFunc(l.line, func(m string) bool { return strings.Contains(text, m) })
}

// mayStart is the length of the mark at a position that may start a comment, or 0.
func (l *language) mayStart(text string, at int) int {
	rest := text[at:]
	if l.open != "" && strings.HasPrefix(rest, l.open) {
		return len(l.open)
	}
	for _, m := range l.line {
		if strings.HasPrefix(rest, m) && (!l.apart || at == 0 || strings.IndexByte(" \t;", text[at-1]) >= 0) {
			return len(m)
		}
	}
	return 0
}

// Quoted is the length of the string in single or double quotes that starts at a position and ends
// on its line, or 0. For many positions of one line, use Texts.
func Quoted(text string, at int) int {
	if at >= len(text) || text[at] != '"' && text[at] != '\'' {
		return 0
	}
	t := TextsOf(text)
	return t.At(at)
}

// blank replaces a stretch by spaces, and returns its end.
func blank(out []byte, from, to int) int {
	for i := from; i < to; i++ {
		out[i] = ' '
	}
	return to
}

// Statements returns the parts of a bare line that may excuse the match from from to to: the
// statement around it, or each of several that it spans. If strict is set, strings outside the
// match are replaced by spaces, since they may contain anything, except in languages whose words
// need no quotes. sure is false if a part may end elsewhere.
func Statements(name, bare string, from, to int, strict bool) (parts []string, sure bool) {
	l := languages[name]
	s := splitter{l: l, bare: bare, from: from, to: to, texts: l.texts(bare), strict: strict && (l == nil || !l.words)}
	for at := 0; at < len(bare); {
		c := bare[at]
		switch {
		case strings.IndexByte(quotes, c) >= 0:
			at += s.quoted(at)
			continue
		case c == '/' && l != nil && l.regex:
			at += s.slash(at)
			continue
		case c == '(' || c == '[':
			s.depth++
		case c == ')' || c == ']':
			s.depth = max(0, s.depth-1)
		default:
			if n := s.separator(at); n > 0 {
				if at >= to {
					return append(s.parts, s.part(at)), s.sure()
				}
				s.end(at)
				s.start = at + n
				at += n
				continue
			}
		}
		at++
	}
	return append(s.parts, s.part(len(bare))), s.sure()
}

// splitter finds the statements that contain a match.
type splitter struct {
	l        *language
	bare     string
	out      []byte // the line with blanked parts; nil if there are none
	from, to int
	texts    Texts
	strict   bool
	parts    []string
	start    int // of the statement
	depth    int
	slashed  bool // a slash may begin a regular expression
	unsure   bool // from here on, nothing is certainly a string
	nested   bool // the match spans an end within parentheses
}

func (s *splitter) sure() bool { return !s.unsure && !s.nested }

func (s *splitter) part(to int) string {
	if s.out == nil {
		return s.bare[s.start:to]
	}
	return string(s.out[s.start:to])
}

// end ends a statement before the match or within it.
func (s *splitter) end(at int) {
	if at > s.from {
		s.parts = append(s.parts, s.part(at))
		s.nested = s.nested || s.depth > 0
	}
}

// blank replaces the part of a stretch outside the match by spaces.
func (s *splitter) blank(from, to int) {
	if s.out == nil {
		s.out = []byte(s.bare)
	}
	blank(s.out, from, min(to, max(from, s.from)))
	blank(s.out, max(from, s.to), to)
}

// quoted reads the string that a quote begins, and returns its length. After a quote that may be in
// a regular expression, nothing is certainly code.
func (s *splitter) quoted(at int) int {
	n := 0
	if !s.unsure && !s.slashed {
		n = s.texts.At(at)
	}
	if n == 0 {
		if s.slashed && !s.unsure && s.strict {
			s.blank(at, len(s.bare))
		}
		s.unsure = true
		return 1
	}
	if s.strict && (at+n <= s.from || at >= s.to) {
		s.blank(at+1, at+n-1)
	}
	return n
}

// slash returns the length of the regular expression that a slash begins, or 1.
func (s *splitter) slash(at int) int {
	begins, sure := BeginsRegexp(s.bare, at)
	if begins && sure && !s.unsure && !s.slashed {
		if end := RegexpEnd(s.bare, at); end > 0 {
			return end - at
		}
	}
	s.slashed = s.slashed || begins || !sure
	return 1
}

// separator is the length of the separator of statements at a position, or 0. A separator that a
// rule's pattern may match, such as a pipe, does not end a statement within the match.
func (s *splitter) separator(at int) int {
	words := s.l == nil || s.l.words
	c, next := s.bare[at], byte(0)
	if at+1 < len(s.bare) {
		next = s.bare[at+1]
	}
	switch {
	case c == ';':
		if s.depth == 0 || s.l != nil && s.l.words {
			return 1
		}
	case !words || c != '&' && c != '|':
	case next == c:
		return 2
	case at > s.from && at < s.to:
	case c == '|' || next != '>' && (at == 0 || strings.IndexByte("<>", s.bare[at-1]) < 0):
		return 1
	}
	return 0
}
