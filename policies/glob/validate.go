package glob

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// These are the limits of a pattern. The numbers of alternatives multiply: doublestar tries each
// combination, which takes seconds for twenty groups of two.
const (
	maxLength     = 256 // bytes
	maxGroups     = 4
	maxExpansions = 64
)

// Validate returns an error with the reason why a pattern is refused and with what to write
// instead, or nil.
func Validate(pattern string) error {
	_, err := parse(pattern)
	return err
}

// parse validates the pattern and returns it with its alternatives written out, at most
// maxExpansions of them.
func parse(pattern string) ([]string, error) {
	if err := validateText(pattern); err != nil {
		return nil, err
	}
	expansions, err := expand(pattern)
	if err != nil {
		return nil, err
	}
	for _, e := range expansions {
		if err := validateSegments(e); err != nil {
			return nil, err
		}
	}
	return expansions, nil
}

func validateText(pattern string) error {
	switch {
	case pattern == "":
		return errors.New("pattern is empty: write ** to match every file")
	case len(pattern) > maxLength:
		return fmt.Errorf("pattern is %d bytes long, at most %d are allowed: split it into several patterns", len(pattern), maxLength)
	case !utf8.ValidString(pattern) || strings.ContainsRune(pattern, utf8.RuneError):
		// To doublestar, every invalid byte is U+FFFD.
		return errors.New("pattern is not valid UTF-8: use ? for a character that cannot be written")
	case strings.ContainsFunc(pattern, unicode.IsControl):
		return errors.New("pattern contains a control character: use ? in its place")
	case pattern[0] == '!':
		return errors.New(`pattern starts with "!", which does not negate here: list what to leave out in its own field, or write \! for a name that starts with it`)
	}
	return nil
}

// expand writes out the alternatives of the pattern. It also checks the classes and escapes that it
// skips.
func expand(pattern string) ([]string, error) {
	out := []string{""}
	groups := 0
	for i := 0; i < len(pattern); {
		parts, next, err := token(pattern, i)
		if err != nil {
			return nil, err
		}
		if pattern[i] == '{' {
			if groups++; groups > maxGroups {
				return nil, fmt.Errorf("pattern has more than %d groups of {alternatives}: split it into several patterns", maxGroups)
			}
		}
		if len(out)*len(parts) > maxExpansions {
			return nil, fmt.Errorf("pattern stands for more than %d combinations of {alternatives}: split it into several patterns", maxExpansions)
		}
		if starsMeet(out, parts, pattern[i] == '{') {
			return nil, fmt.Errorf("pattern has a * at the edge of {alternatives} next to another at byte %d: write each combination as a pattern of its own", i+1)
		}
		out = product(out, parts)
		i = next
	}
	return out, nil
}

func product(heads, tails []string) []string {
	if len(tails) == 1 {
		for i := range heads {
			heads[i] += tails[0]
		}
		return heads
	}
	out := make([]string, 0, len(heads)*len(tails))
	for _, h := range heads {
		for _, t := range tails {
			out = append(out, h+t)
		}
	}
	return out
}

