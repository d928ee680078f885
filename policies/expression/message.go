package expression

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/interpreter"

	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// Error says what is wrong with an expression. Line and Column are a position in its text, counted
// from 1, with Column in characters. They are 0 if the position is unknown.
type Error struct {
	Line    int
	Column  int
	Problem string
	Remedy  string
}

func (e *Error) Error() string { return e.Placed() + ": " + e.Remedy }

// Placed returns the problem with its position in the expression, if it is known.
func (e *Error) Placed() string {
	if e.Line == 0 {
		return e.Problem
	}
	return fmt.Sprintf("at %d:%d of the expression: %s", e.Line, e.Column, e.Problem)
}

// explain explains the first of CEL's issues to readers who don't know CEL.
func (l *language) explain(text string, issues *cel.Issues) *Error {
	if strings.TrimSpace(text) == "" {
		return &Error{Problem: "the expression is empty", Remedy: l.words.example}
	}
	first := issues.Errors()[0]
	out := &Error{Line: max(first.Location.Line(), 0), Column: max(first.Location.Column()+1, 0)}
	for _, form := range forms {
		if m := form.of.FindStringSubmatch(first.Message); m != nil {
			out.Problem, out.Remedy = form.say(l, text, m)
			return out
		}
	}
	out.Problem, out.Remedy = bounded(first.Message), l.words.example
	return out
}

// form is one of cel-go's messages with our words for it.
type form struct {
	of  *regexp.Regexp
	say func(l *language, text string, m []string) (problem, remedy string)
}

var forms = []form{
	{regexp.MustCompile(`^undefined field '(.*)'$`), undefinedField},
	{regexp.MustCompile(`^undeclared reference to '(.*)' \(in container`), undeclared},
	{regexp.MustCompile(`^found no matching overload for '(.*)' applied to '(.*)'$`), noOverload},
	{regexp.MustCompile(`^type '(.*)' does not support field selection$`), func(l *language, _ string, m []string) (string, string) {
		return l.plain(m[1]) + " has no fields", l.words.noFields
	}},
	{regexp.MustCompile(`^expression of type '(.*)' cannot be range of a comprehension`), func(l *language, _ string, m []string) (string, string) {
		return "only lists can be looped over, and this is " + l.plain(m[1]), l.words.loop
	}},
	{regexp.MustCompile(`^expected type '(.*)' but found '(.*)'$`), func(l *language, _ string, m []string) (string, string) {
		return fmt.Sprintf("this is %s where %s is needed", l.plain(m[2]), l.plain(m[1])), "write " + l.plain(m[1])
	}},
	{regexp.MustCompile(`^(?s)Syntax error: (mismatched|extraneous) input '(.*)' expecting`), func(_ *language, _ string, m []string) (string, string) {
		return unexpected(m[2])
	}},
	{regexp.MustCompile(`^(?s)Syntax error: no viable alternative at input '(.*)'`), func(_ *language, _ string, m []string) (string, string) {
		return unexpected(m[1])
	}},
	{regexp.MustCompile(`^(?s)Syntax error: missing '(.*)' at '(.*)'`), func(_ *language, _ string, m []string) (string, string) {
		problem, _ := unexpected(m[2])
		return problem, fmt.Sprintf("put a %q before it", m[1])
	}},
	{regexp.MustCompile(`^(?s)Syntax error: token recognition error at: '(.*)'`), func(_ *language, _ string, m []string) (string, string) {
		if strings.Contains(m[1], `\`) {
			return "the text that starts here has an escape that does not exist", `write r"..." for a text in which a backslash is one; in JSON, \\ for each`
		}
		if strings.HasPrefix(m[1], `"`) || strings.HasPrefix(m[1], `'`) {
			return "the text that starts here is not closed", "close it with " + m[1][:1] + `; in JSON, write \" for "`
		}
		return fmt.Sprintf("%q means nothing here", bounded(strings.TrimSpace(m[1]))), "use && for and, || for or, ! for not, == for equal"
	}},
	{regexp.MustCompile(`recursion limit exceeded|recursion depth`), func(l *language, _ string, _ []string) (string, string) {
		return fmt.Sprintf("the expression is nested more than %d deep", maxDepth), l.words.split
	}},
	{regexp.MustCompile(`^argument (must be a simple name|is not an identifier)`), func(l *language, _ string, _ []string) (string, string) {
		return "a loop has no name for its elements", l.words.named
	}},
	{regexp.MustCompile(`^invalid argument to has\(\) macro`), func(*language, string, []string) (string, string) {
		return "has looks for a field and for nothing else", "write has(facts.milestone)"
	}},
}

