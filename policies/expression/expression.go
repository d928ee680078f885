package expression

import (
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/ext"

	"github.com/reviewgate/reviewgate/pipeline"
)

// maxCost bounds one evaluation, in CEL's units: about one for each value
// looked at.
const maxCost = 2_000_000

// Input is what expressions are evaluated against. Neither is changed.
type Input struct {
	Facts          *pipeline.PRFacts
	Classification *pipeline.Classification
}

// Expression is a compiled expression. It is never changed, so that any number
// of goroutines may use it.
type Expression struct {
	text    string
	program cel.Program
}

// Error says what is wrong with an expression. Line and Column are 1-based
// places in its text, 0 if unknown.
type Error struct {
	Line    int
	Column  int
	Problem string
	Remedy  string
}

func (e *Error) Error() string { return e.Problem + ": " + e.Remedy }

var environment = sync.OnceValues(func() (*cel.Env, error) {
	return cel.NewEnv(
		ext.NativeTypes(reflect.TypeFor[*pipeline.PRFacts](), reflect.TypeFor[*pipeline.Classification](), ext.ParseStructTag("json")),
		ext.Strings(ext.StringsVersion(4)),
		cel.Variable("facts", cel.ObjectType("pipeline.PRFacts")),
		cel.Variable("classification", cel.ObjectType("pipeline.Classification")),
	)
})

// Compile parses and type-checks an expression. The error is an *Error.
func Compile(text string) (*Expression, error) {
	env, err := environment()
	if err != nil {
		return nil, fmt.Errorf("make the expressions' environment: %w", err)
	}
	ast, issues := env.Compile(text)
	if list := issues.Errors(); len(list) > 0 {
		first := list[0]
		return nil, &Error{Line: first.Location.Line(), Column: first.Location.Column() + 1, Problem: first.Message, Remedy: "write a CEL expression over facts and classification"}
	}
	if ast.OutputType() != cel.BoolType {
		return nil, &Error{Problem: fmt.Sprintf("the expression is %s, not true or false", ast.OutputType()), Remedy: "compare it with something"}
	}
	program, err := env.Program(ast, cel.CostLimit(maxCost), cel.EvalOptions(cel.OptOptimize))
	if err != nil {
		return nil, &Error{Problem: err.Error(), Remedy: "write a CEL expression over facts and classification"}
	}
	return &Expression{text: text, program: program}, nil
}

// String is the expression as it was written.
func (e *Expression) String() string { return e.text }

// Holds evaluates the expression. An error means that it can't be said
// whether it holds: it cost too much, or looked for something that is not
// there.
func (e *Expression) Holds(in Input) (bool, error) {
	out, _, err := e.program.Eval(map[string]any{"facts": in.Facts, "classification": in.Classification})
	if err != nil {
		return false, fmt.Errorf("evaluate %q: %w", e.text, err)
	}
	holds, ok := out.Value().(bool)
	if !ok {
		return false, errors.New("evaluate: the outcome is neither true nor false")
	}
	return holds, nil
}

// ReadsLabels reports whether the expression looks at the change's labels.
func (e *Expression) ReadsLabels() bool { return true }
