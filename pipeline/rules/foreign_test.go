package rules

import "testing"

func TestBeyondASCII(t *testing.T) {
	for expression, want := range map[string]bool{
		`[\x{202A}-\x{202E}]`: true, `a[é-ü]b`: true, `(?:é|[ü])+`: true, `é{2}`: true,
		`a`: false, `[aé]`: false, `é?`: false, `é*a`: false, `é|a`: false, `(?i)[ſ]`: false, `(?i)K`: false, ``: false, `(`: false,
	} {
		if got := beyondASCII(expression); got != want {
			t.Errorf("%s needs a character beyond ASCII: %t", expression, got)
		}
	}
}
