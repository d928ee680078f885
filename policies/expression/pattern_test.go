package expression

import (
	"regexp"
	"regexp/syntax"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reviewgate/reviewgate/pipeline/sample"
	"pgregory.net/rapid"
)

func TestRequired(t *testing.T) {
	tests := map[string][]string{
		`^WIP`:                         {"WIP"},
		`(^|/)package\.json$`:          {"package.json"},
		`^\.github/workflows/.*\.yml$`: {".github/workflows/"},
		`\.(go|rs)$`:                   {"go", "rs"},
		`(?:alpha|beta)+x?`:            {"alpha", "beta"},
		`(?i)wip`:                      nil,
		`a*`:                           nil,
		`alpha|b*`:                     nil,
		`(abc){2,3}`:                   {"abc"},
		`(abc){0,3}`:                   nil,
		"a\uFFFDb":                     nil, // it matches invalid UTF-8
	}
	for pattern, want := range tests {
		re, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, required(re)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", pattern, diff)
		}
	}
}

// Repetitions count as if they were written out. Unlimited ones count with their minimum.
func TestPatternSize(t *testing.T) {
	for pattern, want := range map[string]int{`abc`: 3, `[ab]`: 1, `a{3,9}`: 18, `a{0,9}`: 18, `a{3,}`: 6, `(ab)*`: 4, `((?:ab){2}){3}`: 24} {
		re, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		if got := PatternSize(re); got != want {
			t.Errorf("%s has the size %d, want %d", pattern, got, want)
		}
	}
}

// Searching for required texts first does not change the answer.
func TestPatternsMatchAsRegexpDoes(t *testing.T) {
	piece := rapid.SampledFrom([]string{"a", "b", "ab", "(?i:ab)", "[ab]", ".", "(a|bb)", "(?:ab|)", "a*", "b+", "(ab){2}", "(b){0,1}", "^", "$", `\b`, "|"})
	sample.Check(t, func(t *rapid.T) {
		text := ""
		for _, p := range rapid.SliceOfN(piece, 1, 6).Draw(t, "pattern") {
			text += p
		}
		re, err := regexp.Compile(text)
		if err != nil {
			return
		}
		p, problem := compilePattern(funcMatches, text)
		if problem != nil {
			t.Fatalf("%q: %v", text, problem)
		}
		in := rapid.StringOf(rapid.SampledFrom([]rune("abAB \n"))).Draw(t, "text")
		if p.matches(in) != re.MatchString(in) {
			t.Fatalf("%q on %q = %v", text, in, p.matches(in))
		}
	})
}
