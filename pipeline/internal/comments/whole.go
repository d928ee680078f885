package comments

import "strings"

// Whole reports whether all of a line is certainly a comment, wherever the line is.
func Whole(name, text string) bool {
	l := languages[name]
	if l == nil {
		return false
	}
	r := Reader{language: l}
	n := r.next(text)
	return n > 0 && strings.Trim(text[n:], " \t\r") == ""
}
