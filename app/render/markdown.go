package render

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// safe is a text that cannot harm its format. Only a pen turns an untrusted string into
// one.
type safe string

// pen writes untrusted text into one format. Limits are in runes.
type pen interface {
	// text writes prose on one line.
	text(s string, limit int) safe
	// para writes prose and keeps its line breaks.
	para(s string, limit int) safe
	// code writes a name or a piece of code on one line.
	code(s string, limit int) safe
	// link links label to url. It returns the label alone if url is empty or the format has
	// no links.
	link(label safe, url string) safe
	// block writes lines of code.
	block(info string, lines []string) safe
}

// markdownPen writes GitHub flavoured markdown.
type markdownPen struct{}

var _ pen = markdownPen{}

func (markdownPen) text(s string, limit int) safe {
	return safe(escapeProse(oneLine(s, limit)))
}

// para joins the lines with <br>, which works in lists, too, and keeps every line from
// starting a block.
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

// maxURL keeps links to very long paths from taking the room of findings. Browsers
// accept some 2,000 characters.
const maxURL = 2000

// webURL matches URLs that cannot end their own markdown link.
var webURL = regexp.MustCompile(`^https?://[A-Za-z0-9._~:/?#@!$&'*+,;=%-]+$`)

func (markdownPen) link(label safe, url string) safe {
	if len(url) > maxURL || !webURL.MatchString(url) {
		return label
	}
	return "[" + label + "](" + safe(url) + ")"
}

// block fences lines of code. GitHub resolves no mentions in fenced code, and people
// copy it, so the only invisible character that it adds breaks our own markers.
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

// codeSpan makes a code span from text without invisible characters.
func codeSpan(s string) string {
	if s == "" {
		return ""
	}
	s = breakMarker(breakMentions(s))
	fence := strings.Repeat("`", longestRun(s)+1)
	pad := ""
	if s[0] == '`' || s[len(s)-1] == '`' || s[0] == ' ' && s[len(s)-1] == ' ' {
		pad = " " // markdown removes one space at each end
	}
	return fence + pad + s + pad + fence
}

// breakMarker breaks our marker in code. A comment must have the marker only once, on its
// first line.
func breakMarker(s string) string {
	return strings.ReplaceAll(s, markerStart, "<!"+zeroWidthSpace+strings.TrimPrefix(markerStart, "<!"))
}

// longestRun returns the length of the longest run of backticks.
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

// runLength returns the number of backticks at the start of s.
func runLength(s string) int {
	return len(s) - len(strings.TrimLeft(s, "`"))
}

// breakMentions puts a zero-width space after every @ before a word. Code spans need
// this, too: GitHub resolves no mentions there, but mail programs may.
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
