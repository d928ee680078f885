package literals

import "strings"

// Literal is text that a match contains, with what is known of its boundaries.
type Literal struct {
	Text       string
	Folded     bool // case is ignored
	Start, End bool // there is a word boundary on that side
}

// IsAt reports whether the literal ends at end in the text. Its letters were found there, ignoring
// case.
func (l *Literal) IsAt(text string, end int) bool {
	start := end - len(l.Text)
	return (l.Folded || text[start:end] == l.Text) &&
		(!l.Start || boundary(text, start)) && (!l.End || boundary(text, end))
}

// boundary reports whether \b matches.
func boundary(text string, at int) bool {
	before := at > 0 && isWord(text[at-1])
	after := at < len(text) && isWord(text[at])
	return before != after
}

func isWord(b byte) bool { return isLetter(rune(b)) || '0' <= b && b <= '9' || b == '_' }

func isLetter(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }

// then is the literal l followed by next.
func (l Literal) then(next Literal) Literal {
	out := Literal{Text: l.Text + next.Text, Folded: l.Folded || next.Folded, Start: l.Start, End: next.End}
	if l.Text == "" {
		out.Start = l.Start || next.Start
	}
	if next.Text == "" {
		out.End = l.End || next.End
	}
	return out
}

// covers reports whether every text that contains other contains l.
func (l *Literal) covers(other *Literal) bool {
	if l.Folded {
		return strings.Contains(lower(other.Text), lower(l.Text))
	}
	return !other.Folded && strings.Contains(other.Text, l.Text)
}
