package rules

import (
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
)

// lineSpan is a range of a hunk's lines, without to.
type lineSpan struct{ from, to int }

// Rewritten reports which lines of a hunk, by index, are part of a statement of several lines that
// the change alters: before or after the change, another line of the statement is one that the
// change adds, removes or replaces. It reads statements as rules do. twins has for each line the
// index of the same line on the other side, or -1 if the change adds or removes the line.
func Rewritten(f *pipeline.File, h *pipeline.Hunk, twins []int) []bool {
	out := make([]bool, len(h.Lines))
	altered := make([]int, len(h.Lines)+1) // how many lines up to each are added or removed
	for i, twin := range twins {
		altered[i+1] = altered[i]
		if twin < 0 {
			altered[i+1]++
		}
	}
	if altered[len(h.Lines)] == 0 {
		return out
	}
	anyLanguage := mayBeAny(f)
	languages := []string{f.Language}
	switch {
	case prose[f.Language] && !anyLanguage:
		return out
	case f.Language != "" && anyLanguage:
		languages = append(languages, "")
	}
	var m scratch
	for _, side := range []*pipeline.Hunk{h, reversed(h)} {
		m.setShapes(side)
		for _, language := range languages {
			for _, s := range statements(language, side, m.shapes) {
				if s.alters(altered) {
					s.mark(out, twins)
				}
			}
		}
	}
	return out
}

// reversed is the hunk of the reverse change.
func reversed(h *pipeline.Hunk) *pipeline.Hunk {
	r := *h
	r.Lines = slices.Clone(h.Lines)
	for i := range r.Lines {
		switch l := &r.Lines[i]; l.Op {
		case pipeline.LineAdded:
			l.Op = pipeline.LineRemoved
		case pipeline.LineRemoved:
			l.Op = pipeline.LineAdded
		}
	}
	return &r
}

// alters reports whether one of the lines that the statement's text comes from is added or removed.
// altered counts such lines up to each line of the hunk.
func (s *statement) alters(altered []int) bool {
	all := lineSpan{s.start, s.last + 1}
	if s.row {
		all = s.extent
	}
	n := altered[all.to] - altered[all.from]
	for _, b := range s.blocks {
		n -= altered[b.to] - altered[b.from]
	}
	return n > 0
}

// mark marks the statement's lines and their twins.
func (s *statement) mark(out []bool, twins []int) {
	blocks := s.blocks
	for i := s.start; i <= s.last; i++ {
		if len(blocks) > 0 && i == blocks[0].from {
			i, blocks = blocks[0].to, blocks[1:]
		}
		out[i] = true
		if twins[i] >= 0 {
			out[twins[i]] = true
		}
	}
}
