package expression_test

import (
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/expression"
)

func TestPlaceIsWhatMakesTheExpressionHold(t *testing.T) {
	facts := &pipeline.PRFacts{Title: "Move", RootFiles: pipeline.List[string]{"go.mod"}, Files: pipeline.List[pipeline.File]{
		{Path: "a.go", Hunks: pipeline.List[pipeline.Hunk]{{Lines: pipeline.List[pipeline.Line]{
			{Op: pipeline.LineContext, Text: "one"}, {Op: pipeline.LineAdded, Text: "two"},
		}}}},
		{Path: "b.go", Test: true, Hunks: pipeline.List[pipeline.Hunk]{
			{NewStart: 1, Lines: pipeline.List[pipeline.Line]{{Op: pipeline.LineRemoved, Text: "three"}}},
			{NewStart: 9, Lines: pipeline.List[pipeline.Line]{{Op: pipeline.LineAdded, Text: "two"}, {Op: pipeline.LineAdded, Text: "four"}}},
		}},
	}}
	for text, want := range map[string][]string{
		`facts.title == "Move"`:                                                                  {"", ""},
		`facts.files.all(f, f.path != "")`:                                                       {"", ""},
		`!facts.files.exists(f, f.path == "c")`:                                                  {"", ""},
		`facts.root_files.exists(r, r != "")`:                                                    {"", ""},
		`facts.files.filter(f, f.test).size()>0`:                                                 {"", ""},
		`facts.files.exists(f, f.path == "c")`:                                                   {"", ""}, // does not hold
		`facts.files.exists(f, f.test)`:                                                          {"b.go", ""},
		`facts.files.exists(f, f.hunks.exists(h, h.new_start == 9))`:                             {"b.go", "two"}, // the first line of the hunk
		`facts.files.exists(f, f.test && f.hunks.exists(h, h.lines.exists(l, l.text == "two")))`: {"b.go", "two"},
		`facts.files.exists(f, f.hunks.exists(h, h.lines.exists(l, l.op == "-")))`:               {"b.go", "three"},
		`facts.files.exists(f, f.test) && facts.files.exists(f, f.hunks.exists(h, h.lines.exists(l, l.text == "one")))`:                      {"a.go", "one"},
		`facts.files.filter(f, f.test)[0].hunks.exists(h, h.lines.exists(l, l.text == "four" && h.lines.exists(m, m.text == "two")))`:        {"b.go", "four"},
		`facts.files.exists(f, f.path == "a.go") && facts.title == "Other" || facts.files.exists(f, f.test)`:                                 {"b.go", ""},
		`facts.files.exists(f, f.hunks.exists(h, h.lines.exists(l, l.op == "+")) && f.hunks.exists(h, h.lines.exists(l, l.text == "four")))`: {"b.go", "two"},
	} {
		e, err := expression.Compile(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		at := e.Place(expression.Input{Facts: facts, Classification: &pipeline.Classification{}})
		path, line := "", ""
		if at.File != nil {
			path = at.File.Path
		}
		switch {
		case at.Line != nil:
			line = at.Line.Text
		case at.Hunk != nil:
			line = at.Hunk.Lines[0].Text
		}
		if path != want[0] || line != want[1] {
			t.Errorf("%s: the place is %q, line %q; want %q, %q", text, path, line, want[0], want[1])
		}
	}
}
