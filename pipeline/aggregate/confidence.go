package aggregate

import (
	"fmt"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// confidence sets findings below the gate apart. What a person accepted stays,
// and so do secrets and what final rules find, however high a repository sets
// its gate.
func (w *work) confidence() {
	w.keep(func(f *item) bool {
		r := w.rules[f.RuleID]
		if f.Confidence >= w.least(f) || f.proof.Accepted || w.kind(f.Agent) == config.KindSecrets || r != nil && r.Final {
			return true
		}
		w.residuals = append(w.residuals, f)
		return false
	})
}

// concern is what a finding below the confidence gate leaves in the report.
func (f *item) concern() pipeline.SourcedText {
	place := or(f.Path, f.Section)
	if f.Path != "" && f.StartLine > 0 {
		place = fmt.Sprintf("%s:%d", f.Path, f.StartLine)
	}
	return pipeline.SourcedText{Text: fmt.Sprintf("%s (%s, confidence %.2f)", f.Title, place, f.Confidence), Source: f.Agent}
}
