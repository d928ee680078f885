package expression

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
)

// maxCost is the limit of one evaluation, in units of at most about 50 ns. A unit is the time to
// evaluate one part of an expression. The slowest expressions take some 200 ms to reach the limit,
// and most take 50. Looking through 3,000 files costs 50,000, and through 100,000 lines 1,500,000.
//
// CEL's own cost tracking is not used. It counts a call only after it is done, however much the
// call made, and counts nothing for the size of a text. What it stores for each round of a loop
// makes long loops ten times slower.
const maxCost = 4_000_000

// maxTotal is the limit of all evaluations that share a budget: about 1 s, or a thousand
// expressions that each look at 1,000 files.
const maxTotal = 20_000_000

// Budget limits the cost of all expressions of one config on one change. Only one goroutine may use
// it.
type Budget struct {
	left int
	look look // used by one expression after the other, to save memory
}

// NewBudget returns an unused budget.
func NewBudget() *Budget { return &Budget{left: maxTotal} }

// Spent reports whether nothing is left.
func (b *Budget) Spent() bool { return b.left == 0 }

// ask asks a shortcut, which may spend up to the given cost. It returns the rest, which is negative
// if that was not enough.
func (b *Budget) ask(s *shortcut, in Input, may int) (answer, int) {
	b.look.left = may
	b.look.of[fromFacts] = reflect.ValueOf(in.Facts).Elem()
	b.look.of[fromClassification] = reflect.ValueOf(in.Classification).Elem()
	return s.ask(&b.look), b.look.left
}

// activation has the variables of one evaluation and the cost that it may still spend.
type activation struct {
	facts, classification ref.Val            // of an expression about a change
	numbers               map[string]float64 // of a condition

	perLoop int
	left    int

	seeks bool // notes what makes the expression hold
	found any  // a pointer to it, or nil
}

// The interpreter asks for these names. Expressions can't name them.
const (
	nameInterrupted = "#interrupted" // asked for after each round of a loop
	nameActivation  = "#activation"
)

// ResolveName returns a variable's value.
func (a *activation) ResolveName(name string) (any, bool) {
	switch name {
	case nameInterrupted:
		a.spend(a.perLoop)
		return nil, false
	case nameActivation:
		return a, true
	}
	if a.facts == nil {
		return types.Double(a.numbers[name]), true // 0 if it is missing
	}
	if name == "facts" {
		return a.facts, true
	}
	return a.classification, name == "classification"
}

// Parent returns nil, because an activation has no parent.
func (a *activation) Parent() interpreter.Activation { return nil }

// spend ends the evaluation when the cost is used up. The program recovers from this panic, as it
// does from the panic of CEL's own cost limit.
func (a *activation) spend(cost int) {
	if a.left -= cost; a.left < 0 {
		panic(interpreter.EvalCancelledError{Cause: interpreter.CostLimitExceeded, Message: "too much to look at"})
	}
}

// plan makes programs count their cost and use compiled patterns.
func plan(compiled patterns) []cel.ProgramOption {
	decorate := func(i interpreter.Interpretable) (interpreter.Interpretable, error) {
		call, ok := i.(interpreter.InterpretableCall)
		if !ok {
			return i, nil
		}
		switch call.OverloadID() {
		case overloadMatches, overloadGlob:
			return planMatch(call, compiled)
		}
		if m, ok := measures[call.OverloadID()]; ok {
			return &metered{InterpretableCall: call, args: call.Args(), measure: m}, nil
		}
		return i, nil
	}
	// CEL's check frequency only makes loops ask. Every round is counted.
	return []cel.ProgramOption{cel.CustomDecorator(decorate), cel.InterruptCheckFrequency(1)}
}

func planMatch(call interpreter.InterpretableCall, compiled patterns) (interpreter.Interpretable, error) {
	args := call.Args()
	constant, ok := args[1].(interpreter.InterpretableConst)
	if !ok {
		return nil, fmt.Errorf("plan %s: the pattern is not a constant", call.Function())
	}
	p := compiled[patternKey{call.Function(), textOf(constant.Value())}]
	if p == nil {
		return nil, fmt.Errorf("plan %s: the pattern %q was not compiled", call.Function(), constant.Value())
	}
	return &metered{InterpretableCall: call, args: args[:1], measure: measure{
		cost: func(v []ref.Val) int { return p.cost(textOf(v[0])) },
		run:  func(v []ref.Val) ref.Val { return types.Bool(p.matches(textOf(v[0]))) },
	}}, nil
}

