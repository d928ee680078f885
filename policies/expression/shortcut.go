package expression

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
)

// answer is the answer of a shortcut for a part of an expression.
type answer int8

const (
	unknown answer = iota // CEL must evaluate the part
	no
	yes
)

func answerOf(holds bool) answer {
	if holds {
		return yes
	}
	return no
}

func (a answer) not() answer {
	switch a {
	case no:
		return yes
	case yes:
		return no
	}
	return unknown
}

// shortcut evaluates a part of an expression without CEL, in a hundredth of the time. There are
// shortcuts for comparisons of fields with constants, and for loops that only do such comparisons.
// On most changes, they decide most expressions of a config. A shortcut gives the same answer as
// CEL: if one condition of an expression with && fails, the expression is false, even if the others
// can't be evaluated.
type shortcut struct {
	ask   func(*look) answer
	loops bool
}

// look is one evaluation: the values that fields are read from, and the cost that may still be
// spent.
type look struct {
	of   [int(fromElement) + maxLoops]reflect.Value // by origin
	left int
}

// origin is the start of the path to a field.
type origin int

const (
	fromFacts origin = iota
	fromClassification
	fromElement // of the outermost loop; those of nested loops follow
)

// spend spends a cost, and reports whether enough was left.
func (l *look) spend(cost int) bool {
	l.left -= cost
	return l.left >= 0
}

// shortcuts makes the shortcuts of one expression.
type shortcuts struct {
	types    *structTypes
	patterns patterns
	loops    []variable // the variables of the loops around, the outermost first
	parts    int        // of the body of the innermost loop
}

// variable stands for the elements of a loop's list.
type variable struct {
	name string
	typ  reflect.Type
}

// of returns the shortcut for an expression, or nil if there is none.
func (s *shortcuts) of(e ast.Expr) *shortcut {
	s.parts++
	switch e.Kind() {
	case ast.CallKind:
		return s.call(e.AsCall())
	case ast.ComprehensionKind:
		return s.quantifier(e.AsComprehension())
	case ast.SelectKind:
		if f := s.field(e, reflect.Bool); f != nil {
			return &shortcut{ask: func(l *look) answer { return answerOf(f.read(l).Bool()) }}
		}
	}
	return nil
}

func (s *shortcuts) call(call ast.CallExpr) *shortcut {
	args := call.Args()
	if call.IsMemberFunction() {
		args = append([]ast.Expr{call.Target()}, args...)
	}
	name := call.FunctionName()
	switch name {
	case operators.LogicalAnd:
		return s.joined(args, no)
	case operators.LogicalOr:
		return s.joined(args, yes)
	case operators.LogicalNot:
		if of := s.of(args[0]); of != nil {
			return &shortcut{loops: of.loops, ask: func(l *look) answer { return of.ask(l).not() }}
		}
		return nil
	case operators.In:
		return s.member(args[0], args[1])
	}
	if len(args) != 2 || args[1].Kind() != ast.LiteralKind {
		return nil
	}
	switch constant := args[1].AsLiteral().(type) {
	case types.Int:
		return s.comparedNumber(name, args[0], int64(constant))
	case types.String:
		if test := order(name); test != nil {
			return s.comparedText(args[0], string(constant), test)
		}
		return s.searched(name, args[0], string(constant))
	}
	return nil
}

// joined combines conditions, one of which decides alone if it has the decisive answer. Conditions
// without loops are asked first.
func (s *shortcuts) joined(args []ast.Expr, decisive answer) *shortcut {
	var parts []*shortcut
	for _, a := range args {
		if p := s.of(a); p != nil {
			parts = append(parts, p)
		}
	}
	if len(parts) == 0 {
		return nil
	}
	slices.SortStableFunc(parts, func(a, b *shortcut) int {
		switch {
		case a.loops == b.loops:
			return 0
		case b.loops:
			return -1
		}
		return 1
	})
	last := decisive.not()
	if len(parts) < len(args) {
		last = unknown
	}
	return &shortcut{loops: parts[len(parts)-1].loops, ask: func(l *look) answer {
		all := last
		for _, p := range parts {
			switch p.ask(l) {
			case decisive:
				return decisive
			case unknown:
				all = unknown
			}
		}
		return all
	}}
}

// member looks for a text in a list of constants.
func (s *shortcuts) member(e, list ast.Expr) *shortcut {
	f := s.field(e, reflect.String)
	if f == nil || list.Kind() != ast.ListKind {
		return nil
	}
	var texts []string
	for _, x := range list.AsList().Elements() {
		if x.Kind() != ast.LiteralKind {
			return nil
		}
		text, ok := x.AsLiteral().(types.String)
		if !ok {
			return nil
		}
		texts = append(texts, string(text))
	}
	s.parts += len(texts)
	return &shortcut{ask: func(l *look) answer { return answerOf(slices.Contains(texts, f.read(l).String())) }}
}

func (s *shortcuts) comparedText(e ast.Expr, constant string, test func(int) bool) *shortcut {
	f := s.field(e, reflect.String)
	if f == nil {
		return nil
	}
	return &shortcut{ask: func(l *look) answer { return answerOf(test(cmp.Compare(f.read(l).String(), constant))) }}
}

// searched looks for something in a text.
func (s *shortcuts) searched(function string, e ast.Expr, constant string) *shortcut {
	f := s.field(e, reflect.String)
	if f == nil {
		return nil
	}
	cost := func(text string) int { return 1 + (len(text)+len(constant))/32 }
	var holds func(text string) bool
	switch function {
	case overloads.Contains:
		holds = func(text string) bool { return strings.Contains(text, constant) }
	case overloads.StartsWith:
		holds = func(text string) bool { return strings.HasPrefix(text, constant) }
	case overloads.EndsWith:
		holds = func(text string) bool { return strings.HasSuffix(text, constant) }
	case funcMatches, funcGlob:
		p := s.patterns[patternKey{function, constant}]
		if p == nil {
			return nil
		}
		cost, holds = p.cost, p.matches
	default:
		return nil
	}
	return &shortcut{ask: func(l *look) answer {
		text := f.read(l).String()
		if !l.spend(cost(text)) {
			return unknown
		}
		return answerOf(holds(text))
	}}
}

// order translates the result of comparing two values into an operator's answer.
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
