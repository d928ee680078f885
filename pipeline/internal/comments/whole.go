package comments

import "strings"

// Whole reports whether a line is certainly a comment from end to end, wherever it stands.
func Whole(name, text string) bool {
	l := languages[name]
	if l == nil {
		return false
	}
	r := Reader{language: l}
	n := r.next(text)
	return n > 0 && strings.Trim(text[n:], " \t\r") == ""
}
