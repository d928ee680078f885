package secrets

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
)

// Change takes the secrets out of one change, and out of what is read beside it. A
// value that nothing but its place in the change tells to be a secret is one in a
// linked issue and a file's name, too. It is never stored, and the values are gone
// with it.
type Change struct {
	detector *Detector
	values   map[string]*rule
	found    []string // the values behind the redactions, in their order
}

// Change begins a change.
func (d *Detector) Change() *Change { return &Change{detector: d} }

// Redact is [Detector.Redact], whose values [Change.Text] knows after.
func (c *Change) Redact(facts *pipeline.PRFacts) []pipeline.Redaction {
	r := c.detector.redact(facts, nil)
	c.values, c.found = r.values, r.behind
	return r.found
}

// Sign notes the digests of the values in the facts, by a key that no author knows.
// Redact comes before it.
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

// Text replaces the secrets in a text by placeholders: those that the detector finds
// there, and those that it found in the change. Any number of goroutines may call it
// once Redact is done.
func (c *Change) Text(text string) string {
	quoted := pipeline.PRFacts{Body: text}
	c.detector.redact(&quoted, c.values)
	return quoted.Body
}

// redact is Redact with values that are known to be secrets. It returns what it
// found, with all values.
func (d *Detector) redact(facts *pipeline.PRFacts, known map[string]*rule) *redactor {
	r := &redactor{detector: d, marks: map[*string][]mark{}, values: map[string]*rule{}}
	maps.Copy(r.values, known)
	r.text(&facts.Title, pipeline.Redaction{Source: pipeline.RedactedTitle})
	r.text(&facts.Body, pipeline.Redaction{Source: pipeline.RedactedBody})
	for i := range facts.Commits {
		c := &facts.Commits[i]
		r.text(&c.Message, pipeline.Redaction{Source: pipeline.RedactedCommitMessage, Commit: c.SHA})
		r.beside(&c.Author)
	}
	for _, text := range beside(facts) {
		r.beside(text)
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

// beside returns what a change has beside its text: the branch, the name of the fork,
// labels, the milestone and what git names above hunks.
func beside(facts *pipeline.PRFacts) []*string {
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
