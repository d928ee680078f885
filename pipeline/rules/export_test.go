package rules

import "github.com/reviewgate/reviewgate/pipeline"

// Forms are the other forms of a line.
func Forms(text string) []string { return forms(text, true) }

// FormsOf are those of a line of a file in the language, or in any.
func FormsOf(language string, any bool, text string) []string {
	keys := any || keyed[language]
	if prose[language] || shapeOf(text)&formedShape(keys) == 0 {
		return nil
	}
	return forms(text, keys)
}

// Statement is one that goes over several lines of a hunk.
type Statement struct {
	Texts              []string
	Before             [][]string // it is old if it matches in one of each
	Start, First, Last int
	Remark             bool
}

// Keyed are the languages in which a key in quotes is the same as one without.
var Keyed = keyed

// Statements are those of a hunk.
func Statements(language string, keys bool, h *pipeline.Hunk) (out []Statement) {
	if prose[language] {
		return nil
	}
	var m memory
	m.setShapes(h)
	for _, s := range statements(language, h, m.shapes) {
		var before [][]string
		for _, text := range s.before(language, h) {
			before = append(before, readingsIn(text, keys))
		}
		out = append(out, Statement{readingsIn(s.text, keys), before, s.start, s.first, s.last, s.remark})
	}
	return out
}
