package render

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reviewgate/reviewgate/app/internal/invisible"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// The functions of this file are the first step for every untrusted text in every format:
// they make invisible characters visible.

// visible builds a text in which a reader can see every rune.
type visible struct {
	b      strings.Builder
	n      int  // runes written, including those of escapes
	before rune // the last rune that was read
	marks  int  // combining marks in a row
}

// write adds the first rune of s.
func (v *visible) write(s string) {
	if c := s[0]; c >= 0x20 && c < 0x7f {
		v.b.WriteByte(c)
		v.before, v.marks = rune(c), 0
		v.n++
		return
	}
	r, size := utf8.DecodeRuneInString(s)
	after, _ := utf8.DecodeRuneInString(s[size:])
	if v.marks++; !unicode.In(r, unicode.Mn, unicode.Me) {
		v.marks = 0
	}
	if invisible.Is(r) && !invisible.Selects(v.before, r, after) || v.marks > invisible.MaxMarks {
		v.literal(fmt.Sprintf("U+%04X", r))
	} else {
		v.b.WriteRune(r)
		v.n++
	}
	v.before = r
}

// literal adds a text without invisible characters.
func (v *visible) literal(s string) {
	v.b.WriteString(s)
	v.n += utf8.RuneCountInString(s)
}

// clipped ends the text before rest, which does not fit.
func (v *visible) clipped(rest string) string {
	if strings.TrimSpace(rest) != "" {
		v.b.WriteString("…")
	}
	return v.b.String()
}

// isBreak reports whether any program treats a rune as a line break.
func isBreak(r rune) bool {
	switch r {
	case '\n', '\r', '\v', '\f', 0x85, 0x2028, 0x2029:
		return true
	}
	return false
}

// oneLine puts a text on one line, with white space collapsed, and clips it
// to limit runes, hidden ones counted as they are shown.
func oneLine(s string, limit int) string {
	var v visible
	space := false
	for i, r := range s {
		if isBreak(r) || unicode.IsSpace(r) {
			space = v.n > 0
			continue
		}
		if v.n >= limit {
			return v.clipped(s[i:])
		}
		if space {
			v.literal(" ")
			space = false
		}
		v.write(s[i:])
	}
	return v.b.String()
}

// literal makes names and code visible, with at most limit runes. It keeps white space, and
// shows line breaks and tabs as escapes.
func literal(s string, limit int) string { return withoutBreaks(s, limit, `\t`) }

// codeLine is like literal, for a line of code in a block. It keeps tabs.
func codeLine(s string, limit int) string {
	return withoutBreaks(strings.TrimSuffix(s, "\r"), limit, "\t")
}

func withoutBreaks(s string, limit int, tab string) string {
	var v visible
	for i, r := range s {
		if v.n >= limit {
			return v.clipped(s[i:])
		}
		switch r {
		case '\n':
			v.literal(`\n`)
		case '\r':
			v.literal(`\r`)
		case '\t':
			v.literal(tab)
		default:
			v.write(s[i:])
		}
	}
	return v.b.String()
}

// clip cuts a text that is already visible to at most limit bytes.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	const sign = "…"
	return plaintext.Bytes(s, limit-len(sign)) + sign
}

// clipPath shortens a long path at the front, because its end says more.
func clipPath(s string, limit int) string {
	n := utf8.RuneCountInString(s)
	if n <= limit {
		return s
	}
	for range n - limit + 1 {
		_, size := utf8.DecodeRuneInString(s)
		s = s[size:]
	}
	return "…" + s
}

// paragraphs returns the lines of a text that are not blank, with at most limit runes in
// all, including the line breaks.
func paragraphs(s string, limit int) []string {
	var out []string
	for line := range strings.FieldsFuncSeq(s, isBreak) {
		if limit <= 0 {
			out[len(out)-1] = strings.TrimSuffix(out[len(out)-1], "…") + "…"
			break
		}
		if line = oneLine(line, limit); line != "" {
			out = append(out, line)
			limit -= utf8.RuneCountInString(line) + 1
		}
	}
	return out
}

// codeLines splits code into lines. It ignores line breaks at the end.
func codeLines(s string) []string {
	s = strings.TrimRight(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	return strings.Split(s, "\n")
}
