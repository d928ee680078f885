package rules

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline/internal/literals"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// A shipped rule that runs on every line would cost more than all other rules
// together.
func TestShippedRulesHoldLiterals(t *testing.T) {
	cfg, _ := config.Load()
	for i := range cfg.Rules {
		if cfg.Rules[i].Match == nil {
			continue
		}
		r, err := compileRule(&cfg.Rules[i])
		if err != nil {
			t.Fatal(err)
		}
		if onLines := r.on == config.OnAdded || r.on == config.OnRemoved; onLines && r.everyLine() {
			t.Errorf("%s runs on every line: reword %q so that each of its alternatives holds two fixed characters", r.ID, r.pattern)
		}
	}
}

// everyLine reports whether a rule's regular expression runs on every line.
func (r *rule) everyLine() bool {
	return literals.Required(r.pattern.String()) == nil && r.Match.Literal == "" && fastMatcher(r.Match.Pattern) == nil && r.nonASCII == nil
}

// The hand-written matchers agree with the expressions that they stand for.
func TestFastMatchers(t *testing.T) {
	shapes := []string{
		`\s+$`, `\s$`, `[\s]+$`, `[ \t]+$`, `[ \t]$`, `[\t ]+$`, `[\t ]$`, ` +$`, ` $`,
		`.{0,}`, `.{3,}`, `^.{3,}`, `.{3,}$`, `^.{3,}$`, `^.{100,}$`,
	}
	for _, s := range shapes {
		if fastMatcher(s) == nil {
			t.Errorf("no matcher for %q", s)
		}
	}
	for _, s := range []string{`\s+`, `^\s+$`, `.{3}`, `.{3,5}`, `.{3,}x`, `..{3,}`, `(?i).{3,}`, `.{99999,}`} {
		if fastMatcher(s) != nil {
			t.Errorf("there is a matcher for %q, which needs the expression", s)
		}
	}
	piece := rapid.SampledFrom([]string{" ", "\t", "\r", "\f", "\v", "\x00", "a", "é", "\u00a0", "\u2028", "\xff", "ab", strings.Repeat("x", 97)})
	sample.Check(t, func(t *rapid.T) {
		expression := rapid.SampledFrom(shapes).Draw(t, "expression")
		line := strings.Join(rapid.SliceOfN(piece, 0, 5).Draw(t, "line"), "")
		if got, want := fastMatcher(expression)(line), regexp.MustCompile(expression).MatchString(line); got != want {
			t.Fatalf("%q on %q: %t by hand, %t by the expression", expression, line, got, want)
		}
	})
}
