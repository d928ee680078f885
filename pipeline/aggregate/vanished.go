package aggregate

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// maxWindows bounds how many runs of lines one report looks through for text
// that findings were about: some 50 ms of hashing.
const maxWindows = 1 << 17

// maxUnseen is up to which place among equals a finding is known as one about
// lines that the diff did not show.
const maxUnseen = 20

// vanished reports whether what a finding of the last report was about stands
// no longer in the lines that the diff shows of its file: none of them gives
// one of its fingerprints. Then nobody has to look again to know that it is
// gone, such as an agent that was asked for those very lines.
func (w *work) vanished(f *pipeline.Finding, place string) bool {
	if f.StartLine == 0 || place == "" || len(f.Fingerprints) == 0 {
		return false
	}
	lines := w.lines.of(place)
	span := min(f.EndLine-f.StartLine+1, maxFlagged)
	if w.windows += len(lines)*span + maxUnseen; w.windows > maxWindows {
		return false
	}
	was := item{Finding: *f}
	was.title = w.titles.of(f.Title)
	before := was.what() + "\x00" + or(f.OriginalPath, f.Path) + "\x00"
	for nth := range maxUnseen {
		if slices.Contains(f.Fingerprints, fingerprint(before+"\n", nth)) {
			return false // it was about lines that were not shown then either
		}
	}
	times := map[string]int{}
	for _, start := range slices.Sorted(maps.Keys(lines)) {
		var text []string
		for n := start; n < start+span; n++ {
			l := collapsed(lines[n].text)
			if l == "" && n > start {
				continue // the same text again
			}
			if l != "" {
				text = append(text, l)
			}
			equals := before + brief(strings.Join(text, " ")+"\n")
			if slices.Contains(f.Fingerprints, fingerprint(equals, times[equals])) {
				return false
			}
			times[equals]++
		}
	}
	return true
}

// fingerprint is that of the nth of those that are otherwise equal, from 0.
func fingerprint(equals string, nth int) string {
	sum := sha256.Sum256([]byte(equals + "\x00" + strconv.Itoa(nth)))
	return hex.EncodeToString(sum[:8])
}
