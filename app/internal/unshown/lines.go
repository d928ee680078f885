package unshown

import (
	"bytes"

	"github.com/rogpeppe/go-internal/diff"
)

// diffLines returns the hunks that turn one text into the other, and how many
// lines they add and remove. It aligns the texts by lines that occur once in both. The
// hunks may differ from git's, which have the fewest lines.
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