func unexpected(token string) (problem, remedy string) {
	if token == "<EOF>" {
		return "the expression ends too early", "complete it, and close what is open"
	}
	return fmt.Sprintf("%q is not expected here", bounded(token)), "use && for and, || for or, ! for not, == for equal"
}

// undefinedField finds the type that the field was looked up in, because cel-go's message does not
// say it.
func undefinedField(l *language, text string, m []string) (problem, remedy string) {
	st := missedBy(text, m[1])
	if st == nil {
		return fmt.Sprintf("there is no field %q", bounded(m[1])), "the reference lists the fields"
	}
	var names []string
	for _, f := range st.fields {
		names = append(names, f.name)
	}
	problem = fmt.Sprintf("%s has no field %q", article(st.shown), bounded(m[1]))
	if near := nearest(m[1], names); near != "" {
		return problem, fmt.Sprintf("did you mean %q?", near)
	}
	if full := l.elsewhere(m[1]); full != "" {
		return problem, fmt.Sprintf("did you mean %q?", full)
	}
	return problem, "its fields are " + strings.Join(names, ", ")
}

// missedBy compiles the expression again to see in which type the missing field was looked up.
func missedBy(text, field string) *structType {
	e, err := newChanges()
	if err != nil {
		return nil
	}
	var missed *structType
	e.types.missing = func(st *structType, name string) {
		if missed == nil && name == field {
			missed = st
		}
	}
	e.env.Compile(text)
	return missed
}

func undeclared(l *language, _ string, m []string) (problem, remedy string) {
	name := bounded(m[1])
	problem = fmt.Sprintf("there is nothing called %q", name)
	if op := operatorName(m[1]); op != "" { // conditions lack some operators
		return fmt.Sprintf("there is no operator %s in conditions", op), "calculate with + - * and compare with > >= < <= == !="
	}
	if near := nearest(m[1], slices.Concat(l.variables, l.functions)); near != "" {
		return problem, fmt.Sprintf("did you mean %q?", near)
	}
	if full := l.elsewhere(m[1]); full != "" {
		return problem, fmt.Sprintf("did you mean %q?", full)
	}
	return problem, l.words.reads
}

// elsewhere returns the full name of the field with this name that is nearest to the root and can
// be read without a loop.
func (l *language) elsewhere(field string) string {
	best := ""
	for _, f := range l.reference() {
		if strings.HasSuffix(f.Name, "."+field) && !strings.Contains(f.Name, "[]") && (best == "" || len(f.Name) < len(best)) {
			best = f.Name
		}
	}
	return best
}

// operatorNames has the written form of CEL's internal names of operators.
var operatorNames = regexp.MustCompile(`^_?(==|!=|<=|>=|<|>|\+|-|\*|/|%|&&|\|\||!)_$|^@(in)$`)

func operatorName(name string) string {
	if name == operators.Index {
		return "[ ]"
	}
	if m := operatorNames.FindStringSubmatch(name); m != nil {
		return m[1] + m[2]
	}
	return ""
}

