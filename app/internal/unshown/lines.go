package unshown

import (
	"bytes"

	"github.com/rogpeppe/go-internal/diff"
)

// diffLines returns the hunks that turn one text into the other, and how many
// lines they add and remove. It goes by lines that stand once in both texts, so
// that git, which looks for the fewest lines, may say the same in other words.
func diffLines(old, changed []byte) (patch string, added, removed int) {
	hunks := diff.Diff("", old, "", changed)
	start := bytes.Index(hunks, []byte("\n@@ ")) // names come before
	if start < 0 {
		return "", 0, 0
	}
	hunks = bytes.TrimSuffix(hunks[start+1:], []byte("\n"))
	for line := range bytes.Lines(hunks) {
		switch line[0] {
		case '+':
			added++
		case '-':
			removed++
		}
	}
	return string(hunks), added, removed
}
