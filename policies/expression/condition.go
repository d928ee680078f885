package expression

import (
	"errors"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/env"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/parser"
)

// Conditions compiles expressions over named numbers, such as the gate's conditions.
type Conditions struct{ language }

// Condition is a compiled expression over numbers. It does not change after Compile, so any number
// of goroutines may use it.
type Condition struct {
	program
	root ast.Expr
}

// NewConditions makes the language of expressions that read the named numbers.
func NewConditions(names []string) (*Conditions, error) {
	macros := []string{operators.Exists, operators.All, operators.ExistsOne, operators.Filter, operators.Map}
	options := []cel.EnvOption{cel.StdLib(cel.StdLibSubset(&env.LibrarySubset{IncludeMacros: macros, IncludeFunctions: arithmetic()}))}
	for _, name := range names {
		options = append(options, cel.Variable(name, cel.DoubleType))
	}
	l := language{types: &structTypes{}, variables: names, functions: macros, words: wording{
		number:    "double",
		example:   `write a comparison such as critical > 0`,
		reads:     "the metrics are " + strings.Join(names, ", "),
		split:     "split it into several conditions",
		loop:      "loop over a list such as [critical, major]",
		named:     "name it first: [critical, major].exists(n, n > 1)",
		noParts:   "lists are written [1, 2]",
		noFields:  "leave out the last dot and what follows it",
		operands:  "use it on two numbers",
		negated:   "use it on a number",
		costsMuch: "it takes too many steps",
	}}
	var err error
	l.env, err = newEnv(options...)
	return &Conditions{l}, err
}

// arithmetic returns the part of CEL's standard library that conditions have. It has no division,
// so every operation has a result for any numbers.
func arithmetic() []*env.Function {
	return append(logic(),
		subset(operators.Add, overloads.AddDouble, overloads.AddList),
		subset(operators.Subtract, overloads.SubtractDouble),
		subset(operators.Multiply, overloads.MultiplyDouble),
		subset(operators.Negate, overloads.NegateDouble),
		subset(operators.Less, overloads.LessDouble),
		subset(operators.LessEquals, overloads.LessEqualsDouble),
		subset(operators.Greater, overloads.GreaterDouble),
		subset(operators.GreaterEquals, overloads.GreaterEqualsDouble),
	)
}

// Compile parses, type-checks and plans a condition. The error is an *Error that says what is wrong
// with the condition.
func (c *Conditions) Compile(text string) (*Condition, error) {
	shown := text
	p, compiled, err := c.compile(text, func(tree *ast.AST) {
		// A loop can't be written out again, so its text stays unchanged.
		if regular, err := parser.Unparse(tree.Expr(), tree.SourceInfo(), parser.WrapOnOperators()); err == nil {
			shown = regular
		}
		toDoubles(tree)
	})
	if err != nil {
		return nil, err
	}
	p.text = shown
	return &Condition{*p, compiled.ast.Expr()}, nil
}

// toDoubles turns every number into a double, as the numbers that conditions read are: CEL does not
// compare a double with a whole number.
func toDoubles(tree *ast.AST) {
	literals := ast.NewExprFactory()
	ast.PostOrderVisit(tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.LiteralKind {
			return
		}
		switch n := e.AsLiteral().(type) {
		case types.Int:
			e.SetKindCase(literals.NewLiteral(e.ID(), types.Double(n)))
		case types.Uint:
			e.SetKindCase(literals.NewLiteral(e.ID(), types.Double(n)))
		}
	}))
}

// evaluationCost is what an evaluation costs beside its parts.
const evaluationCost = 2

// Holds evaluates the condition. A number that is missing counts as 0. Each part costs a
// unit, and loops and comparisons for equality cost more. An error means that the outcome
// is unknown, since the condition and those before it that shared the budget cost too much.
func (c *Condition) Holds(numbers map[string]float64, budget *Budget) (held bool, err error) {
	may := min(maxCost, budget.left)
	a := &activation{numbers: numbers, left: may - evaluationCost - c.parts}
	if a.left < 0 {
		err = errors.New(c.language.words.costsMuch)
	} else {
		held, err = c.eval(a)
	}
	budget.left -= may - max(a.left, 0)
	return held, err
}

// Compared returns the constants that the condition compares each number with. If the condition
// does anything else with a number, ok is false: then its answer may depend on more than whether a
// number is below, at or above a constant.
func (c *Condition) Compared() (constants map[string][]float64, ok bool) {
	constants = map[string][]float64{}
	return constants, compared(c.root, constants)
}

func compared(e ast.Expr, constants map[string][]float64) bool {
	if e.Kind() == ast.LiteralKind {
		return true // true or false
	}
	if e.Kind() != ast.CallKind {
		return false
	}
	args := e.AsCall().Args()
	switch e.AsCall().FunctionName() {
	case operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot:
		return !slices.ContainsFunc(args, func(a ast.Expr) bool { return !compared(a, constants) })
	}
	if len(args) != 2 || order(e.AsCall().FunctionName()) == nil {
		return false
	}
	name, constant := args[0], args[1]
	if name.Kind() == ast.LiteralKind {
		name, constant = constant, name
	}
	if name.Kind() != ast.IdentKind || constant.Kind() != ast.LiteralKind {
		return false
	}
	n, ok := constant.AsLiteral().(types.Double)
	if ok {
		constants[name.AsIdent()] = append(constants[name.AsIdent()], float64(n))
	}
	return ok
}