// token reads the token at i: a group, a class, an escape, or a run of other characters. It returns
// the texts that the token stands for, and its end.
func token(pattern string, i int) (parts []string, next int, err error) {
	switch pattern[i] {
	case '{':
		return group(pattern, i)
	case '}':
		return nil, 0, fmt.Errorf(`pattern has a "}" at byte %d without "{": write \} for the character`, i+1)
	case '[':
		next, err = class(pattern, i)
	case '\\':
		next, err = escape(pattern, i)
	default:
		next = len(pattern)
		if n := strings.IndexAny(pattern[i:], `{}[\`); n >= 0 {
			next = i + n
		}
	}
	if err != nil {
		return nil, 0, err
	}
	return []string{pattern[i:next]}, next, nil
}

// group reads the alternatives in braces that start at i. They may contain plain text, *, ? and
// escapes, but no groups or classes.
func group(pattern string, i int) (parts []string, next int, err error) {
	start := i + 1
	for j := start; j < len(pattern); {
		switch pattern[j] {
		case '{', '[':
			return nil, 0, fmt.Errorf("pattern has %q inside {alternatives} at byte %d: write each combination out as an alternative", pattern[j], j+1)
		case '\\':
			if j, err = escape(pattern, j); err != nil {
				return nil, 0, err
			}
			continue
		case ',':
			parts = append(parts, pattern[start:j])
			start = j + 1
		case '}':
			parts = append(parts, pattern[start:j])
			if len(parts) == 1 && parts[0] == "" {
				return nil, 0, fmt.Errorf(`pattern has {} without alternatives at byte %d: name some, such as {a,b}, or write \{ for the character`, i+1)
			}
			return parts, j + 1, nil
		}
		j++
	}
	return nil, 0, fmt.Errorf(`pattern has a "{" at byte %d without "}": close it, or write \{ for the character`, i+1)
}

// starsMeet reports whether a * of one token would be next to a * of the token before, or a group
// after a **. The meaning then depends on when the alternatives are written out, so such patterns
// are refused.
func starsMeet(heads, tails []string, group bool) bool {
	for _, h := range heads {
		if !endsInStar(h) {
			continue
		}
		if group && endsInStar(h[:len(h)-1]) {
			return true
		}
		for _, t := range tails {
			if strings.HasPrefix(t, "*") {
				return true
			}
		}
	}
	return false
}

func endsInStar(s string) bool {
	body, star := strings.CutSuffix(s, "*")
	escapes := len(body) - len(strings.TrimRight(body, `\`))
	return star && escapes%2 == 0
}

// class checks the character class that starts at i and returns its end.
func class(pattern string, i int) (next int, err error) {
	j := i + 1
	if j < len(pattern) && (pattern[j] == '!' || pattern[j] == '^') {
		j++
	}
	first := j
	low := rune(-1)
	for j < len(pattern) {
		if pattern[j] == ']' {
			if j == first {
				return 0, fmt.Errorf("pattern has an empty class at byte %d: name characters, such as [abc]", i+1)
			}
			return j + 1, nil
		}
		if low >= 0 && pattern[j] == '-' && j+1 < len(pattern) && pattern[j+1] != ']' {
			high, after, err := classRune(pattern, j+1)
			if err != nil {
				return 0, err
			}
			if high < low {
				return 0, fmt.Errorf("pattern has the class range %c-%c, which is empty: write %c-%c", low, high, high, low)
			}
			low, j = -1, after
			continue
		}
		if low, j, err = classRune(pattern, j); err != nil {
			return 0, err
		}
	}
	return 0, fmt.Errorf(`pattern has a "[" at byte %d without "]": close it, or write \[ for the character`, i+1)
}

func classRune(pattern string, i int) (r rune, next int, err error) {
	start := i
	if pattern[i] == '\\' {
		if _, err = escape(pattern, i); err != nil {
			return 0, 0, err
		}
		start = i + 1
	}
	r, n := utf8.DecodeRuneInString(pattern[start:])
	if start == i && strings.ContainsRune("[{}", r) {
		// If a class does not match, doublestar continues to read within it.
		return 0, 0, fmt.Errorf(`pattern has %q inside a class at byte %d: write \%c for the character`, r, start+1, r)
	}
	if r == '/' {
		return 0, 0, fmt.Errorf(`pattern has a "/" in the class at byte %d, which never matches: use {alternatives}`, start+1)
	}
	return r, start + n, nil
}

// escape checks the escape at i and returns its end.
func escape(pattern string, i int) (next int, err error) {
	if i+1 == len(pattern) {
		return 0, errors.New(`pattern ends in a backslash: write \\ for the character`)
	}
	if !strings.ContainsRune(`*?[]{}\,!^-`, rune(pattern[i+1])) {
		return 0, fmt.Errorf(`pattern has a backslash at byte %d before a plain character: use "/" between directories, \\ for a backslash`, i+1)
	}
	return i + 2, nil
}

// validateSegments checks one expansion. It must be relative, without empty or dot segments, and
// each ** must be alone in its segment, because only there it matches any depth.
func validateSegments(expansion string) error {
	if strings.HasPrefix(expansion, "/") {
		return errors.New(`pattern starts with "/": paths are relative to the repository's root, so leave it out`)
	}
	if strings.HasSuffix(expansion, "/") {
		return errors.New(`pattern ends in "/": write dir/** for what is inside a directory`)
	}
	for s := range strings.SplitSeq(expansion, "/") {
		switch {
		case s == "" && expansion == "":
			return errors.New("pattern has only empty alternatives: write ** to match every file")
		case s == "":
			return errors.New(`pattern has "//": leave one "/" out`)
		case s == "." || s == "..":
			return fmt.Errorf("pattern has the segment %q, which no changed file has: write the path from the repository's root", s)
		case s != "**" && hasDoubleStar(s):
			return fmt.Errorf(`pattern has ** in the segment %q, where it is only a *: write **/*.ext for any depth`, s)
		}
	}
	return nil
}

// hasDoubleStar reports whether two stars are side by side, outside classes and escapes.
func hasDoubleStar(s string) bool {
	stars := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '*':
			if stars++; stars == 2 {
				return true
			}
			continue
		case '\\':
			i++
		case '[':
			// Class bodies have no unescaped "]". They were checked before.
			for i++; i < len(s) && s[i] != ']'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
		}
		stars = 0
	}
	return false
}
