package comments

import (
	"slices"
	"strings"
)

// maxHeredocs bounds the open heredocs. Above it, and after a heredoc with an unknown name, nothing
// counts as a comment.
const maxHeredocs = 50

// heredocs are the open heredocs of a text. No line in them is a comment. Heredocs of one line
// follow one another. A line in a heredoc may also seem to begin one. Nobody knows which of the two
// is real, so each must see its own end.
type heredocs struct {
	open   [][]heredoc
	ever   bool // they never end
	joined bool // the line before ends in a backslash, so the next line ends no heredoc
	// A line has a quote without a partner, so what seems to be in quotes may be outside.
	doubt bool
}

// heredoc is one heredoc.
type heredoc struct {
	name   string // the terminator, alone on its line
	quoted bool   // a backslash in it joins no lines
	tabbed bool   // tabs may come before the terminator
}

// inside reports whether a line is in a heredoc.
func (h *heredocs) inside() bool { return h.ever || len(h.open) > 0 }

// begin adds the heredocs that a line of code begins.
func (h *heredocs) begin(l *language, text string) {
	if h.ever {
		return
	}
	h.doubt = h.doubt || odd(text)
	if l.words && strings.HasSuffix(text, "<\\") {
		h.ever = true // the next line may begin with the rest of the mark
		return
	}
	if !strings.Contains(text, l.heredoc) {
		return
	}
	newHeredocs, known := l.heredocsIn(text, h.doubt)
	if len(newHeredocs) > 0 {
		h.open = append(slices.Clip(h.open), newHeredocs)
	}
	n := 0
	for _, o := range h.open {
		n += len(o)
	}
	h.ever = !known || n > maxHeredocs
}

// end removes the heredocs that end with a line.
func (h *heredocs) end(l *language, text string) {
	if len(h.open) == 0 {
		return
	}
	var open [][]heredoc // a new slice: copies of a reader share the old one
	joined := h.joined
	h.joined = l.words && endsInBackslash(text)
	for _, o := range h.open {
		if (!joined || o[0].quoted) && o[0].endsAt(l, text) {
			o = o[1:]
		}
		if len(o) > 0 {
			open = append(open, o)
		}
	}
	h.open = open
}

// endsInBackslash reports whether a line ends in an unescaped backslash.
func endsInBackslash(text string) bool {
	return (len(text)-len(strings.TrimRight(text, `\`)))%2 == 1
}

// odd reports whether a line has a quote without a partner, or a string that ends elsewhere than it
// seems to.
func odd(text string) bool {
	for at := 0; at < len(text); {
		i := strings.IndexAny(text[at:], "\"'\\")
		if i < 0 {
			return false
		}
		at += i
		if text[at] == '\\' {
			at += 2
			continue
		}
		n := quotedLength(text[at:])
		if n == 0 || at > 0 && text[at-1] == '$' {
			return true
		}
		at += n
	}
	return false
}

// heredocsIn returns the heredocs that a line begins, and whether all of their names are known. A
// heredoc that may be in quotes or in a comment counts, unless it is certainly in quotes.
func (l *language) heredocsIn(text string, doubt bool) (found []heredoc, known bool) {
	known = true
	sums := arithmetic{line: text}
	for at := 0; at < len(text); {
		rest := text[at:]
		switch c := rest[0]; {
		case c == '\\':
			at += 2
		case !doubt && (c == '"' || c == '\''):
			n := quotedLength(rest)
			if doubt = n == 0 || c == '"' && strings.ContainsAny(rest[:n], "`$"); doubt {
				n = 1 // it may contain code
			}
			at += n
		case l.words && strings.HasPrefix(rest, "$(("):
			at += 3 + sums.length(at+3)
		case l.words && strings.HasPrefix(rest, "<<<"), l.block && at == len(text)-len(strings.TrimLeft(text, " \t-")) && merges(rest):
			at += 3
		case strings.HasPrefix(rest, l.heredoc):
			at += len(l.heredoc)
			h, n := l.heredocAt(text[at:])
			if h.name == "" {
				return found, false
			}
			found = append(found, h)
			at += n
		default:
			at++
		}
	}
	return found, known
}

