package render

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The functions of this file are the first step for every untrusted text, in
// every format: what a reader cannot see is made visible.

// isHidden reports whether a rune is invisible or steers how its neighbours
// are shown: control and format characters (bidirectional overrides, zero-width
// characters, tags), line and paragraph separators, fillers, variation
// selectors. The two selectors that ordinary emoji carry are let through.
func isHidden(r rune) bool {
	if r >= 0x20 && r < 0x7f {
		return false
	}
	if r == 0xfe0e || r == 0xfe0f {
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Noncharacter_Code_Point)
}

// isBreak reports whether a rune ends a line somewhere.
func isBreak(r rune) bool {
	switch r {
	case '\n', '\r', '\v', '\f', 0x85, 0x2028, 0x2029:
		return true
	}
	return false
}

func writeVisible(b *strings.Builder, r rune) {
	if isHidden(r) {
		fmt.Fprintf(b, "U+%04X", r)
		return
	}
	b.WriteRune(r)
}

// oneLine puts a text on one line, with white space collapsed, and clips it
// to max runes.
func oneLine(s string, limit int) string {
	var b strings.Builder
	space, n := false, 0
	for i, r := range s {
		if isBreak(r) || unicode.IsSpace(r) {
			space = n > 0
			continue
		}
		if n >= limit {
			return clipped(&b, s[i:])
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		writeVisible(&b, r)
		n++
	}
	return b.String()
}

// literal keeps white space, for names and code: breaks and tabs are shown as
// escapes, and nothing is collapsed.
func literal(s string, limit int) string {
	var b strings.Builder
	n := 0
	for i, r := range s {
		if n >= limit {
			return clipped(&b, s[i:])
		}
		switch r {
		case '\n':
			b.WriteString(`\n`)
		case '\r':
			b.WriteString(`\r`)
		case '\t':
			b.WriteString(`\t`)
		default:
			writeVisible(&b, r)
		}
		n++
	}
	return b.String()
}

// codeLine is literal for a line of code in a block, where tabs stay tabs.
func codeLine(s string, limit int) string {
	var b strings.Builder
	n := 0
	for i, r := range strings.TrimSuffix(s, "\r") {
		if n >= limit {
			return clipped(&b, s[i:])
		}
		if r == '\t' {
			b.WriteByte('\t')
		} else {
			writeVisible(&b, r)
		}
		n++
	}
	return b.String()
}

func clipped(b *strings.Builder, rest string) string {
	if strings.TrimSpace(rest) != "" {
		b.WriteString("…")
	}
	return b.String()
}

// clip cuts a text that is already visible to at most limit runes.
func clip(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit-1]) + "…"
}

// clipPath shortens a long path at its front, since its end says more.
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

// paragraphs are the lines of a text that are not blank, each on one line,
// limit runes in all.
func paragraphs(s string, limit int) []string {
	var out []string
	for line := range strings.FieldsFuncSeq(s, isBreak) {
		if limit <= 0 {
			out[len(out)-1] = strings.TrimSuffix(out[len(out)-1], "…") + "…"
			break
		}
		if line = oneLine(line, limit); line != "" {
			out = append(out, line)
			limit -= utf8.RuneCountInString(line)
		}
	}
	return out
}

// codeLines splits code into lines; breaks at its end count for nothing.
func codeLines(s string) []string {
	s = strings.TrimRight(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	return strings.Split(s, "\n")
}
