package aggregate

import (
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
	"github.com/reviewgate/reviewgate/policies/words"
)

// identify gives each finding its fingerprint, which survives line shifts, rebases, renames and
// force pushes. It is made from the rule or title, the oldest known path or the section, the
// flagged text, and the position among equal findings, but never from a line number. Findings at
// one place have the same position among equals, whether they come from two agents or from one that
// repeats itself.
//
// This comes before any of them is merged, suppressed or found to be unsure, so that what happens
// to one finding does not change the fingerprints of others.
func (w *work) identify() {
	sortByContent(w.findings) // equal findings are counted in document order
	for _, f := range w.findings {
		f.title, f.section = w.in.titles.of(f.Title), words.Normalised(f.Section)
		f.flagged = w.texts.flagged(f)
	}
	w.paths = newPathHistory(w.in, w.texts, w.findings)
	w.surroundings = newSurroundings(w.in.files, w.in.Facts, w.in.Rules)
	for i, id := range fingerprints(w.findings, w.paths.key) {
		f := w.findings[i]
		f.ownID, f.ID, f.Fingerprints = id, id, pipeline.List[string]{id}
		f.Surroundings = pipeline.List[string]{w.surroundings.of(f)}
		if o := w.paths.oldest[f.Path]; o != f.Path {
			f.OriginalPath = o
		}
	}
	w.texts.setFlagged(w.findings)
}

// fingerprints returns the fingerprints of findings in document order. where returns the place of
// each.
func fingerprints(findings []*item, where func(*item) string) []string {
	type place struct {
		equals, path, section string
		start, end            int
	}
	nth, next := make(map[place]int, len(findings)), make(map[string]int, len(findings))
	out := make([]string, len(findings))
	for i, f := range findings {
		equals := f.identity() + "\x00" + where(f) + "\x00" + f.flagged
		p := place{equals, f.Path, "", f.StartLine, f.EndLine}
		if f.Path == "" {
			p.section = f.section // several commits may have one message
		}
		n, ok := nth[p]
		if !ok {
			n = next[equals]
			nth[p], next[equals] = n, n+1
		}
		out[i] = fingerprint(equals, n)
	}
	return out
}

// byModel begins the identity of a model's finding. The fingerprint differs from that of any other
// finding at the same place and by the same rule: whoever dismisses a model's finding has not
// dismissed the rule's, and what only a model found is new when something else finds it.
const byModel = "model\x00"

// identity is the rule, or the title if there is no rule, and whether a model says so. A title of
// only punctuation stays as it is.
func (f *item) identity() string {
	by := ""
	if f.Model != "" {
		by = byModel
	}
	switch {
	case f.RuleID != "":
		return by + f.RuleID
	case f.title.norm != "":
		return by + f.title.norm
	}
	return by + plaintext.Line(f.Title)
}
