package rules

import (
	"errors"
	"fmt"
	"strings"

	"github.com/reviewgate/reviewgate/config"
)

// rule is a config.Rule ready to run. One without a match has nothing but its
// expression.
type rule struct {
	config.Rule
	*parts

	index int
	on    string
	fix   bool
	tests bool

	includes, excludes []int // globs, as they stand in the scopes
}

func compileRule(c *config.Rule) (*rule, error) {
	r := &rule{Rule: *c}
	k := partsKey{when: c.When}
	if c.Match != nil {
		if err := r.readMatch(c.Match); err != nil {
			return nil, err
		}
		k.pattern, k.literal, k.not = c.Match.Pattern, c.Match.Literal, c.Match.NotPattern
		k.lines = r.on == config.OnAdded || r.on == config.OnRemoved
	}
	var err error
	r.parts, err = compiled.get(k)
	return r, err
}

func (r *rule) readMatch(m *config.Match) error {
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
