package normalize

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// maxLineNumber bounds line numbers and counts. Git's own limit is 2^31-1.
const maxLineNumber = 1<<31 - 1

// parsePatch reads the hunks of a unified diff of one file from the first @@ on, as GitHub's API
// gives it. Every hunk must hold as many lines as its header says, and hunks must be in order and
// not overlap. A carriage return at the end of a line is part of the line ending and is removed,
// and so is the "\ No newline at end of file" marker. An empty line counts as empty context, as in
// git apply, since some tools strip the trailing space.
func parsePatch(patch string) (pipeline.List[pipeline.Hunk], error) {
	var hunks pipeline.List[pipeline.Hunk]
	patch = strings.TrimSuffix(patch, "\n")
	p := patchReader{rest: patch, lines: strings.Count(patch, "\n") + 1}
	oldNext, newNext := 1, 1
	for !p.done() {
		h, err := p.hunk()
		if err != nil {
			return nil, fmt.Errorf("line %d of the patch: %w", p.line, err)
		}
		if first(h.OldStart, h.OldLines) < oldNext || first(h.NewStart, h.NewLines) < newNext {
			return nil, fmt.Errorf("line %d of the patch: hunk overlaps the one before", p.line)
		}
		oldNext = first(h.OldStart, h.OldLines) + h.OldLines
		newNext = first(h.NewStart, h.NewLines) + h.NewLines
		hunks = append(hunks, h)
	}
	return hunks, nil
}

// first is the first line of a side of a hunk. For a side without lines, the header names the line
// before.
func first(start, lines int) int {
	if lines == 0 {
		return start + 1
	}
	return start
}

// patchReader returns the lines of a patch one by one.
type patchReader struct {
	rest  string
	end   bool
	line  int // the number of the last returned line, from 1
	lines int // in all
}

func (p *patchReader) done() bool { return p.end || p.rest == "" }

// next returns the next line. The caller checks done first.
func (p *patchReader) next() string {
	line, rest, more := strings.Cut(p.rest, "\n")
	p.rest, p.end = rest, !more
	p.line++
	return line
}

// withoutReturns removes the carriage returns at the ends of lines if all lines after the change
// have one, or none has. It reports whether all have one.
func withoutReturns(lines []pipeline.Line) (returns bool) {
	with, without := false, false
	for i := range lines {
		if lines[i].New == 0 {
			continue
		}
		if strings.HasSuffix(lines[i].Text, "\r") {
			with = true
		} else {
			without = true
		}
	}
	for i := range lines {
		if !with || !without || lines[i].New == 0 {
			lines[i].Text = strings.TrimSuffix(lines[i].Text, "\r")
		}
	}
	return with && !without
}

// hunk reads a hunk. Lines lose the carriage return at their ends, unless only some of the new
// lines have one: to a shell it is then a character, as in the name that ends a heredoc.
func (p *patchReader) hunk() (pipeline.Hunk, error) {
	h, err := parseHeader(p.next())
	if err != nil {
		return h, err
	}
	// The header may claim more lines than there are, so it does not decide the capacity alone.
	h.Lines = make(pipeline.List[pipeline.Line], 0, min(h.OldLines+h.NewLines, p.lines-p.line))
	oldLine, newLine := h.OldStart, h.NewStart
	oldLeft, newLeft := h.OldLines, h.NewLines
	for oldLeft > 0 || newLeft > 0 {
		// An empty rest before the end is an empty last line.
		if p.end {
			return h, fmt.Errorf("hunk ends with %d old and %d new lines missing", oldLeft, newLeft)
		}
		text := p.next()
		op, body := lineOf(text)
		l := pipeline.Line{Op: op, Text: body}
		switch {
		case strings.HasPrefix(text, `\`) && len(h.Lines) > 0:
			continue
		case op == pipeline.LineContext && oldLeft > 0 && newLeft > 0:
			l.Old, l.New = oldLine, newLine
		case op == pipeline.LineAdded && newLeft > 0:
			l.New = newLine
		case op == pipeline.LineRemoved && oldLeft > 0:
			l.Old = oldLine
		default:
			return h, errors.New("line does not fit its hunk")
		}
		if l.Old > 0 {
			oldLine++
			oldLeft--
		}
		if l.New > 0 {
			newLine++
			newLeft--
		}
		h.Lines = append(h.Lines, l)
	}
	if strings.HasPrefix(p.rest, `\`) && !p.end {
		p.next()
	}
	h.Returns = withoutReturns(h.Lines)
	return h, nil
}

// lineOf splits a diff line into its operation and its text.
func lineOf(text string) (pipeline.LineOp, string) {
	switch {
	case text == "" || text == "\r":
		return pipeline.LineContext, ""
	case text[0] == ' ', text[0] == '+', text[0] == '-':
		return pipeline.LineOp(text[:1]), text[1:]
	}
	return "", ""
}

var errHeader = errors.New(`hunk header is not "@@ -old,lines +new,lines @@"`)

// parseHeader reads "@@ -1,2 +3,4 @@ section". A missing count is 1.
func parseHeader(text string) (pipeline.Hunk, error) {
	var h pipeline.Hunk
	rest, ok := strings.CutPrefix(strings.TrimSuffix(text, "\r"), "@@ -")
	if !ok {
		return h, errHeader
	}
	ranges, section, ok := strings.Cut(rest, " @@")
	if !ok {
		return h, errHeader
	}
	before, after, ok := strings.Cut(ranges, " +")
	if !ok {
		return h, errHeader
	}
	var err error
	if h.OldStart, h.OldLines, err = parseRange(before); err != nil {
		return h, err
	}
	if h.NewStart, h.NewLines, err = parseRange(after); err != nil {
		return h, err
	}
	if h.OldLines == 0 && h.NewLines == 0 {
		return h, errHeader
	}
	h.Section = strings.TrimPrefix(section, " ")
	return h, nil
}

func parseRange(text string) (start, lines int, err error) {
	from, count, counted := strings.Cut(text, ",")
	if start, err = parseNumber(from); err != nil {
		return 0, 0, err
	}
	lines = 1
	if counted {
		if lines, err = parseNumber(count); err != nil {
			return 0, 0, err
		}
	}
	if start == 0 && lines > 0 || start+lines > maxLineNumber {
		return 0, 0, errHeader
	}
	return start, lines, nil
}

// parseNumber reads only digits: strconv would accept a sign.
func parseNumber(text string) (int, error) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, errHeader
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0, errHeader
	}
	return int(n), nil
}

// countLines returns how many lines the hunks add and remove.
func countLines(hunks []pipeline.Hunk) (added, removed int) {
	for i := range hunks {
		for j := range hunks[i].Lines {
			switch hunks[i].Lines[j].Op {
			case pipeline.LineAdded:
				added++
			case pipeline.LineRemoved:
				removed++
			}
		}
	}
	return added, removed
}
