package eval

import (
	"regexp"
	"slices"
	"strings"

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
// at most: where several would do, one that no finding before it named.
func judge(defects []Defect, findings []pipeline.Finding) []int {
	named := make([]int, len(findings))
	seen := map[int]bool{}
	for i := range findings {
		named[i] = none
		for j := range defects {
			if !defects[j].namedBy(&findings[i]) {
				continue
			}
			if named[i] == none || seen[named[i]] && !seen[j] {
				named[i] = j
			}
		}
		seen[named[i]] = true
	}
	return named
}

// namedBy reports whether a finding is about the defect: it points to it, and
// says what it is. What is about the change as a whole points nowhere, so that
// only the rule can tell.
func (d *Defect) namedBy(f *pipeline.Finding) bool {
	if f.Path == "" {
		return f.RuleID != "" && slices.Contains(d.Rules, f.RuleID)
	}
	return f.Path == d.Path && d.at(f) && d.said(f)
}

// at reports whether a finding on the same file points to the defect.
func (d *Defect) at(f *pipeline.Finding) bool {
	last := max(f.StartLine, f.EndLine)
	for _, line := range d.Lines {
		if f.StartLine > 0 && line >= f.StartLine-nearLines && line <= last+nearLines {
			return true
		}
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
// words.
func (d *Defect) said(f *pipeline.Finding) bool {
	if f.RuleID != "" && slices.Contains(d.Rules, f.RuleID) || strings.EqualFold(strings.TrimSpace(f.Category), d.Category) {
		return true
	}
	text := oneSpace(strings.ToLower(strings.Join([]string{f.Title, f.Message, f.WhyItMatters, f.Recommendation}, "\n")))
	return slices.ContainsFunc(d.Words, func(word string) bool { return beginsWord(text, word) })
}

// beginsWord reports whether a word, or several, stand in a text from the
// beginning of one on: "race" is in "races" and not in "trace".
func beginsWord(text, word string) bool {
	return regexp.MustCompile(`(?:^|[^\pL\pN])` + regexp.QuoteMeta(oneSpace(word))).MatchString(text)
}

func oneSpace(s string) string { return strings.Join(strings.Fields(s), " ") }
