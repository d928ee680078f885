package rules

import (
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// rows joins lines of a hunk's new side that belong together by the language's own
// syntax, rather than by brackets and operators. Each result is one row, a
// statement with at least one added line.
func rows(language string, h *pipeline.Hunk) []statement {
	switch language {
	case "YAML":
		return yamlRows(h)
	case "XML", "Maven POM":
		return xmlRows(h)
	case "INI":
		return iniRows(h)
	}
	return nil
}

// newSideOf returns the indexes of a hunk's lines on the new side.
func newSideOf(h *pipeline.Hunk) []int {
	out := make([]int, 0, len(h.Lines))
	for i := range h.Lines {
		if h.Lines[i].Op != pipeline.LineRemoved {
			out = append(out, i)
		}
	}
	return out
}

// isAdded reports whether the change adds a line.
func isAdded(h *pipeline.Hunk, i int) bool { return h.Lines[i].Op == pipeline.LineAdded }

// rowOf returns a row that spans the lines start to last and is reported at line
// first. A row that spans more lines than a statement may counts as only that line.
func rowOf(text, was string, start, first, last int) statement {
	extent := lineSpan{start, last + 1}
	if last-start >= maxStatementAll {
		start, last = first, first
	}
	return statement{text: text, was: was, row: true, start: start, first: first, last: last, extent: extent}
}

// iniRows are the lines that continue a key's values, each after its key.
func iniRows(h *pipeline.Hunk) (out []statement) {
	key, at := "", -1
	for _, i := range newSideOf(h) {
		text := bounded(h.Lines[i].Text, maxLine)
		start := blanks(text, 0)
		switch {
		case start == len(text) || text[start] == '#' || text[start] == ';':
		case start == 0:
			key, at = iniKey(text), i
		case key == "":
		case isAdded(h, i):
			out = append(out, rowOf(key+" = "+text[start:], "", i, i, i))
		case isAdded(h, at):
			out = append(out, rowOf(key+" = "+text[start:], "", at, at, i))
		}
	}
	return out
}

// iniKey returns the key that a line gives a value, or "".
func iniKey(text string) string {
	end := 0
	for isWord(at(text, end)) || in(".-", at(text, end)) {
		end++
	}
	if !in("=:", at(text, end+blanks(text, end))) {
		return ""
	}
	return text[:end]
}

// joined joins pieces with spaces.
func joined(pieces []string) string { return strings.Join(pieces, " ") }
