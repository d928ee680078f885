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

// maxInstructions limits the compiled size of a pattern. Matching may take that many steps for each
// byte, and the text may be a description of 64 KB or a line of a megabyte. A usual pattern has 50
// instructions, and a list of names 300.
const maxInstructions = 1_000

// pattern is the constant second argument of matches or glob.
type pattern struct {
	match        func(string) bool
	instructions int // at most, for each byte of text
	// required are texts, one of which is in every text that matches. There are none if they are
	// not known.
	required []string
}

// cost returns the greatest cost of matching a text. Most texts lack the required text, which is
// cheap to find out.
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

// patterns are the compiled patterns of one expression.
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
	// The size is checked before compiling, because compiling makes a short pattern large.
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

// PatternSize returns about how many instructions a pattern compiles to, with its repetitions
// written out. It can't overflow if the length of the pattern is limited: the parser limits
// repetitions to 1,000, with nested ones multiplied.
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

// maxRequired is the number of texts that are looked for before a pattern is matched.
const maxRequired = 24

// required returns texts, one of which is in every text that the pattern matches. It returns none
// if the pattern may match without them.
func required(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		// To regexp, an invalid byte is U+FFFD, but not to a search.
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

// longest returns the required texts of the part whose shortest text is the longest. That text is
// usually the rarest.
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
