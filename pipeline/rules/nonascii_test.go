package rules

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/pipeline/sample"
)

func TestBeyondASCII(t *testing.T) {
	for expression, want := range map[string]string{
		`[\x{202A}-\x{202E}]`: "\u202a\u202e", `a[é-ü]b`: "éü", `(?:é|[ü])+`: "ééüü", `é{2}`: "éé", `[é-ü]ß|(ä|[ç-ê])`: "ßßääçê",
		`(?i)[é]`: "", `a`: "", `[aé]`: "", `é?`: "", `é*a`: "", `é|a`: "", `(?i)[ſ]`: "", `(?i)K`: "", ``: "", `(`: "",
	} {
		if got := string(beyondASCII(expression)); got != want {
			t.Errorf("%s needs a character of %q, want %q", expression, got, want)
		}
	}
}

// Every text that matches holds one of the characters that beyondASCII returns.
func TestBeyondASCIIIsNecessary(t *testing.T) {
	parts := rapid.SampledFrom([]string{"é", "ü", "[é-ü]", `[^\x00-\x7f]`, "(?:é|ß)", "(?:ä|a)", "é?", "ß+", "a", ".", "(?i:é)", `\x{FFFD}`, "[\u202a-\u202e]", "|"})
	text := rapid.SampledFrom([]string{"é", "É", "ü", "ä", "ß", "a", "\xff", "\u202b", "\U0001F600", " "})
	join := func(p []string) string { return strings.Join(p, "") }
	sample.Check(t, func(t *rapid.T) {
		expression := join(rapid.SliceOfN(parts, 1, 4).Draw(t, "expression"))
		text := join(rapid.SliceOfN(text, 0, 6).Draw(t, "text"))
		ranges := beyondASCII(expression)
		if ranges != nil && !holdsOneOf(text, ranges) && regexp.MustCompile(expression).MatchString(text) {
			t.Errorf("%s matches %q, which holds none of %q", expression, text, string(ranges))
		}
	})
}
