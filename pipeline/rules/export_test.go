package rules

import "github.com/reviewgate/reviewgate/pipeline"

// Forms are the other forms of a line.
var Forms = forms

// FormsOf are those of a line of a file in the language, or in any.
func FormsOf(language string, any bool, text string) []string {
	if prose[language] || shapeOf(text)&formedShape(language, any) == 0 {
		return nil
	}
	return forms(text)
}

// Statement is one that goes over several lines of a hunk.
type Statement struct {
	Texts              []string
	Before             [][]string // it is old if it matches in one of each
	Start, First, Last int
}

// Statements are those of a hunk.
func Statements(language string, h *pipeline.Hunk) (out []Statement) {
	if prose[language] {
		return nil
	}
	var m memory
	m.setShapes(h)
	for _, s := range statements(language, h, m.shapes) {
		var before [][]string
		for _, text := range s.before(language, h) {
			before = append(before, readings(text))
		}
		out = append(out, Statement{readings(s.text), before, s.start, s.first, s.last})
	}
	return out
}
