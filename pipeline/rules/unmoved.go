package rules

import (
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// unmoved removes the matches on removed lines of rules that leave out what moved, if the change adds
// the line elsewhere.
func (p *pass) unmoved(facts *pipeline.PRFacts) {
	var added map[string]bool // made for the first such rule that matched
	p.matches = slices.DeleteFunc(p.matches, func(f match) bool {
		if f.rule.moved {
			return false
		}
		if added == nil {
			added = addedLines(facts)
		}
		return added[bareLine(f.text)]
	})
}

// addedLines are the lines that the change adds to files other than documentation, as bareLine shows
// them: as a whole, and up to the first colon that a value follows.
func addedLines(facts *pipeline.PRFacts) map[string]bool {
	lines := map[string]bool{}
	for i := range facts.Files {
		if facts.Files[i].Documentation {
			continue
		}
		for h := range facts.Files[i].Hunks {
			for j := range facts.Files[i].Hunks[h].Lines {
				l := &facts.Files[i].Hunks[h].Lines[j]
				if l.Op != pipeline.LineAdded {
					continue
				}
				text := bounded(l.Text, maxLine)
				lines[bareLine(text)] = true
				if key, _, isPair := strings.Cut(text, ": "); isPair {
					lines[bareLine(key+":")] = true
				}
			}
		}
	}
	return lines
}

// bareLine is a line without its indentation, quotation marks, and an opening brace at its end.
func bareLine(text string) string {
	text = strings.TrimSuffix(strings.TrimSpace(bounded(text, maxLine)), "{")
	return strings.TrimSpace(strings.NewReplacer(`"`, "", "'", "").Replace(text))
}
