package aggregate

import (
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/rules"
)

// lineIndex finds the head's lines and the ignore comments in them. It reads a file's lines once,
// when the first finding in the file needs them.
type lineIndex struct {
	files map[string]*pipeline.File
	lines map[string]map[int]headLine
	// rewritten says which lines, by index, are part of statements of several lines that the change
	// alters. It is computed when the first old comment in the hunk needs it.
	rewritten map[*pipeline.Hunk][]bool
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
	return &lineIndex{files: files, lines: map[string]map[int]headLine{}, rewritten: map[*pipeline.Hunk][]bool{}}
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
		twin := twins(h, free)
		for rest := h.Lines; len(rest) > 0; {
			removedLines := leading(rest, pipeline.LineRemoved)
			addedLines := leading(rest[len(removedLines):], pipeline.LineAdded)
			rest = rest[len(removedLines)+len(addedLines):]
			at := len(h.Lines) - len(rest)
			for i, l := range addedLines {
				n := at - len(addedLines) + i
				head := headLineOf(l, twin[n] >= 0, i == 0 && len(removedLines) > 0, removedLines)
				head.hunk, head.at = h, n
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

// twins returns for each line of a hunk the index of the same line on the other side, or -1 if the
// change adds or removes the line. If free is set, a line whose indentation alone changes is the same
// in a block in which each added line replaces one removed line.
func twins(h *pipeline.Hunk, free bool) []int {
	out := make([]int, len(h.Lines))
	for i := 0; i < len(h.Lines); {
		gone := len(leading(h.Lines[i:], pipeline.LineRemoved))
		come := len(leading(h.Lines[i+gone:], pipeline.LineAdded))
		for k := range gone + come {
			out[i+k] = -1
		}
		for k := range come {
			if was, is := i+k, i+gone+k; free && gone == come && unindented(h.Lines[was].Text) == unindented(h.Lines[is].Text) {
				out[was], out[is] = is, was
			}
		}
		i += gone + come
		if i < len(h.Lines) && h.Lines[i].Op == pipeline.LineContext {
			out[i] = i
			i++
		}
	}
	return out
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

// isRewritten reports whether a line that the diff shows is part of a statement of several lines
// that the change alters.
func (x *lineIndex) isRewritten(path string, l headLine) bool {
	all, ok := x.rewritten[l.hunk]
	if !ok {
		f := x.files[path]
		all = rules.Rewritten(f, l.hunk, twins(l.hunk, !indents(f.Language)))
		x.rewritten[l.hunk] = all
	}
	return all[l.at]
}

func (x *lineIndex) marker(path string, line int) *marker { return x.of(path)[line].marker }
