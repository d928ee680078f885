package secrets

import (
	"strings"
	"time"

	"github.com/reviewgate/reviewgate/pipeline"
)

// Redact replaces the secrets in the facts' title, body, commit messages, diff lines and hunk
// headings by placeholders such as [redacted:aws-access-token]. It returns one Redaction for each
// secret, except expired JWTs, in the order of the facts. It also replaces all other occurrences of each value, without
// another Redaction.
func (d *Detector) Redact(facts *pipeline.PRFacts) []pipeline.Redaction {
	return d.redact(facts, nil).found
}

// redactor is the state of one Redact.
type redactor struct {
	detector    *Detector
	now         time.Time // zero if it is not known
	found       []pipeline.Redaction
	foundValues []string // the values of found; empty if only a path rule reports the file
	marks       map[*string][]mark
	values      map[string]*rule // values found on one line
}

func (r *redactor) text(text *string, at pipeline.Redaction) {
	for _, m := range r.detector.matches(*text, "", nil) {
		r.mark(text, m)
		r.keep(*text, m)
		r.report(m.rule, at, (*text)[m.from:m.to])
	}
}

// unreported is text for texts without a place that a finding could name. It replaces a secret and
// its copies, but reports nothing.
func (r *redactor) unreported(text *string) {
	for _, m := range r.detector.matches(*text, "", nil) {
		r.mark(text, m)
		r.keep(*text, m)
	}
}

func (r *redactor) mark(text *string, m match) {
	r.marks[text] = append(r.marks[text], mark{rule: m.rule, from: m.from, to: m.to})
}

// keep records a value to search for elsewhere.
func (r *redactor) keep(text string, m match) {
	v := text[m.from:m.to]
	if len(v) < minValue || strings.Contains(v, "\n") {
		return
	}
	if old := r.values[v]; old == nil || old.id == ruleGeneric {
		r.values[v] = m.rule
	}
}

// report records a secret. It leaves out a JWT that has expired, which opens nothing any more.
func (r *redactor) report(rule *rule, at pipeline.Redaction, value string) {
	if rule.id == ruleJWT && hasExpired(value, r.now) {
		return
	}
	at.RuleID, at.Title, at.Details = rule.id, title(rule.id), rule.description
	r.found, r.foundValues = append(r.found, at), append(r.foundValues, value)
}

func (r *redactor) file(f *pipeline.File) {
	d := r.detector
	if f.Status != pipeline.FileRemoved {
		for _, p := range d.paths {
			if p.path.MatchString(f.Path) {
				r.report(p, pipeline.Redaction{Source: pipeline.RedactedLine, Path: f.Path, Op: pipeline.LineAdded}, "")
			}
		}
	}
	r.name(f)
	for i := range f.Hunks {
		r.hunk(f.Path, &f.Hunks[i])
	}
}

// name searches for tokens in the name of a new file. The name stays, since it identifies the file.
// The redaction names no file, so that it does not show the name. All tokens count: whoever
// dismisses one has not dismissed another that is added later.
func (r *redactor) name(f *pipeline.File) {
	if f.Status == pipeline.FileRemoved || f.Status == pipeline.FileModified {
		return
	}
	for _, m := range allFormats().find(f.Path) {
		if isProviderRule(m.rule.id) && !strings.Contains(f.PreviousPath, f.Path[m.from:m.to]) {
			r.report(m.rule, pipeline.Redaction{Source: pipeline.RedactedLine, Op: pipeline.LineAdded}, f.Path[m.from:m.to])
		}
	}
}
