package render

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// zeroWidthSpace is invisible. After the @ or # it breaks a mention or a reference, in
// e-mails, too. A backslash does not break them, because GitHub looks at the rendered
// markdown.
const zeroWidthSpace = "\u200b"

// spanned matches texts that only a code span keeps inactive on GitHub. URLs and e-mail
// schemes become links, and an issue lists the links to it. A word of 7 or more
// hexadecimal digits becomes a link if it is the prefix of a commit's SHA. A dollar sign
// starts a formula, which can colour, frame and scale its text, and a backslash does not
// stop it (GitHub's "Writing mathematical expressions"). A match covers the whole word, so
// that the rest of the word cannot become active.
var spanned = regexp.MustCompile("(?i)" +
	"[0-9a-z_-]*(?:[a-z][a-z0-9+.-]*://|www\\.|mailto:|xmpp:)[^\\s<>`]+" +
	"|(?:[0-9]+\\.)*[0-9a-z_-]*\\b[0-9a-f]{7,}\\b[0-9a-z_-]*" +
	"|\\$\\([^()`]{0,80}\\)" + // a shell command with its spaces
	"|[^\\s`(\\[{\"'$]*\\$[^\\s`]*")

// mayNeedSpans reports whether [spanned] could match in s. It is true for every text that
// spanned matches. For most other texts it saves the search, which would take most of the
// time of rendering.
func mayNeedSpans(s string) bool {
	digits := 0 // hexadecimal, in a row
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'f', c >= 'A' && c <= 'F':
			if digits++; digits == 7 {
				return true
			}
			continue
		case c == '$', c == '.' && endsInFold(s[:i], "www"),
			c == ':' && (strings.HasPrefix(s[i:], "://") || endsInFold(s[:i], "mailto") || endsInFold(s[:i], "xmpp")):
			return true
		}
		digits = 0
	}
	return false
}

// endsInFold reports whether s ends in suffix. It ignores case.
func endsInFold(s, suffix string) bool {
	return len(s) >= len(suffix) && strings.EqualFold(s[len(s)-len(suffix):], suffix)
}

// escapeProse makes one line of prose inactive. Texts in backticks and matches of [spanned]
// become our own code spans.
func escapeProse(s string) string {
	var b strings.Builder
	s = strings.TrimSpace(s)
	plain := 0 // the start of the prose that is not written yet
	for i := 0; i < len(s); {
		if s[i] != '`' {
			i++
			continue
		}
		run := runLength(s[i:])
		inside := closingRun(s[i+run:], run)
		// Spaces in backticks stay: without them the words on both sides would become one.
		if inside < 0 || strings.TrimSpace(s[i+run:i+run+inside]) == "" {
			i += run
			continue
		}
		writeUnspanned(&b, s[plain:i])
		writeSpan(&b, s[i+run:i+run+inside])
		i += run + inside + run
		plain = i
	}
	writeUnspanned(&b, s[plain:])
	return b.String()
}

// closingRun returns the index of the next run of exactly n backticks, or -1.
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

// writeUnspanned writes prose without backticks.
func writeUnspanned(b *strings.Builder, s string) {
	if !mayNeedSpans(s) {
		writePlain(b, s)
		return
	}
	last := 0
	for _, at := range spanned.FindAllStringIndex(s, -1) {
		code := withoutPunctuation(s[at[0]:at[1]])
		writePlain(b, s[last:at[0]])
		writeSpan(b, code)
		last = at[0] + len(code)
	}
	writePlain(b, s[last:])
}

// withoutPunctuation returns a word without the punctuation at its end. It keeps a closing
// bracket that the word itself opens.
func withoutPunctuation(word string) string {
	for word != "" && strings.IndexByte(`.,;:!?'")]}*_~|\`, word[len(word)-1]) >= 0 {
		if i := strings.IndexByte(")]}", word[len(word)-1]); i >= 0 && strings.Count(word, "([{"[i:i+1]) >= strings.Count(word, ")]}"[i:i+1]) {
			break
		}
		word = word[:len(word)-1]
	}
	return word
}

// writeSpan writes a code span. It separates the span from backticks before it.
func writeSpan(b *strings.Builder, s string) {
	if strings.HasSuffix(b.String(), "`") {
		b.WriteByte(' ')
	}
	b.WriteString(codeSpan(strings.TrimSpace(s)))
}

// emoji matches a short code. At the end of a text the second colon may be missing, because
// our own sentence may add it. GitHub shows its own short codes, such as :octocat:, as
// images.
var emoji = regexp.MustCompile(`^:(?:[a-z0-9_+-]*[a-z][a-z0-9_+-]*|\+1|-1|100|1234)(?::|$)`)

// writePlain escapes what is active in markdown, HTML or GitHub's references. It keeps
// other punctuation, so that the raw text stays readable.
func writePlain(b *strings.Builder, s string) {
	if b.Len() == 0 {
		s = writeBlockStart(b, s)
	}
	var before rune
	for i, r := range s {
		after, size := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
		switch r {
		case '\\', '`', '*', '[', ']', '|':
			b.WriteByte('\\')
			b.WriteRune(r)
		case '~':
			if size == 0 { // our own strikethrough may end here
				b.WriteString("&#126;")
			} else {
				b.WriteString(`\~`)
			}
		case '_':
			if !isWord(before) || !isWord(after) { // in snake_case it is not markup
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
			if size > 0 && after != ' ' { // an e-mail address can go on with other characters than a word
				b.WriteString(zeroWidthSpace)
			}
		case ':':
			b.WriteRune(r)
			if emoji.MatchString(s[i:]) {
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

// writeBlockStart keeps a text at the start of a line from becoming a heading, list, quote,
// rule or underline, and from turning the line above it into a table. It returns the rest
// of the text.
func writeBlockStart(b *strings.Builder, s string) string {
	if s == "" {
		return s
	}
	next := s[1:]
	switch s[0] {
	case '>', '=':
		b.WriteByte('\\')
	case '#', '-', '+', ':':
		if next == "" || next[0] == ' ' || next[0] == s[0] || next[0] == '-' || next[0] == ':' {
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
