package rules

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/internal/comments"
	"github.com/reviewgate/reviewgate/pipeline/internal/lazy"
)

// rule is a config.Rule ready to run. A rule without a match has only an
// expression.
type rule struct {
	config.Rule
	*parts

	index    int
	on       string
	fix      bool
	tests    bool
	comments bool // whether it looks at comments
	held     bool // whether it is a rule of a held agent; see Compile
	moved    bool // whether a removed line counts that the change adds elsewhere
	style    bool // whether it is on style; see countHouseStyle

	includes, excludes []int // indexes of globs in scopes
	notBefore          []notBefore
	calls, within      names // functions that make a value harmless, and functions that keep it harmless
}

func compileRule(c *config.Rule) (*rule, error) {
	r := &rule{Rule: *c, moved: true, style: c.IsStyle()}
	k := partsKey{when: c.When}
	if c.Match != nil {
		if err := r.readMatch(c.Match); err != nil {
			return nil, err
		}
		k.pattern, k.literal, k.not, k.source = c.Match.Pattern, c.Match.Literal, c.Match.NotPattern, c.Match.Source
		k.notInFile, k.notInChange = c.Match.NotInFile, c.Match.NotInChange
		k.lines = r.on == config.OnAdded || r.on == config.OnRemoved
	}
	var err error
	r.parts, err = compiled.get(k)
	return r, err
}

// notBefore leaves out lines until a day.
type notBefore struct {
	pattern *lazy.Regexp
	day     time.Time
}

func compileNotBefore(list []config.NotBefore) ([]notBefore, error) {
	var out []notBefore
	for i, b := range list {
		pattern, err := lazy.Compile(b.Pattern)
		if err != nil {
			return nil, fmt.Errorf("match.not_before[%d]: %w", i, err)
		}
		day, err := time.Parse(time.DateOnly, b.Day)
		if err != nil {
			return nil, fmt.Errorf("match.not_before[%d]: %w", i, err)
		}
		out = append(out, notBefore{pattern, day})
	}
	return out, nil
}

// early reports whether a line does not count yet.
func (r *rule) early(line string, now time.Time) bool {
	return slices.ContainsFunc(r.notBefore, func(b notBefore) bool {
		return now.Before(b.day) && b.pattern.Get().MatchString(bounded(line, maxLine))
	})
}

func (r *rule) readMatch(m *config.Match) error {
	r.on, r.fix, r.tests = m.On, m.Fix != "", m.Tests == nil || *m.Tests
	r.comments = m.Comments == nil || *m.Comments
	r.moved = m.Moved == nil || *m.Moved || m.On != config.OnRemoved
	var err error
	if r.notBefore, err = compileNotBefore(m.NotBefore); err != nil {
		return err
	}
	r.calls, r.within = namesOf(m.SafeCalls), namesOf(m.SafeWithin)
	switch r.on {
	case "":
		r.on = config.OnAdded
	case config.OnAdded, config.OnRemoved, config.OnFile, config.OnPath,
		config.OnTitle, config.OnBody, config.OnCommitMessage:
	default:
		return fmt.Errorf("match.on is %q, which a rule can't look at", r.on)
	}
	if (m.Pattern == "") == (m.Literal == "") {
		return errors.New("match needs either a pattern or a literal")
	}
	return nil
}

// matchesText reports whether a text that is not code is a finding. The caller
// has bounded the text.
func (r *rule) matchesText(text string) bool {
	return r.quick(text) && (r.not == nil || !r.not.Get().MatchString(text))
}

// matches reports whether code is a finding. The caller has bounded the code, and
// has removed a comment at its start if the rule does not look at comments. The
// language is the file's, or empty if it is unknown.
func (r *rule) matches(text, language string) bool {
	return r.quick(text) && !r.excused(text, language)
}

// serious reports whether the rule's findings can block a change. The author must
// not be able to evade such a rule by writing the code another way. The severity in
// single domains does not count: it is about how much a mistake matters there, not
// about authors who hide it.
func (r *rule) serious() bool { return r.Severity.Rank() >= pipeline.SeverityMajor.Rank() }

