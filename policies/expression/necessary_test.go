package expression

import "testing"

// What is asked before the evaluation is part of the expression: it is false
// exactly where that is.
func TestNecessary(t *testing.T) {
	parts := map[string]bool{ // whether it can be asked for by itself
		`facts.number > 6`:                          true,
		`facts.number > 7`:                          true,
		`facts.number >= 7`:                         true,
		`facts.number < 7`:                          true,
		`facts.number <= 6`:                         true,
		`facts.number <= 7`:                         true,
		`facts.totals.additions != 0`:               true,
		`facts.totals.additions == 0`:               true,
		`facts.author.type == "User"`:               true,
		`facts.author.type != "User"`:               true,
		`classification.risk.level == "medium"`:     true,
		`classification.scope.changed_lines > 4000`: true,
		`facts.files[0].path == "x"`:                false,
		`facts.files.size() > 1`:                    false,
		`facts.number + 1 > 7`:                      false,
		`7 > facts.number`:                          false,
		`(facts.number > 9 || facts.number < 8)`:    false,
		`facts.head.fork`:                           false,
		`has(facts.title)`:                          false,
		`!(facts.number > 9)`:                       false,
		`facts.files.exists(f, f.additions > 2)`:    false,
	}
	in := small()
	for text, asked := range parts {
		e, err := Compile(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(e.necessary) == 1; got != asked {
			t.Errorf("%s is asked by itself: %v, want %v", text, got, asked)
		}
		want := *e
		want.necessary = nil
		whole, err := want.Holds(in)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := e.Holds(in); got != whole || err != nil {
			t.Errorf("%s: %v, %v, but %v when it is evaluated whole", text, got, err, whole)
		}
		joined, err := Compile(`facts.title != "" && (` + text + ` && facts.number == 7)`)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := joined.Holds(in); got != whole || err != nil {
			t.Errorf("%s among others: %v, %v, want %v", text, got, err, whole)
		}
	}
}

// False is false, whatever the rest would have come to.
func TestWhatFailsAtOnceCostsNothing(t *testing.T) {
	in := small()
	in.Budget = NewBudget()
	e, err := Compile(`facts.files.exists(f, f.hunks[9].lines.size() > 0) && facts.number == 8`)
	if err != nil {
		t.Fatal(err)
	}
	if held, err := e.Holds(in); held || err != nil {
		t.Errorf("%v, %v, want false", held, err)
	}
	if in.Budget.left != maxTotal {
		t.Errorf("it cost %d", maxTotal-in.Budget.left)
	}
}
