package comments

import "strings"

// Bare returns a line in which everything that may be a comment is blanked out,
// byte by byte. In an unknown language nothing is.
func Bare(name, text string) string {
	l := languages[name]
	if l == nil || !l.marked(text) {
		return text
	}
	out := []byte(text)
	slash := len(text) // the first, of a language whose regular expressions stand between them
	if i := strings.IndexByte(text, '/'); l.regex && i >= 0 {
		slash = i
	}
	unsure := false
	for at := 0; at < len(text); {
		rest := text[at:]
		switch n := l.mayStart(text, at); {
		case n > 0 && l.open != "" && strings.HasPrefix(rest, l.open):
			end := len(rest)
			if i := strings.Index(rest[n:], l.close); i >= 0 && !unsure {
				end = n + i + len(l.close)
			}
			at = blank(out, at, at+end)
		case n > 0:
			blank(out, at, len(out))
			return string(out)
		case strings.IndexByte("\"'`", rest[0]) >= 0:
			// A quote without its fellow, or one that may stand in a regular
			// expression, says nothing of what follows.
			length := 0
			if unsure = unsure || at > slash; !unsure {
				length = quoted(text, at)
			}
			unsure = unsure || length == 0
			at += max(1, length)
		default:
			at++
		}
	}
	return string(out)
}

// Ended is a line of code behind the end of a block comment that began before it.
func Ended(name, text string) string {
	l := languages[name]
	if l == nil || l.open == "" {
		return text
	}
	if i := strings.Index(text, l.close); i >= 0 && !strings.Contains(text[:i], l.open) {
		return strings.TrimLeft(text[i+len(l.close):], " \t")
	}
	return text
}

// marked reports whether a text holds a comment's mark anywhere.
func (l *language) marked(text string) bool {
	if l.open != "" && strings.Contains(text, l.open) {
		return true
	}
	for _, m := range l.line {
		if strings.Contains(text, m) {
			return true
		}
	}
	return false
}

// mayStart is the length of the mark at a place that may start a comment, or 0.
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

// Quoted is the length of the string in quotes that starts at a place and ends on its
// line, or 0.
func Quoted(text string, at int) int {
	if at >= len(text) || text[at] != '"' && text[at] != '\'' {
		return 0
	}
	return quoted(text, at)
}

// quoted is the length of the string that starts at a place and ends on its
// line, or 0.
func quoted(text string, at int) int {
	for i := at + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case text[at]:
			return i + 1 - at
		}
	}
	return 0
}

// blank blanks out a stretch, and returns where it ends.
func blank(out []byte, from, to int) int {
	for i := from; i < to; i++ {
		out[i] = ' '
	}
	return to
}

// Statement returns the part of a bare line that may excuse the match from from to
// to: the statement around it. If strict is set, strings outside the match are
// blanked out, since anything can be written in them, except in languages whose
// words need no quotes.
func Statement(name, bare string, from, to int, strict bool) string {
	l := languages[name]
	words := l == nil || l.words
	out := []byte(bare)
	start, depth, unsure := 0, 0, false
	for at := 0; at < len(bare); at++ {
		switch c := bare[at]; c {
		case '"', '\'', '`':
			n := 0
			if !unsure {
				n = quoted(bare, at)
			}
			if unsure = n == 0; unsure {
				continue
			}
			if strict && !words && (at+n <= from || at >= to) {
				blank(out, at+1, at+n-1)
			}
			at += n - 1
		case '(', '[':
			depth++
		case ')', ']':
			depth = max(0, depth-1)
		case ';', '&', '|':
			ends := c == ';' && depth == 0 || words && c != ';' && at+1 < len(bare) && bare[at+1] == c
			switch {
			case !ends:
			case at > from:
				return string(out[start:at])
			default:
				start = at + 1
			}
		}
	}
	return string(out[start:])
}
