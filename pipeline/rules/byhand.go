package rules

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// longLine is the expression for lines of at least n characters.
var longLine = regexp.MustCompile(`^\^?\.\{([0-9]{1,4}),\}\$?$`)

// byHand returns a matcher for an expression that has no literal to look for
// but a shape that needs no regular expression, else nil. It is for lines: they
// hold no line feed, so that a dot stands for any character.
func byHand(expression string) func(string) bool {
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
