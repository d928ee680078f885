package rules

import (
	"context"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/expression"
)

// Forms returns the other forms of a line.
func Forms(text string) []string { return forms(text, withKeys) }

// FormsOf returns the forms of a line of a file in the language, or in any language.
func FormsOf(language string, any bool, text string) []string {
	m := dialectOf(language, any)
	if prose[language] || !m.mayHaveForms(shapeOf(text), text) {
		return nil
	}
	return forms(text, m)
}

// Statement is a statement that spans several lines of a hunk.
type Statement struct {
	Texts              []string
	Before             [][]string // the text without the added lines; the statement is old if the rule matches one of each
	Start, First, Last int
	Remark             bool
}

// Dialect is a set of forms that mean the same in a language.
type Dialect = dialect

// DialectOf returns the dialect of a language, or of all languages if any is set.
func DialectOf(language string, any bool) Dialect { return dialectOf(language, any) }

// Statements returns the statements of a hunk.
func Statements(language string, d Dialect, h *pipeline.Hunk) (out []Statement) {
	if prose[language] {
		return nil
	}
	var shapes scratch
	shapes.setShapes(h)
	for _, s := range statements(language, h, shapes.shapes) {
		var before [][]string
		for _, text := range s.before(language, h) {
			before = append(before, readingsIn(text, d))
		}
		out = append(out, Statement{readingsIn(s.text, d), before, s.start, s.first, s.last, s.maybeComment})
	}
	return out
}

// Stood returns a function that reports whether what the rule matches in an added line stood in the
// change's base.
func Stood(t interface{ Fatal(args ...any) }, c config.Rule, facts *pipeline.PRFacts) func(file, hunk, line int) bool {
	e, err := Compile([]config.Rule{c})
	if err != nil {
		t.Fatal(err)
	}
	p := &pass{ctx: context.Background(), engine: e, scratch: e.scratch(), past: past{files: facts.Files}}
	return func(file, hunk, line int) bool {
		_, ok := p.stood(e.rules[0], spot{file, hunk, line})
		return ok
	}
}

// StoodWithin returns a function that reports whether an added line stood before in the lines of its
// hunk with the indices from and, exclusive, to.
func StoodWithin(facts *pipeline.PRFacts) func(file, hunk, line, from, to int) bool {
	p := &pass{past: past{files: facts.Files}}
	return func(file, hunk, line, from, to int) bool {
		p.at = spot{file: file, hunk: hunk}
		return p.stoodWithin(line, from, to)
	}
}

// Safe returns a function that reports whether the rule's safe calls excuse a statement.
func Safe(t interface{ Fatal(args ...any) }, c config.Rule) func(statement, language string) bool {
	r, err := compileRule(&c)
	if err != nil {
		t.Fatal(err)
	}
	return r.safe
}

// PlaceOf returns where a rule reports what its expression found.
func PlaceOf(at expression.Place) (path string, line int) {
	m := (&pass{}).placed(nil, at)
	return m.path, m.line
}
