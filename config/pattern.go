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

// These are the limits of patterns. A pattern's size is about the number of instructions that it
// compiles to, and matching may cost that many steps for each byte of a line. (abcdefgh){900} is
// short and has a size of 8,000. A list of a hundred words has a size near 1,000, and a usual rule
// has one near 50. The total is four times what 5,000 rules need.
const (
	maxPatternSize = 2_000
	maxTotalSize   = 1_000_000
	// The schema allows 2,000 characters.
	maxPatternBytes = 2_000 * utf8.UTFMax
)

// checkPattern compiles a pattern. It returns the pattern's size and group names ("" for groups
// without a name), or a problem. It does not compile a pattern whose size is above the budget:
// groups is nil then, and the caller must refuse the pattern.
func checkPattern(pattern string, budget int) (size int, groups []string, problem, remedy string) {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		reason := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		return 0, nil, "the pattern does not compile: " + reason, patternRemedy(reason)
	}
	// The size is checked before compiling, because compiling is what makes a short pattern large.
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

// checkFix reports what is wrong with a replacement template. A reference to a group that the
// pattern lacks would be replaced by nothing, which is never intended.
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

// fixReference finds what regexp.Expand treats as a reference. Its $1x means ${1x}, and $$ is a
// dollar sign.
var fixReference = regexp.MustCompile(`\$(?:\$|(\w+)|\{(\w+)\})`)
