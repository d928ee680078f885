package aggregate

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
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
		f.title, f.section = w.titles.of(f.Title), normalised(f.Section)
		f.flagged = w.texts.flagged(f)
	}
	w.lineage.origins = w.oldestPaths()
	w.last.surroundings = newSurroundings(w.files, w.in.Facts, w.rules)
	for i, id := range fingerprints(w.findings, w.lineage.placeKey) {
		f := w.findings[i]
		f.ownID, f.ID, f.Fingerprints = id, id, pipeline.List[string]{id}
		f.Surroundings = pipeline.List[string]{w.last.surroundings.of(f)}
		if o := w.lineage.origins[f.Path]; o != f.Path {
			f.OriginalPath = o
		}
	}
	w.texts.setFlagged(w.findings)
}

// placeKey is the oldest known path of a finding's file, or the section. The section of a commit's
// message does not name the commit, since a rebase changes it.
func (li *lineage) placeKey(f *item) string {
	if f.Path != "" {
		return or(li.origins[f.Path], f.Path)
	}
	if _, known := li.texts.commit(f); known {
		return "commit"
	}
	return f.section
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

// How much of a finding's lines counts: the first lines that aren't blank. The beginning identifies
// a longer finding.
const (
	maxFlagged = 50
	maxSpanned = 4 * maxFlagged // with blank lines
)

// flagged is the text that a finding is about, with white space collapsed, including blank lines
// and line breaks. It leaves out comments that ignore findings, so that writing one does not change
// the finding. Facts hold placeholders for secrets, so it contains no secret. A finding about no
// lines is about its section, or about a commit's message.
func (tx *texts) flagged(f *item) string {
	if f.Path == "" {
		message, _ := tx.commit(f)
		return plaintext.Line(message)
	}
	if f.StartLine == 0 {
		return f.section
	}
	if tx.files[f.Path] == nil {
		return ""
	}
	place := flaggedLines{f.Path, f.StartLine, f.EndLine}
	if text, ok := tx.flaggedAt[place]; ok {
		return text // computed once: thousands of findings may be about one line
	}
	lines := tx.lines.of(f.Path)
	var text []string
	for n := f.StartLine; n <= f.EndLine && n < f.StartLine+maxSpanned && len(text) < maxFlagged; n++ {
		if l := plaintext.Line(lines[n].text); l != "" {
			text = append(text, l)
		}
	}
	tx.flaggedAt[place] = brief(strings.Join(text, " ") + "\n")
	return tx.flaggedAt[place]
}

// flaggedLines are the lines of a file that a finding is about.
type flaggedLines struct {
	path       string
	start, end int
}

// maxBrief is the length up to which a text itself is part of a finding's identity, in bytes.
const maxBrief = 4 << 10

// brief is a text, or its digest if the text is too long to store for each finding.
func brief(text string) string {
	if len(text) <= maxBrief {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:]) + "\n"
}

// commit returns the commit message that a finding is about, if it is about one.
func (tx *texts) commit(f *item) (message string, known bool) {
	if f.Path != "" || f.Section == "" {
		return "", false
	}
	if tx.commits == nil {
		tx.commits = map[string]string{}
		for _, c := range tx.in.Facts.Commits {
			tx.commits[pipeline.SectionCommit(c.SHA)] = c.Message
		}
	}
	message, known = tx.commits[f.Section]
	return message, known
}
