package expression

import (
	"cmp"
	"reflect"
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"

	"github.com/reviewgate/reviewgate/pipeline"
)

// loop is a condition on each element of a list.
type loop struct {
	list *field
	body *shortcut
	cost int // the cost of a round
	as   origin
}

// loop returns nil if there is no shortcut. Within a loop, there are shortcuts only for lists of
// its element, so the work of shortcuts grows only with the size of the change.
func (s *shortcuts) loop(c ast.ComprehensionExpr, condition ast.Expr) *loop {
	list := s.field(c.IterRange(), reflect.Slice)
	depth := len(s.loops)
	if list == nil || depth == maxLoops || depth > 0 && list.from != fromElement+origin(depth-1) {
		return nil
	}
	within := &shortcuts{types: s.types, patterns: s.patterns, loops: append(slices.Clip(s.loops), variable{c.IterVar(), list.typ.Elem()})}
	body := within.of(condition)
	if body == nil {
		return nil
	}
	// Four parts take less time here than one part does in CEL.
	return &loop{list: list, body: body, cost: 1 + within.parts/4, as: fromElement + origin(depth)}
}

// each asks about one element after the other until more returns false. It reports whether the cost
// was within the limit.
func (p *loop) each(l *look, more func(answer) bool) bool {
	list := p.list.read(l)
	for i := range list.Len() {
		if !l.spend(p.cost) {
			return false
		}
		l.of[p.as] = list.Index(i)
		if !more(p.body.ask(l)) {
			return true
		}
	}
	return true
}

// quantifier is a loop by exists or all.
func (s *shortcuts) quantifier(c ast.ComprehensionExpr) *shortcut {
	condition, decisive := quantified(c)
	if decisive == unknown {
		return nil
	}
	p := s.loop(c, condition)
	if p == nil {
		return nil
	}
	return &shortcut{loops: true, ask: func(l *look) answer {
		all := decisive.not()
		within := p.each(l, func(one answer) bool {
			if one != decisive.not() {
				all = one
			}
			return one != decisive
		})
		if !within {
			return unknown
		}
		return all
	}}
}

// quantified returns the condition of a loop by exists or all, and the answer for one element that
// decides the loop. For other loops, that is unknown.
func quantified(c ast.ComprehensionExpr) (condition ast.Expr, decisive answer) {
	if c.Result().Kind() != ast.IdentKind || c.AccuInit().Kind() != ast.LiteralKind || c.LoopStep().Kind() != ast.CallKind {
		return nil, unknown
	}
	step := c.LoopStep().AsCall()
	switch {
	case c.AccuInit().AsLiteral() == types.False && step.FunctionName() == operators.LogicalOr:
		return step.Args()[1], yes
	case c.AccuInit().AsLiteral() == types.True && step.FunctionName() == operators.LogicalAnd:
		return step.Args()[1], no
	}
	return nil, unknown
}

// number is a part of an expression that is a whole number.
type number struct {
	read  func(*look) (n int64, known bool)
	loops bool
}

// number returns the shortcut for a field, for the size of a list, or for the number of elements
// that a filter keeps. It returns nil if there is none.
func (s *shortcuts) number(e ast.Expr) *number {
	if f := s.field(e, reflect.Int); f != nil {
		return &number{read: func(l *look) (int64, bool) { return f.read(l).Int(), true }}
	}
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != overloads.Size {
		return nil
	}
	of := e.AsCall().Target()
	if !e.AsCall().IsMemberFunction() {
		of = e.AsCall().Args()[0]
	}
	if of.Kind() == ast.ComprehensionKind {
		return s.filtered(of.AsComprehension())
	}
	if f := s.field(of, reflect.Slice); f != nil {
		return &number{read: func(l *look) (int64, bool) { return int64(f.read(l).Len()), true }}
	}
	return nil
}

// filtered counts the elements of a list that a filter keeps.
func (s *shortcuts) filtered(c ast.ComprehensionExpr) *number {
	step := c.LoopStep()
	if c.AccuInit().Kind() != ast.ListKind || step.Kind() != ast.CallKind || step.AsCall().FunctionName() != operators.Conditional {
		return nil
	}
	// Evaluating the body of map may fail. A filter adds the elements unchanged.
	added := step.AsCall().Args()[1]
	if added.Kind() != ast.CallKind || added.AsCall().FunctionName() != operators.Add {
		return nil
	}
	appended := added.AsCall().Args()[1]
	if appended.Kind() != ast.ListKind || appended.AsList().Size() != 1 ||
		appended.AsList().Elements()[0].Kind() != ast.IdentKind || appended.AsList().Elements()[0].AsIdent() != c.IterVar() {
		return nil
	}
	p := s.loop(c, step.AsCall().Args()[0])
	if p == nil {
		return nil
	}
	return &number{loops: true, read: func(l *look) (int64, bool) {
		var n int64
		known := true
		within := p.each(l, func(one answer) bool {
			if one == yes {
				n++
			}
			known = one != unknown
			return known
		})
		return n, within && known
	}}
}

func (s *shortcuts) comparedNumber(operator string, e ast.Expr, constant int64) *shortcut {
	n, test := s.number(e), order(operator)
	if n == nil || test == nil {
		return nil
	}
	return &shortcut{loops: n.loops, ask: func(l *look) answer {
		value, known := n.read(l)
		if !known {
			return unknown
		}
		return answerOf(test(cmp.Compare(value, constant)))
	}}
}

// field is the path to a field, such as facts.totals.additions, or to an element.
type field struct {
	from origin
	path []int
	typ  reflect.Type
}

func (f *field) read(l *look) reflect.Value {
	v := l.of[f.from]
	for _, i := range f.path {
		v = v.Field(i)
	}
	return v
}

// field returns the field that an expression reads, or nil if it does not read one.
func (s *shortcuts) field(e ast.Expr, kind reflect.Kind) *field {
	f := s.fieldOf(e)
	if f == nil || f.typ.Kind() != kind {
		return nil
	}
	return f
}

func (s *shortcuts) fieldOf(e ast.Expr) *field {
	switch e.Kind() {
	case ast.IdentKind:
		for i, v := range slices.Backward(s.loops) {
			if v.name == e.AsIdent() {
				return &field{from: fromElement + origin(i), typ: v.typ}
			}
		}
		switch e.AsIdent() {
		case "facts":
			return &field{from: fromFacts, typ: reflect.TypeFor[pipeline.PRFacts]()}
		case "classification":
			return &field{from: fromClassification, typ: reflect.TypeFor[pipeline.Classification]()}
		}
	case ast.SelectKind:
		read := e.AsSelect()
		f := s.fieldOf(read.Operand())
		if f == nil || read.IsTestOnly() || s.types.byGo[f.typ] == nil {
			return nil
		}
		known := s.types.byGo[f.typ].byName[read.FieldName()]
		if known == nil {
			return nil
		}
		return &field{f.from, append(f.path, known.index), f.typ.Field(known.index).Type}
	}
	return nil
}
