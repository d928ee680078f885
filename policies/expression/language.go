package expression

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
)

// language is what expressions of one kind are compiled in, and how mistakes
// in them are explained.
type language struct {
	env       *cel.Env
	types     *structTypes // that the variables have, if any
	variables []string
	functions []string
	words     wording
}

// wording is the parts of messages that differ between languages: most are what
// to write in place of a mistake.
type wording struct {
	number    string // CEL's type of the language's numbers
	example   string // write an expression such as this
	reads     string // what an expression can read
	split     string // in place of a large expression
	loop      string // lists that can be looped over
	named     string // how a loop names its elements
	noParts   string // in place of a value of named parts
	noFields  string // in place of a field of a text or a number
	operands  string // what most operators are used on
	negated   string // what a minus sign is used on
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
}

// compile parses, type-checks and plans an expression, and returns what it
// found out about it as well. If parsed is given, it may change the expression
// before its types are checked. What is wrong with the expression is an *Error.
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
	planned, err := l.env.Program(tree, plan(c.patterns)...)
	if err != nil {
		return nil, nil, fmt.Errorf("plan the expression: %w", err)
	}
	return &program{language: l, text: text, planned: planned, parts: c.nodes, perLoop: c.perLoop}, c, nil
}

// String is the expression as it was written; a condition without a loop has its
// white space and numbers made regular.
func (p *program) String() string { return p.text }

// eval evaluates the expression. An error says why it has no outcome.
func (p *program) eval(a *activation) (bool, error) {
	a.perLoop = p.perLoop
	out, _, err := p.planned.Eval(a)
	if err != nil {
		return false, p.language.evaluationError(err)
	}
	holds, ok := out.Value().(bool)
	if !ok {
		return false, errors.New("the outcome is neither true nor false")
	}
	return holds, nil
}
