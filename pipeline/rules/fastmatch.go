package rules

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// longLine is the expression for lines of at least n characters.
var longLine = regexp.MustCompile(`^\^?\.\{([0-9]{1,4}),\}\$?$`)

// fastMatcher returns a hand-written matcher for an expression without a literal whose
// shape needs no regular expression, or nil. It is for single lines: they hold no
// line feed, so a dot matches any character.
func fastMatcher(expression string) func(string) bool {
	switch expression {
	case `\s+$`, `\s$`, `[\s]+$`:
		return func(line string) bool { return endsInOneOf(line, " \t\r\f\n") }
	case `[ \t]+$`, `[ \t]$`, `[\t ]+$`, `[\t ]$`:
		return func(line string) bool { return endsInOneOf(line, " \t") }
	case ` +$`, ` $`:
		return func(line string) bool { return strings.HasSuffix(line, " ") }
	}
	if m := longLine.FindStringSubmatch(expression); m != nil {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			return nil
		}
		return func(line string) bool {
			return len(line) >= n && utf8.RuneCountInString(line) >= n
		}
	}
	return nil
}

func endsInOneOf(line, set string) bool {
	return line != "" && strings.IndexByte(set, line[len(line)-1]) >= 0
}
