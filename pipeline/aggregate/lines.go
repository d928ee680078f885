package aggregate

import (
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// lineIndex finds the head's lines and the comments in them that ignore
// findings. A file's lines are looked through once, when the first finding in
// it asks.
type lineIndex struct {
	files map[string]*pipeline.File
	lines map[string]map[int]headLine
}

type headLine struct {
	text   string // without a comment that ignores findings
	marker *marker
	added  bool // by the change
	cut    bool // the change removes lines right before it
}

func newLineIndex(files map[string]*pipeline.File) *lineIndex {
	return &lineIndex{files: files, lines: map[string]map[int]headLine{}}
}

// of returns the lines of a file that stand in the diff, by their numbers.
func (x *lineIndex) of(path string) map[int]headLine {
	lines, ok := x.lines[path]
	if ok || x.files[path] == nil {
		return lines
	}
	lines = map[int]headLine{}
	free := !indents(x.files[path].Language)
	for _, h := range x.files[path].Hunks {
		for rest := h.Lines; len(rest) > 0; {
			gone := leading(rest, pipeline.LineRemoved)
			made := leading(rest[len(gone):], pipeline.LineAdded)
			rest = rest[len(gone)+len(made):]
			paired := free && len(gone) == len(made)
			for i, l := range made {
				lines[l.New] = headLineOf(l, paired && unindented(gone[i].Text) == unindented(l.Text), i == 0 && len(gone) > 0, gone)
			}
			if len(rest) > 0 && rest[0].Op == pipeline.LineContext {
				lines[rest[0].New] = headLineOf(rest[0], true, len(gone) > 0 && len(made) == 0, nil)
				rest = rest[1:]
			}
		}
	}
	x.lines[path] = lines
	return lines
}

// leading are the first of the lines, as far as the change does this to them.
func leading(lines []pipeline.Line, op pipeline.LineOp) []pipeline.Line {
	n := 0
	for n < len(lines) && lines[n].Op == op {
		n++
	}
	return lines[:n]
}

func unindented(s string) string { return strings.TrimLeft(s, " \t") }

// headLineOf is a line that is the base's or not, and of which the change takes out
// lines right before it or not. gone are those in whose place it stands.
func headLineOf(l pipeline.Line, same, cut bool, gone []pipeline.Line) headLine {
	head := headLine{text: l.Text, marker: parseMarker(l), added: !same, cut: cut && (!same || l.Op == pipeline.LineContext)}
	m := head.marker
	if m == nil {
		return head
	}
	if !m.quoted {
		head.text = l.Text[:m.start]
	}
	m.old = same || slices.ContainsFunc(gone, func(g pipeline.Line) bool {
		was := parseMarker(g)
		return was != nil && was.reason == m.reason && slices.Equal(was.rules, m.rules)
	})
	return head
}

func (x *lineIndex) marker(path string, line int) *marker { return x.of(path)[line].marker }
