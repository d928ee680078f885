package expression

import (
	"errors"
	"fmt"
	"sync"
	"unicode/utf8"

	"github.com/google/cel-go/cel"

	"github.com/reviewgate/reviewgate/pipeline"
)

// Input is what expressions are evaluated against. Neither facts nor
// classification is changed.
type Input struct {
	Facts          *pipeline.PRFacts
	Classification *pipeline.Classification
	// Budget is shared with other evaluations, and bounds them together; nil
	// bounds this one alone.
	Budget *Budget
}

// Expression is a compiled expression. It is never changed, so that any number
// of goroutines may use it.
type Expression struct {
	text        string
	program     cel.Program
	types       *structTypes
	shortcut    *shortcut // or nil
	perLoop     int       // what one round of a loop costs
	readsLabels bool
	readsType   bool
}

// environment is what expressions are compiled in. It is made once.
type environment struct {
	env   *cel.Env
	types *structTypes
}

var shared = sync.OnceValues(newEnvironment)

func newEnvironment() (*environment, error) {
	known, err := newStructTypes()
	if err != nil {
		return nil, err
	}
	env, err := cel.NewCustomEnv(append(own(),
		cel.StdLib(cel.StdLibSubset(standard())),
		cel.CustomTypeAdapter(known), cel.CustomTypeProvider(known),
		cel.Variable("facts", cel.ObjectType("pipeline.PRFacts")),
		cel.Variable("classification", cel.ObjectType("pipeline.Classification")),
		cel.EnableHiddenAccumulatorName(true),
		cel.ParserRecursionLimit(maxDepth),
		cel.ParserExpressionSizeLimit(maxLength),
		cel.ASTValidators(cel.ValidateHomogeneousAggregateLiterals()),
	)...)
	if err != nil {
		return nil, fmt.Errorf("make the expressions' environment: %w", err)
	}
	return &environment{env, known}, nil
}

// Compile parses, type-checks and plans an expression. What is wrong with the
// expression is an *Error.
func Compile(text string) (*Expression, error) {
	e, err := shared()
	if err != nil {
		return nil, err
	}
	if n := utf8.RuneCountInString(text); n > maxLength {
		return nil, &Error{Problem: fmt.Sprintf("the expression is %d characters long, at most %d are allowed", n, maxLength), Remedy: "split it into several policies or rules"}
	}
	ast, issues := e.env.Compile(text)
	if issues.Err() != nil {
		return nil, explain(text, issues)
	}
	c := &check{ast: ast.NativeRep(), patterns: patterns{}}
	if problem := c.run(); problem != nil {
		return nil, problem
	}
	program, err := e.env.Program(ast, plan(c.patterns)...)
	if err != nil {
		return nil, fmt.Errorf("plan the expression: %w", err)
	}
	return &Expression{
		text: text, program: program, types: e.types,
		shortcut: (&shortcuts{types: e.types, patterns: c.patterns}).of(c.ast.Expr()),
		perLoop:  c.perLoop, readsLabels: c.labels, readsType: c.kind,
	}, nil
}

// String is the expression as it was written.
func (e *Expression) String() string { return e.text }

// ReadsLabels reports whether the expression looks at the change's labels.
func (e *Expression) ReadsLabels() bool { return e.readsLabels }

// ReadsType reports whether the expression looks at the change's type, or at
// what it was read from.
func (e *Expression) ReadsType() bool { return e.readsType }

// Holds evaluates the expression. An error means that it can't be said
// whether it holds: it cost too much, or looked for something that is not
// there.
func (e *Expression) Holds(in Input) (bool, error) {
	budget := in.Budget
	if budget == nil {
		budget = NewBudget()
	}
	may := min(maxCost, budget.left)
	left := may
	if e.shortcut != nil {
		var held answer
		if held, left = budget.ask(e.shortcut, in, may); held != unknown {
			budget.left -= may - max(left, 0)
			return held == yes, nil
		}
	}
	a := &activation{
		facts: e.types.value(in.Facts), classification: e.types.value(in.Classification),
		perLoop: e.perLoop, left: left,
	}
	out, _, err := e.program.Eval(a)
	budget.left -= may - max(a.left, 0)
	if err != nil {
		if budget.left == 0 {
			return false, errors.New("the config's expressions together look at too much of a change this large")
		}
		return false, evaluationError(err)
	}
	holds, ok := out.Value().(bool)
	if !ok {
		return false, errors.New("the outcome is neither true nor false")
	}
	return holds, nil
}
