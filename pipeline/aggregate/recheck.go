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

// rechecks finds out which findings of an earlier report this review checked again.
type rechecks struct {
	in      *input
	windows int // the number of runs of lines that vanished has searched
}

// rechecked reports whether everyone who made an earlier finding looked at its place again, or the
// place is gone, so that nobody could.
func (r *rechecks) rechecked(f *pipeline.Finding, place string) bool {
	if r.in.Failed != nil || r.in.FilesUnknown && f.Path != "" || slices.ContainsFunc(r.in.Facts.Incomplete, func(i pipeline.Incompleteness) bool { return mayHide(i, f, place) }) {
		return false
	}
	makers := f.Reviewers
	if len(makers) == 0 {
		makers = pipeline.List[string]{f.Agent}
	}
	if slices.ContainsFunc(makers, func(agent string) bool { return r.in.failed[agent] }) {
		return false
	}
	removed := f.Path != "" && place == "" // there is nothing to look at
	elsewhere := func(agent string) bool { return !r.looked(agent, place) }
	return removed || !slices.ContainsFunc(makers, elsewhere) || r.vanished(f, place)
}

// looked reports whether an agent answered on a file, or on the change if place is "". An agent
// whose questions were partly discarded did not.
func (r *rechecks) looked(agent, place string) bool {
	answered := false
	for _, res := range r.in.Results {
		if res.Agent == agent && res.Status == pipeline.AgentDiscarded {
			return false
		}
		answered = answered || res.Agent == agent
	}
	if !answered {
		return false
	}
	e := r.in.Manifest.Entry(agent)
	return e == nil || place == "" || e.Scope.Has(place)
}

// mayHide reports whether something unknown may hide a finding.
func mayHide(i pipeline.Incompleteness, f *pipeline.Finding, place string) bool {
	switch i.What {
	case "commits":
		return f.Path == "" && f.Section != pipeline.SectionTitle && f.Section != pipeline.SectionDescription
	case "files", "patch":
		// A file that is not in the list may be a rename that nobody saw.
		return f.Path != "" && (place == "" || i.Path == place)
	}
	return i.Gating && f.Path != "" && (i.Path == "" || i.Path == place)
}

// makersLooked reports whether each model that made a finding has looked again and finished.
func (r *rechecks) makersLooked(p *earlier) bool {
	if !r.rechecked(p.Finding, p.place) {
		return false
	}
	for s := range p.by {
		if !slices.ContainsFunc(r.in.Results, func(res pipeline.AgentResult) bool {
			return res.Agent == s.agent && res.Model == s.model && res.Status == pipeline.AgentOK
		}) {
			return false
		}
	}
	return true
}

// maxWindows bounds the runs of lines that one report searches for text of earlier findings: some
// 50 ms of hashing.
const maxWindows = 1 << 17

// maxHiddenRank bounds the positions among equal findings that are checked for lines that the diff
// did not show.
const maxHiddenRank = 20

// vanished reports whether the text of an earlier finding no longer occurs in the lines of its file
// that the diff shows: none of them gives one of its fingerprints. The finding is then gone, even
// if its agent did not look again, as when the agent was asked only about those lines.
func (r *rechecks) vanished(f *pipeline.Finding, place string) bool {
	if f.StartLine == 0 || place == "" || len(f.Fingerprints) == 0 {
		return false
	}
	lines := r.in.lines.of(place)
	span := min(f.EndLine-f.StartLine+1, maxFlagged)
	if r.windows += len(lines)*span + maxHiddenRank; r.windows > maxWindows {
		return false
	}
	old := item{Finding: *f}
	old.title = r.in.titles.of(f.Title)
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
