package rules

import (
	"regexp"
	"strings"
)

var (
	// blockComment is one that ends on its line. In languages that have none it is
	// read as one all the same: a form is only ever matched beside the line itself.
	blockComment = regexp.MustCompile(`/\*[^*]*(?:\*+[^*/][^*]*)*\*+/`)
	// nestedText is a text in a second pair of parentheses, as in f(("a" + b)).
	nestedText = regexp.MustCompile("\\(\\([ \t]*([\"'`])")
	// nestedName is a name in parentheses, with the type that it is taken for.
	nestedName = regexp.MustCompile(`(^|[^\w)\]$])\([ \t]*([\w$]+)(?: as \w+)?[ \t]*\)([.\[])`)
	notNull    = regexp.MustCompile(`([\w)\]])!([.\[])`)
	joined     = regexp.MustCompile("([\"'`])\\.concat\\(")
)

// mayBeSimpler reports whether simplified may change a text, by the byte at a place.
func mayBeSimpler(text string, i int) bool {
	switch next := at(text, i+1); text[i] {
	case '/':
		return next == '*' && strings.Contains(text[i+2:], "*/")
	case '!':
		return next == '.' || next == '['
	case '.':
		return strings.HasPrefix(text[i:], ".concat(")
	case '(':
		from := i + 1 + blanks(text, i+1)
		if next == '(' {
			return strings.IndexByte("\"'`", at(text, from+1+blanks(text, from+1))) >= 0
		}
		if i > 0 && closes(text[i-1]) {
			return false
		}
		to := from
		for to < len(text) && (isWord(text[to]) || text[to] == ' ') && to-from < 100 {
			to++
		}
		return to > from && at(text, to) == ')' && strings.IndexByte(".[", at(text, to+1)) >= 0
	}
	return false
}

// simplifies reports whether simplified may change a text.
func simplifies(text string) bool {
	for i := range len(text) {
		if marks[text[i]] && mayBeSimpler(text, i) {
			return true
		}
	}
	return strings.Contains(text, "?.(")
}

// simplified is a line of code without what makes no difference: comments within it, a
// second pair of parentheses around a text or a name, TypeScript's assertions. Texts that
// concat joins are joined by +.
func simplified(text string) string {
	if !simplifies(text) { // the expressions take long, and change few lines
		return text
	}
	text = blockComment.ReplaceAllString(text, "")
	text = strings.ReplaceAll(text, "?.(", "(")
	text = nestedText.ReplaceAllString(text, "($1")
	text = nestedName.ReplaceAllString(text, "$1$2$3")
	text = notNull.ReplaceAllString(text, "$1$2")
	return joined.ReplaceAllString(text, "$1 + (")
}
