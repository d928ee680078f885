package model

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reviewgate/reviewgate/app/internal/invisible"
)

// cleaned is a text of which a reader sees every character. Line breaks and tabs
// stay. A run of characters that nobody sees is shown as its first and how many
// there are: letters can be hidden in them, which would be there to read again if
// each had its number.
func cleaned(s string) string {
	if plain(s) {
		return s
	}
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\r\n", "\n")
	var b strings.Builder
	var first, before rune
	hidden, marks := 0, 0
	flush := func() {
		switch hidden {
		case 0:
			return
		case 1:
			fmt.Fprintf(&b, "[U+%04X]", first)
		default:
			fmt.Fprintf(&b, "[U+%04X and %d more that nobody sees]", first, hidden-1)
		}
		hidden = 0
	}
	for i, r := range s {
		after, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
		if marks++; !unicode.In(r, unicode.Mn, unicode.Me) {
			marks = 0
		}
		if r != '\n' && r != '\t' && invisible.Is(r) && !invisible.Selects(before, r, after) || marks > invisible.MaxMarks {
			if hidden == 0 {
				first = r
			}
			hidden++
		} else {
			flush()
			b.WriteRune(r)
		}
		before = r
	}
	flush()
	return b.String()
}

// plain reports whether a text is of printable ASCII, line breaks and tabs.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < 0x20 || c >= 0x7f) && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// htmlComment is one, or what follows an opened one: no browser shows it. It ends
// where browsers end it, or people would read what is left out.
var htmlComment = regexp.MustCompile(`(?s)<!--(?:-?>|.*?(?:--!?>|\z))`)

// withoutComments is a text in markdown with something in place of its HTML comments.
func withoutComments(s, instead string) string {
	return htmlComment.ReplaceAllLiteralString(s, instead)
}

// prose is what people see of a text in markdown.
func prose(s string) string { return withoutComments(cleaned(s), "[HTML comment left out]") }

// pathName is how a path is written, on one line: blanks count in it.
func pathName(path string) string {
	return strings.NewReplacer("\n", "[U+000A]", "\t", "[U+0009]").Replace(cleaned(path))
}
