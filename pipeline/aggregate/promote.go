package aggregate

import (
	"fmt"

	"github.com/reviewgate/reviewgate/pipeline"
)

// The confidence of a finding that comes back: promoted, and up to
// promotedMore more the nearer it was to the confidence gate.
const (
	promoted     = 0.55
	promotedMore = 0.10
	mostPromoted = 0.65
)

// promote brings findings below the confidence gate back as warnings where one
// above it, by another agent or model, bears them out, or where they would
// block. That is not agreement: nobody becomes surer by it.
func (w *work) promote() {
	if len(w.residuals) == 0 {
		return
	}
	near, like := newNeighbours(w.findings), newWording(w.findings, w.residuals)
	least := w.in.Config.Settings.Synthesis.ConfidenceGate
	var back, stay []*item
	for _, f := range w.residuals {
		other, why := near.of(f), "at the same place"
		if other == nil {
			other, why = like.of(f), "in the same file under a similar title"
		}
		switch {
		case other != nil:
			f.back(min(promoted+promotedMore*f.Confidence/least, mostPromoted), other.FindingType)
			f.because(fmt.Sprintf("promoted: %s found %q %s", other.Agent, shortened(other.Title), why))
		case f.Blocking:
			f.back(promoted, pipeline.FindingOmission)
			f.because("promoted: it would block")
		default:
			stay = append(stay, f)
			continue
		}
		w.clusters++
		f.cluster = w.clusters
		back = append(back, f)
	}
	w.findings, w.residuals = append(w.findings, back...), stay
}

func (f *item) back(confidence float64, t pipeline.FindingType) {
	f.because(fmt.Sprintf("below the confidence gate as %s with confidence %.2f", f.Severity, f.Confidence))
	f.Severity, f.Confidence, f.FindingType = pipeline.SeverityWarning, rounded(confidence), t
}
