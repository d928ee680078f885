package rules

import (
	"errors"
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

// evidence quotes the lines of the text in which the rule first matches, or as
// much of them around the match as a reader looks at: maxEvidence bytes, with
// an ellipsis where there is more, and without what cannot be shown. Where the rule matches only
// what the text means, it quotes the text's beginning.
func (r *rule) evidence(text string) string {
	text = bounded(text, maxLine)
	at := r.pattern.FindStringIndex(text)
	if at == nil { // it matches what the text means
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

// window joins what stands before, in and after a match. Of what is too long
// it keeps the match and the same share of both sides.
func window(before, match, after string) string {
	if len(before)+len(match)+len(after) <= maxEvidence {
		return shown(strings.TrimSpace(before + match + after))
	}
	match = cut(match, maxEvidence)
	room := maxEvidence - len(match)
	left := max(room/2, room-len(after))
	short := cutLeft(before, left)
	out := shown(strings.TrimSpace(cut(short+match+after, maxEvidence)))
	if len(short) < len(before) {
		out = "…" + out
	}
	if len(short)+len(match)+len(after) > maxEvidence {
		out += "…"
	}
	return out
}

// cutLeft keeps the last n bytes of text, not through a character.
func cutLeft(text string, n int) string {
	if len(text) <= n {
		return text
	}
	at := len(text) - n
	for i := 0; i < utf8.UTFMax && at < len(text) && !utf8.RuneStart(text[at]); i++ {
		at++
	}
	return text[at:]
}

// shown replaces control characters.
func shown(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\t' {
			return utf8.RuneError
		}
		return r
	}, text)
}

// unevaluated says that an expression could not be evaluated, and why: the
// cause alone, since the expression itself may be long and stands in the config.
func unevaluated(err error) string {
	if cause := errors.Unwrap(err); cause != nil {
		err = cause
	}
	why := strings.Join(strings.Fields(err.Error()), " ")
	if short := cut(why, maxEvidence); short != why {
		why = short + "…"
	}
	return "Whether this holds could not be found out, so it does not count as passed: " + shown(why)
}