// countsNet reports whether a match that replaces another one is not new. A rule that can block reports
// it on added lines all the same, since what the line does may be worse now.
func (r *rule) countsNet() bool { return r.Match.Net && (r.on != config.OnAdded || !r.canBlock()) }

// maxExcused bounds the matches of a text that can be excused. A text with more
// is a finding.
const maxExcused = 50

// maxReadForExcuses bounds how many bytes of statements are read to excuse the
// matches of a text. A text that needs more is a finding.
const maxReadForExcuses = 4 * maxLine

// excused reports whether each match in the text is an exception. The excuse must
// be code of the same statement, or the comment that holds the match: anyone can
// write a word elsewhere on the line.
func (r *rule) excused(text, language string) bool {
	if r.source == nil && (r.not == nil || !r.not.Get().MatchString(text)) {
		return false
	}
	matches := r.pattern.Get().FindAllStringIndex(text, maxExcused+1)
	if len(matches) > maxExcused {
		return false
	}
	bare := comments.Bare(language, text)
	var last []string // the statements that excuse the previous match; most matches share them
	read := 0
	for _, m := range matches {
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

// allowsAll reports whether the statements that a match spans excuse it. Each
// statement must. Where their ends are certain, only those that match the pattern
// by themselves must.
func (r *rule) allowsAll(parts []string, sure bool, language string) bool {
	if len(parts) > 1 {
		parts = slices.DeleteFunc(slices.Clone(parts), func(part string) bool { return !strings.ContainsFunc(part, unicode.IsLetter) })
	}
	if sure && len(parts) > 1 {
		matching := slices.DeleteFunc(slices.Clone(parts), func(part string) bool { return !r.pattern.Get().MatchString(part) })
		if len(matching) > 0 {
			parts = matching
		}
	}
	return len(parts) > 0 && !slices.ContainsFunc(parts, func(part string) bool { return !r.allows(part, language) })
}

// beforeComment cuts a text at the first mark after a position that begins a
// comment in any language.
func beforeComment(text string, from int) string {
	end := len(text)
	for _, mark := range []string{"#", "//", "--", "/*", "<!--"} {
		if i := strings.Index(text[from:end], mark); i > 0 {
			end = from + i
		}
	}
	return text[:end]
}

// allows reports whether a statement excuses the matches in it. For a serious
// rule the excuse must be code, or a string that holds the match or ends where
// the match ends: a string elsewhere can say anything.
func (r *rule) allows(statement, language string) bool {
	if r.safe(statement, language) {
		return true
	}
	if r.not == nil {
		return false
	}
	if !r.serious() {
		return r.not.Get().MatchString(statement)
	}
	if r.not.Get().MatchString(comments.Code(language, statement)) {
		return true
	}
	excuses := r.not.Get().FindAllStringIndex(statement, maxExcused)
	if len(excuses) == 0 {
		return false
	}
	end := func(at int) int { return len(strings.TrimRight(statement[:at], " \t,;)}")) }
	matches := r.pattern.Get().FindAllStringIndex(statement, maxExcused+1)
	return len(matches) > 0 && len(matches) <= maxExcused && !slices.ContainsFunc(matches, func(m []int) bool {
		return !slices.ContainsFunc(excuses, func(e []int) bool {
			return end(e[1]) == end(m[1]) || e[0] <= m[0] && e[1] >= m[1]
		})
	})
}

// fixed returns the line with the matched text replaced, and whether the result
// can be suggested. It can't if it equals the line, is empty, or is longer than
// people read.
func (r *rule) fixed(line string) (string, bool) {
	if !r.fix {
		return "", false
	}
	var out []byte
	end := 0
	for _, m := range r.pattern.Get().FindAllStringSubmatchIndex(line, -1) {
		out = append(out, line[end:m[0]]...)
		// A template can insert the match once for each of its characters.
		if len(out)+len(r.Match.Fix)+strings.Count(r.Match.Fix, "$")*(m[1]-m[0]) > maxFix {
			return "", false
		}
		out = r.pattern.Get().ExpandString(out, r.Match.Fix, line, m)
		end = m[1]
	}
	out = append(out, line[end:]...)
	return string(out), len(out) <= maxFix && string(out) != line && len(out) > 0
}
