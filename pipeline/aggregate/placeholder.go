package aggregate

import "regexp"

// placeholder is what stands in place of a secret in everything that an agent is shown,
// as people and programs may spell it, with its bracket escaped or not.
var placeholder = regexp.MustCompile(`(?i)(?:\[|&#91;|&#x5b;|&lbrack;|&lsqb;|%5b|\\x5b|\\u005b|\\133)\s*redacted\s*(?::|&#58;|&#x3a;|&colon;|%3a)`)

// withoutPlaceholder removes a fix that would put a placeholder into the code where the
// secret stands. It does so before any output is made, so that none offers the fix, and
// before fixes are joined.
func (w *work) withoutPlaceholder(f *item) {
	if !placeholder.MatchString(f.SuggestedFix) {
		return
	}
	f.SuggestedFix = ""
	f.because("its suggested fix is not offered: it would write a placeholder for a secret into the code")
}
