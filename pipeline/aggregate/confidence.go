package aggregate

import (
	"fmt"

	"github.com/reviewgate/reviewgate/pipeline"
)

// confidence moves findings below the confidence gate to the residuals. What a person accepted
// stays, and so do secrets and findings of final rules, however high a repository sets its gate.
func (w *work) confidence() {
	w.keep(func(f *item) bool {
		r := w.in.Rules[f.RuleID]
		if f.Confidence >= w.in.minConfidence(f) || f.proof.Accepted || w.in.secrets[f.Agent] || r != nil && r.Final {
			return true
		}
		w.residuals = append(w.residuals, f)
		return false
	})
}

// concern is the entry that a finding below the confidence gate leaves in the report.
func (f *item) concern() pipeline.SourcedText {
	place := or(f.Path, f.Section)
	if f.Path != "" && f.StartLine > 0 {
		place = fmt.Sprintf("%s:%d", f.Path, f.StartLine)
	}
	return pipeline.SourcedText{Text: fmt.Sprintf("%s (%s, confidence %.2f)", f.Title, place, f.Confidence), Source: f.Agent}
}
