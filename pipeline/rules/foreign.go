package rules

import (
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// beyondASCII reports whether each text that an expression matches holds a
// character beyond ASCII. Most lines hold none, and need not be shown to it.
func beyondASCII(expression string) bool {
	re, err := syntax.Parse(expression, syntax.Perl)
	return err == nil && holdsOther(re)
}

func holdsOther(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return re.Flags&syntax.FoldCase == 0 && slices.ContainsFunc(re.Rune, func(r rune) bool { return r >= utf8.RuneSelf })
	case syntax.OpCharClass:
		return len(re.Rune) > 0 && re.Rune[0] >= utf8.RuneSelf
	case syntax.OpConcat:
		return slices.ContainsFunc(re.Sub, holdsOther)
	case syntax.OpAlternate:
		return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !holdsOther(sub) })
	case syntax.OpCapture, syntax.OpPlus:
		return holdsOther(re.Sub[0])
	case syntax.OpRepeat:
		return re.Min > 0 && holdsOther(re.Sub[0])
	}
	return false
}
