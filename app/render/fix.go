package render

import (
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// A longer suggested fix is not shown, because half a fix misleads.
const (
	maxFixLines = 60
	maxFixBytes = 4000
	maxFixLine  = 500 // runes
)

// fixLine is a removed, added or unchanged line of a suggested fix as a diff.
type fixLine struct {
	op   pipeline.LineOp
	text string
}

// fixOf returns the diff between the finding's lines and its suggested fix. It returns nil
// if there is no fix, if the fix changes nothing, if it is too long, or if the finding's
// lines are not in the diff of the change.
func fixOf(d *diffIndex, f *pipeline.Finding) []fixLine {
	if f.SuggestedFix == "" || len(f.SuggestedFix) > maxFixBytes {
		return nil
	}
	end := max(f.EndLine, f.StartLine)
	before, known := d.text(f.Path, f.StartLine, end)
	after := codeLines(f.SuggestedFix)
	if !known || len(before)+len(after) > maxFixLines || size(before) > maxFixBytes {
		return nil
	}
	return diffLines(before, after)
}

// diffLines returns a diff that keeps common lines at both ends as context.
func diffLines(before, after []string) []fixLine {
	head := 0
	for head < len(before) && head < len(after) && before[head] == after[head] {
		head++
	}
	tail := 0
	for tail < len(before)-head && tail < len(after)-head &&
		before[len(before)-1-tail] == after[len(after)-1-tail] {
		tail++
	}
	if len(before) == len(after) && head+tail == len(before) {
		return nil
	}
	var out []fixLine
	add := func(op pipeline.LineOp, lines []string) {
		for _, l := range lines {
			out = append(out, fixLine{op, l})
		}
	}
	add(pipeline.LineContext, before[:head])
	add(pipeline.LineRemoved, before[head:len(before)-tail])
	add(pipeline.LineAdded, after[head:len(after)-tail])
	add(pipeline.LineContext, before[len(before)-tail:])
	return out
}

// fixAlone returns the lines of a suggested fix if the lines that it replaces are unknown,
// because they are not in the diff or the finding has no lines. Otherwise it returns nil.
// Each line begins with a plus: tools that ignore fences could otherwise read a line as a
// heading.
func fixAlone(d *diffIndex, f *pipeline.Finding) []fixLine {
	if _, known := d.text(f.Path, f.StartLine, max(f.EndLine, f.StartLine)); known || strings.TrimSpace(f.SuggestedFix) == "" {
		return nil
	}
	lines := codeLines(f.SuggestedFix)
	out := make([]fixLine, len(lines))
	for i, l := range lines {
		out[i] = fixLine{op: pipeline.LineAdded, text: l}
	}
	return out
}

// visibleFix returns the diff as lines of text.
func visibleFix(fix []fixLine) []string {
	out := make([]string, len(fix))
	for i, l := range fix {
		out[i] = string(l.op) + codeLine(l.text, maxFixLine)
	}
	return out
}

func size(lines []string) int {
	n := 0
	for _, l := range lines {
		n += len(l)
	}
	return n
}
