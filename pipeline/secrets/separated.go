package secrets

import (
	"slices"
	"strings"
)

// A call may join the items of a list with a separator that is part of the token: "_".join(["ghp",
// ...]). The functions in this file read such rows of strings. The separator is in the call, next
// to the list, or elsewhere. So they try the first and the last string of a row, and the signs that
// follow an item in the tokens that begin with it.

const (
	// maxSeparator bounds the length of a separator, and maxSeparators how many are tried.
	maxSeparator  = 8
	maxSeparators = 3
	// maxHead is longer than any text before a separator at the beginning of a token.
	maxHead = 24
)

// signs separate the parts of tokens.
const signs = "_-.:/"

// heads maps the beginnings of tokens before a sign to the signs that follow them.
var heads = func() map[string]string {
	out := map[string]string{}
	for i := range formats {
		prefix := formats[i].prefix
		for at := 1; at < min(len(prefix), maxHead); at++ {
			sign := prefix[at : at+1]
			if strings.Contains(signs, sign) && isTokens(prefix[at-1]) && !strings.Contains(out[prefix[:at]], sign) {
				out[prefix[:at]] += sign
			}
		}
	}
	return out
}()

// separated returns the rows that a call makes of a row by writing a separator between its items.
func (p *rowReader) separated(row []chainPiece) (out [][]chainPiece) {
	items := p.items(row)
	if len(items) < 2 {
		return nil
	}
	listed := slices.ContainsFunc(items, func(c chainPiece) bool { return c.list })
	for _, separator := range p.text.separators(items) {
		apart := make([]chainPiece, 0, 2*len(items))
		for _, c := range items {
			if string(p.text[c.from:c.to]) == separator {
				continue
			}
			if n := len(apart); n > 0 && (c.list || !listed && !c.plus) {
				at := apart[n-1].to
				apart = append(apart, chainPiece{from: at, to: at + 1, gap: gap{soft: true, value: separator}})
				c.soft = true
			}
			apart = append(apart, c)
		}
		if len(apart) > 1 {
			out = append(out, apart)
		}
	}
	return out
}

// writeSeparated writes what a call may make of a list in braces.
func (p *rowReader) writeSeparated(texts [][2]int) {
	if len(texts) < 2 {
		return
	}
	var row []chainPiece
	for _, t := range texts {
		row = append(row, chainPiece{from: t[0], to: t[1], gap: gap{soft: true, list: true}})
	}
	if !p.text.mayHold(row) {
		return
	}
	for _, apart := range p.separated(row) {
		p.lines.write(apart)
	}
}

// items are the strings of a row. The words of a list of words are separate items.
func (p *rowReader) items(row []chainPiece) []chainPiece {
	if !p.seams {
		return row
	}
	var out []chainPiece
	for _, c := range row {
		for i := c.from; i < c.to; i++ {
			if p.text[i] != seam {
				continue
			}
			if i > c.from {
				out = append(out, chainPiece{from: c.from, to: i, gap: c.gap})
				c.gap = gap{list: true}
			}
			c.from = i + 1
		}
		out = append(out, c)
	}
	return out
}

// separators are the strings that may be between the items of a list once a program has joined
// them.
func (s sourceText) separators(items []chainPiece) (out []string) {
	add := func(separator string) {
		if len(out) < maxSeparators && !slices.Contains(out, separator) {
			out = append(out, separator)
		}
	}
	for _, c := range []chainPiece{items[0], items[len(items)-1]} {
		if text := string(s[c.from:min(c.to, c.from+maxSeparator+1)]); len(text) <= maxSeparator && isSeparator(text) {
			add(text)
		}
	}
	for _, c := range items {
		if len(out) == maxSeparators {
			break
		}
		for _, sign := range s.signsAfter(c) {
			add(string(sign))
		}
	}
	return out
}

// isSeparator reports whether a text begins and ends with a sign and could be part of a token.
func isSeparator(text string) bool {
	if text == "" || strings.IndexByte(signs, text[0]) < 0 || strings.IndexByte(signs, text[len(text)-1]) < 0 {
		return false
	}
	for i := range len(text) {
		if !isTokens(text[i]) && text[i] != ':' {
			return false
		}
	}
	return true
}

// signsAfter are the signs that follow an item in a token that begins in the item and continues in
// the next.
func (s sourceText) signsAfter(c chainPiece) (out string) {
	from := c.to
	for from > c.from && c.to-from < 4*maxHead && isTokens(s[from-1]) {
		from--
	}
	run := string(s[from:c.to])
	if strings.IndexByte(signs, byteAt(run, len(run)-1)) >= 0 {
		return "" // the item has the sign itself
	}
	digits := 0
	for at := 1; at <= min(len(run), maxHead); at++ {
		for _, sign := range []byte(heads[run[:at]]) {
			if at == len(run) || run[at] == sign && !isWhole(run) {
				out += string(sign)
			}
		}
		if isDigit(run[at-1]) {
			digits++
		}
	}
	switch {
	case strings.HasPrefix(run, "eyJ"):
		out += "."
	case digits == len(run) && digits >= len("12345678") && digits <= len("1234567890"):
		out += ":" // after a Telegram bot's number
	case strings.Contains(run, "slack") || strings.Contains(run, "discord"):
		out += "/"
	}
	return out
}

// isWhole reports whether a text begins with a whole token.
func isWhole(text string) bool {
	found := allFormats().find(text)
	return len(found) > 0 && found[0].from == 0
}
