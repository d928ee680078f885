package expression

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/reviewgate/reviewgate/policies/glob"
)

// maxInstructions bounds what a pattern compiles to. Matching may take that
// many steps for each byte, and what is matched may be a description of 64 KB
// or a line of a megabyte; a usual pattern has 50, a list of names 300.
const maxInstructions = 1_000

// pattern is the constant second argument of matches or glob.
type pattern struct {
	match        func(string) bool
	instructions int // per byte of text, at most
	// required are texts of which one stands in whatever matches; none if that
	// can't be said.
	required []string
}

// cost is what matching a text may cost at most. Most texts lack what is
// required, and finding that costs little.
func (p *pattern) cost(text string) int {
	if p.rejects(text) {
		return 1 + len(p.required)*(1+len(text)/64)
	}
	return 1 + (len(text)+1)*p.instructions/8
}

func (p *pattern) rejects(text string) bool {
	return len(p.required) > 0 && !slices.ContainsFunc(p.required, func(r string) bool { return strings.Contains(text, r) })
}

func (p *pattern) matches(text string) bool { return !p.rejects(text) && p.match(text) }

// patterns are those of one expression.
type patterns map[patternKey]*pattern

type patternKey struct{ function, text string }

// compilePattern compiles the pattern of a call to matches or glob.
func compilePattern(function, text string) (*pattern, *Error) {
	if function == funcGlob {
		set, err := glob.Compile([]string{text})
		if err != nil {
			problem, remedy, _ := strings.Cut(glob.Validate(text).Error(), ": ")
			return nil, &Error{Problem: "the glob is refused: " + problem, Remedy: remedy}
		}
		return &pattern{match: set.Any, instructions: len(text)}, nil
	}
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, &Error{Problem: "the pattern does not compile: " + strings.TrimPrefix(err.Error(), "error parsing regexp: "), Remedy: "write it in RE2 syntax, which has no lookaround and no back references"}
	}
	// Before compiling, since that is where a short pattern becomes large.
	n := PatternSize(re)
	if n > maxInstructions {
		return nil, &Error{Problem: fmt.Sprintf("the pattern expands to about %d instructions, at most %d are allowed", n, maxInstructions), Remedy: "use smaller repetition counts, or split it into several"}
	}
	compiled, err := regexp.Compile(text)
	if err != nil {
		return nil, &Error{Problem: "the pattern does not compile: " + err.Error(), Remedy: "write it in RE2 syntax"}
	}
	return &pattern{match: compiled.MatchString, instructions: n, required: required(re)}, nil
}

// PatternSize is about how many instructions a pattern compiles to, its
// repetitions written out. It can't overflow where the pattern's length is
// bounded: the parser bounds repetitions to 1,000, nested ones multiplied.
func PatternSize(re *syntax.Regexp) int {
	n := 1
	if re.Op == syntax.OpLiteral {
		n = len(re.Rune)
	}
	for _, sub := range re.Sub {
		n += PatternSize(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return n
}

// maxRequired bounds the texts that are looked for before a pattern is matched.
const maxRequired = 24

// required returns texts of which one stands in whatever the pattern matches,
// or none if it matches something without any.
func required(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		// Text that is no UTF-8 counts as U+FFFD to regexp, and not to a search.
		if re.Flags&syntax.FoldCase != 0 || slices.Contains(re.Rune, utf8.RuneError) {
			return nil
		}
		return []string{string(re.Rune)}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		return longest(re.Sub)
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			one := required(sub)
			if len(one) == 0 || len(all)+len(one) > maxRequired {
				return nil
			}
			all = append(all, one...)
		}
		return all
	}
	return nil
}

// longest returns what the part requires whose shortest text is the longest: it
// is the rarest, as a rule.
func longest(parts []*syntax.Regexp) []string {
	var best []string
	length := 0
	for _, sub := range parts {
		one := required(sub)
		if len(one) == 0 {
			continue
		}
		if n := len(slices.MinFunc(one, func(a, b string) int { return len(a) - len(b) })); n > length {
			best, length = one, n
		}
	}
	return best
}
