package lazy

import (
	"regexp"
	"testing"
)

// Compile refuses what regexp refuses, with the same words.
func TestCompile(t *testing.T) {
	for _, text := range []string{"", "a(b|c)*", `(?i)\bkey\b`, "(", "a**", `\8`, "a{1001}", "(?P<n", `[b-a]`, "((a{100}){100}){100}", `\pX`} {
		_, want := regexp.Compile(text)
		re, err := Compile(text)
		if (err == nil) != (want == nil) || err != nil && err.Error() != want.Error() {
			t.Errorf("Compile(%q): %v, want %v", text, err, want)
		}
		if err == nil && (re.String() != text || re.Get().String() != text) {
			t.Errorf("Compile(%q) = %q", text, re)
		}
		if err == nil {
			if first := re.Get(); re.Get() != first {
				t.Errorf("%q was compiled twice", text)
			}
		}
	}
}
