package reviewreport

import (
	"bytes"
	"regexp"
	"strings"
)

// Heading begins the machine-readable section, on a line of its own.
const Heading = "## Machine-Readable Review Data"

// HasSection reports whether a text has the heading of a machine-readable section, and so is meant
// to be a review report. Most comments are not.
func HasSection(markdown []byte) bool {
	var s scanner
	for line := range bytes.Lines(unmarked(markdown[:min(len(markdown), MaxBytes)])) {
		if s.next(line); s.heading {
			return true
		}
	}
	return false
}

// block is the content of the fenced json block.
type block struct {
	text   []byte
	line   int  // the number of its first line in the report, from 1
	closed bool // whether a fence closes it
}

// findBlock returns the first json block after the heading.
func findBlock(markdown []byte) (block, bool) {
	var s scanner
	start, at, number := 0, 0, 0
	found := block{}
	markdown = unmarked(markdown)
	for line := range bytes.Lines(markdown) {
		number++
		before := s.fence.wanted
		s.next(line)
		switch {
		case before && !s.fence.wanted:
			found.text, found.closed = markdown[start:at], true
			return found, true
		case !before && s.fence.wanted:
			start, found.line = at+len(line), number+1
		}
		at += len(line)
	}
	found.text = markdown[start:]
	return found, s.fence.wanted
}

// unmarked returns a text without a byte order mark at its beginning.
func unmarked(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) }

// scanner reads Markdown line by line, as far as needed to know which lines are headings and
// fences. Lines within a fence or an HTML comment are neither. Readers don't see HTML comments, so
// their text must not decide anything.
type scanner struct {
	heading bool // the section has begun
	fence   fence
	comment bool
}

// fence is the opening line of a fenced block. If the length is 0, there is no fence.
type fence struct {
	char   byte
	length int
	wanted bool // it opens the wanted block
}

func (s *scanner) next(line []byte) {
	line = bytes.TrimRight(line, " \t\r\n")
	switch {
	case s.comment:
		s.comment = !bytes.Contains(line, []byte("-->"))
	case s.fence.length > 0:
		if s.fence.closedBy(line) {
			s.fence = fence{}
		}
	case htmlComment.Match(line):
		s.comment = !bytes.Contains(line, []byte("-->"))
	case heading.Match(line):
		s.heading = true
	default:
		s.fence = opened(line)
		s.fence.wanted = s.fence.wanted && s.heading
	}
}

// Blocks may be indented by up to three spaces; with more spaces they are code. A heading may end
// in number signs (CommonMark 0.31, 4.2 and 4.6).
var (
	heading     = regexp.MustCompile(`^ {0,3}##[ \t]+Machine-Readable Review Data(?:[ \t]+#+)?$`)
	htmlComment = regexp.MustCompile(`^ {0,3}<!--`)
)

// fenceLine matches a fence with its info string. A fence may have any indentation and may follow
// the markers of lists, as in a report that lists its sections. The info string of a tilde fence
// may contain backticks (CommonMark 0.31, 4.5).
var fenceLine = regexp.MustCompile("^[ \t]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)*(?:(`{3,})([^`]*)|(~{3,})(.*))$")

func opened(line []byte) fence {
	m := fenceLine.FindSubmatch(line)
	if m == nil {
		return fence{}
	}
	signs, info := m[1], m[2]
	if signs == nil {
		signs, info = m[3], m[4]
	}
	language, _, _ := strings.Cut(strings.TrimSpace(string(info)), " ")
	return fence{char: signs[0], length: len(signs), wanted: strings.EqualFold(language, "json")}
}

// closedBy reports whether a line ends the block: a fence of the same sign that is at least as
// long, and nothing else.
func (f fence) closedBy(line []byte) bool {
	signs := bytes.TrimLeft(line, " \t")
	return len(signs) >= f.length && len(bytes.TrimLeft(signs, string(f.char))) == 0
}
