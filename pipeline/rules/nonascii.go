package rules

import (
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// beyondASCII returns ranges of characters beyond ASCII, as pairs of first and last
// in ascending order. Each text that the expression matches holds a character in
// one of them. It returns nil if there are no such ranges. Most lines hold none of
// the characters, so the expression need not run on them.
func beyondASCII(expression string) []rune {
	re, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return nil
	}
	return othersOf(re)
}

func othersOf(re *syntax.Regexp) []rune {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			for _, r := range re.Rune {
				if r >= utf8.RuneSelf {
					return []rune{r, r}
				}
			}
		}
	case syntax.OpCharClass:
		if len(re.Rune) > 0 && re.Rune[0] >= utf8.RuneSelf {
			return re.Rune
		}
	case syntax.OpConcat:
		var least []rune
		for _, sub := range re.Sub {
			if o := othersOf(sub); o != nil && (least == nil || span(o) < span(least)) {
				least = o
			}
		}
		return least
	case syntax.OpAlternate:
		var all []rune
		for _, sub := range re.Sub {
			o := othersOf(sub)
			if o == nil {
				return nil
			}
			all = append(all, o...)
		}
		return merged(all)
	case syntax.OpCapture, syntax.OpPlus:
		return othersOf(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return othersOf(re.Sub[0])
		}
	}
	return nil
}

// span is the number of characters in ranges.
func span(ranges []rune) int {
	n := 0
	for i := 0; i < len(ranges); i += 2 {
		n += int(ranges[i+1]-ranges[i]) + 1
	}
	return n
}

// merged sorts ranges and joins those that touch.
func merged(ranges []rune) []rune {
	var list [][2]rune
	for i := 0; i < len(ranges); i += 2 {
		list = append(list, [2]rune{ranges[i], ranges[i+1]})
	}
	slices.SortFunc(list, func(a, b [2]rune) int { return int(a[0] - b[0]) })
	var out []rune
	for _, r := range list {
		if n := len(out); n > 0 && r[0] <= out[n-1]+1 {
			out[n-1] = max(out[n-1], r[1])
			continue
		}
		out = append(out, r[0], r[1])
	}
	return out
}

// holdsOneOf reports whether a text holds a character in the ranges.
func holdsOneOf(text string, ranges []rune) bool {
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		if isOneOf(r, ranges) {
			return true
		}
		i += n
	}
	return false
}

func isOneOf(r rune, ranges []rune) bool {
	// The end of the first range that ends at r or later.
	i, found := slices.BinarySearch(ranges, r)
	return found || i%2 == 1
}
