package expression

import (
	"fmt"
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
)

// These are the limits of an expression. Three nested loops reach the lines of the hunks of the
// files, and three more compare them with others. The cost limit bounds loops too.
const (
	maxLength = 2_000 // characters, as in the schemas
	maxDepth  = 60
	maxNodes  = 1_500
	maxLoops  = 6
)

// listCost is the cost of making a list besides its elements, in parts.
const listCost = 5

// check checks a type-checked expression for what types don't show: its size, its patterns, and
// comparisons of values that can't be compared.
type check struct {
	language *language
	ast      *ast.AST
	patterns patterns
	// labels says that the expression reads facts.labels, or passes on facts as a whole. kind says
	// the same about the change's type.
	labels, kind bool

	perLoop int // the number of parts of the largest loop body, without nested loops

	nodes   int
	problem *Error
}

func (c *check) run() *Error {
	root := c.ast.Expr()
	c.visit(root, place{})
	if t := c.ast.GetType(root.ID()); c.problem == nil && !t.IsExactType(types.BoolType) {
		c.refuse(root, fmt.Sprintf("the expression is %s, not true or false", c.language.typeName(t)), "compare it with something, such as "+comparison(t))
	}
	return c.problem
}

// place is the position of a node in the expression.
type place struct {
	depth int
	loops int
	accu  string // the variable of the loop whose step this is
	body  *int   // counts the parts of that step
	field bool   // only a field of the value is read
}

// refuse records a problem with its place, unless there is one already.
func (c *check) refuse(e ast.Expr, problem, remedy string) {
	if c.problem == nil {
		at := c.ast.SourceInfo().GetStartLocation(e.ID())
		c.problem = &Error{Line: at.Line(), Column: at.Column() + 1, Problem: problem, Remedy: remedy}
	}
}

func (c *check) visit(e ast.Expr, p place) {
	if c.problem != nil {
		return
	}
	p.depth++
	if c.nodes++; c.nodes > maxNodes || p.depth > maxDepth {
		c.refuse(e, fmt.Sprintf("the expression is nested more than %d deep or has more than %d parts", maxDepth, maxNodes), c.language.words.split)
		return
	}
	if p.body != nil {
		*p.body++
	}
	field := p.field
	p.field = false
	switch e.Kind() {
	case ast.IdentKind:
		if !field {
			c.labels = c.labels || e.AsIdent() == "facts"
			c.kind = c.kind || e.AsIdent() == "classification"
		}
	case ast.SelectKind:
		s := e.AsSelect()
		if o := s.Operand(); o.Kind() == ast.IdentKind {
			c.labels = c.labels || o.AsIdent() == "facts" && s.FieldName() == "labels"
			c.kind = c.kind || o.AsIdent() == "classification" && (s.FieldName() == "type" || s.FieldName() == "type_source")
		}
		p.field = true
		c.visit(s.Operand(), p)
	case ast.CallKind:
		c.call(e, p)
	case ast.ListKind:
		if p.body != nil {
			*p.body += listCost
		}
		for _, x := range e.AsList().Elements() {
			c.visit(x, p)
		}
	case ast.ComprehensionKind:
		c.loop(e, p)
	case ast.MapKind, ast.StructKind:
		c.refuse(e, "the expression makes a value of named parts", c.language.words.noParts)
	}
}

func (c *check) loop(e ast.Expr, p place) {
	l := e.AsComprehension()
	c.visit(l.IterRange(), p)
	c.visit(l.AccuInit(), p)
	if p.loops++; p.loops > maxLoops {
		c.refuse(e, fmt.Sprintf("the expression has more than %d loops (exists, all, filter, map) within one another", maxLoops), "filter a list before looping over another")
	}
	body := 0
	p.accu, p.body = l.AccuVar(), &body
	c.visit(l.LoopCondition(), p)
	c.visit(l.LoopStep(), p)
	c.visit(l.Result(), p)
	c.perLoop = max(c.perLoop, body)
}

func (c *check) call(e ast.Expr, p place) {
	call := e.AsCall()
	args := call.Args()
	if call.IsMemberFunction() {
		args = append([]ast.Expr{call.Target()}, args...)
	}
	switch call.FunctionName() {
	case operators.Equals, operators.NotEquals, operators.In:
		for _, a := range args {
			if t := c.ast.GetType(a.ID()); !comparable(t) {
				remedy := "compare one of its fields"
				if t.Kind() == types.ListKind {
					remedy = "compare its size(), or fields of its elements"
				}
				c.refuse(e, c.language.typeName(t)+" can't be compared as a whole", remedy)
			}
		}
	case operators.Add:
		// The macros filter and map append to their lists in this way.
		if first := args[0]; c.adds(e, overloads.AddList) && (first.Kind() != ast.IdentKind || first.AsIdent() != p.accu) {
			c.refuse(e, "lists can't be added to one another", "join conditions on each with ||")
		}
	case funcMatches, funcGlob:
		c.pattern(call.FunctionName(), args[1])
	}
	for _, a := range args {
		c.visit(a, p)
	}
}

func (c *check) adds(e ast.Expr, overload string) bool {
	return slices.Contains(c.ast.GetOverloadIDs(e.ID()), overload)
}

func (c *check) pattern(function string, arg ast.Expr) {
	var text types.String
	ok := arg.Kind() == ast.LiteralKind
	if ok {
		text, ok = arg.AsLiteral().(types.String)
	}
	if !ok {
		c.refuse(arg, "the pattern of "+function+" is not a constant", `write it out, such as `+patternExample(function))
		return
	}
	key := patternKey{function, string(text)}
	if c.patterns[key] != nil {
		return
	}
	p, problem := compilePattern(function, string(text))
	if problem != nil {
		c.refuse(arg, problem.Problem, problem.Remedy)
		return
	}
	c.patterns[key] = p
}

func patternExample(function string) string {
	if function == funcGlob {
		return `glob(f.path, "src/**")`
	}
	return `facts.title.matches("^WIP")`
}

// comparable reports whether comparing two values of the type takes a time that their cost
// reflects. This is true of texts, numbers and lists of them.
func comparable(t *types.Type) bool {
	switch t.Kind() {
	case types.BoolKind, types.IntKind, types.StringKind, types.DoubleKind, types.UintKind, types.BytesKind, types.NullTypeKind:
		return true
	case types.ListKind:
		elem := t.Parameters()[0]
		return elem.Kind() == types.DynKind || elem.Kind() == types.TypeParamKind || comparable(elem) // [] has any type
	}
	return false
}
