package eval

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reviewgate/reviewgate/pipeline"
)

// nearLines is how far from a defect's line a finding may point: reviewers name
// a call, its statement, or the function's first line.
const nearLines = 3

// minQuote is how long evidence must be to tell a place by itself: "}" stands
// everywhere.
const minQuote = 8

// none stands for no defect.
const none = -1

// judge says for each finding which of the defects it names, or none. It is one
// at most. As many defects are named as can be, whatever the order in which an
// agent speaks; a finding for which none is left names the first that it would do
// for.
func judge(defects []Defect, findings []pipeline.Finding) []int {
	m := match(defects, findings)
	named := make([]int, len(findings))
	for i, does := range m.does {
		named[i] = none
		if len(does) > 0 {
			named[i] = does[0]
		}
	}
	for j, i := range m.by {
		if i != none {
			named[i] = j
		}
	}
	return named
}

// match gives as many defects as can be a finding of their own.
func match(defects []Defect, findings []pipeline.Finding) matching {
	m := matching{does: make([][]int, len(findings)), by: make([]int, len(defects))}
	for j := range defects {
		m.by[j] = none
	}
	for i := range findings {
		f := &findings[i]
		text := oneSpace(strings.ToLower(strings.Join([]string{f.Title, f.Message, f.WhyItMatters, f.Recommendation}, "\n")))
		for j := range defects {
			if defects[j].namedBy(f, text) {
				m.does[i] = append(m.does[i], j)
			}
		}
		m.place(i, make([]bool, len(defects)))
	}
	return m
}

// matching gives each defect one of the findings that would do for it.
type matching struct {
	does [][]int // of each finding the defects
	by   []int   // of each defect the finding, or none
}

// place finds a defect for a finding, for which others may move to another, and
// reports whether there is one. What was tried once is not tried again.
func (m *matching) place(i int, tried []bool) bool {
	for _, j := range m.does[i] {
		if m.by[j] == none {
			m.by[j] = i
			return true
		}
	}
	for _, j := range m.does[i] {
		if tried[j] {
			continue
		}
		tried[j] = true
		if m.place(m.by[j], tried) {
			m.by[j] = i
			return true
		}
	}
	return false
}

// namedBy reports whether a finding, which has a text, is about the defect: it
// points to it, and says what it is. What is about the change as a whole points
// nowhere, so that only the rule can tell.
func (d *Defect) namedBy(f *pipeline.Finding, text string) bool {
	if f.Path == "" && d.Path != "" {
		return f.RuleID != "" && slices.Contains(d.Rules, f.RuleID)
	}
	return (d.Path == "" || f.Path == d.Path) && d.at(f) && d.said(f, text)
}

// at reports whether a finding on the same file points to the defect. One of which no
// lines are known is anywhere in its file.
func (d *Defect) at(f *pipeline.Finding) bool {
	if len(d.Lines)+len(d.Quotes) == 0 {
		return true
	}
	last := max(f.StartLine, f.EndLine)
	near := func(r Range) bool {
		return f.StartLine > 0 && r.Last >= f.StartLine-nearLines && r.First <= last+nearLines
	}
	if slices.ContainsFunc(d.Lines, near) {
		return true
	}
	return slices.ContainsFunc(f.Evidence, func(text string) bool {
		text = oneSpace(text)
		return slices.ContainsFunc(d.Quotes, func(q string) bool {
			q = oneSpace(q)
			return len(q) >= minQuote && strings.Contains(text, q) || len(text) >= minQuote && strings.Contains(q, text)
		})
	})
}

// said reports whether a finding speaks of the defect, by rule, category or
// words. Of one that has neither rules nor words, the place says enough.
func (d *Defect) said(f *pipeline.Finding, text string) bool {
	if len(d.Rules)+len(d.Words) == 0 {
		return true
	}
	if f.RuleID != "" && slices.Contains(d.Rules, f.RuleID) || d.Category != "" && strings.EqualFold(strings.TrimSpace(f.Category), d.Category) {
		return true
	}
	return slices.ContainsFunc(d.Words, func(word string) bool { return beginsWord(text, word) })
}

// beginsWord reports whether a word, or several, stand in a text from the
// beginning of one on: "race" is in "races" and not in "trace".
func beginsWord(text, word string) bool {
	word = oneSpace(word)
	for from := 0; ; from++ {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		from += i
		if before, _ := utf8.DecodeLastRuneInString(text[:from]); !unicode.IsLetter(before) && !unicode.IsNumber(before) {
			return true
		}
	}
}

func oneSpace(s string) string { return strings.Join(strings.Fields(s), " ") }
