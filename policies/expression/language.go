package expression

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
)

// language is the language of one kind of expression, with its words for mistakes.
type language struct {
	env       *cel.Env
	types     *structTypes // the types of the variables, if any
	variables []string
	functions []string
	words     wording
}

// wording has the parts of messages that differ between languages. Most say what to write instead
// of a mistake.
type wording struct {
	number    string // CEL's type of the language's numbers
	example   string // an example of an expression
	reads     string // what an expression can read
	split     string // what to write instead of a large expression
	loop      string // the lists that can be looped over
	named     string // the name of an element in loops
	noParts   string // what to use instead of a value with named parts
	noFields  string // what to use instead of a field of a text or a number
	operands  string // the values that most operators apply to
	negated   string // the values that a minus sign applies to
	costsMuch string // why an evaluation was stopped
}

func newEnv(options ...cel.EnvOption) (*cel.Env, error) {
	env, err := cel.NewCustomEnv(append(options,
		cel.EnableHiddenAccumulatorName(true),
		cel.ParserRecursionLimit(maxDepth),
		cel.ParserExpressionSizeLimit(maxLength),
		cel.ASTValidators(cel.ValidateHomogeneousAggregateLiterals()),
	)...)
	if err != nil {
		return nil, fmt.Errorf("make the expressions' environment: %w", err)
	}
	return env, nil
}

// program is a compiled expression of a language.
type program struct {
	language *language
	text     string
	planned  cel.Program
	parts    int
	perLoop  int // what one round of a loop costs

	witnesses witnesses
}

// compile parses, type-checks and plans an expression, and also returns the results of the checks.
// If parsed is set, it may change the expression before the types are checked. The error is an
// *Error that says what is wrong with the expression.
func (l *language) compile(text string, parsed func(*ast.AST)) (*program, *check, error) {
	if n := utf8.RuneCountInString(text); n > maxLength {
		return nil, nil, &Error{Problem: fmt.Sprintf("the expression is %d characters long, at most %d are allowed", n, maxLength), Remedy: l.words.split}
	}
	tree, issues := l.env.Parse(text)
	if issues.Err() == nil {
		if parsed != nil {
			parsed(tree.NativeRep())
		}
		tree, issues = l.env.Check(tree)
	}
	if issues.Err() != nil {
		return nil, nil, l.explain(text, issues)
	}
	c := &check{language: l, ast: tree.NativeRep(), patterns: patterns{}}
	if problem := c.run(); problem != nil {
		return nil, nil, problem
	}
	seen := witnesses{}
	seen.visit(c.ast.Expr())
	planned, err := l.env.Program(tree, append(plan(c.patterns), seen.plan())...)
	if err != nil {
		return nil, nil, fmt.Errorf("plan the expression: %w", err)
	}
	return &program{language: l, text: text, planned: planned, parts: c.nodes, perLoop: c.perLoop, witnesses: seen}, c, nil
}

// String returns the expression as it was written. The spaces and numbers of a condition without a
// loop are normalised.
func (p *program) String() string { return p.text }

// eval evaluates the expression. The error says why it has no result.
func (p *program) eval(a *activation) (bool, error) {
	a.perLoop = p.perLoop
	out, _, err := p.planned.Eval(a)
	if err != nil {
		return false, p.language.evaluationError(err)
	}
	holds, ok := out.Value().(bool)
	if !ok {
		return false, errors.New("the result is neither true nor false")
	}
	return holds, nil
}
