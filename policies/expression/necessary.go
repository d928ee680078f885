package expression

import (
	"cmp"
	"reflect"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"github.com/reviewgate/reviewgate/pipeline"
)

// condition is a part of an expression that compares a field with a constant
// and without which the expression does not hold. Asking it takes a hundredth
// of an evaluation, and most expressions of a large config fail by one.
type condition struct {
	facts bool  // else classification
	path  []int // of fields
	holds func(reflect.Value) bool
}

func (c *condition) asks(in Input) bool {
	v := reflect.ValueOf(in.Classification)
	if c.facts {
		v = reflect.ValueOf(in.Facts)
	}
	v = v.Elem()
	for _, i := range c.path {
		v = v.Field(i)
	}
	return c.holds(v)
}

// necessary lists the conditions that are joined by && with all the rest. An
// expression of which one fails is false, whatever the others are: also where
// they can't be evaluated.
func (s *structTypes) necessary(e ast.Expr) []condition {
	if e.Kind() != ast.CallKind {
		return nil
	}
	call := e.AsCall()
	args := call.Args()
	if call.FunctionName() == operators.LogicalAnd {
		var out []condition
		for _, a := range args {
			out = append(out, s.necessary(a)...)
		}
		return out
	}
	if len(args) != 2 || args[1].Kind() != ast.LiteralKind {
		return nil
	}
	c, t := s.fieldOf(args[0])
	if t == nil {
		return nil
	}
	test := order(call.FunctionName())
	if test == nil {
		return nil
	}
	switch constant := args[1].AsLiteral().(type) {
	case types.Int:
		if t.Kind() == reflect.Int {
			c.holds = func(v reflect.Value) bool { return test(cmp.Compare(v.Int(), int64(constant))) }
			return []condition{c}
		}
	case types.String:
		if t.Kind() == reflect.String {
			c.holds = func(v reflect.Value) bool { return test(cmp.Compare(v.String(), string(constant))) }
			return []condition{c}
		}
	}
	return nil
}

// order says what an operator makes of how two values compare.
func order(operator string) func(int) bool {
	switch operator {
	case operators.Equals:
		return func(n int) bool { return n == 0 }
	case operators.NotEquals:
		return func(n int) bool { return n != 0 }
	case operators.Greater:
		return func(n int) bool { return n > 0 }
	case operators.GreaterEquals:
		return func(n int) bool { return n >= 0 }
	case operators.Less:
		return func(n int) bool { return n < 0 }
	case operators.LessEquals:
		return func(n int) bool { return n <= 0 }
	}
	return nil
}

// fieldOf finds the field that an expression reads, such as
// facts.totals.additions, and its type: nil where it reads none.
func (s *structTypes) fieldOf(e ast.Expr) (condition, reflect.Type) {
	switch e.Kind() {
	case ast.IdentKind:
		switch e.AsIdent() {
		case "facts":
			return condition{facts: true}, reflect.TypeFor[pipeline.PRFacts]()
		case "classification":
			return condition{}, reflect.TypeFor[pipeline.Classification]()
		}
	case ast.SelectKind:
		read := e.AsSelect()
		c, t := s.fieldOf(read.Operand())
		if t == nil || read.IsTestOnly() || s.byGo[t] == nil {
			return condition{}, nil
		}
		f := s.byGo[t].byName[read.FieldName()]
		if f == nil {
			return condition{}, nil
		}
		c.path = append(c.path, f.index)
		return c, t.Field(f.index).Type
	}
	return condition{}, nil
}
