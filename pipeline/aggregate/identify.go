package aggregate

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// identify gives each finding its fingerprint, which outlives line shifts,
// rebases, renames and force pushes: it is made from the rule (or title), the
// oldest known path (or the section), the flagged text, and the place among
// equals, never from a line number. Findings at one place, of two agents or of
// one that repeats itself, have the same place among equals.
//
// That is done before any of them is merged, suppressed or found to be unsure:
// what becomes of one leaves the others theirs.
func (w *work) identify() {
	sortByContent(w.findings) // equals are counted in document order
	for _, f := range w.findings {
		f.title, f.section = w.titles.of(f.Title), normalised(f.Section)
		f.flagged = w.flagged(f)
	}
	w.origins = w.oldestPaths()
	w.around = newArounds(w.files, w.in.Facts, w.rules)
	for i, id := range fingerprints(w.findings, w.where) {
		f := w.findings[i]
		f.own, f.ID, f.Fingerprints = id, id, pipeline.List[string]{id}
		f.Surroundings = pipeline.List[string]{w.around.of(f)}
		if o := w.origins[f.Path]; o != f.Path {
			f.OriginalPath = o
		}
	}
	w.setFlagged()
}

// where is the oldest known path of a finding's file, or the section. That of
// a commit's message does not name the commit, which a rebase makes another.
func (w *work) where(f *item) string {
	if f.Path != "" {
		return or(w.origins[f.Path], f.Path)
	}
	if _, known := w.commit(f); known {
		return "commit"
	}
	return f.section
}

// fingerprints returns those of findings in document order, which stand where
// the function says.
func fingerprints(findings []*item, where func(*item) string) []string {
	type place struct {
		equals, path, section string
		start, end            int
	}
	nth, next := make(map[place]int, len(findings)), make(map[string]int, len(findings))
	out := make([]string, len(findings))
	for i, f := range findings {
		equals := f.what() + "\x00" + where(f) + "\x00" + f.flagged
		p := place{equals, f.Path, "", f.StartLine, f.EndLine}
		if f.Path == "" {
			p.section = f.section // which may be one of several commits with one message
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

// byModel begins what a model's finding is told by. It has another fingerprint than
// what anybody else says of the same place by the same rule: whoever dismisses a
// model's remark has not dismissed what the rule found, and what only a model knew
// is new when another finds it.
const byModel = "model\x00"

// what is the rule, or the title where there is none, and whether a model says so.
// A title of nothing but punctuation is taken as it is.
func (f *item) what() string {
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
	return by + collapsed(f.Title)
}

// What counts of the lines of a finding: the first that aren't blank. One about
// more is told by how it begins.
const (
	maxFlagged = 50
	maxSpanned = 4 * maxFlagged // blank ones included
)

// flagged is the text that a finding is about, with white space collapsed:
// blank lines and breaks between lines are white space too. Comments that
// ignore findings don't count, so that writing one makes no finding another.
// Facts hold placeholders where secrets stood, so no secret counts. A finding
// about no lines is about its section, or a commit's message.
func (w *work) flagged(f *item) string {
	if f.Path == "" {
		message, _ := w.commit(f)
		return collapsed(message)
	}
	if f.StartLine == 0 {
		return f.section
	}
	if w.files[f.Path] == nil {
		return ""
	}
	place := flaggedLines{f.Path, f.StartLine, f.EndLine}
	if text, ok := w.flaggedAt[place]; ok {
		return text // thousands may be about one line
	}
	lines := w.lines.of(f.Path)
	var text []string
	for n := f.StartLine; n <= f.EndLine && n < f.StartLine+maxSpanned && len(text) < maxFlagged; n++ {
		if l := collapsed(lines[n].text); l != "" {
			text = append(text, l)
		}
	}
	w.flaggedAt[place] = brief(strings.Join(text, " ") + "\n")
	return w.flaggedAt[place]
}

// flaggedLines are the lines of a file that a finding is about.
type flaggedLines struct {
	path       string
	start, end int
}

// maxBrief is how long a text may be that findings are told by, in bytes.
const maxBrief = 4 << 10

// brief is a text, or a digest of one that is too long to be kept for each finding.
func brief(text string) string {
	if len(text) <= maxBrief {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:]) + "\n"
}

// commit returns the message that a finding is about, if it is about one.
func (w *work) commit(f *item) (message string, known bool) {
	if f.Path != "" || f.Section == "" {
		return "", false
	}
	if w.commits == nil {
		w.commits = map[string]string{}
		for _, c := range w.in.Facts.Commits {
			w.commits[pipeline.SectionCommit(c.SHA)] = c.Message
		}
	}
	message, known = w.commits[f.Section]
	return message, known
}
