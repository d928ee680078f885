package gh

import (
	"strings"
	"unicode"
)

// clean shortens a message to one printable line for a log or a comment.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	if r := []rune(s); len(r) > 300 {
		s = string(r[:300]) + "..."
	}
	return strings.TrimSpace(s)
}
