package eval

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// nearLines is how many lines a finding may be away from a defect's line: reviewers name
// a call, its statement, or the function's first line.
const nearLines = 3

// minQuote is how long evidence must be to identify a place: "}" occurs everywhere.
const minQuote = 8

// none stands for no defect.
const none = -1

// judge returns for each finding the one defect that it names, or none. It assigns findings
// so that as many defects as possible are named, in any order of the findings. If all
// defects of a finding are taken, it names the first of them.
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

// match assigns a separate finding to as many defects as possible.
func match(defects []Defect, findings []pipeline.Finding) matching {
	m := matching{does: make([][]int, len(findings)), by: make([]int, len(defects))}
	for j := range defects {
		m.by[j] = none
	}
	for i := range findings {
		f := &findings[i]
		text := plaintext.Line(strings.ToLower(strings.Join([]string{f.Title, f.Message, f.WhyItMatters, f.Recommendation}, "\n")))
		for j := range defects {
			if defects[j].namedBy(f, text) {
				m.does[i] = append(m.does[i], j)
			}
		}
		m.place(i, make([]bool, len(defects)))
	}
	return m
}

// matching assigns to each defect one of the findings that name it.
type matching struct {
	does [][]int // for each finding, the defects that it names
	by   []int   // for each defect, the assigned finding, or none
}

// place assigns a defect to a finding, and reports whether there is one. Other findings may
// move to other defects. tried marks the defects that were tried already.
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

// namedBy reports whether a finding with this text is about the defect: it points to the
// defect's place, and describes it. A finding about the whole change has no place, so only
// its rule can match.
func (d *Defect) namedBy(f *pipeline.Finding, text string) bool {
	if f.Path == "" && d.Path != "" {
		return f.RuleID != "" && slices.Contains(d.Rules, f.RuleID)
	}
	return (d.Path == "" || f.Path == d.Path) && d.at(f) && d.describedBy(f, text)
}

// at reports whether a finding on the same file points to the defect. A defect without
// lines may be anywhere in its file.
func (d *Defect) at(f *pipeline.Finding) bool {
	if len(d.Lines)+len(d.Quotes) == 0 {
		return true
	}
	near := func(r Range) bool {
		return slices.ContainsFunc(f.Places(), func(f *pipeline.Finding) bool {
			return f.StartLine > 0 && r.Last >= f.StartLine-nearLines && r.First <= max(f.StartLine, f.EndLine)+nearLines
		})
	}
	if slices.ContainsFunc(d.Lines, near) {
		return true
	}
	return slices.ContainsFunc(f.Evidence, func(text string) bool {
		text = plaintext.Line(text)
		return slices.ContainsFunc(d.Quotes, func(q string) bool {
			q = plaintext.Line(q)
			return len(q) >= minQuote && strings.Contains(text, q) || len(text) >= minQuote && strings.Contains(q, text)
		})
	})
}

// describedBy reports whether the finding describes the defect, by rule, category or words. For a
// defect without rules and words, the place is enough.
func (d *Defect) describedBy(f *pipeline.Finding, text string) bool {
	if len(d.Rules)+len(d.Words) == 0 {
		return true
	}
	if f.RuleID != "" && slices.Contains(d.Rules, f.RuleID) || d.Category != "" && strings.EqualFold(strings.TrimSpace(f.Category), d.Category) {
		return true
	}
	return slices.ContainsFunc(d.Words, func(word string) bool { return beginsWord(text, word) })
}

// beginsWord reports whether a text contains one or more words at the beginning of a word:
// "race" is in "races" but not in "trace".
func beginsWord(text, word string) bool {
	word = plaintext.Line(word)
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
