package expression

import (
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/env"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// These functions are missing in CEL's standard library, or it has them only for patterns that are
// made at run time.
const (
	funcMatches = "matches"
	funcGlob    = "glob"

	overloadMatches    = "string_matches_pattern"
	overloadGlob       = "glob_string_pattern"
	overloadLowerASCII = "string_lower_ascii"
	overloadUpperASCII = "string_upper_ascii"
	overloadTrim       = "string_trim"
	overloadSplit      = "string_split_string"
)

// standard returns the available part of CEL's standard library: whole numbers, texts and lists. It
// leaves out functions that read clocks and time zones, conversions between types that the facts
// don't have, and functions that make maps.
func standard() *env.LibrarySubset {
	return &env.LibrarySubset{IncludeFunctions: append(logic(),
		subset(operators.Add, overloads.AddInt64, overloads.AddList, overloads.AddString),
		subset(operators.Subtract, overloads.SubtractInt64),
		subset(operators.Multiply, overloads.MultiplyInt64),
		subset(operators.Divide, overloads.DivideInt64),
		subset(operators.Modulo, overloads.ModuloInt64),
		subset(operators.Negate, overloads.NegateInt64),
		subset(operators.Less, overloads.LessInt64),
		subset(operators.LessEquals, overloads.LessEqualsInt64),
		subset(operators.Greater, overloads.GreaterInt64),
		subset(operators.GreaterEquals, overloads.GreaterEqualsInt64),
		subset(operators.Index, overloads.IndexList),
		subset(overloads.Size, overloads.SizeList, overloads.SizeListInst, overloads.SizeString, overloads.SizeStringInst),
		subset(overloads.Contains), subset(overloads.StartsWith), subset(overloads.EndsWith),
	)}
}

// logic returns the functions that every language has.
func logic() []*env.Function {
	return []*env.Function{
		subset(operators.Conditional), subset(operators.LogicalAnd), subset(operators.LogicalOr), subset(operators.LogicalNot),
		subset(operators.NotStrictlyFalse), subset(operators.Equals), subset(operators.NotEquals),
		subset(operators.In, overloads.InList),
	}
}

func subset(name string, ids ...string) *env.Function {
	f := &env.Function{Name: name}
	for _, id := range ids {
		f.Overloads = append(f.Overloads, &env.Overload{ID: id})
	}
	return f
}

// own returns the functions that CEL's standard library lacks. Their implementations are in
// measures, together with their costs, and planning replaces these with those.
func own() []cel.EnvOption {
	text := []*cel.Type{cel.StringType}
	two := []*cel.Type{cel.StringType, cel.StringType}
	never := cel.FunctionBinding(func(...ref.Val) ref.Val { return types.NewErr("the function was not planned") })
	return []cel.EnvOption{
		cel.Function(funcMatches, cel.MemberOverload(overloadMatches, two, cel.BoolType, never)),
		cel.Function(funcGlob, cel.Overload(overloadGlob, two, cel.BoolType, never)),
		cel.Function("lowerAscii", cel.MemberOverload(overloadLowerASCII, text, cel.StringType, never)),
		cel.Function("upperAscii", cel.MemberOverload(overloadUpperASCII, text, cel.StringType, never)),
		cel.Function("trim", cel.MemberOverload(overloadTrim, text, cel.StringType, never)),
		cel.Function("split", cel.MemberOverload(overloadSplit, two, cel.ListType(cel.StringType), never)),
	}
}

func textOf(v ref.Val) string {
	s, _ := v.(types.String)
	return string(s)
}

func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, s)
}

func upperASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' {
			r -= 'a' - 'A'
		}
		return r
	}, s)
}
