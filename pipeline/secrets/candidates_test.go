package secrets

import (
	"strings"
	"testing"
)

// No text is searched many times: candidates of one rule overlap by at most the length by which a
// line is widened.
func TestCandidatesAreBounded(t *testing.T) {
	d := detector(t)
	for _, piece := range []string{"\u017fecret=", "\u212aey=", "secret=", "password = a1b2c3d4e5f6\u017f ", "key\n", "private \u212aey: ", "\u017f", "curl -u \u212a", "curl -H 'Authorization: Basic ", "kind: Secret ", "-----BEGIN PRIVATE KEY-----"} {
		text := strings.Repeat(piece, (1<<17)/len(piece))
		s := d.search(text)
		if s == nil {
			continue
		}
		sum := map[int]int{}
		for _, c := range s.found {
			sum[c.rule] += c.to - c.from
		}
		for r, n := range sum {
			if n > 8*len(text) {
				t.Errorf("%s searches %d bytes of %d made of %q", d.rules[r].id, n, len(text), piece)
			}
		}
	}
}
