package webhook

import (
	"regexp"
	"strings"
)

const (
	commandWord = "/review"
	// maxLine is how many characters GitHub lets a comment have. What is kept of a
	// command is less: see [review.Command].
	maxLine = 65536
)

// ParseCommand finds the first /review command in a comment's Markdown. It
// stands at the very start of a line, outside code fences, quotes and HTML
// comments, and of HTML elements, links, tables and mail that is answered; see markup. The
// name is "review" for the bare command, else the word after it, as typed; args are
// the rest of the line. Neither has characters that don't print.
func ParseCommand(markdown string) (name, args string, ok bool) {
	markdown = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(markdown)
	lines := strings.Split(markdown, "\n")
	ends := commentEnds(lines)
	var b blocks
	var m markup
	for i, line := range lines {
		fenced, comment := b.fence != "", b.comment
		hidden := b.hides(line, ends[i+1])
		// Markup may stand behind a comment on its line. None of a fence goes on after
		// it, and of a quote little.
		switch fenced = fenced || b.fence != ""; {
		case fenced:
		case strings.HasPrefix(strings.TrimLeft(line, " "), ">"):
			m.quoted(line)
		default:
			hidden = m.hides(line) || i+1 < len(lines) && delimits(lines[i+1]) || hidden
		}
		switch {
		case fenced:
		case !b.comment:
			m.after(line, comment)
		case !comment:
			m.indent = len(line) - len(strings.TrimLeft(line, " "))
		}
		if hidden {
			continue
		}
		if name, args, ok := commandIn(line); ok {
			return name, args, true
		}
	}
	return "", "", false
}

func commandIn(line string) (name, args string, ok bool) {
	rest, ok := strings.CutPrefix(line, commandWord)
	if !ok || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return "", "", false
	}
	if strings.TrimSpace(rest) == "" {
		return "review", "", true
	}
	words := strings.Fields(recordable(strings.Join(strings.Fields(rest), " "), maxLine))
	if len(words) == 0 {
		return "", "", false
	}
	return words[0], strings.Join(words[1:], " "), true
}

// blocks follows the Markdown blocks in which no command counts.
type blocks struct {
	fence   string // the opening fence while inside one
	indent  int    // of the list item that holds the fence
	comment bool   // inside an HTML comment
}

var (
	// An opening fence, perhaps in a list item. What follows backticks has
	// none itself, or it would be a code span.
	openFence = regexp.MustCompile("^( {0,3}(?:(?:[-+*]|[0-9]{1,9}[.)]) +)*)(`{3,}[^`]*|~{3,}.*)$")
	codeSpan  = regexp.MustCompile("`+[^`]*`+")
)

// hides reports whether a command on the line would not count, and moves on
// past it. commentEnds says whether a comment left open within the line would
// be closed in the lines after it.
func (b *blocks) hides(line string, commentEnds bool) bool {
	if b.fence != "" && b.inFence(line) {
		return true
	}
	if b.comment {
		b.comment = !strings.Contains(line, "-->")
		return true
	}
	if m := openFence.FindStringSubmatch(line); m != nil {
		b.fence = m[2][:len(m[2])-len(strings.TrimLeft(m[2], m[2][:1]))]
		b.indent = 0
		if strings.TrimLeft(m[1], " ") != "" {
			b.indent = len(m[1])
		}
		return true
	}
	start := strings.TrimLeft(line, " ")
	if after, ok := strings.CutPrefix(start, "<!--"); ok && len(line)-len(start) < 4 {
		b.comment = !strings.Contains(after, "-->")
		return true
	}
	b.comment = commentEnds && opensComment(line)
	return strings.HasPrefix(start, ">")
}

// inFence reports whether the line belongs to the fenced block. The block
// ends with its closing fence, or with the list item around it.
func (b *blocks) inFence(line string) bool {
	text := strings.TrimLeft(line, " ")
	indent := len(line) - len(text)
	if text != "" && indent < b.indent {
		b.fence = ""
		return false
	}
	text = strings.TrimRight(text, " \t")
	if indent-b.indent < 4 && len(text) >= len(b.fence) && strings.Trim(text, b.fence[:1]) == "" {
		b.fence = ""
	}
	return true
}

// opensComment reports whether an HTML comment opens within the line and
// runs on over the next.
func opensComment(line string) bool {
	line = codeSpan.ReplaceAllString(line, "")
	open := strings.LastIndex(line, "<!--")
	return open >= 0 && !strings.Contains(line[open:], "-->")
}

// commentEnds tells for each line, and for the end, whether "-->" stands in
// it or after it in the same paragraph: a comment within a paragraph is one
// only if it also ends there.
func commentEnds(lines []string) []bool {
	ends := make([]bool, len(lines)+1)
	for i := len(lines) - 1; i >= 0; i-- {
		blank := strings.TrimSpace(lines[i]) == ""
		ends[i] = !blank && (strings.Contains(lines[i], "-->") || ends[i+1])
	}
	return ends
}
