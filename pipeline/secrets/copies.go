package secrets

import (
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
)

// minValue is the length of the shortest value that is searched for in the whole change, in bytes.
// Shorter values are too likely to occur by chance.
const minValue = 10

// copies marks all other occurrences of the values that were found: a rule may recognise a value
// only by its context in one place.
func (r *redactor) copies(facts *pipeline.PRFacts) {
	lengths := map[[minValue]byte][]int{} // of the values with this start
	var first [1 << 16]bool               // by two bytes: rules out most positions
	for v := range r.values {
		k := [minValue]byte([]byte(v))
		if !slices.Contains(lengths[k], len(v)) {
			lengths[k] = append(lengths[k], len(v))
		}
		first[pair(v, 0)] = true
	}
	look := func(text *string) {
		t := *text
		for i := 0; i+minValue <= len(t); i++ {
			if !first[pair(t, i)] {
				continue
			}
			for _, n := range lengths[[minValue]byte([]byte(t[i:i+minValue]))] {
				if i+n > len(t) {
					continue
				}
				if rule := r.values[t[i:i+n]]; rule != nil {
					r.mark(text, match{rule: rule, from: i, to: i + n})
				}
			}
		}
	}
	look(&facts.Title)
	look(&facts.Body)
	for i := range facts.Commits {
		look(&facts.Commits[i].Message)
		look(&facts.Commits[i].Author)
	}
	for _, text := range otherTexts(facts) {
		look(text)
	}
	for i := range facts.Files {
		for j := range facts.Files[i].Hunks {
			h := &facts.Files[i].Hunks[j]
			for k := range h.Lines {
				look(&h.Lines[k].Text)
			}
		}
	}
}

func pair(s string, i int) int { return int(s[i])<<8 | int(s[i+1]) }