// metered is a call whose cost depends on its arguments. The cost is spent before the call.
type metered struct {
	interpreter.InterpretableCall
	args []interpreter.Interpretable
	measure
}

type measure struct {
	cost func([]ref.Val) int
	run  func([]ref.Val) ref.Val
}

// Eval evaluates the arguments, spends the cost and makes the call.
func (m *metered) Eval(vars interpreter.Activation) ref.Val {
	var few [2]ref.Val
	values := few[:0]
	for _, a := range m.args {
		v := a.Eval(vars)
		if types.IsUnknownOrError(v) {
			return v
		}
		values = append(values, v)
	}
	if found, ok := vars.ResolveName(nameActivation); ok {
		if a, ok := found.(*activation); ok {
			a.spend(m.cost(values))
		}
	}
	return m.run(values)
}

// measures lists the calls that read a whole text or list.
var measures = map[string]measure{
	overloads.SizeString:       {readsFirst, textSize},
	overloads.SizeStringInst:   {readsFirst, textSize},
	overloads.ContainsString:   {reads, texts(strings.Contains)},
	overloads.StartsWithString: {reads, texts(strings.HasPrefix)},
	overloads.EndsWithString:   {reads, texts(strings.HasSuffix)},
	overloads.Equals:           {compares, func(v []ref.Val) ref.Val { return types.Equal(v[0], v[1]) }},
	overloads.NotEquals:        {compares, func(v []ref.Val) ref.Val { return types.Bool(types.Equal(v[0], v[1]) != types.True) }},
	overloads.InList:           {compares, contains},
	overloads.AddString:        {writes, func(v []ref.Val) ref.Val { return types.String(textOf(v[0]) + textOf(v[1])) }},
	overloadLowerASCII:         {writes, changed(lowerASCII)},
	overloadUpperASCII:         {writes, changed(upperASCII)},
	overloadTrim:               {writes, changed(strings.TrimSpace)},
	overloadSplit:              {splits, split},
}

func readsFirst(v []ref.Val) int { return 1 + len(textOf(v[0]))/64 }

func reads(v []ref.Val) int { return 1 + (len(textOf(v[0]))+len(textOf(v[1])))/32 }

func compares(v []ref.Val) int { return compareCost(v[0]) + compareCost(v[1]) }

func writes(v []ref.Val) int {
	n := 0
	for _, x := range v {
		n += len(textOf(x))
	}
	return 1 + n/8
}

// splits counts one part for each separator.
func splits(v []ref.Val) int {
	text, separator := textOf(v[0]), textOf(v[1])
	return writes(v) + strings.Count(text, separator)
}

// compareCost is the cost of reading a whole value. The elements of a list may each be long.
func compareCost(v ref.Val) int {
	switch v := v.(type) {
	case types.String:
		return 1 + len(v)/64
	case traits.Lister:
		sum := 1
		for it := v.Iterator(); it.HasNext() == types.True; {
			sum += compareCost(it.Next())
		}
		return sum
	}
	return 1
}

func textSize(v []ref.Val) ref.Val {
	s, ok := v[0].(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(v[0])
	}
	return s.Size()
}

func contains(v []ref.Val) ref.Val {
	list, ok := v[1].(traits.Container)
	if !ok {
		return types.MaybeNoSuchOverloadErr(v[1])
	}
	return list.Contains(v[0])
}

func texts(f func(string, string) bool) func([]ref.Val) ref.Val {
	return func(v []ref.Val) ref.Val { return types.Bool(f(textOf(v[0]), textOf(v[1]))) }
}

func changed(f func(string) string) func([]ref.Val) ref.Val {
	return func(v []ref.Val) ref.Val { return types.String(f(textOf(v[0]))) }
}

func split(v []ref.Val) ref.Val {
	return types.NewStringList(types.DefaultTypeAdapter, strings.Split(textOf(v[0]), textOf(v[1])))
}
