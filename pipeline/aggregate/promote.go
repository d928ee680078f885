package aggregate

import (
	"cmp"
	"fmt"
	"slices"

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
// block. That is not agreement: nobody becomes surer by it. One that says the same as a
// finding above the gate becomes a part of that.
func (w *work) promote() {
	if len(w.residuals) == 0 {
		return
	}
	w.residuals = w.once(w.residuals)
	w.residuals = w.fold(w.residuals)
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

// once makes one of residuals that say the same at one place.
func (w *work) once(residuals []*item) []*item {
	var out []*item
	for _, group := range grouped(residuals, byTitle) {
		for _, same := range places(group) {
			for _, one := range apart(same) {
				if len(one) == 1 {
					out = append(out, one[0])
				} else {
					out = append(out, w.merged(one))
				}
			}
		}
	}
	return out
}

// maxFolds bounds how many findings of one title that begin above a residual are compared
// with it: those that overlap were merged, unless they oppose one another.
const maxFolds = 16

// fold makes residuals a part of the findings that say the same at the same place, and
// returns the others.
func (w *work) fold(residuals []*item) []*item {
	if len(residuals) == 0 {
		return residuals
	}
	type place struct {
		title string
		in    area
	}
	type placed struct {
		spot
		f *item
	}
	by := map[place][]placed{}
	for _, f := range w.findings {
		for _, s := range f.spots() {
			at := place{f.title.norm, s.in}
			by[at] = append(by[at], placed{s, f})
		}
	}
	for _, list := range by {
		slices.SortStableFunc(list, func(a, b placed) int { return cmp.Compare(a.first, b.first) })
	}
	return slices.DeleteFunc(residuals, func(r *item) bool {
		for _, s := range r.spots() {
			list := by[place{r.title.norm, s.in}]
			end, _ := slices.BinarySearchFunc(list, s.last+2, func(p placed, line int) int { return cmp.Compare(p.first, line) })
			for _, p := range slices.Backward(list[max(0, end-maxFolds):end]) {
				if p.touches(s) && !p.f.sides.opposes(r.sides) {
					p.f.take(r)
					w.folded += len(r.each())
					return true
				}
			}
		}
		return false
	})
}

// take makes a residual a part of a finding.
func (f *item) take(r *item) {
	f.fill(r)
	for i, id := range r.Fingerprints {
		if !slices.Contains(f.Fingerprints, id) {
			f.Fingerprints, f.Surroundings = append(f.Fingerprints[:len(f.Fingerprints):len(f.Fingerprints)], id), append(f.Surroundings[:len(f.Surroundings):len(f.Surroundings)], r.Surroundings[i])
		}
	}
	f.because(fmt.Sprintf("%s saw it too, with a confidence of %.2f, which is below the gate", r.makers(), r.Confidence))
}

func (f *item) back(confidence float64, t pipeline.FindingType) {
	f.because(fmt.Sprintf("below the confidence gate as %s with confidence %.2f", f.Severity, f.Confidence))
	f.Severity, f.Confidence, f.FindingType = pipeline.SeverityWarning, rounded(confidence), t
	for _, m := range f.members {
		m.Severity = f.Severity
	}
}
