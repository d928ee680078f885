package secrets

import (
	"strings"
	"sync"
	"testing"
)

// A value that only its context in a change shows to be a secret counts as one in all texts of
// that change, and in no other change.
func TestChangeKnowsItsSecrets(t *testing.T) {
	d := detector(t)
	c := d.Change()
	f := facts("a.go", "+password = \""+random+"\"", "+use("+random+")")
	f.Title = "Use " + random
	if found := c.Redact(&f); len(found) != 1 || strings.Contains(f.Title+strings.Join(texts(f), ""), random) {
		t.Errorf("found %v in %q and %q", found, f.Title, texts(f))
	}
	const want = "Log in with [redacted:generic-api-key] and [redacted:aws-access-token]."
	text := "Log in with " + random + " and " + aws + "."
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if got := c.Text(text); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
	wg.Wait()
	// The redaction of one text does not affect the redaction of another.
	c.Text("password = \"" + random[2:] + "x7Qz\"")
	if got := c.Text("Use " + random[2:] + "x7Qz."); strings.Contains(got, "redacted") {
		t.Errorf("%q counts as a secret", got)
	}
	if got := d.Change().Text("Use " + random); strings.Contains(got, "redacted") {
		t.Errorf("in another change, the text became %q", got)
	}
}
