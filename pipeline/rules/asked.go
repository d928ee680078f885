package rules

import (
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/internal/linters"
)

// asks reports whether a comment may ask to ignore the rule's match in line i of the hunk: one for
// reviewgate on the line or on the line above, or one for a linter from before the change. Aggregate
// decides whether to grant that.
func (p *pass) asks(r *rule, h *pipeline.Hunk, i int, above string) bool {
	if asksToIgnore(h.Lines[i].Text, r.ID) || asksToIgnore(above, r.ID) {
		return true
	}
	if len(r.Linters) == 0 {
		return false
	}
	if p.linters == nil {
		p.linters = linters.Read(p.file.Language, h)
	}
	s, ok := p.linters.Of(i, r.Linters)
	return ok && s.Old
}

// asksToIgnore reports whether a line may ask to ignore a rule's match.
func asksToIgnore(line, rule string) bool {
	return strings.Contains(line, "reviewgate:ignore") && strings.Contains(line, rule)
}
