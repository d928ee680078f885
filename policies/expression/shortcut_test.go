package expression

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// byCEL returns the expression without its shortcut.
func byCEL(e *Expression) *Expression {
	whole := *e
	whole.shortcut = nil
	return &whole
}

// answered returns the answer of the shortcut alone.
func answered(e *Expression, in Input) answer {
	if e.shortcut == nil {
		return unknown
	}
	held, _ := NewBudget().ask(e.shortcut, in, maxCost)
	return held
}

func TestShortcuts(t *testing.T) {
	parts := map[string]bool{ // whether the shortcut answers without CEL
		`facts.number > 6`:                                              true,
		`facts.number >= 7`:                                             true,
		`facts.number < 7`:                                              true,
		`facts.number <= 6`:                                             true,
		`facts.totals.additions != 0`:                                   true,
		`facts.totals.additions == 0`:                                   true,
		`facts.author.type == "User"`:                                   true,
		`facts.author.type != "User"`:                                   true,
		`classification.risk.level == "medium"`:                         true,
		`classification.scope.changed_lines > 4000`:                     true,
		`classification.type in ["fix", "docs"]`:                        true,
		`facts.files.size() > 1`:                                        true,
		`size(facts.files) > 1`:                                         true,
		`(facts.number > 9 || facts.number < 8)`:                        true,
		`facts.head.fork`:                                               true,
		`!(facts.number > 9)`:                                           true,
		`facts.title.startsWith("a")`:                                   true,
		`facts.title.matches("^a")`:                                     true,
		`facts.files.exists(f, f.additions > 2)`:                        true,
		`facts.files.all(f, f.test || f.binary)`:                        true,
		`facts.files.exists(facts, facts.test)`:                         true,
		`facts.root_files.exists(r, r == "go.sum")`:                     true,
		`facts.files.exists(f, glob(f.path, "a/**") && !f.test)`:        true,
		`facts.files.filter(f, f.path.endsWith(".go")).size() == 2`:     true,
		`facts.files[0].path == "x"`:                                    false,
		`facts.files.map(f, f.path).size() == 2`:                        false,
		`facts.files.exists_one(f, f.test)`:                             false,
		`facts.files.exists(f, facts.title.contains(f.path))`:           false,
		`facts.files.exists(f, f.hunks.exists(h, h.new_start > 3))`:     true,
		`facts.number + 1 > 7`:                                          false,
		`7 > facts.number`:                                              false,
		`has(facts.title)`:                                              false,
		`facts.files.filter(f, f.hunks[5].lines.size() > 1).size() > 3`: false,
	}
	in := small()
	for text, is := range parts {
		e, err := Compile(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := answered(e, in) != unknown; got != is {
			t.Errorf("%s is answered without CEL: %v, want %v", text, got, is)
		}
	}
}

// leaves are conditions on the change and on a file f. Some can't be evaluated, and some have no
// shortcut.
var (
	leaves = []string{
		`facts.number == 7`, `facts.number != 7`, `facts.title.contains("a")`, `facts.draft`, `facts.body == ""`,
		`facts.labels[9] == "x"`, `facts.files[1].test`, `facts.title.size() > 3`, `facts.files.size() > 1`,
		`facts.labels.exists(l, l.startsWith("b") || l == "")`, `facts.labels.all(l, l in ["big", "a"])`,
		`classification.type in ["feature", "fix"]`, `classification.scope.changed_lines >= 10`,
	}
	leavesOfFile = []string{
		`f.test`, `f.additions > 2`, `f.additions <= 0`, `f.path.endsWith(".go")`, `f.path.matches("^src/|b")`, `glob(f.path, "**/b.*")`,
		`f.status == "removed"`, `f.status in ["added", "modified"]`, `f.hunks[0].new_start > 1`, `f.hunks.exists(h, h.new_lines > 1)`,
		`f.hunks.exists(h, h.lines.exists(l, l.text.startsWith("a") && !f.test && h.new_start == 1) || f.hunks[1].new_start == 0)`,
		`f.hunks.all(f, f.lines.filter(l, l.op == "+").size() > 0)`, `f.hunks.exists(h, facts.files.exists(g, g.test))`,
		`f.path.split(".")[1] == "go"`, `facts.title.contains(f.path)`, `facts.draft`, `facts.number > 3`,
	}
)

func genExpression(t *rapid.T, leaves []string, depth int) string {
	part := func(of []string) string { return genExpression(t, of, depth-1) }
	kinds := 4
	if leaves[0] != leavesOfFile[0] {
		kinds = 7
	}
	if depth == 0 {
		return rapid.SampledFrom(leaves).Draw(t, "leaf")
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return rapid.SampledFrom(leaves).Draw(t, "leaf")
	case 1:
		return fmt.Sprintf("(%s && %s && %s)", part(leaves), part(leaves), part(leaves))
	case 2:
		return fmt.Sprintf("(%s || %s)", part(leaves), part(leaves))
	case 3:
		return fmt.Sprintf("!(%s)", part(leaves))
	case 4:
		return fmt.Sprintf("facts.files.exists(f, %s)", part(leavesOfFile))
	case 5:
		return fmt.Sprintf("facts.files.all(f, %s)", part(leavesOfFile))
	default:
		return fmt.Sprintf("facts.files.filter(f, %s).size() > %d", part(leavesOfFile), rapid.IntRange(0, 2).Draw(t, "size"))
	}
}

func genInput(t *rapid.T) Input {
	text := func(of ...string) string { return rapid.SampledFrom(of).Draw(t, "text") }
	facts := &pipeline.PRFacts{
		Number: rapid.IntRange(2, 8).Draw(t, "number"), Title: text("", "a", "src/b.go"), Body: text("", "b"), Draft: rapid.Bool().Draw(t, "draft"),
		Labels: rapid.SliceOfN(rapid.SampledFrom([]string{"", "big", "a"}), 0, 2).Draw(t, "labels"),
	}
	lines := pipeline.List[pipeline.Line]{{Op: pipeline.LineAdded, Text: "ab"}, {Op: pipeline.LineRemoved, Text: "b"}}
	for range rapid.IntRange(0, 3).Draw(t, "files") {
		facts.Files = append(facts.Files, pipeline.File{
			Path: text("a", "src/b.go", "b.md"), Test: rapid.Bool().Draw(t, "test"), Additions: rapid.IntRange(0, 3).Draw(t, "additions"),
			Status: pipeline.FileStatus(text("added", "modified", "removed")),
			Hunks:  rapid.SampledFrom([]pipeline.List[pipeline.Hunk]{nil, {{NewStart: 1, NewLines: 2, Lines: lines}}, {{NewStart: 2}, {NewStart: 1, Lines: lines[1:]}}}).Draw(t, "hunks"),
		})
	}
	return Input{Facts: facts, Classification: &pipeline.Classification{
		Type: text("feature", "docs"), Scope: pipeline.Scope{ChangedLines: rapid.IntRange(9, 11).Draw(t, "lines")},
	}}
}

// An expression with shortcuts for all or some of its parts has the same answer as with CEL. If CEL
// can't evaluate it, that does not change.
func TestShortcutsAgreeWithCEL(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		text := genExpression(t, leaves, 3)
		e, err := Compile(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		for range 20 {
			in := genInput(t)
			want, wantErr := byCEL(e).Holds(in)
			got, gotErr := e.Holds(in)
			if got != want || (gotErr == nil) != (wantErr == nil) {
				t.Fatalf("%s: %v, %v, but %v, %v by CEL", text, got, gotErr, want, wantErr)
			}
		}
	})
}

