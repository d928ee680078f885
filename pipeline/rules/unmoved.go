package rules

import (
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// isAddedAgain reports whether the change adds a removed line in another place. It reads the change
// only for rules that leave out what moved and matched.
func (p *pass) isAddedAgain(removed string) bool {
	if p.readded == nil {
		p.readded = addedLines(p.past.files)
	}
	return p.readded[bareLine(removed)]
}

// addedLines are the lines that a change adds to files other than documentation, as bareLine shows
// them: as a whole, and up to the first colon that a value follows.
func addedLines(files []pipeline.File) map[string]bool {
	lines := map[string]bool{}
	for i := range files {
		if files[i].Documentation {
			continue
		}
		for h := range files[i].Hunks {
			for j := range files[i].Hunks[h].Lines {
				l := &files[i].Hunks[h].Lines[j]
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
