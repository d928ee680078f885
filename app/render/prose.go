package render

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// zeroWidthSpace after the sign breaks a mention or a reference, in e-mails
// too, and shows nothing. A backslash does not: GitHub looks at what markdown
// has rendered.
const zeroWidthSpace = "\u200b"

// autolink finds what GitHub would make a link of by itself. A link to an
// issue also leaves a trace on that issue, so none may come from outside.
var autolink = regexp.MustCompile("(?i)(?:[a-z][a-z0-9+.-]*://|www\\.|mailto:|xmpp:)[^\\s<>`]+")

// escapeProse neutralises one line of prose. Pieces in backticks become code
// spans of our own making, and so do URLs: in a code span nothing is a link.
func escapeProse(s string) string {
	var b strings.Builder
	for {
		start := strings.IndexByte(s, '`')
		if start < 0 {
			break
		}
		run := runLength(s[start:])
		inside := closingRun(s[start+run:], run)
		if inside < 0 {
			writeUnspanned(&b, s[:start+run])
			s = s[start+run:]
			continue
		}
		writeUnspanned(&b, s[:start])
		writeSpan(&b, s[start+run:start+run+inside])
		s = s[start+run+inside+run:]
	}
	writeUnspanned(&b, s)
	return b.String()
}

// closingRun finds the next run of exactly n backticks, or returns -1.
func closingRun(s string, n int) int {
	for i := 0; i < len(s); {
		if s[i] != '`' {
			i++
			continue
		}
		run := runLength(s[i:])
		if run == n {
			return i
		}
		i += run
	}
	return -1
}

// writeUnspanned writes prose that has no code spans.
func writeUnspanned(b *strings.Builder, s string) {
	last := 0
	for _, at := range autolink.FindAllStringIndex(s, -1) {
		url := strings.TrimRight(s[at[0]:at[1]], `.,;:!?'")]}*_~|\`)
		writePlain(b, s[last:at[0]])
		writeSpan(b, url)
		last = at[0] + len(url)
	}
	writePlain(b, s[last:])
}

// writeSpan writes a code span, kept apart from backticks before it.
func writeSpan(b *strings.Builder, s string) {
	if s = strings.TrimSpace(s); s == "" {
		return
	}
	if strings.HasSuffix(b.String(), "`") {
		b.WriteByte(' ')
	}
	b.WriteString(codeSpan(s))
}

// writePlain escapes what markdown, HTML or GitHub's references would take
// for more than text. Ordinary punctuation is left alone, so that the raw
// text stays readable.
func writePlain(b *strings.Builder, s string) {
	if b.Len() == 0 {
		s = writeBlockStart(b, s)
	}
	var before rune
	for i, r := range s {
		after, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
		switch r {
		case '\\', '`', '*', '[', ']', '|', '~', '$':
			b.WriteByte('\\')
			b.WriteRune(r)
		case '_':
			if !isWord(before) || !isWord(after) { // in snake_case it is no markup
				b.WriteByte('\\')
			}
			b.WriteRune(r)
		case '<':
			b.WriteString("&lt;")
		case '&':
			b.WriteRune(r)
			if isWord(after) || after == '#' {
				b.WriteString("amp;")
			}
		case '@':
			b.WriteRune(r)
			if isWord(after) {
				b.WriteString(zeroWidthSpace)
			}
		case '#':
			b.WriteRune(r)
			if isDigit(after) {
				b.WriteString(zeroWidthSpace)
			}
		case '-':
			b.WriteRune(r)
			if isDigit(after) && i >= 2 && strings.EqualFold(s[i-2:i], "gh") {
				b.WriteString(zeroWidthSpace)
			}
		default:
			b.WriteRune(r)
		}
		before = r
	}
}

// writeBlockStart keeps a text that may stand at the start of a line from
// starting a heading, list, quote, rule or underline. It returns the rest.
func writeBlockStart(b *strings.Builder, s string) string {
	if s == "" {
		return s
	}
	next := s[1:]
	switch s[0] {
	case '>', '=':
		b.WriteByte('\\')
	case '#', '-', '+':
		if next == "" || next[0] == ' ' || next[0] == s[0] {
			b.WriteByte('\\')
		}
	default:
		digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
		rest := s[digits:]
		if digits > 0 && (strings.HasPrefix(rest, ". ") || strings.HasPrefix(rest, ") ") || rest == "." || rest == ")") {
			b.WriteString(s[:digits] + `\`)
			return rest
		}
	}
	return s
}

func isWord(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

func isDigit(r rune) bool { return r >= '0' && r <= '9' }
