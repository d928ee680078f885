package rules

import (
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// Forms are the other forms of a line.
func Forms(text string) []string { return forms(text, withKeys) }

// FormsOf are those of a line of a file in the language, or in any.
func FormsOf(language string, any bool, text string) []string {
	m := mannerOf(language, any)
	if prose[language] || !m.mayHaveForms(shapeOf(text), text) {
		return nil
	}
	return forms(text, m)
}

// Statement is one that goes over several lines of a hunk.
type Statement struct {
	Texts              []string
	Before             [][]string // it is old if it matches in one of each
	Start, First, Last int
	Remark             bool
}

// Manner is what a language takes for the same.
type Manner = manner

// MannerOf is the manner of a language, or of any.
func MannerOf(language string, any bool) Manner { return mannerOf(language, any) }

// Statements are those of a hunk.
func Statements(language string, m Manner, h *pipeline.Hunk) (out []Statement) {
	if prose[language] {
		return nil
	}
	var shapes memory
	shapes.setShapes(h)
	for _, s := range statements(language, h, shapes.shapes) {
		var before [][]string
		for _, text := range s.before(language, h) {
			before = append(before, readingsIn(text, m))
		}
		out = append(out, Statement{readingsIn(s.text, m), before, s.start, s.first, s.last, s.remark})
	}
	return out
}

// Safe says what a rule's harmless calls excuse.
func Safe(t interface{ Fatal(args ...any) }, c config.Rule) func(statement, language string) bool {
	r, err := compileRule(&c)
	if err != nil {
		t.Fatal(err)
	}
	return r.safe
}
