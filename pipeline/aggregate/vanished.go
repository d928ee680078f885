package aggregate

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// maxWindows bounds the runs of lines that one report searches for text of earlier findings: some
// 50 ms of hashing.
const maxWindows = 1 << 17

// maxHiddenRank bounds the positions among equal findings that are checked for lines that the diff
// did not show.
const maxHiddenRank = 20

// vanished reports whether the text of an earlier finding no longer occurs in the lines of its file
// that the diff shows: none of them gives one of its fingerprints. The finding is then gone, even
// if no agent looked again, such as an agent that was asked about those very lines.
func (lk *looks) vanished(f *pipeline.Finding, place string) bool {
	if f.StartLine == 0 || place == "" || len(f.Fingerprints) == 0 {
		return false
	}
	lines := lk.lines.of(place)
	span := min(f.EndLine-f.StartLine+1, maxFlagged)
	if lk.windows += len(lines)*span + maxHiddenRank; lk.windows > maxWindows {
		return false
	}
	old := item{Finding: *f}
	old.title = lk.titles.of(f.Title)
	before := old.identity() + "\x00" + or(f.OriginalPath, f.Path) + "\x00"
	for nth := range maxHiddenRank {
		if slices.Contains(f.Fingerprints, fingerprint(before+"\n", nth)) {
			return false // the lines were not shown before either
		}
	}
	times := map[string]int{}
	for _, start := range slices.Sorted(maps.Keys(lines)) {
		var text []string
		for n := start; n < start+span; n++ {
			l := plaintext.Line(lines[n].text)
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

// fingerprint is the fingerprint of the nth of otherwise equal findings, from 0.
func fingerprint(equals string, nth int) string {
	sum := sha256.Sum256([]byte(equals + "\x00" + strconv.Itoa(nth)))
	return hex.EncodeToString(sum[:8])
}