// quotedLength is the length of the string at the start of a text, or 0 if it does not end in the
// text.
func quotedLength(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			if text[0] != '\'' {
				i++
			}
		case text[0]:
			return i + 1
		}
	}
	return 0
}

// merges reports whether a line of YAML merges another mapping.
func merges(text string) bool {
	value, ok := strings.CutPrefix(text, "<<:")
	value = strings.TrimLeft(value, " \t\r")
	return ok && (value == "" || strings.IndexByte("*[{", value[0]) >= 0)
}

// arithmetic finds a shell's arithmetic expressions in a line.
type arithmetic struct {
	line   string
	failed int // no expression that begins before this position ends
	read   int // number of bytes read, for tests
}

// length is the length of the arithmetic from a position to the parentheses that end it, or 0 if it
// may be something else. The positions of successive calls must ascend.
func (a *arithmetic) length(at int) int {
	if at < a.failed {
		return 0
	}
	for i := at; i < len(a.line); i++ {
		a.read++
		switch c := a.line[i]; {
		case c == ')' && strings.HasPrefix(a.line[i:], "))"):
			return i - at
		case strings.IndexByte(" \t_$+-*/%&|^~!=<>?:,()", c) < 0 && wordLength(a.line[i:i+1]) == 0:
			a.failed = i
			return 0
		}
	}
	a.failed = len(a.line)
	return 0
}

// heredocAt reads the heredoc after its mark, up to the name, and returns the length of that. The
// name is empty if it is not known.
func (l *language) heredocAt(text string) (h heredoc, length int) {
	h.tabbed = strings.HasPrefix(text, "-")
	at := len(text) - len(strings.TrimLeft(text, "-~"))
	at += len(text[at:]) - len(strings.TrimLeft(text[at:], " \t"))
	if !l.words { // a name, optionally in quotes
		if at < len(text) && (text[at] == '"' || text[at] == '\'') {
			at++
		}
		h.name = text[at : at+nameLength(text[at:], l)]
		return h, at + len(h.name)
	}
	var name strings.Builder
	for at < len(text) && strings.IndexByte(" \t;&|<>()", text[at]) < 0 {
		switch c := text[at]; {
		case c == '\r' && l != shell: // a shell counts it as part of the name
			at++
		case c == '\\' && at+1 < len(text):
			h.quoted = true
			name.WriteByte(text[at+1])
			at += 2
		case c == '"' || c == '\'':
			n := quotedLength(text[at:])
			if n == 0 || strings.ContainsAny(text[at:at+n], "\\") || at > 0 && text[at-1] == '$' {
				return heredoc{}, at
			}
			h.quoted = true
			name.WriteString(text[at+1 : at+n-1])
			at += n
		case c == '`' || c == '\\' || c == '$' && at+1 < len(text) && strings.IndexByte("({", text[at+1]) >= 0:
			return heredoc{}, at
		default:
			name.WriteByte(c)
			at++
		}
	}
	h.name = name.String()
	return h, at
}

// nameLength is the number of bytes of a name at the start of a text.
func nameLength(text string, l *language) int {
	for i := range len(text) {
		if c := text[i]; wordLength(text[i:i+1]) == 0 && c < 0x80 && (c != '-' || l.heredoc != "<<") {
			return i
		}
	}
	return len(text)
}

// endsAt reports whether the heredoc ends at the line. Only in PHP may other text follow on the
// line.
func (h heredoc) endsAt(l *language, text string) bool {
	if l != shell {
		text = strings.TrimSuffix(text, "\r")
	}
	switch {
	case !l.words || l.block:
		text = strings.TrimLeft(text, " \t")
	case h.tabbed:
		text = strings.TrimLeft(text, "\t")
	}
	rest, ok := strings.CutPrefix(text, h.name)
	switch {
	case l.heredoc == "<<<":
		return ok && (rest == "" || nameLength(rest, l) == 0)
	case !l.words || l.block:
		rest = strings.TrimRight(rest, " \t")
	}
	return ok && rest == ""
}

// wordLength is the number of letters, digits and underscores at the start of a text.
func wordLength(text string) int {
	for i := range len(text) {
		if c := text[i]; c != '_' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return i
		}
	}
	return len(text)
}
