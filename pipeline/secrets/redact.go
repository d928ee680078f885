package secrets

import (
	"cmp"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// Redact replaces the secrets in the facts' title, body, commit messages,
// diff lines and hunk headings by placeholders like
// [redacted:aws-access-token], and returns what it found where: one Redaction
// for each secret, in the order of the facts. A value that is found in one
// place is replaced wherever else it stands, too, without another Redaction.
func (d *Detector) Redact(facts *pipeline.PRFacts) []pipeline.Redaction {
	r := &redactor{detector: d, marks: map[*string][]mark{}, values: map[string]*rule{}}
	r.text(&facts.Title, pipeline.Redaction{Source: pipeline.RedactedTitle})
	r.text(&facts.Body, pipeline.Redaction{Source: pipeline.RedactedBody})
	for i := range facts.Commits {
		c := &facts.Commits[i]
		r.text(&c.Message, pipeline.Redaction{Source: pipeline.RedactedCommitMessage, Commit: c.SHA})
	}
	for i := range facts.Files {
		r.file(&facts.Files[i])
	}
	if len(r.values) > 0 {
		r.copies(facts)
	}
	for text, marks := range r.marks {
		*text = replace(*text, marks)
	}
	return r.found
}

// redactor is the state of one Redact.
type redactor struct {
	detector *Detector
	found    []pipeline.Redaction
	marks    map[*string][]mark
	values   map[string]*rule // found on one line, by value
}

// mark is a stretch of a text that is to be replaced.
type mark struct {
	rule     *rule
	from, to int
}

func (r *redactor) text(text *string, at pipeline.Redaction) {
	for _, m := range r.detector.matches(*text, "", nil) {
		r.mark(text, m)
		r.keep(*text, m)
		r.report(m.rule, at)
	}
}

func (r *redactor) mark(text *string, m match) {
	r.marks[text] = append(r.marks[text], mark{rule: m.rule, from: m.from, to: m.to})
}

// keep remembers a value to look for elsewhere.
func (r *redactor) keep(text string, m match) {
	v := text[m.from:m.to]
	if len(v) < minValue || strings.Contains(v, "\n") {
		return
	}
	if old := r.values[v]; old == nil || old.id == ruleGeneric {
		r.values[v] = m.rule
	}
}

func (r *redactor) report(rule *rule, at pipeline.Redaction) {
	at.RuleID, at.Title, at.Details = rule.id, title(rule.id), rule.description
	r.found = append(r.found, at)
}

func (r *redactor) file(f *pipeline.File) {
	d := r.detector
	if d.passesOver(f.Path) {
		return
	}
	if f.Status != pipeline.FileRemoved {
		for _, p := range d.paths {
			if p.path.MatchString(f.Path) {
				r.report(p, pipeline.Redaction{Source: pipeline.RedactedLine, Path: f.Path, Op: pipeline.LineAdded})
			}
		}
	}
	for i := range f.Hunks {
		r.hunk(f.Path, &f.Hunks[i])
	}
}

// hunk looks at both sides of a hunk, each as the text that it is, and at the
// old one only around removed lines.
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
	// Both sides show the secrets of context lines.
	for _, l := range slices.Compact(found) {
		line := &h.Lines[l.line]
		at := pipeline.Redaction{Source: pipeline.RedactedLine, Path: path, Op: line.Op, Line: line.New}
		if line.Op == pipeline.LineRemoved {
			at.Line = line.Old
		}
		r.report(l.rule, at)
	}
}

// located is a secret found in a hunk.
type located struct {
	rule *rule
	line int // index into the hunk's lines
	from int
}

// locate marks a match in the lines that it spans and adds where it is to be
// reported: on the first line that the change adds, else on the first.
func (r *redactor) locate(found []located, s *side, m match) []located {
	l := located{rule: m.rule, line: -1}
	r.keep(s.text, m)
	for i := s.at(m.from); i < len(s.lines) && s.starts[i] < m.to; i++ {
		line := &s.hunk.Lines[s.lines[i]]
		from, to := max(0, m.from-s.starts[i]), min(len(line.Text), m.to-s.starts[i])
		if from >= to {
			continue
		}
		r.mark(&line.Text, match{rule: m.rule, from: from, to: to})
		if first := l.line < 0; first || line.Op == pipeline.LineAdded && s.hunk.Lines[l.line].Op != pipeline.LineAdded {
			l.line, l.from = s.lines[i], from
		}
	}
	if l.line < 0 {
		return found
	}
	return append(found, l)
}

// side is a hunk as it was or as it will be.
type side struct {
	hunk   *pipeline.Hunk
	text   string // the lines, joined by line feeds
	lines  []int  // indexes into the hunk's lines
	starts []int  // their offsets in the text
}

// newSide leaves out the lines of one kind.
func newSide(h *pipeline.Hunk, without pipeline.LineOp) *side {
	s := &side{hunk: h}
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

// at returns the index of the line that an offset is in.
func (s *side) at(offset int) int {
	i, ok := slices.BinarySearch(s.starts, offset)
	if !ok {
		i--
	}
	return i
}

// unchanged reports whether a stretch of the text is context only.
func (s *side) unchanged(from, to int) bool {
	for i := s.at(from); i < len(s.lines) && s.starts[i] < to; i++ {
		if s.hunk.Lines[s.lines[i]].Op != pipeline.LineContext {
			return false
		}
	}
	return true
}

// replace puts placeholders in the place of marked stretches. Where they
// overlap, one placeholder stands for all; it names the first, and the
// longest of those that start there, rather than the generic rule.
func replace(text string, marks []mark) string {
	slices.SortFunc(marks, func(a, b mark) int {
		return cmp.Or(a.from-b.from, b.to-a.to, cmp.Compare(a.rule.id, b.rule.id))
	})
	var b strings.Builder
	done := 0
	for i := 0; i < len(marks); {
		m := marks[i]
		for i++; i < len(marks) && marks[i].from < m.to; i++ {
			m.to = max(m.to, marks[i].to)
			if m.rule.id == ruleGeneric {
				m.rule = marks[i].rule
			}
		}
		b.WriteString(text[done:m.from])
		b.WriteString("[redacted:" + m.rule.id + "]")
		done = m.to
	}
	b.WriteString(text[done:])
	return b.String()
}
