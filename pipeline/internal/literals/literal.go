package literals

import "strings"

// Literal is text that a match holds, with what is known of the place where it
// stands.
type Literal struct {
	Text       string
	Folded     bool // it may stand there in any case
	Start, End bool // that side of it is a word boundary
}

// IsAt reports whether it stands in the text up to end, where its letters were
// found in one case or another.
func (l *Literal) IsAt(text string, end int) bool {
	start := end - len(l.Text)
	return (l.Folded || text[start:end] == l.Text) &&
		(!l.Start || boundary(text, start)) && (!l.End || boundary(text, end))
}

// boundary says what \b says.
func boundary(text string, at int) bool {
	before := at > 0 && isWord(text[at-1])
	after := at < len(text) && isWord(text[at])
	return before != after
}

func isWord(b byte) bool { return isLetter(rune(b)) || '0' <= b && b <= '9' || b == '_' }

func isLetter(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }

// then is what stands where l is followed by next.
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

// covers reports whether text that holds other holds l.
func (l *Literal) covers(other *Literal) bool {
	if l.Folded {
		return strings.Contains(lower(other.Text), lower(l.Text))
	}
	return !other.Folded && strings.Contains(other.Text, l.Text)
}
