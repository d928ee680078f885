package aggregate

import "regexp"

// placeholder matches what replaces a secret in everything that an agent sees. People and programs
// may escape its bracket.
var placeholder = regexp.MustCompile(`(?i)(?:\[|&#91;|&#x5b;|&lbrack;|&lsqb;|%5b|\\x5b|\\u005b|\\133)\s*redacted\s*(?::|&#58;|&#x3a;|&colon;|%3a)`)

// withoutPlaceholder removes a fix that would put a placeholder into the code instead of the
// secret. It runs before any output is made, so that no output offers the fix, and before fixes are
// joined.
func withoutPlaceholder(f *item) {
	if !placeholder.MatchString(f.SuggestedFix) {
		return
	}
	f.SuggestedFix = ""
	f.addReason("its suggested fix is not offered: it would write a placeholder for a secret into the code")
}
