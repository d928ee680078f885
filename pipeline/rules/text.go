package rules

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// What a rule gets to see, in bytes. A line is bounded only to bound the time
// it takes, far above what hides code from a reader; fixes are made of lines
// that a person can read. A description has at most 65,536 characters on
// GitHub, each of up to four bytes.
const (
	maxLine     = 1 << 20
	maxFix      = 8 << 10
	maxText     = 256 << 10
	maxEvidence = 300
)

// bounded cuts text to n bytes, not through a character, and takes a carriage
// return from its end.
func bounded(text string, n int) string {
	return strings.TrimSuffix(cut(text, n), "\r")
}

func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for i := 0; i < utf8.UTFMax && n > 0 && !utf8.RuneStart(text[n]); i++ {
		n--
	}
	return text[:n]
}

// evidence is a line as it is quoted: trimmed, without what cannot be shown,
// at most maxEvidence bytes and an ellipsis.
func evidence(line string) string {
	line = strings.TrimSpace(cut(strings.TrimSpace(line), 2*maxEvidence))
	line = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\t' {
			return utf8.RuneError
		}
		return r
	}, line)
	if short := cut(line, maxEvidence); short != line {
		return short + "…"
	}
	return line
}

// firstMatch returns the lines of a text in which the rule first matches.
func (r *rule) firstMatch(text string) string {
	at := r.pattern.FindStringIndex(text)
	if at == nil {
		return ""
	}
	from := strings.LastIndexByte(text[:at[0]], '\n') + 1
	to := len(text)
	if i := strings.IndexByte(text[at[1]:], '\n'); i >= 0 {
		to = at[1] + i
	}
	return text[from:to]
}
