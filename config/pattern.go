package config

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/reviewgate/reviewgate/policies/expression"
)

// The bounds of patterns. A pattern's size is about the number of instructions
// it compiles to, and matching may cost that many steps for each byte of a
// line: (abcdefgh){900} is short to write and has a size of 8,000. A list of a
// hundred words has a size near 1,000, a usual rule one near 50; the total
// leaves room for 5,000 rules four times over.
const (
	maxPatternSize = 2_000
	maxTotalSize   = 1_000_000
	// The schema allows 2,000 characters.
	maxPatternBytes = 2_000 * utf8.UTFMax
)

// checkPattern compiles a pattern and returns its size and its group names
// (with "" for groups that have none), or what is wrong with it. One of a size
// above the budget is not compiled: groups is nil, and it is for the caller to
// refuse it.
func checkPattern(pattern string, budget int) (size int, groups []string, problem, remedy string) {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		reason := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		return 0, nil, "the pattern does not compile: " + reason, patternRemedy(reason)
	}
	// Before compiling, since that is where a short pattern becomes large.
	size = expression.PatternSize(tree)
	if size > maxPatternSize {
		return size, nil, fmt.Sprintf("the pattern expands to about %d instructions, more than the limit of %d", size, maxPatternSize), "use smaller repetition counts, or split it into several entries"
	}
	if size > budget {
		return size, nil, "", ""
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return size, nil, "the pattern does not compile: " + err.Error(), patternRemedy("")
	}
	return size, re.SubexpNames(), "", ""
}

func patternRemedy(reason string) string {
	switch {
	case strings.Contains(reason, "(?=") || strings.Contains(reason, "(?!") || strings.Contains(reason, "(?<"):
		return "RE2 has no lookaround; use not_pattern for lines to leave out"
	case strings.Contains(reason, "repeat count"):
		return "repeat at most 1,000 times, nested repetitions multiplied"
	case strings.Contains(reason, "invalid escape"):
		return "RE2 does not know this escape; back references such as \\1 do not exist"
	}
	return "write it in RE2 syntax: https://github.com/google/re2/wiki/Syntax"
}

// checkFix reports what is wrong with a replacement template: a reference to a
// group that the pattern does not have is replaced by nothing, which nobody
// means.
func checkFix(fix string, groups []string) (problem, remedy string) {
	for _, m := range fixReference.FindAllStringSubmatch(fix, -1) {
		name := m[1] + m[2]
		number, err := strconv.Atoi(name)
		if name == "" || slices.Contains(groups, name) || err == nil && number < len(groups) && strconv.Itoa(number) == name {
			continue
		}
		return fmt.Sprintf("the fix refers to the group %s, which the pattern does not have", shown(name)), "write ${1} for the first group, and $$ for a dollar sign"
	}
	return "", ""
}

// fixReference finds what regexp.Expand takes for a reference. Its $1x means
// ${1x}; $$ is a dollar sign.
var fixReference = regexp.MustCompile(`\$(?:\$|(\w+)|\{(\w+)\})`)
