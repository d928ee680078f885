package secrets

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// A program may turn a text into a token: by taking characters out of it, by putting others
// in their place, or by writing it in capitals or small letters. The functions of this file
// read such calls behind a text, and around it.

const (
	// maxCall is how long a call may be, and maxCalls how many of them follow a text.
	maxCall  = 96
	maxCalls = 4
	// maxGrown is how many characters longer calls and formats may make a text: without a
	// bound, each could make it many times as long.
	maxGrown = 256
)

const argument = "[\"'`/]([^\"'`/\\n]{1,12})[\"'`/][gim]{0,2}"

var (
	// replacing is a call behind a text that puts something in the place of something else,
	// or takes it out, and casing one that changes the case of letters.
	replacing = regexp.MustCompile(`^["'` + "`" + `)]{0,2}\s*\.\s*(?:replace\w*|Replace\w*|gsub!?|sub!?|tr!?|delete!?|remove|translate|split)\(\s*(?:(?:str|string|bytes)\.maketrans\(\s*)?` + argument + `(?:\s*,\s*["'` + "`" + `]([^"'` + "`" + `\n]{0,4})["'` + "`" + `](?:\s*,\s*(?:["']\w{1,3}["']|[0-9]{1,3}))?)?\s*\){1,2}(?:\s*\.\s*join(?:\(\s*(?:["'` + "`" + `]([^"'` + "`" + `\n]{0,4})["'` + "`" + `])?\s*\))?)?`)
	casing    = regexp.MustCompile(`^["'` + "`" + `)]{0,2}\s*\.\s*(?:to)?_?(lower|upper|swapcase|downcase|upcase|Lower|Upper|casefold)\w*(?:\(\s*\))?`)
	// casingBefore is a call around a text that does the same, and replacingBefore one whose
	// first two texts, or last two, say what is put in the place of what.
	casingBefore    = regexp.MustCompile(`(?i)\b(?:\w*\.)?\w{0,6}?(lower|upper|lc|uc|lcase|ucase|swapcase)\(\s*$`)
	replacingBefore = regexp.MustCompile(`(?i)(?:replace\w*|sub|translate|tr)\(\s*r?$`)
)

// turning is in the names of such calls.
var turning = regexp.MustCompile(`(?i)replace|sub|\btr\b|strtr|delete|remove|translate|split|reverse|::-1|lower|upper|case|\b[lu]c\(`)

// isTurned reports whether such a call stands behind the text that ends at an offset.
func (p *pieced) isTurned(end int) bool {
	if !p.calls || strings.IndexByte(".)", p.at(end+1)) < 0 {
		return false
	}
	rest := p.text[end:min(len(p.text), end+maxCall)]
	return casing.Match(rest) || replacing.Match(rest)
}

// inCase is a text as a call writes it.
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

// replaced is a text with something in the place of something else, which may be an
// expression.
func replaced(text, what, by string, expression bool) string {
	if expression && what == "s+" && !strings.Contains(text, "s+") {
		what = `\s+` // its escape was read before
	}
	if expression && strings.ContainsAny(what, `\[(|+*?.`) && !strings.Contains(what, "{") { // a count may be costly
		if re, err := regexp.Compile(what); err == nil {
			return re.ReplaceAllLiteralString(text, by)
		}
	}
	return strings.ReplaceAll(text, what, by)
}

// writeReversed writes a row backwards, if a call behind its texts or before them turns their
// order.
func (p *pieced) writeReversed(row []chainPiece) {
	const near = 24
	if !p.calls || len(row) < 2 {
		return
	}
	write := func(part []chainPiece) {
		if len(part) > 1 {
			part = slices.Clone(part)
			slices.Reverse(part)
			for i := range part {
				part[i].soft = true
			}
			p.write(part)
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

// turned returns what a program makes of a text by the calls behind and around it, and where
// these end; the same text where there are none.
func (p *pieced) turned(c chainPiece) (string, int) {
	text, at := string(p.text[c.from:c.to]), c.to
	if m := casingBefore.FindSubmatch(p.text[max(0, c.from-1-maxName/4):max(0, c.from-1)]); m != nil {
		text = inCase(text, string(m[1]))
	}
	for range maxCalls {
		rest := p.text[at:min(len(p.text), at+maxCall)]
		if m := replacing.FindSubmatchIndex(rest); m != nil {
			by := ""
			for _, g := range []int{4, 6} {
				if m[g] >= 0 {
					by = string(rest[m[g]:m[g+1]])
				}
			}
			if text = replaced(text, string(rest[m[2]:m[3]]), by, rest[m[2]-1] == '/'); len(text) > c.to-c.from+maxGrown {
				return string(p.text[c.from:c.to]), c.to
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

// writeTurned writes a row with its texts turned, if a call turns one.
func (p *pieced) writeTurned(row []chainPiece) {
	var out []chainPiece
	odd, done := false, 0
	for _, c := range row {
		if c.from < done || c.said != "" || c.from == c.to {
			continue
		}
		text, end := p.turned(c)
		if done = end; text != string(p.text[c.from:c.to]) {
			odd = true
			c.said = text
			c.soft = true
		}
		out = append(out, c)
	}
	if odd && len(out) > 0 && out[len(out)-1].to > out[0].from {
		p.write(out)
	}
	if len(row) < 3 || !replacingBefore.Match(p.text[max(0, row[0].from-maxName/4):max(0, row[0].from-1)]) {
		return
	}
	for _, order := range [][3]int{{0, 1, 2}, {1, 2, 0}} {
		what, by, in := row[order[0]], row[order[1]], row[order[2]]
		if n := what.to - what.from; n > 0 && n <= len("----") && by.to-by.from <= len("----") {
			in.said = strings.ReplaceAll(string(p.text[in.from:in.to]), string(p.text[what.from:what.to]), string(p.text[by.from:by.to]))
			if in.said != "" && len(in.said) <= in.to-in.from+maxGrown {
				p.write([]chainPiece{in})
			}
		}
	}
}
