package expression

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/reviewgate/reviewgate/policies/glob"
)

// maxInstructions bounds what a pattern compiles to. Matching may take that
// many steps for each byte, and what is matched may be a description of 64 KB
// or a line of a megabyte; a usual pattern has 50.
const maxInstructions = 250

// pattern is the constant second argument of matches or glob.
type pattern struct {
	match        func(string) bool
	instructions int // per byte of text, at most
}

// steps is how many matching may take at most.
func (p *pattern) steps(text string) int { return (len(text) + 1) * p.instructions }

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
	n := size(re)
	if n > maxInstructions {
		return nil, &Error{Problem: fmt.Sprintf("the pattern expands to about %d instructions, at most %d are allowed", n, maxInstructions), Remedy: "use smaller repetition counts, or split it into several"}
	}
	compiled, err := regexp.Compile(text)
	if err != nil {
		return nil, &Error{Problem: "the pattern does not compile: " + err.Error(), Remedy: "write it in RE2 syntax"}
	}
	return &pattern{match: compiled.MatchString, instructions: n}, nil
}

// size is about how many instructions a pattern compiles to, its repetitions
// written out. The parser bounds these to 1,000, nested ones multiplied.
func size(re *syntax.Regexp) int {
	n := 1
	if re.Op == syntax.OpLiteral {
		n = len(re.Rune)
	}
	for _, sub := range re.Sub {
		n += size(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return n
}