func noOverload(l *language, _ string, m []string) (problem, remedy string) {
	name, args := m[1], l.splitArgs(m[2])
	if op := operatorName(name); op != "" {
		problem = fmt.Sprintf("%s can't be used on %s", op, strings.Join(args, " and "))
		switch op {
		case "!":
			return problem, "use it on a condition"
		case "-":
			if len(args) == 1 {
				return problem, l.words.negated
			}
		case "in":
			return problem, `use it on a value and a list of such, as in "Go" in ["Go", "Java"]`
		case "[ ]":
			return problem, "use it on a list, with a number"
		}
		return problem, l.words.operands
	}
	if name == "_?_:_" {
		return fmt.Sprintf("? : can't be used on %s", strings.Join(args, " and ")), "give a condition and two values of one type"
	}
	for _, f := range Functions() {
		if f.Name == name {
			return fmt.Sprintf("%s can't be used on %s", name, strings.Join(args, " and ")), "write it as " + f.Usage
		}
	}
	return fmt.Sprintf("%s can't be used on %s", bounded(name), strings.Join(args, " and ")), l.words.example
}

// splitArgs reads cel-go's notation for the arguments of a function: "(int, string)", or
// "string.(int)" for a member function.
func (l *language) splitArgs(s string) []string {
	target, list, member := strings.Cut(s, ".(")
	if !member {
		target, list = "", strings.TrimPrefix(s, "(")
	}
	var args []string
	if target != "" {
		args = append(args, l.plain(target))
	}
	depth, start := 0, 0
	list = strings.TrimSuffix(list, ")")
	for i, r := range list + "," {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ',' && depth == 0:
			if a := strings.TrimSpace(list[start:i]); a != "" {
				args = append(args, l.plain(a))
			}
			start = i + 1
		}
	}
	return args
}

// plain returns the plain name of a type for cel-go's name.
func (l *language) plain(name string) string {
	if inner, ok := strings.CutPrefix(name, "list("); ok {
		return "a list" + l.of(strings.TrimSuffix(inner, ")"))
	}
	if st := l.types.byName[name]; st != nil {
		return article(st.shown)
	}
	switch name {
	case l.words.number:
		return "a number"
	case "int", "double", "uint":
		return "a number that is not a whole one"
	case "string":
		return "a text"
	case "bool":
		return "true or false"
	case "null":
		return "null"
	}
	return bounded(name)
}

// of says what a list contains, in the plural.
func (l *language) of(elem string) string {
	switch st := l.types.byName[elem]; {
	case elem == "string":
		return " of texts"
	case elem == l.words.number:
		return " of numbers"
	case st != nil:
		return " of " + plural(st.shown)
	}
	return ""
}

func plural(noun string) string {
	switch {
	case strings.HasSuffix(noun, "ness"):
		return noun + "es"
	case strings.HasSuffix(noun, "y"):
		return strings.TrimSuffix(noun, "y") + "ies"
	}
	return noun + "s"
}

func article(noun string) string {
	switch {
	case noun == "facts" || noun == "classification" || noun == "totals":
		return noun
	case strings.ContainsRune("aeiou", rune(noun[0])):
		return "an " + noun
	}
	return "a " + noun
}

func (l *language) typeName(t *types.Type) string { return l.plain(cel.FormatCELType(t)) }

// comparison returns an example of a condition on a value of the type.
func comparison(t *types.Type) string {
	switch t.Kind() {
	case types.ListKind:
		return "size() > 0"
	case types.StringKind:
		return `== "text"`
	}
	return "> 0"
}

// bounded returns a text of the expression, cut if it is long.
func bounded(s string) string { return plaintext.Cut(s, 80) }

// maxReason is how much of CEL's reason is shown, in characters, because the reason may quote
// values.
const maxReason = 200

// evaluationError says why an expression has no result.
func (l *language) evaluationError(err error) error {
	var cancelled interpreter.EvalCancelledError
	if errors.As(err, &cancelled) {
		return errors.New(l.words.costsMuch)
	}
	return errors.New(plaintext.Cut(err.Error(), maxReason))
}
