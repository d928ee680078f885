package render

import (
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/fourrules"
)

// maxClarification is in runes: the prompt is bounded where it is made, and is
// shown whole, with what can't be seen made visible.
const maxClarification = 2 * fourrules.MaxClarification

// Verdict renders for a terminal what the four rules decide.
func Verdict(d *fourrules.Decision, opts TextOptions) string {
	p := plainPen{}
	t := newTerminal(sections{&pipeline.Review{}, p, linker{}, nil, nil}, opts)
	t.put("", say("ruled", struct {
		Paused, Flagged bool
		Rule            int
		Action          word
	}{d.Status == fourrules.Paused, d.Flagged, d.Rule, word(d.Action)}), styleBold)
	t.list("heading issues", each(d.Issues, func(x *fourrules.RaisedIssue) safe {
		return say("issue raised", struct {
			Severity                    word
			Reviewer, File, Description safe
		}{word(x.Severity), p.text(x.Reviewer, maxName), p.code(clipPath(x.File, maxPath), maxPath), p.text(x.Description, maxMessage)})
	}))
	if d.Clarification != "" {
		t.heading(say("heading clarification", nil))
		t.put("  ", p.para(d.Clarification, maxClarification), styleNone)
	}
	return t.b.String()
}
