package secrets

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// A program may turn a string into a token by removing or replacing characters, or by changing the
// case of letters. The functions in this file read such calls after a string and around it.

const (
	// maxCall bounds the length of a call, and maxCalls how many of them follow a string.
	maxCall  = 96
	maxCalls = 4
	// maxGrown bounds how much longer calls and formats may make a string, in characters. Without a
	// bound, each could multiply the length.
	maxGrown = 256
)

const argument = "[\"'`/]([^\"'`/\\n]{1,12})[\"'`/][gim]{0,2}"

var (
	// replacing matches a call after a string that replaces or removes something, and casing one
	// that changes the case of letters.
	replacing = regexp.MustCompile(`^["'` + "`" + `)]{0,2}\s*\.\s*(?:replace\w*|Replace\w*|gsub!?|sub!?|tr!?|delete!?|remove|translate|split)\(\s*(?:(?:str|string|bytes)\.maketrans\(\s*)?` + argument + `(?:\s*,\s*["'` + "`" + `]([^"'` + "`" + `\n]{0,4})["'` + "`" + `](?:\s*,\s*(?:["']\w{1,3}["']|[0-9]{1,3}))?)?\s*\){1,2}(?:\s*\.\s*join(?:\(\s*(?:["'` + "`" + `]([^"'` + "`" + `\n]{0,4})["'` + "`" + `])?\s*\))?)?`)
	casing    = regexp.MustCompile(`^["'` + "`" + `)]{0,2}\s*\.\s*(?:to)?_?(lower|upper|swapcase|downcase|upcase|Lower|Upper|casefold)\w*(?:\(\s*\))?`)
	// casingBefore matches a call around a string that changes its case. replacingBefore matches
	// one whose first or last two strings say what is replaced by what.
	casingBefore    = regexp.MustCompile(`(?i)\b(?:\w*\.)?\w{0,6}?(lower|upper|lc|uc|lcase|ucase|swapcase)\(\s*$`)
	replacingBefore = regexp.MustCompile(`(?i)(?:replace\w*|sub|translate|tr)\(\s*r?$`)
)

// transforming matches the names of such calls.
var transforming = regexp.MustCompile(`(?i)replace|sub|\btr\b|strtr|delete|remove|translate|split|reverse|::-1|lower|upper|case|\b[lu]c\(`)

// isTransformed reports whether such a call follows the string that ends at an offset.
func (p *rowReader) isTransformed(end int) bool {
	if strings.IndexByte(".)", p.text.at(end+1)) < 0 || !p.calls() {
		return false
	}
	rest := p.text[end:min(len(p.text), end+maxCall)]
	return casing.Match(rest) || replacing.Match(rest)
}

// inCase is a text in the case that a call gives it.
func inCase(text, call string) string {
	switch call = strings.ToLower(call); {
	case strings.Contains(call, "swap"):
		return strings.Map(func(c rune) rune {
			if unicode.IsUpper(c) {
				return unicode.ToLower(c)
			}
			return unicode.ToUpper(c)
		}, text)
	case strings.HasPrefix(call, "u"):
		return strings.ToUpper(text)
	}
	return strings.ToLower(text)
}

// replaced is a text with something replaced. What is replaced may be an expression.
func replaced(text, what, by string, expression bool) string {
	if expression && what == "s+" && !strings.Contains(text, "s+") {
		what = `\s+` // its escape was decoded earlier
	}
	if expression && strings.ContainsAny(what, `\[(|+*?.`) && !strings.Contains(what, "{") { // a repeat count may be expensive
		if re, err := regexp.Compile(what); err == nil {
			return re.ReplaceAllLiteralString(text, by)
		}
	}
	return strings.ReplaceAll(text, what, by)
}

// writeReversed writes a row backwards if a call after or before its strings reverses them.
func (p *rowReader) writeReversed(row []chainPiece) {
	const near = 24
	if len(row) < 2 || !p.calls() {
		return
	}
	write := func(part []chainPiece) {
		if len(part) > 1 {
			part = slices.Clone(part)
			slices.Reverse(part)
			for i := range part {
				part[i].soft = true
			}
			p.lines.write(part)
		}
	}
	if first := row[0].from; bytes.Contains(p.text[max(0, first-near):first], []byte("reverse")) {
		write(row)
	}
	for i, c := range row {
		end := min(len(p.text), c.to+near)
		if i+1 < len(row) {
			end = min(end, max(c.to, row[i+1].from))
		}
		between := p.text[c.to:end]
		switch at := bytes.Index(between, []byte("reverse")); {
		case at >= 0 && bytes.IndexByte(between[at:], '[') >= 0:
			write(row[i+1:])
			return
		case at >= 0, bytes.Contains(between, []byte("[::-1]")):
			write(row[:i+1])
			return
		}
	}
}

// transformed returns what a program makes of a string by the calls after and around it, and the
// end of these. Without calls it returns the string itself.
func (s sourceText) transformed(c chainPiece) (string, int) {
	text, at := string(s[c.from:c.to]), c.to
	if m := casingBefore.FindSubmatch(s[max(0, c.from-1-maxName/4):max(0, c.from-1)]); m != nil {
		text = inCase(text, string(m[1]))
	}
	for range maxCalls {
		rest := s[at:min(len(s), at+maxCall)]
		if m := replacing.FindSubmatchIndex(rest); m != nil {
			by := ""
			for _, g := range []int{4, 6} {
				if m[g] >= 0 {
					by = string(rest[m[g]:m[g+1]])
				}
			}
			if text = replaced(text, string(rest[m[2]:m[3]]), by, rest[m[2]-1] == '/'); len(text) > c.to-c.from+maxGrown {
				return string(s[c.from:c.to]), c.to
			}
			at += m[1]
		} else if m := casing.FindSubmatchIndex(rest); m != nil {
			text = inCase(text, string(rest[m[2]:m[3]]))
			at += m[1]
		} else {
			break
		}
	}
	return text, at
}

// writeTransformed writes a row with its strings transformed, if a call transforms one.
func (p *rowReader) writeTransformed(row []chainPiece) {
	var out []chainPiece
	changed, done := false, 0
	for _, c := range row {
		if c.from < done || c.value != "" || c.from == c.to {
			continue
		}
		text, end := p.text.transformed(c)
		if done = end; text != string(p.text[c.from:c.to]) {
			changed = true
			c.value = text
			c.soft = true
		}
		out = append(out, c)
	}
	if changed && len(out) > 0 && out[len(out)-1].to > out[0].from {
		p.lines.write(out)
	}
	if len(row) < 3 || !replacingBefore.Match(p.text[max(0, row[0].from-maxName/4):max(0, row[0].from-1)]) {
		return
	}
	for _, order := range [][3]int{{0, 1, 2}, {1, 2, 0}} {
		what, by, in := row[order[0]], row[order[1]], row[order[2]]
		if n := what.to - what.from; n > 0 && n <= len("----") && by.to-by.from <= len("----") {
			in.value = strings.ReplaceAll(string(p.text[in.from:in.to]), string(p.text[what.from:what.to]), string(p.text[by.from:by.to]))
			if in.value != "" && len(in.value) <= in.to-in.from+maxGrown {
				p.lines.write([]chainPiece{in})
			}
		}
	}
}
