package rules

import (
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/internal/comments"
)

// side is one side of a hunk: its lines before or after the change. It reads
// comments only as far as a rule asks.
type side struct {
	hunk   *pipeline.Hunk
	op     pipeline.LineOp // of the side's changed lines
	reader comments.Reader
	next   int // the first line that the reader has not read
	length int // of the comment at the start of the line before next
}

func newSide(language string, h *pipeline.Hunk, op pipeline.LineOp) side {
	return side{hunk: h, op: op, reader: comments.NewReader(language)}
}

// code is the part of line i that a rule looks at: the whole line, or what follows
// the comment at its start. The rule reads the file in the given language. Calls
// must follow the order of the lines.
func (s *side) code(r *rule, language string, i int, text string) string {
	if r.comments || language == "" || !s.reader.Knows() {
		return text
	}
	return text[min(s.comment(i), len(text)):]
}

// comment returns how many bytes at the start of line i are certainly a comment. Calls must follow
// the order of the lines.
func (s *side) comment(i int) int {
	for ; s.next <= i; s.next++ {
		if l := &s.hunk.Lines[s.next]; l.Op == s.op || l.Op == pipeline.LineContext {
			s.length = s.reader.Next(l.Text)
		}
	}
	return s.length
}

// isSkippedComment reports whether all of line i is a comment that the rule does
// not look at. Line i must be the line of the last call of code.
func (s *side) isSkippedComment(r *rule, language string, i int) bool {
	text := bounded(s.hunk.Lines[i].Text, maxLine)
	return s.code(r, language, i, text) == ""
}
