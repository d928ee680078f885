package rules

import (
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/internal/comments"
)

// side is one side of a hunk: its lines before the change, or those after it.
// It is read for comments as far as a rule asks.
type side struct {
	hunk   *pipeline.Hunk
	op     pipeline.LineOp // the changed lines of the side
	reader comments.Reader
	next   int // the first line that is not read
	length int // of the comment that the line before that starts with
}

func newSide(language string, h *pipeline.Hunk, op pipeline.LineOp) side {
	return side{hunk: h, op: op, reader: comments.NewReader(language)}
}

// code is the part of line i that a rule looks at: all of it, or what follows the
// comment at its start. The language is the one that the rule reads the file in. It must
// be called in the order of the lines.
func (s *side) code(r *rule, language string, i int, text string) string {
	if r.comments || language == "" || !s.reader.Knows() {
		return text
	}
	for ; s.next <= i; s.next++ {
		if l := &s.hunk.Lines[s.next]; l.Op == s.op || l.Op == pipeline.LineContext {
			s.length = s.reader.Next(l.Text)
		}
	}
	return text[min(s.length, len(text)):]
}

// whole reports whether line i, the last that was asked for, is a comment from
// end to end that the rule does not look at.
func (s *side) whole(r *rule, language string, i int) bool {
	text := bounded(s.hunk.Lines[i].Text, maxLine)
	return s.code(r, language, i, text) == ""
}
