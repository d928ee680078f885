package expression

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"

	"github.com/reviewgate/reviewgate/pipeline"
)

// Input is what expressions are evaluated against. Holds does not change the facts or the
// classification.
type Input struct {
	Facts          *pipeline.PRFacts
	Classification *pipeline.Classification
	// Budget limits this evaluation together with others. Nil limits this one alone.
	Budget *Budget
}

// Expression is a compiled expression. It does not change after Compile, so any number of
// goroutines may use it.
type Expression struct {
	program
	shortcut    *shortcut // may be nil
	readsLabels bool
	readsType   bool
}

// changes is the language of expressions about a change. It is made once.
var changes = sync.OnceValues(newChanges)

func newChanges() (*language, error) {
	known, err := newStructTypes()
	if err != nil {
		return nil, err
	}
	l := &language{types: known, variables: []string{"facts", "classification"}, words: wording{
		number:    "int",
		example:   `write an expression that is true or false, such as classification.scope.changed_lines > 600`,
		split:     "split it into several policies or rules",
		loop:      "loop over a list such as facts.files",
		named:     "name it first: facts.files.exists(f, f.binary)",
		noParts:   "read fields of facts and classification; lists are written [1, 2]",
		noFields:  "leave out what follows the last dot, or call a function such as size()",
		operands:  "use it on two texts or two whole numbers",
		negated:   "use it on a whole number",
		costsMuch: "it looks at too much of a change this large",
	}}
	for _, f := range Functions() {
		l.functions = append(l.functions, f.Name)
	}
	l.words.reads = "expressions read " + strings.Join(slices.Concat(l.variables, l.functions), ", ")
	l.env, err = newEnv(append(own(),
		cel.StdLib(cel.StdLibSubset(standard())),
		cel.CustomTypeAdapter(known), cel.CustomTypeProvider(known),
		cel.Variable("facts", cel.ObjectType("pipeline.PRFacts")),
		cel.Variable("classification", cel.ObjectType("pipeline.Classification")),
	)...)
	return l, err
}

// Compile parses, type-checks and plans an expression. The error is an *Error that says what is
// wrong with the expression.
func Compile(text string) (*Expression, error) {
	l, err := changes()
	if err != nil {
		return nil, err
	}
	p, c, err := l.compile(text, nil)
	if err != nil {
		return nil, err
	}
	return &Expression{
		program:     *p,
		shortcut:    (&shortcuts{types: l.types, patterns: c.patterns}).of(c.ast.Expr()),
		readsLabels: c.labels, readsType: c.kind,
	}, nil
}

// ReadsLabels reports whether the expression looks at the change's labels.
func (e *Expression) ReadsLabels() bool { return e.readsLabels }

// ReadsType reports whether the expression reads the change's type, or anything that the type is
// derived from.
func (e *Expression) ReadsType() bool { return e.readsType }

// Holds evaluates the expression. An error means that it is not known whether the expression holds,
// because it cost too much or read something that does not exist.
func (e *Expression) Holds(in Input) (bool, error) {
	if in.Budget == nil {
		in.Budget = NewBudget()
	}
	may := min(maxCost, in.Budget.left)
	left := may
	if e.shortcut != nil {
		var held answer
		if held, left = in.Budget.ask(e.shortcut, in, may); held != unknown {
			in.Budget.left -= may - max(left, 0)
			return held == yes, nil
		}
	}
	return e.evaluate(in, may, &activation{left: left})
}

// evaluate evaluates the expression with CEL, as a part of an evaluation that may cost may.
func (e *Expression) evaluate(in Input, may int, a *activation) (bool, error) {
	a.facts, a.classification = e.language.types.value(in.Facts), e.language.types.value(in.Classification)
	budget := in.Budget
	held, err := e.eval(a)
	budget.left -= may - max(a.left, 0)
	if err != nil && budget.left == 0 {
		return false, errors.New("the config's expressions together look at too much of a change this large")
	}
	return held, err
}
