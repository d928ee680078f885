package literals

import (
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// Bounds on what is tried, so that no expression makes it slow. A literal
// needs two bytes to be worth looking for; more than eight hardly make it
// rarer.
const (
	maxExact    = 32 // strings that an expression is spelt out to
	maxAny      = 128
	maxClass    = 8 // runes of a class that is spelt out
	minLiteral  = 2
	goodLiteral = 8
)

// Required returns literals of which every match of the expression holds at
// least one, ASCII letters in lower case. It returns nil where it knows none,
// and for an expression that does not compile. Text that holds one of [Folds]
// may match without.
func Required(expression string) []string {
	re, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return nil
	}
	return choose(analyse(re))
}

// knowledge is what is known of an expression's matches: all that they can
// be, where exact is not nil, and literals of which each holds at least one,
// where any is not nil.
type knowledge struct {
	exact []string
	any   []string
}

func choose(k knowledge) []string {
	return better(k.any, usable(k.exact))
}

func analyse(re *syntax.Regexp) knowledge {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText,
		syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return knowledge{exact: []string{""}}
	case syntax.OpLiteral:
		return sequence(ofRunes(re))
	case syntax.OpCharClass:
		return ofClass(re.Rune)
	case syntax.OpCapture:
		return analyse(re.Sub[0])
	case syntax.OpQuest:
		if k := analyse(re.Sub[0]); k.exact != nil && len(k.exact) < maxExact {
			return knowledge{exact: unite(k.exact, []string{""})}
		}
	case syntax.OpPlus:
		return knowledge{any: choose(analyse(re.Sub[0]))}
	case syntax.OpRepeat:
		return ofRepeat(re)
	case syntax.OpConcat:
		parts := make([]knowledge, len(re.Sub))
		for i, sub := range re.Sub {
			parts[i] = analyse(sub)
		}
		return sequence(parts)
	case syntax.OpAlternate:
		return ofAlternate(re.Sub)
	}
	return knowledge{}
}

// ofRunes takes a literal apart, so that runes which have more than one
// spelling don't spoil the others.
func ofRunes(re *syntax.Regexp) []knowledge {
	fold := re.Flags&syntax.FoldCase != 0
	parts := make([]knowledge, len(re.Rune))
	for i, r := range re.Rune {
		// The replacement rune also stands for any invalid byte, and Unfold
		// takes the Folds out of the text.
		if r != utf8.RuneError && (r < utf8.RuneSelf || !fold && !slices.Contains(Folds[:], string(r))) {
			parts[i].exact = []string{lower(string(r))}
		}
	}
	return parts
}

func ofClass(ranges []rune) knowledge {
	var exact []string
	for i := 0; i < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if r == utf8.RuneError || len(exact) > maxClass {
				return knowledge{}
			}
			if s := lower(Unfold(string(r))); !slices.Contains(exact, s) {
				exact = append(exact, s)
			}
			if r == unicode.MaxRune {
				break
			}
		}
	}
	if len(exact) > maxClass {
		return knowledge{}
	}
	return knowledge{exact: exact}
}

func ofRepeat(re *syntax.Regexp) knowledge {
	if re.Min == 0 {
		return knowledge{}
	}
	k := analyse(re.Sub[0])
	if re.Min == re.Max && re.Max <= goodLiteral {
		return sequence(slices.Repeat([]knowledge{k}, re.Min))
	}
	return knowledge{any: choose(k)}
}

func ofAlternate(subs []*syntax.Regexp) knowledge {
	out := knowledge{exact: []string{}, any: []string{}}
	for _, sub := range subs {
		k := analyse(sub)
		if out.exact != nil && k.exact != nil && len(out.exact)+len(k.exact) <= maxExact {
			out.exact = unite(out.exact, k.exact)
		} else {
			out.exact = nil
		}
		if set := choose(k); out.any != nil && set != nil && len(out.any)+len(set) <= maxAny {
			out.any = unite(out.any, set)
		} else {
			out.any = nil
		}
	}
	return out
}

// sequence joins what is known of parts that follow one another. Runs of
// parts that can be spelt out grow into longer literals.
func sequence(parts []knowledge) knowledge {
	run, whole := []string{""}, true
	var any []string
	for _, p := range parts {
		if p.exact != nil && len(run)*len(p.exact) <= maxExact {
			run = cross(run, p.exact)
			continue
		}
		whole = false
		any = better(better(any, usable(run)), p.any)
		run = []string{""}
		if p.exact != nil {
			run = p.exact
		}
	}
	any = better(any, usable(run))
	if whole {
		return knowledge{exact: run, any: any}
	}
	return knowledge{any: any}
}

func cross(a, b []string) []string {
	out := make([]string, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			out = append(out, x+y)
		}
	}
	return out
}

func unite(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// usable returns the literals if all of them are long enough to look for.
func usable(literals []string) []string {
	if len(literals) == 0 || shortest(literals) < minLiteral {
		return nil
	}
	return literals
}

// better returns the list that should be found less often: the one whose
// shortest literal is longer, up to where that hardly matters, else the shorter
// list, else the longer literals after all: https:// is everywhere.
func better(a, b []string) []string {
	if len(a) == 0 {
		return b
	}
	if len(b) == 0 {
		return a
	}
	la, lb := min(shortest(a), goodLiteral), min(shortest(b), goodLiteral)
	if lb > la || lb == la && (len(b) < len(a) || len(b) == len(a) && shortest(b) > shortest(a)) {
		return b
	}
	return a
}

func shortest(literals []string) int {
	n := len(literals[0])
	for _, l := range literals {
		n = min(n, len(l))
	}
	return n
}