// If a cheap condition is false, the expression is false without evaluating the rest. Conditions
// without loops are asked first.
func TestFalseConditionsAreCheap(t *testing.T) {
	in := small()
	for _, text := range []string{
		`facts.files.exists(f, f.hunks[9].lines.size() > 0) && facts.number == 8`,
		`facts.files.exists(f, f.path == "x") && facts.number == 8`,
	} {
		in.Budget = NewBudget()
		e, err := Compile(text)
		if err != nil {
			t.Fatal(err)
		}
		if held, err := e.Holds(in); held || err != nil {
			t.Errorf("%s: %v, %v, want false", text, held, err)
		}
		if in.Budget.left != maxTotal {
			t.Errorf("%s cost %d", text, maxTotal-in.Budget.left)
		}
	}
}

// Shortcuts spend their cost, and stop when nothing is left.
func TestShortcutsAreBounded(t *testing.T) {
	in := large()
	in.Budget = NewBudget()
	e, err := Compile(`facts.files.exists(f, f.path.matches("(a|b|c){20}$"))`)
	if err != nil {
		t.Fatal(err)
	}
	if held, err := e.Holds(in); held || err != nil {
		t.Fatalf("%v, %v, want false", held, err)
	}
	if spent := maxTotal - in.Budget.left; spent < 3000*20 {
		t.Errorf("3,000 patterns cost %d", spent)
	}
	in.Budget.left = 1000
	if _, err := e.Holds(in); err == nil {
		t.Error("it was not stopped by a budget of 1,000")
	}
	if in.Budget.left != 0 {
		t.Errorf("%d left of a budget that was not enough", in.Budget.left)
	}
}
