package aggregate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
)

// The confidence of a promoted finding: promoted, and up to promotedMore more the nearer it was to
// the confidence gate.
const (
	promoted     = 0.55
	promotedMore = 0.10
	mostPromoted = 0.65
)

// promote restores findings below the confidence gate as warnings if a finding above it, of another
// agent or model, confirms them, or if they would block. That is not agreement, so it raises
// nobody's confidence. A finding about the same problem as one above the gate is merged into that
// one.
func (w *work) promote() {
	if len(w.residuals) == 0 {
		return
	}
	w.residuals = mergeEqual(w.in, w.residuals)
	w.residuals = w.fold(w.residuals)
	near, like := newNeighbours(w.findings), newWording(w.findings, w.residuals)
	least := w.in.Config.Settings.Synthesis.ConfidenceGate
	var restored, rest []*item
	for _, f := range w.residuals {
		other, why := near.of(f), "at the same place"
		if other == nil {
			other, why = like.of(f), "in the same file under a similar title"
		}
		switch {
		case other != nil:
			f.restore(min(promoted+promotedMore*f.Confidence/least, mostPromoted), other.FindingType)
			other.supports = true
			f.addReason(fmt.Sprintf("promoted: %s found %q %s", other.Agent, shortened(other.Title), why))
		case f.Blocking:
			f.restore(promoted, pipeline.FindingOmission)
			f.addReason("promoted: it would block")
		default:
			rest = append(rest, f)
			continue
		}
		w.clusters++
		f.cluster = w.clusters
		restored = append(restored, f)
	}
	w.findings, w.residuals = append(w.findings, restored...), rest
}

// mergeEqual merges residuals about the same problem at one place.
func mergeEqual(in *input, residuals []*item) []*item {
	var out []*item
	for _, group := range byTitle(residuals) {
		for _, same := range places(group) {
			for _, one := range apart(same) {
				if len(one) == 1 {
					out = append(out, one[0])
				} else {
					out = append(out, merged(in, one))
				}
			}
		}
	}
	return out
}

// maxFolds bounds the findings of one title, starting above a residual, that are compared with it.
// Findings that overlap were merged unless they oppose one another.
const maxFolds = 16

// fold merges residuals into findings about the same problem at the same place, and returns the
// others.
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
					p.f.absorb(r)
					w.folded += len(r.each())
					return true
				}
			}
		}
		return false
	})
}

// absorb merges a residual into a finding.
func (f *item) absorb(r *item) {
	f.supports = true
	f.fill(r)
	for i, id := range r.Fingerprints {
		if !slices.Contains(f.Fingerprints, id) {
			f.Fingerprints, f.Surroundings = append(f.Fingerprints[:len(f.Fingerprints):len(f.Fingerprints)], id), append(f.Surroundings[:len(f.Surroundings):len(f.Surroundings)], r.Surroundings[i])
		}
	}
	f.addReason(fmt.Sprintf("%s saw it too, with a confidence of %.2f, which is below the gate", r.makers(), r.Confidence))
}

func (f *item) restore(confidence float64, t pipeline.FindingType) {
	f.addReason(fmt.Sprintf("below the confidence gate as %s with confidence %.2f", f.Severity, f.Confidence))
	f.Severity, f.Confidence, f.FindingType = pipeline.SeverityWarning, rounded(confidence), t
	f.promoted = true
	for _, m := range f.members {
		m.Severity = f.Severity
	}
}
