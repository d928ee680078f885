package rules

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/internal/comments"
)

// rule is a config.Rule ready to run. One without a match has nothing but its
// expression.
type rule struct {
	config.Rule
	*parts

	index    int
	on       string
	fix      bool
	tests    bool
	comments bool // whether it looks at comments

	includes, excludes []int // globs, as they stand in the scopes
	calls, within      names // of functions that make a value harmless, and that leave it so
}

func compileRule(c *config.Rule) (*rule, error) {
	r := &rule{Rule: *c}
	k := partsKey{when: c.When}
	if c.Match != nil {
		if err := r.readMatch(c.Match); err != nil {
			return nil, err
		}
		k.pattern, k.literal, k.not, k.source = c.Match.Pattern, c.Match.Literal, c.Match.NotPattern, c.Match.Source
		k.lines = r.on == config.OnAdded || r.on == config.OnRemoved
	}
	var err error
	r.parts, err = compiled.get(k)
	return r, err
}

func (r *rule) readMatch(m *config.Match) error {
	r.on, r.fix, r.tests = m.On, m.Fix != "", m.Tests == nil || *m.Tests
	r.comments = m.Comments == nil || *m.Comments
	r.calls, r.within = namesOf(m.SafeCalls), namesOf(m.SafeWithin)
	switch r.on {
	case "":
		r.on = config.OnAdded
	case config.OnAdded, config.OnRemoved, config.OnFile, config.OnPath,
		config.OnTitle, config.OnBody, config.OnCommitMessage:
	default:
		return fmt.Errorf("match.on is %q, which is nothing that a rule can look at", r.on)
	}
	if (m.Pattern == "") == (m.Literal == "") {
		return errors.New("match needs either a pattern or a literal")
	}
	return nil
}

// matchesText says whether a text that is not code, which the caller has bounded, is a
// finding.
func (r *rule) matchesText(text string) bool {
	return r.quick(text) && (r.not == nil || !r.not.MatchString(text))
}

// matches says whether code, which the caller has bounded, is a finding. The language is
// the file's, or empty if that is unknown. The code has no comment at its start if the
// rule does not look at comments.
func (r *rule) matches(text, language string) bool {
	return r.quick(text) && !r.excused(text, language)
}

// serious says whether the rule's findings can stop a change. Such a rule must not
// be evaded by the way the author chooses to write the code.
func (r *rule) serious() bool { return r.Severity.Rank() >= pipeline.SeverityMajor.Rank() }

// maxExcused bounds the matches of a text that may each be excused. One that has
// more is a finding.
const maxExcused = 50

// maxReadForExcuses bounds how many bytes of statements are read to excuse the matches of a text. One that
// needs more is a finding.
const maxReadForExcuses = 4 * maxLine

// excused reports whether each match in the text is an exception. What excuses
// it must be code of its own statement, or the comment that it stands in:
// anyone can write a word elsewhere on the line.
func (r *rule) excused(text, language string) bool {
	if r.source == nil && (r.not == nil || !r.not.MatchString(text)) {
		return false
	}
	found := r.pattern.FindAllStringIndex(text, maxExcused+1)
	if len(found) > maxExcused {
		return false
	}
	bare := comments.Bare(language, text)
	var last []string // the statements that excuse the match before, which most share
	read := 0
	for _, m := range found {
		at := m[0] + len(text[m[0]:m[1]]) - len(strings.TrimLeft(text[m[0]:m[1]], " \t"))
		if r.comments && at < len(text) && bare[at] != text[at] {
			continue
		}
		code := bare
		if r.serious() && !comments.Known(language) {
			code = beforeComment(bare, at)
		}
		parts, sure := comments.Statements(language, code, at, m[1], r.serious())
		if !r.serious() {
			parts = parts[:1]
		}
		if slices.Equal(parts, last) {
			continue
		}
		for _, part := range parts {
			read += len(part)
		}
		if read > maxReadForExcuses || !r.allowsAll(parts, sure, language) {
			return false
		}
		last = parts
	}
	return true
}

// allowsAll reports whether the statements that a match reaches over excuse it: each of them,
// or, where their ends are sure, each that the pattern matches by itself.
func (r *rule) allowsAll(parts []string, sure bool, language string) bool {
	if len(parts) > 1 {
		parts = slices.DeleteFunc(slices.Clone(parts), func(part string) bool { return !strings.ContainsFunc(part, unicode.IsLetter) })
	}
	if sure && len(parts) > 1 {
		matching := slices.DeleteFunc(slices.Clone(parts), func(part string) bool { return !r.pattern.MatchString(part) })
		if len(matching) > 0 {
			parts = matching
		}
	}
	return len(parts) > 0 && !slices.ContainsFunc(parts, func(part string) bool { return !r.allows(part, language) })
}

// beforeComment cuts a text at the first mark after a position that begins a comment in any
// language.
func beforeComment(text string, from int) string {
	end := len(text)
	for _, mark := range []string{"#", "//", "--", "/*", "<!--"} {
		if i := strings.Index(text[from:end], mark); i > 0 {
			end = from + i
		}
	}
	return text[:end]
}

// allows reports whether a statement holds what excuses the matches in it. For a serious
// rule that must be code, or a text that the match ends with or that it stands in: a text
// elsewhere can say anything.
func (r *rule) allows(statement, language string) bool {
	if r.safe(statement, language) {
		return true
	}
	if r.not == nil {
		return false
	}
	if !r.serious() {
		return r.not.MatchString(statement)
	}
	if r.not.MatchString(comments.Code(language, statement)) {
		return true
	}
	excuses := r.not.FindAllStringIndex(statement, maxExcused)
	if len(excuses) == 0 {
		return false
	}
	end := func(at int) int { return len(strings.TrimRight(statement[:at], " \t,;)}")) }
	found := r.pattern.FindAllStringIndex(statement, maxExcused+1)
	return len(found) > 0 && len(found) <= maxExcused && !slices.ContainsFunc(found, func(m []int) bool {
		return !slices.ContainsFunc(excuses, func(e []int) bool {
			return end(e[1]) == end(m[1]) || e[0] <= m[0] && e[1] >= m[1]
		})
	})
}

// fixed returns the line with the matched text replaced, and whether that
// makes a difference that can be suggested: no text stands for no suggestion,
// and neither does one that is longer than people read.
func (r *rule) fixed(line string) (string, bool) {
	if !r.fix {
		return "", false
	}
	var out []byte
	end := 0
	for _, m := range r.pattern.FindAllStringSubmatchIndex(line, -1) {
		out = append(out, line[end:m[0]]...)
		// A template can name the match as often as it is long.
		if len(out)+len(r.Match.Fix)+strings.Count(r.Match.Fix, "$")*(m[1]-m[0]) > maxFix {
			return "", false
		}
		out = r.pattern.ExpandString(out, r.Match.Fix, line, m)
		end = m[1]
	}
	out = append(out, line[end:]...)
	return string(out), len(out) <= maxFix && string(out) != line && len(out) > 0
}
