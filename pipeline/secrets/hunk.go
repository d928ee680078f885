package secrets

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// hunk searches both sides of a hunk, each as the text that it is. It searches the old side only
// around removed lines.
func (r *redactor) hunk(path string, h *pipeline.Hunk) {
	var found []located
	after := newSide(h, pipeline.LineRemoved)
	for _, m := range r.detector.matches(after.text, path, nil) {
		found = r.locate(found, after, m)
	}
	if slices.ContainsFunc(h.Lines, func(l pipeline.Line) bool { return l.Op == pipeline.LineRemoved }) {
		before := newSide(h, pipeline.LineAdded)
		for _, m := range r.detector.matches(before.text, path, before.unchanged) {
			found = r.locate(found, before, m)
		}
	}
	slices.SortStableFunc(found, func(a, b located) int {
		return cmp.Or(a.line-b.line, a.from-b.from, cmp.Compare(a.rule.id, b.rule.id))
	})
	if len(found) == 0 {
		return
	}
	all := !r.detector.skips(path)
	// Both sides show the secrets of context lines.
	for _, l := range slices.Compact(found) {
		line := &h.Lines[l.line]
		at := pipeline.Redaction{Source: pipeline.RedactedLine, Path: path, Op: line.Op, Line: line.New}
		if l.joined {
			at.Op = pipeline.LineAdded
		}
		if line.Op == pipeline.LineRemoved {
			at.Line = line.Old
		}
		if isSure(l.rule.id) || all && !l.checksum {
			r.report(l.rule, at, l.value)
		}
	}
}

// located is a secret in a hunk.
type located struct {
	rule  *rule
	line  int // index in the hunk's lines
	from  int
	value string
	// joined says that the change formed it from unchanged lines by removing the lines between
	// them.
	joined bool
	// checksum says that it has the form of a module's checksum in go.sum. A module's name can make
	// it look like a password.
	checksum bool
}

// locate marks a match in the lines that it spans, and adds the line that reports it: the first
// line that the change adds, or else the first.
func (r *redactor) locate(found []located, s *side, m match) []located {
	l := located{rule: m.rule, line: -1, value: s.text[m.from:m.to], checksum: isChecksum(s.text, m)}
	r.keep(s.text, m)
	last := -1 // the index of the previous line
	for i := s.at(m.from); i < len(s.lines) && s.starts[i] < m.to; i++ {
		line := &s.hunk.Lines[s.lines[i]]
		from, to := max(0, m.from-s.starts[i]), min(len(line.Text), m.to-s.starts[i])
		if from >= to {
			continue
		}
		r.mark(&line.Text, match{rule: m.rule, from: from, to: to})
		if last >= 0 {
			l.joined = l.joined || slices.ContainsFunc(s.hunk.Lines[last:s.lines[i]], func(l pipeline.Line) bool { return l.Op == pipeline.LineRemoved })
		}
		last = s.lines[i]
		if first := l.line < 0; first || line.Op == pipeline.LineAdded && s.hunk.Lines[l.line].Op != pipeline.LineAdded {
			l.line, l.from = s.lines[i], from
		}
	}
	if l.line < 0 {
		return found
	}
	l.joined = l.joined && s.after
	return append(found, l)
}

// checksumLine matches the text before the digest on a line of go.sum: a module and its version.
var checksumLine = regexp.MustCompile(`^[\w.~!/-]+ v[0-9][\w.+-]*(?:/go\.mod)? h1:$`)

// isChecksum reports whether a match is the digest on a line of go.sum, or of a file that another
// tool writes in the same form.
func isChecksum(text string, m match) bool {
	const digest = 44 // SHA-256 in base64
	return m.to-m.from == digest && text[m.to-1] == '=' && checksumLine.MatchString(text[lineStart(text, m.from):m.from]) && (m.to == len(text) || text[m.to] == '\n')
}

// side is a hunk before or after the change.
type side struct {
	hunk   *pipeline.Hunk
	after  bool   // the hunk after the change
	text   string // the lines, joined by line feeds
	lines  []int  // indexes in the hunk's lines
	starts []int  // the offsets of the lines in the text
}

// newSide returns the hunk without the lines of one kind.
func newSide(h *pipeline.Hunk, without pipeline.LineOp) *side {
	s := &side{hunk: h, after: without == pipeline.LineRemoved}
	size := 0
	for i := range h.Lines {
		if h.Lines[i].Op != without {
			s.lines = append(s.lines, i)
			s.starts = append(s.starts, size)
			size += len(h.Lines[i].Text) + 1
		}
	}
	var b strings.Builder
	b.Grow(size)
	for _, i := range s.lines {
		b.WriteString(h.Lines[i].Text)
		b.WriteByte('\n')
	}
	s.text = b.String()
	return s
}

// at returns the index of the line at an offset.
func (s *side) at(offset int) int {
	i, ok := slices.BinarySearch(s.starts, offset)
	if !ok {
		i--
	}
	return i
}

// unchanged reports whether a stretch of the text has only context lines.
func (s *side) unchanged(from, to int) bool {
	for i := s.at(from); i < len(s.lines) && s.starts[i] < to; i++ {
		if s.hunk.Lines[s.lines[i]].Op != pipeline.LineContext {
			return false
		}
	}
	return true
}
