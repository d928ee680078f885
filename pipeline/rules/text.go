package rules

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// How much of each text a rule sees, in bytes. The bound on a line only limits the
// time that it takes; it is far above the length that hides code from a reader.
// Fixes are made only of lines that a person can read. GitHub limits a description
// to 65,536 characters, each of up to four bytes.
const (
	maxLine     = 1 << 20
	maxFix      = 8 << 10
	maxText     = 256 << 10
	maxEvidence = 300
)

// bounded cuts text to n bytes without splitting a character, and removes a
// trailing carriage return.
func bounded(text string, n int) string {
	return strings.TrimSuffix(plaintext.Bytes(text, n), "\r")
}

// evidence quotes the lines of the text around the rule's first match: at most
// maxEvidence bytes, with an ellipsis where text is left out, and without control
// characters. If the rule matches only another form of the text, evidence quotes
// the beginning of the text.
func (r *rule) evidence(text string) string {
	text = bounded(text, maxLine)
	at := r.pattern.Get().FindStringIndex(text)
	if at == nil { // it matches only another form of the text
		return window("", strings.TrimSpace(text), "")
	}
	from := strings.LastIndexByte(text[:at[0]], '\n') + 1
	to := len(text)
	if i := strings.IndexByte(text[at[1]:], '\n'); i >= 0 {
		to = at[1] + i
	}
	before := strings.TrimLeftFunc(text[from:at[0]], unicode.IsSpace)
	after := strings.TrimRightFunc(text[at[1]:to], unicode.IsSpace)
	return window(before, text[at[0]:at[1]], after)
}

// window joins what stands before, in and after a match. If that is too long, it
// keeps the match and an equal share of both sides.
func window(before, match, after string) string {
	if len(before)+len(match)+len(after) <= maxEvidence {
		return shown(strings.TrimSpace(before + match + after))
	}
	match = plaintext.Bytes(match, maxEvidence)
	room := maxEvidence - len(match)
	left := max(room/2, room-len(after))
	short := plaintext.LastBytes(before, left)
	out := shown(strings.TrimSpace(plaintext.Bytes(short+match+after, maxEvidence)))
	if len(short) < len(before) {
		out = "…" + out
	}
	if len(short)+len(match)+len(after) > maxEvidence {
		out += "…"
	}
	return out
}

// shown replaces control characters, but not tabs and line feeds.
func shown(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\t' && r != '\n' {
			return utf8.RuneError
		}
		return r
	}, text)
}

// unevaluated says why an expression could not be evaluated. It gives only the
// cause: the expression may be long, and it is in the config.
func unevaluated(err error) string {
	if cause := errors.Unwrap(err); cause != nil {
		err = cause
	}
	return "Whether this holds could not be found out, so it does not count as passed: " + shown(plaintext.CutLine(err.Error(), maxEvidence))
}
