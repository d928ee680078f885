package render

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// safe is a text that cannot harm the format it was made for: only a pen
// makes one of an untrusted string.
type safe string

// pen writes untrusted text into one format. Limits are in runes.
type pen interface {
	// text is prose, on one line.
	text(s string, limit int) safe
	// para is prose that keeps its line breaks.
	para(s string, limit int) safe
	// code is a name or a piece of code, on one line.
	code(s string, limit int) safe
	// link leads to url where the format has links and url is not empty.
	link(label safe, url string) safe
	// block is lines of code.
	block(info string, lines []string) safe
}

// markdownPen writes GitHub flavoured markdown.
type markdownPen struct{}

var _ pen = markdownPen{}

func (markdownPen) text(s string, limit int) safe {
	return safe(escapeProse(oneLine(s, limit)))
}

// para joins the lines with <br>, which holds in lists too, and lets no line
// start a block of its own.
func (markdownPen) para(s string, limit int) safe {
	var out []string
	for _, line := range paragraphs(s, limit) {
		out = append(out, escapeProse(line))
	}
	return safe(strings.Join(out, "<br>"))
}

func (markdownPen) code(s string, limit int) safe {
	return safe(codeSpan(literal(s, limit)))
}

// maxURL keeps out links to very long paths, which would take the space of
// findings. Browsers follow some 2,000 characters.
const maxURL = 2000

// webURL is a URL that cannot end the link that it stands in.
var webURL = regexp.MustCompile(`^https?://[A-Za-z0-9._~:/?#@!$&'*+,;=%-]+$`)

func (markdownPen) link(label safe, url string) safe {
	if len(url) > maxURL || !webURL.MatchString(url) {
		return label
	}
	return "[" + label + "](" + safe(url) + ")"
}

// block fences lines of code. GitHub resolves no mention in fenced code, and
// people copy it, so nothing invisible is put into it but what breaks a marker
// of ours.
func (markdownPen) block(info string, lines []string) safe {
	longest := 0
	for _, l := range lines {
		longest = max(longest, longestRun(l))
	}
	fence := strings.Repeat("`", max(3, longest+1))
	var b strings.Builder
	b.WriteString(fence + info + "\n")
	for _, l := range lines {
		b.WriteString(breakMarker(l))
		b.WriteByte('\n')
	}
	b.WriteString(fence)
	return safe(b.String())
}

// codeSpan makes a code span of text that is already visible.
func codeSpan(s string) string {
	if s == "" {
		return ""
	}
	s = breakMarker(breakMentions(s))
	fence := strings.Repeat("`", longestRun(s)+1)
	pad := ""
	if s[0] == '`' || s[len(s)-1] == '`' || s[0] == ' ' && s[len(s)-1] == ' ' {
		pad = " " // markdown takes one space off each end
	}
	return fence + pad + s + pad + fence
}

// breakMarker keeps code from having a marker in it: ours stands once in a
// comment, on its first line.
func breakMarker(s string) string {
	return strings.ReplaceAll(s, markerStart, "<!"+zeroWidthSpace+strings.TrimPrefix(markerStart, "<!"))
}

// longestRun is the length of the longest run of backticks.
func longestRun(s string) int {
	longest := 0
	for s != "" {
		i := strings.IndexByte(s, '`')
		if i < 0 {
			break
		}
		run := runLength(s[i:])
		longest = max(longest, run)
		s = s[i+run:]
	}
	return longest
}

// runLength is the number of backticks that s starts with.
func runLength(s string) int {
	return len(s) - len(strings.TrimLeft(s, "`"))
}

// breakMentions puts a zero-width space after every @ that starts a word.
// GitHub resolves no mention in a code span either, but e-mails don't know.
func breakMentions(s string) string {
	if !strings.Contains(s, "@") {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		b.WriteRune(r)
		if r == '@' {
			if after, _ := utf8.DecodeRuneInString(s[i+1:]); isWord(after) {
				b.WriteString(zeroWidthSpace)
			}
		}
	}
	return b.String()
}
