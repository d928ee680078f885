package expression

import (
	"reflect"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"

	"github.com/reviewgate/reviewgate/pipeline"
)

// Place is a part of a change. Hunk and Line may be nil.
type Place struct {
	File *pipeline.File
	Hunk *pipeline.Hunk
	Line *pipeline.Line
}

// Place returns the part of the change that makes an expression hold: the first line, or else hunk or
// file, that satisfies a loop by exists on which the result depends. Its File is nil if the expression
// is about the change as a whole, does not hold, or can't be evaluated. The evaluation counts towards
// the budget.
func (e *Expression) Place(in Input) Place {
	if len(e.witnesses) == 0 {
		return Place{}
	}
	if in.Budget == nil {
		in.Budget = NewBudget()
	}
	may := min(maxCost, in.Budget.left)
	a := &activation{left: may, seeks: true}
	if held, err := e.evaluate(in, may, a); err != nil || !held || a.found == nil {
		return Place{}
	}
	for i := range in.Facts.Files {
		f := &in.Facts.Files[i]
		if a.found == any(f) {
			return Place{File: f}
		}
		for j := range f.Hunks {
			h := &f.Hunks[j]
			if a.found == any(h) {
				return Place{File: f, Hunk: h}
			}
			for k := range h.Lines {
				if a.found == any(&h.Lines[k]) {
					return Place{File: f, Hunk: h, Line: &h.Lines[k]}
				}
			}
		}
	}
	return Place{}
}

// witnesses names, by the id of an expression's part, the variable of the loop whose condition the
// part is. The name is empty for a side of ||. It lists only parts that can make the whole expression
// true.
type witnesses map[int64]string

func (w witnesses) visit(e ast.Expr) {
	switch e.Kind() {
	case ast.CallKind:
		switch call := e.AsCall(); call.FunctionName() {
		case operators.LogicalAnd:
			for _, a := range call.Args() {
				w.visit(a)
			}
		case operators.LogicalOr:
			for _, a := range call.Args() {
				w[a.ID()] = ""
				w.visit(a)
			}
		}
	case ast.ComprehensionKind:
		c := e.AsComprehension()
		if condition, decisive := quantified(c); decisive == yes {
			w[condition.ID()] = c.IterVar()
			w.visit(condition)
		}
	}
}

// plan makes programs note which elements satisfy the loops.
func (w witnesses) plan() cel.ProgramOption {
	return cel.CustomDecorator(func(i interpreter.Interpretable) (interpreter.Interpretable, error) {
		if variable, ok := w[i.ID()]; ok {
			return &witness{i, variable}, nil
		}
		return i, nil
	})
}

// witness is a part of an expression that may be what makes it hold.
type witness struct {
	interpreter.Interpretable
	variable string
}

// Eval evaluates the part, and notes the element if the part is true. A line says more than a hunk, and
// a hunk more than a file. Of two that say as much, that of the outer loop counts, or else the first.
func (w *witness) Eval(vars interpreter.Activation) ref.Val {
	named, _ := vars.ResolveName(nameActivation)
	a, ok := named.(*activation)
	if !ok || !a.seeks {
		return w.Interpretable.Eval(vars)
	}
	before := a.found
	a.found = nil
	v := w.Interpretable.Eval(vars)
	if v == types.True && w.variable != "" {
		element, _ := vars.ResolveName(w.variable)
		if o, is := element.(*object); is && precision(a.found) <= precision(o.pointer()) {
			a.found = o.pointer()
		}
	}
	if v != types.True || precision(before) >= precision(a.found) {
		a.found = before
	}
	return v
}

func (o *object) pointer() any { return o.value.Addr().Interface() }

// precision orders the parts of a change by how much they say about a place.
func precision(found any) int {
	switch reflect.TypeOf(found) {
	case reflect.TypeFor[*pipeline.Line]():
		return 3
	case reflect.TypeFor[*pipeline.Hunk]():
		return 2
	case reflect.TypeFor[*pipeline.File]():
		return 1
	}
	return 0
}
