package aggregate

import (
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// lineIndex finds the head's lines and the ignore comments in them. It reads a file's lines once,
// when the first finding in the file needs them.
type lineIndex struct {
	files map[string]*pipeline.File
	lines map[string]map[int]headLine
}

type headLine struct {
	text   string // without an ignore comment
	marker *marker
	added  bool // the change adds it
	cut    bool // the change removes lines right before it
	hunk   *pipeline.Hunk
	at     int // its index in the hunk
}

func newLineIndex(files map[string]*pipeline.File) *lineIndex {
	return &lineIndex{files: files, lines: map[string]map[int]headLine{}}
}

// of returns the lines of a file that the diff shows, by number.
func (x *lineIndex) of(path string) map[int]headLine {
	lines, ok := x.lines[path]
	if ok || x.files[path] == nil {
		return lines
	}
	lines = map[int]headLine{}
	free := !indents(x.files[path].Language)
	for i := range x.files[path].Hunks {
		h := &x.files[path].Hunks[i]
		for rest := h.Lines; len(rest) > 0; {
			removedLines := leading(rest, pipeline.LineRemoved)
			addedLines := leading(rest[len(removedLines):], pipeline.LineAdded)
			rest = rest[len(removedLines)+len(addedLines):]
			paired := free && len(removedLines) == len(addedLines)
			at := len(h.Lines) - len(rest)
			for i, l := range addedLines {
				head := headLineOf(l, paired && unindented(removedLines[i].Text) == unindented(l.Text), i == 0 && len(removedLines) > 0, removedLines)
				head.hunk, head.at = h, at-len(addedLines)+i
				lines[l.New] = head
			}
			if len(rest) > 0 && rest[0].Op == pipeline.LineContext {
				head := headLineOf(rest[0], true, len(removedLines) > 0 && len(addedLines) == 0, nil)
				head.hunk, head.at = h, at
				lines[rest[0].New] = head
				rest = rest[1:]
			}
		}
	}
	x.lines[path] = lines
	return lines
}

// leading returns the first of the lines, up to one with another operation.
func leading(lines []pipeline.Line, op pipeline.LineOp) []pipeline.Line {
	n := 0
	for n < len(lines) && lines[n].Op == op {
		n++
	}
	return lines[:n]
}

func unindented(s string) string { return strings.TrimLeft(s, " \t") }

// headLineOf makes a headLine. same says that the line is the base's, and cut that the change
// removes lines right before it. gone are the lines that it replaces.
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
		oldMarker := parseMarker(g)
		return oldMarker != nil && oldMarker.reason == m.reason && slices.Equal(oldMarker.rules, m.rules)
	})
	return head
}

func (x *lineIndex) marker(path string, line int) *marker { return x.of(path)[line].marker }
