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

// rule is a config.Rule ready to run. One with an expression has nothing but
// that.
type rule struct {
	config.Rule
	when *expression.Expression

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
	if c.When != "" {
		return compileWhen(c)
	}
	m := c.Match
	r := &rule{Rule: *c, on: m.On, fix: m.Fix != "", tests: m.Tests == nil || *m.Tests}
	switch r.on {
	case "":
		r.on = config.OnAdded
	case config.OnAdded, config.OnRemoved, config.OnFile, config.OnPath,
		config.OnTitle, config.OnBody, config.OnCommitMessage:
	default:
		return nil, fmt.Errorf("match.on is %q, which is nothing that a rule can look at", r.on)
	}
	if (m.Pattern == "") == (m.Literal == "") {
		return nil, errors.New("match needs either a pattern or a literal")
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
		return nil, fmt.Errorf("match.pattern: %w", err)
	}
	if r.quick == nil {
		r.quick = r.pattern.MatchString
	}
	if m.NotPattern != "" {
		if r.not, err = regexp.Compile(m.NotPattern); err != nil {
			return nil, fmt.Errorf("match.not_pattern: %w", err)
		}
	}
	return r, nil
}

func compileWhen(c *config.Rule) (*rule, error) {
	if c.Match != nil {
		return nil, errors.New("a rule has either a match or an expression")
	}
	when, err := expression.Compile(c.When)
	if err != nil {
		return nil, fmt.Errorf("when: %w", err)
	}
	return &rule{Rule: *c, when: when}, nil
}

// matches says whether the text, which the caller has bounded, is a finding.
func (r *rule) matches(text string) bool {
	return r.quick(text) && (r.not == nil || !r.not.MatchString(text))
}

// fixed returns the line with the matched text replaced, and whether that
// makes a difference that can be suggested: no text stands for no suggestion.
func (r *rule) fixed(line string) (string, bool) {
	if !r.fix {
		return "", false
	}
	out := r.pattern.ReplaceAllString(line, r.Match.Fix)
	return out, out != line && out != ""
}
