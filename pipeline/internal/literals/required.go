package literals

import (
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// Bounds that keep every expression fast to analyse. A literal needs two bytes to be worth looking
// for, and more than eight hardly make it rarer.
const (
	maxExact    = 32 // strings that an expression is expanded to
	maxAny      = 128
	maxClass    = 8 // runes of a class that is expanded
	minLiteral  = 2
	goodLiteral = 8
)

// Required returns literals, at least one of which is in every match of the expression, with ASCII
// letters in lower case. It returns nil if it knows none, and for an expression that does not
// compile. Text with one of [Folds] may match without them.
func Required(expression string) []string {
	var out []string
	for _, l := range Needs(expression).Literals {
		if s := lower(l.Text); !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// Need is what text must contain to match an expression. It does not apply to text with one of
// [Folds].
type Need struct {
	Literals []Literal // at least one of them; nil if none are known
	Guard    *Guard    // a further condition, or nil
}

// Needs returns what is known of the texts that match the expression. For an expression that does
// not compile, it knows nothing.
func Needs(expression string) Need {
	re, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return Need{}
	}
	k := analyse(re)
	chosen := choose(k)
	return Need{Literals: chosen, Guard: k.needs().without(chosen)}
}

// knowledge is what is known of an expression's matches. If exact is not nil, it lists all possible
// matches. If any is not nil, each match contains one of its literals. guard holds for all matches.
type knowledge struct {
	exact []Literal
	any   []Literal
	guard *Guard
}

func choose(k knowledge) []Literal {
	return better(k.any, usable(k.exact))
}

// needs combines all that is known into one guard.
func (k knowledge) needs() *Guard { return both(k.guard, oneOf(k.exact)) }

func analyse(re *syntax.Regexp) knowledge {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText,
		syntax.OpEndText, syntax.OpNoWordBoundary:
		return knowledge{exact: []Literal{{}}}
	case syntax.OpWordBoundary:
		return knowledge{exact: []Literal{{Start: true, End: true}}}
	case syntax.OpLiteral:
		return sequence(ofRunes(re))
	case syntax.OpCharClass:
		return ofClass(re.Rune)
	case syntax.OpCapture:
		return analyse(re.Sub[0])
	case syntax.OpQuest:
		if k := analyse(re.Sub[0]); k.exact != nil && len(k.exact) < maxExact {
			return knowledge{exact: unite(k.exact, []Literal{{}})}
		}
	case syntax.OpPlus:
		return repeated(analyse(re.Sub[0]))
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

// ofRunes splits a literal, so that runes with more than one spelling don't spoil the others.
func ofRunes(re *syntax.Regexp) []knowledge {
	fold := re.Flags&syntax.FoldCase != 0
	parts := make([]knowledge, len(re.Rune))
	for i, r := range re.Rune {
		// The replacement rune also stands for any invalid byte, and Unfold removes the Folds from
		// the text.
		if r != utf8.RuneError && (r < utf8.RuneSelf || !fold && !slices.Contains(Folds[:], string(r))) {
			parts[i].exact = []Literal{{Text: string(r), Folded: fold}}
		}
	}
	return parts
}

// ofClass expands a class. If it has a letter in both cases, the literal ignores case.
func ofClass(ranges []rune) knowledge {
	var exact []Literal
	for i := 0; i < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if r == utf8.RuneError || len(exact) > maxClass {
				return knowledge{}
			}
			l := Literal{Text: Unfold(string(r))}
			l.Folded = l.Text != string(r)
			same := func(e Literal) bool { return lower(e.Text) == lower(l.Text) }
			if i := slices.IndexFunc(exact, same); i < 0 {
				exact = append(exact, l)
			} else if l != exact[i] {
				exact[i].Folded = true
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
	return repeated(k)
}

// repeated is what is known of several matches in a row.
func repeated(k knowledge) knowledge { return knowledge{any: choose(k), guard: k.needs()} }

func ofAlternate(subs []*syntax.Regexp) knowledge {
	out := knowledge{exact: []Literal{}, any: []Literal{}}
	var guards []*Guard
	for _, sub := range subs {
		k := analyse(sub)
		guards = append(guards, k.needs())
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
	if out.exact == nil {
		out.guard = either(guards)
	}
	return out
}

// sequence joins what is known of consecutive parts. Runs of parts that can be expanded become
// longer literals.
func sequence(parts []knowledge) knowledge {
	run, whole := []Literal{{}}, true
	var any []Literal
	var guard *Guard
	for _, p := range parts {
		if p.exact != nil && len(run)*len(p.exact) <= maxExact {
			run = cross(run, p.exact)
			continue
		}
		whole = false
		any = better(better(any, usable(run)), p.any)
		guard = both(both(guard, oneOf(run)), p.guard)
		run = []Literal{{}}
		if p.exact != nil {
			run = p.exact
		}
	}
	any = better(any, usable(run))
	if whole {
		return knowledge{exact: run, any: any}
	}
	return knowledge{any: any, guard: both(guard, oneOf(run))}
}

func cross(a, b []Literal) []Literal {
	out := make([]Literal, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			out = append(out, x.then(y))
		}
	}
	return out
}

func unite(a, b []Literal) []Literal {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// usable returns the literals if all of them are long enough to be worth looking for.
func usable(literals []Literal) []Literal {
	if len(literals) == 0 || shortest(literals) < minLiteral {
		return nil
	}
	return literals
}

// better returns the list that should be found less often: the one with the longer shortest
// literal, up to a length where that hardly matters, then the shorter list, and then the longer
// literals after all, since https:// is everywhere.
func better(a, b []Literal) []Literal {
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

func shortest(literals []Literal) int {
	n := len(literals[0].Text)
	for _, l := range literals {
		n = min(n, len(l.Text))
	}
	return n
}
