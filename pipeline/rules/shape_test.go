package rules

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/pipeline/internal/comments"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// If its shape rules a line out, the line has no other form, comment or continuation.
func TestShape(t *testing.T) {
	pieces := rapid.SampledFrom([]string{
		".", "(", ")", "[", "]", "?", `\`, "u", "\"", "'", "`", " ", "\t", "\r", "\v", "\f", "a", "r", "getattr", "if", "=", "+", "1", "é", "\u2028", "\xff",
		"/", "*", "#", "-", "<", "!", ">", "{", "}", ";", "&", "x", "U", "0", "f", ":", "as ", " satisfies\t", "(a)", "<a>", "(\"a\")", "amp;", "colon;", "n", "require(", "('b')", "c<", "=> ", ", ", "\": ", "**{", "$X",
	})
	sample.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(pieces, 0, 12).Draw(t, "pieces"), "")
		s := shapeOf(text)
		if unusual(text) && s&unusualShape == 0 || hasKey(text) && !withKeys.mayHaveForms(s, text) || hasWords(text) && !withWords.mayHaveForms(s, text) || hasUnpacked(text) && !withUnpacking.mayHaveForms(s, text) {
			t.Errorf("%q is unusual, but its shape is not", text)
		}
		for _, language := range []string{"Go", "PHP", "Shell", "INI", "SQL", "Lua", "HTML", "XML", "PowerShell", "HCL"} {
			if bare := comments.Bare(language, text); bare != text && s&anyCommentShape == 0 {
				t.Errorf("%s takes %q for %q, whose shape holds no comment", language, text, bare)
			}
		}
		for _, y := range []layout{layoutOf("Go"), layoutOf("Python"), layoutOf("PHP"), layoutOf("JavaScript"), {colon: true, tags: true}} {
			if got, want := y.alone(text, s), y.alone(text, ^shape(0)); got != want {
				t.Errorf("%q is alone: %t, want %t", text, got, want)
			}
		}
	})
}
