package secrets

import (
	"cmp"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// mark is a stretch of a text that will be replaced.
type mark struct {
	rule     *rule
	from, to int
}

// replace replaces marked stretches by placeholders. Overlapping stretches get one placeholder. It
// names the first stretch, and the longest of those that start there, except that the generic rule
// comes last.
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
		b.WriteString(pipeline.RedactionMark + m.rule.id + "]")
		// The lines after the stretch keep their numbers.
		b.WriteString(strings.Repeat("\n", strings.Count(text[m.from:m.to], "\n")))
		done = m.to
	}
	b.WriteString(text[done:])
	return b.String()
}
