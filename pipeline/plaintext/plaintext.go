// Package plaintext shortens texts and makes them safe to show. It is the one place for
// this, so that every limit counts in the same way and no cut splits a character.
package plaintext

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bytes returns the beginning of s, at most n bytes long.
func Bytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := 0; i < utf8.UTFMax && n > 0 && !utf8.RuneStart(s[n]); i++ {
		n--
	}
	return s[:n]
}

// LastBytes returns the end of s, at most n bytes long.
func LastBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	at := len(s) - n
	for i := 0; i < utf8.UTFMax && at < len(s) && !utf8.RuneStart(s[at]); i++ {
		at++
	}
	return s[at:]
}

// Cut returns s if it has at most n characters; otherwise its first n-1 characters and an
// ellipsis. n is at least 1.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	cut := 0 // where the ellipsis goes
	for i := range s {
		switch n--; n {
		case 0:
			cut = i
		case -1:
			return strings.TrimRightFunc(s[:cut], unicode.IsSpace) + "…"
		}
	}
	return s
}

// Line puts a text on one line: it replaces each run of white space by one blank.
func Line(s string) string { return strings.Join(strings.Fields(s), " ") }

// CutLine puts a text on one line of at most n characters; see Line and Cut.
func CutLine(s string, n int) string { return Cut(Line(s), n) }

// Printable puts a text on one line. It replaces invalid UTF-8 and characters that can't be
// printed by blanks.
func Printable(s string) string {
	return Line(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			return ' '
		}
		return r
	}, s))
}

// Count returns a number with what it counts, a noun whose plural ends in s: "1 review", "2 reviews".
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
