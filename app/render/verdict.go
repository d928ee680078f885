package render

import (
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/fourrules"
)

// maxClarification bounds a clarification prompt, in runes. fourrules bounds the prompt
// itself; the rest is room for invisible characters, which become longer when visible.
const maxClarification = 2 * fourrules.MaxClarification

// Verdict renders the decision of the four rules for a terminal.
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
