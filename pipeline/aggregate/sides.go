package aggregate

import (
	"slices"
	"strings"
	"unicode"

	"github.com/reviewgate/reviewgate/pipeline"
)

// sides are the sides that a finding takes in a dispute: what should happen to its lines, and
// whether something can or must be done.
type sides uint8

const (
	sideRemove sides = 1 << iota
	sideKeep         // or add
	sideImpossible
	sideEssential

	noSides sides = 0
)

// against returns the sides opposed to these.
func (s sides) against() sides {
	return s&(sideRemove|sideImpossible)<<1 | s&(sideKeep|sideEssential)>>1
}

func (s sides) opposes(other sides) bool { return s.against()&other != 0 }

// each returns the sides one by one.
func (s sides) each() []sides {
	var out []sides
	for side := sideRemove; side <= sideEssential; side <<= 1 {
		if s&side != 0 {
			out = append(out, side)
		}
	}
	return out
}

// sidesOf reads the sides that a finding takes from its action, or else from the leading verb of
// its recommendation, and from its other words. A finding that is itself a trade-off takes none,
// and neither does one that takes both sides of a pair.
func sidesOf(f *item) sides {
	if f.title.tradeOff {
		return noSides
	}
	s := noSides
	switch direction(&f.Finding) {
	case pipeline.ActionRemove:
		s |= sideRemove
	case pipeline.ActionKeep, pipeline.ActionAdd:
		s |= sideKeep
	}
	text := strings.ToLower(f.Title + "\n" + f.Message)
	impossible, essential := says(text, "impossible"), says(text, "essential")
	switch {
	case impossible && !essential:
		s |= sideImpossible
	case essential && !impossible:
		s |= sideEssential
	}
	return s
}

// direction is what a finding recommends: its action, or else the leading verb of its
// recommendation.
func direction(f *pipeline.Finding) pipeline.Action {
	if f.Action != pipeline.ActionNone && f.Action != "" {
		return f.Action
	}
	first, _, _ := strings.Cut(strings.TrimSpace(f.Recommendation), " ")
	switch strings.ToLower(strings.Trim(first, ".,;:!\"'`")) {
	case "remove", "delete", "drop", "cut":
		return pipeline.ActionRemove
	case "keep", "retain", "preserve":
		return pipeline.ActionKeep
	case "add", "introduce", "insert":
		return pipeline.ActionAdd
	}
	return pipeline.ActionNone
}

// says reports whether a lower-case text has the word without a denial right before it.
func says(text, word string) bool {
	if !strings.Contains(text, word) {
		return false
	}
	before := ""
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return !unicode.IsLetter(r) && r != '\'' && r != '’'
	}) {
		if w == word && !slices.Contains([]string{"not", "isn't", "isn’t", "never", "hardly"}, before) {
			return true
		}
		before = w
	}
	return false
}
