package rules

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline/internal/literals"
	"github.com/reviewgate/reviewgate/policies/expression"
)

// rule is a config.Rule ready to run. One without a match has nothing but its
// expression.
type rule struct {
	config.Rule
	when *expression.Expression // or nil

	index   int
	on      string
	pattern *regexp.Regexp // of a literal: the literal, quoted
	not     *regexp.Regexp // or nil
	quick   func(string) bool
	guard   *literals.Guard
	fix     bool
	tests   bool

	includes, excludes []int // globs, as they stand in the scopes
}

func compileRule(c *config.Rule) (*rule, error) {
	r := &rule{Rule: *c}
	if c.When != "" {
		var err error
		if r.when, err = expression.Compile(c.When); err != nil {
			return nil, fmt.Errorf("when: %w", err)
		}
	}
	if c.Match == nil {
		return r, nil
	}
	return r, r.compileMatch(c.Match)
}

func (r *rule) compileMatch(m *config.Match) error {
	r.on, r.fix, r.tests = m.On, m.Fix != "", m.Tests == nil || *m.Tests
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
	expression := m.Pattern
	if m.Literal != "" {
		expression = regexp.QuoteMeta(m.Literal)
		r.quick = func(text string) bool { return strings.Contains(text, m.Literal) }
	} else if r.on == config.OnAdded || r.on == config.OnRemoved {
		r.quick = byHand(expression)
	}
	var err error
	if r.pattern, err = regexp.Compile(expression); err != nil {
		return fmt.Errorf("match.pattern: %w", err)
	}
	if r.quick == nil {
		r.quick = r.pattern.MatchString
	}
	if m.NotPattern != "" {
		if r.not, err = regexp.Compile(m.NotPattern); err != nil {
			return fmt.Errorf("match.not_pattern: %w", err)
		}
	}
	return nil
}

// matches says whether the text, which the caller has bounded, is a finding.
func (r *rule) matches(text string) bool {
	return r.quick(text) && (r.not == nil || !r.not.MatchString(text))
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
