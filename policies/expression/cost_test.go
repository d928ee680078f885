package expression

import (
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
)

// spent returns the cost of evaluating an expression.
func spent(t *testing.T, text string, in Input) int {
	t.Helper()
	e, err := Compile(text)
	if err != nil {
		t.Fatalf("Compile(%s): %v", text, err)
	}
	in.Budget = NewBudget()
	if _, err := e.Holds(in); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return maxTotal - in.Budget.left
}

// A call that reads a whole text costs more if the text is longer, so a long text is not free.
func TestCostGrowsWithTheText(t *testing.T) {
	const length = 64 << 10
	texts := func(text string) Input {
		in := small()
		in.Facts.Body, in.Facts.Labels = text, pipeline.List[string]{text}
		return in
	}
	short, long := texts("a"), texts(strings.Repeat("a", length))
	for text, perUnit := range map[string]int{ // the number of bytes for one unit
		`facts.body.size() > 0`:               64,
		`size(facts.body) > 0`:                64,
		`facts.body.contains("b")`:            32,
		`facts.body.startsWith("b")`:          32,
		`facts.body.endsWith("b")`:            32,
		`"b".contains(facts.body)`:            32,
		`facts.body == facts.title`:           64,
		`"b" == facts.body`:                   64,
		`facts.body != facts.title`:           64,
		`facts.body in [facts.title]`:         64,
		`"b" in facts.labels`:                 64,
		`facts.labels == ["b"]`:               64,
		`(facts.body + "b").size() > 0`:       8,
		`("b" + facts.body).size() > 0`:       8,
		`facts.body.lowerAscii().size() > 0`:  8,
		`facts.body.upperAscii().size() > 0`:  8,
		`facts.body.trim().size() > 0`:        8,
		`facts.body.split("b").size() > 0`:    8,
		`facts.body.split("").size() > 0`:     1, // each part is made separately
		`facts.body.matches("[b-z]{10}")`:     1,
		`facts.body.matches("lacks [b-z]+")`:  64, // the search for the required text decides
		`glob(facts.body, "**/*.golang.txt")`: 1,
		`facts.body.matches("one [b]|two b")`: 32,
	} {
		more := spent(t, text, long) - spent(t, text, short)
		if least := (length - 64) / perUnit; more < least || more > 3*least+length/32 && perUnit > 1 {
			t.Errorf("%s costs %d more for %d more bytes, want about %d", text, more, length, least)
		}
	}
}

// A round of a loop costs what its body costs, whatever the result is.
func TestCostGrowsWithTheRounds(t *testing.T) {
	in := small()
	in.Facts.Files = make(pipeline.List[pipeline.File], 1000)
	rounds := len(in.Facts.Files)
	const large = `f.path.size() >= 0 && f.language.size() >= 0 && f.status.size() >= 0` // has no shortcut
	one := spent(t, `facts.files.all(f, true)`, in)
	several := spent(t, `facts.files.all(f, `+large+`)`, in)
	if one < rounds || several < one+8*rounds {
		t.Errorf("%d rounds cost %d, and with eight more parts %d", rounds, one, several)
	}
	for text, least := range map[string]int{
		`facts.files.all(f, ` + large + `) && facts.files.all(f, true)`: 2*several - 3*rounds, // every loop costs as much as the largest, except for its three sizes
		`facts.files.all(f, true) && facts.files.all(f, ` + large + `)`: 2*several - 3*rounds,
		`facts.files.all(f, [f.test].size() == 1)`:                      spent(t, `facts.files.all(f, f.path.size() == 0)`, in) + (listCost-1)*rounds,
		`facts.files.all(f, [1].all(x, true))`:                          one + rounds,
	} {
		if cost := spent(t, text, in); cost < least {
			t.Errorf("%s costs %d, want at least %d", text, cost, least)
		}
	}
}

// The last unit can be spent. An evaluation that is stopped spends no more than there was.
func TestBudgetIsSpentToTheLastUnit(t *testing.T) {
	const text = `facts.title.size() > 0`
	e, err := Compile(text)
	if err != nil {
		t.Fatal(err)
	}
	cost := spent(t, text, small())
	in := small()
	in.Budget = &Budget{left: cost}
	if held, err := e.Holds(in); err != nil || !held || in.Budget.left != 0 {
		t.Errorf("with exactly its cost: %v, %v, and %d left", held, err, in.Budget.left)
	}
	in.Budget = &Budget{left: cost - 1}
	if _, err := e.Holds(in); err == nil || in.Budget.left != 0 {
		t.Errorf("with one unit less: %v, and %d left", err, in.Budget.left)
	}
	in.Budget = &Budget{left: maxCost + cost}
	hostile, err := Compile(hostile["constant loop"])
	if err != nil {
		t.Fatal(err)
	}
	in.Facts = large().Facts
	if _, err := hostile.Holds(in); err == nil || in.Budget.left != cost {
		t.Errorf("one expression of several: %v, and %d left, want %d", err, in.Budget.left, cost)
	}
}

// A condition pays for each of its parts, also for those that look at no number.
func TestConditionPaysForItsParts(t *testing.T) {
	l, err := NewConditions([]string{"critical"})
	if err != nil {
		t.Fatal(err)
	}
	for text, parts := range map[string]int{"true": 1, "!true": 2, "true && true && true": 5, "critical > 0": 3, "critical > 0 || critical > 1": 7} {
		c, err := l.Compile(text)
		if err != nil {
			t.Fatal(err)
		}
		budget := NewBudget()
		if _, err := c.Holds(nil, budget); err != nil || maxTotal-budget.left != parts+evaluationCost {
			t.Errorf("%s costs %d with the error %v, want %d", text, maxTotal-budget.left, err, parts+evaluationCost)
		}
		budget.left = parts
		if held, err := c.Holds(nil, budget); held || err == nil || !budget.Spent() {
			t.Errorf("%s with a small budget: %v, %v", text, held, err)
		}
	}
}
