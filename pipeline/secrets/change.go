package secrets

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
)

// Change replaces the secrets in one change and in other texts that belong to it. A value that is
// recognised only by its context in the change also counts as a secret in a linked issue or a
// file's name. A Change is never stored, and the values disappear with it.
type Change struct {
	detector *Detector
	values   map[string]*rule
	found    []string // the values behind the redactions, in order
}

// Change returns a new Change.
func (d *Detector) Change() *Change { return &Change{detector: d} }

// Redact is [Detector.Redact]. Afterwards [Change.Text] knows the values.
func (c *Change) Redact(facts *pipeline.PRFacts) []pipeline.Redaction {
	r := c.detector.redact(facts, nil)
	c.values, c.found = r.values, r.foundValues
	return r.found
}

// Sign stores the digests of the values in the facts, with a key that no author knows. It must
// follow Redact.
func (c *Change) Sign(facts *pipeline.PRFacts, key []byte) {
	if len(key) == 0 {
		return
	}
	for i := range facts.Redactions {
		if value := c.Value(i); value != "" {
			mac := hmac.New(sha256.New, key)
			mac.Write([]byte(value)) // never fails
			facts.Redactions[i].Digest = fmt.Sprintf("%x", mac.Sum(nil)[:8])
		}
	}
}

// Text replaces the secrets in a text by placeholders: those that the detector finds in it, and
// those that it found in the change. Any number of goroutines may call it after Redact.
func (c *Change) Text(text string) string {
	quoted := pipeline.PRFacts{Body: text}
	c.detector.redact(&quoted, c.values)
	return quoted.Body
}

// redact is Redact with values that are known to be secrets. It returns what it found, with all
// values.
func (d *Detector) redact(facts *pipeline.PRFacts, known map[string]*rule) *redactor {
	r := &redactor{detector: d, now: facts.ObservedAt, marks: map[*string][]mark{}, values: map[string]*rule{}}
	maps.Copy(r.values, known)
	r.text(&facts.Title, pipeline.Redaction{Source: pipeline.RedactedTitle})
	r.text(&facts.Body, pipeline.Redaction{Source: pipeline.RedactedBody})
	for i := range facts.Commits {
		c := &facts.Commits[i]
		r.text(&c.Message, pipeline.Redaction{Source: pipeline.RedactedCommitMessage, Commit: c.SHA})
		r.unreported(&c.Author)
	}
	for _, text := range otherTexts(facts) {
		r.unreported(text)
	}
	for i := range facts.Files {
		r.file(&facts.Files[i])
	}
	if len(r.values) > 0 {
		r.copies(facts)
	}
	for text, marks := range r.marks {
		*text = replace(*text, marks)
	}
	slices.Sort(facts.Labels)
	return r
}

// otherTexts returns the other texts of a change: the branch, the name of the fork, labels, the
// milestone, and hunk headings.
func otherTexts(facts *pipeline.PRFacts) []*string {
	out := []*string{&facts.Head.Ref, &facts.Head.Repository, &facts.Milestone}
	for i := range facts.Labels {
		out = append(out, &facts.Labels[i])
	}
	for i := range facts.Files {
		for j := range facts.Files[i].Hunks {
			out = append(out, &facts.Files[i].Hunks[j].Section)
		}
	}
	return out
}
