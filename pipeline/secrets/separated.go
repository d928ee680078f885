package secrets

import (
	"slices"
	"strings"
)

// A call may put the items of a list together with a separator that is a part of the token:
// "_".join(["ghp", ...]). The functions of this file read rows of texts so. The separator
// stands in the call, beside the list, or elsewhere; so they take the first and the last
// text of a row for it, and the signs that follow an item in the tokens that begin with it.

const (
	// maxSeparator is how long a separator is, and maxSeparators how many are tried.
	maxSeparator  = 8
	maxSeparators = 3
	// maxHead is longer than what a separator follows in the beginning of a token.
	maxHead = 24
)

// signs are those that separate the parts of tokens.
const signs = "_-.:/"

// heads are what tokens begin with up to a sign, and the signs that follow it.
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

// separated returns the rows that a call makes of one by writing a separator between its
// items.
func (p *pieced) separated(row []chainPiece) (out [][]chainPiece) {
	items := p.items(row)
	if len(items) < 2 {
		return nil
	}
	listed := slices.ContainsFunc(items, func(c chainPiece) bool { return c.list })
	for _, separator := range p.separators(items) {
		apart := make([]chainPiece, 0, 2*len(items))
		for _, c := range items {
			if string(p.text[c.from:c.to]) == separator {
				continue
			}
			if n := len(apart); n > 0 && (c.list || !listed && !c.plus) {
				at := apart[n-1].to
				apart = append(apart, chainPiece{from: at, to: at + 1, gap: gap{soft: true, said: separator}})
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

// writeSeparated writes what a list between braces may be put together to.
func (p *pieced) writeSeparated(texts [][2]int) {
	if len(texts) < 2 {
		return
	}
	var row []chainPiece
	for _, t := range texts {
		row = append(row, chainPiece{from: t[0], to: t[1], gap: gap{soft: true, list: true}})
	}
	if !p.mayHold(row) {
		return
	}
	for _, apart := range p.separated(row) {
		p.write(apart)
	}
}

// items are the texts of a row, with each word of a list of words by itself.
func (p *pieced) items(row []chainPiece) []chainPiece {
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

// separators are what may stand between the items of a list in the text that a program makes
// of it.
func (p *pieced) separators(items []chainPiece) (out []string) {
	add := func(separator string) {
		if len(out) < maxSeparators && !slices.Contains(out, separator) {
			out = append(out, separator)
		}
	}
	for _, c := range []chainPiece{items[0], items[len(items)-1]} {
		if text := string(p.text[c.from:min(c.to, c.from+maxSeparator+1)]); len(text) <= maxSeparator && isSeparator(text) {
			add(text)
		}
	}
	for _, c := range items {
		if len(out) == maxSeparators {
			break
		}
		for _, sign := range p.signsAfter(c) {
			add(string(sign))
		}
	}
	return out
}

// isSeparator reports whether a text is a sign, or stands between two.
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

// signsAfter are the signs that follow an item in a token which begins in it and goes on in
// the next.
func (p *pieced) signsAfter(c chainPiece) (out string) {
	from := c.to
	for from > c.from && c.to-from < 4*maxHead && isTokens(p.text[from-1]) {
		from--
	}
	run := string(p.text[from:c.to])
	if strings.IndexByte(signs, byteAt(run, len(run)-1)) >= 0 {
		return "" // it has the sign itself
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
		out += ":" // the number of a bot of Telegram
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

// skipWhite is where the white space ends that begins at an offset, some of it at most.
func (p *pieced) skipWhite(i int) int {
	for most := i + maxBetween; i < most && isWhite(p.at(i)); i++ {
	}
	return i
}
