package aggregate

import (
	"fmt"
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/glob"
)

// suppress takes out of the gate what people have decided about: what they
// dismissed, and what comments in the code ignore. What they accepted is neither
// dismissed nor doubted. What it takes out keeps its
// fingerprint, so that it is known again. A model's finding that people know to
// be wrong elsewhere is believed less, and may then fall below the confidence
// gate.
func (w *work) suppress() {
	w.read()
	dismissed := map[string]pipeline.Dismissal{}
	for _, d := range w.in.Memory.Dismissed {
		if known, ok := dismissed[d.Fingerprint]; !ok || d.Override && !known.Override || len(d.FinalIn) > len(known.FinalIn) {
			dismissed[d.Fingerprint] = d
		}
	}
	wrong, accepted := w.falsePositives(), w.accepted()
	w.ignores = w.acceptedIgnores()
	allowed, left := allowedSecrets(w.in.Facts), w.leftOut()
	w.keep(func(f *item) bool {
		if f.accept(accepted) {
			return !w.inline(f) // which tells why a comment is not obeyed
		}
		if w.allow(f, allowed) || w.ignore(f, left) || w.dismiss(f, dismissed) || w.inline(f) {
			return false
		}
		if !w.final(f) {
			f.doubt(wrong[f.RuleID])
			f.doubt(wrong[f.title.norm])
		}
		return true
	})
}

// read reads what findings recommend, which the next steps compare.
func (w *work) read() {
	for _, f := range w.findings {
		f.sides = sidesOf(f)
	}
}

// dismissedBefore is the dismissal of the earlier finding that this one is.
func (f *item) dismissedBefore(dismissed map[string]pipeline.Dismissal) (pipeline.Dismissal, bool) {
	if f.recalled == nil {
		return pipeline.Dismissal{}, false
	}
	for _, id := range append([]string{f.ID}, f.Fingerprints...) {
		if d, ok := dismissed[id]; ok {
			return d, true
		}
	}
	return pipeline.Dismissal{}, false
}

func (w *work) dismiss(f *item, dismissed map[string]pipeline.Dismissal) bool {
	d, ok := dismissed[f.own]
	if !ok {
		if d, ok = f.dismissedBefore(dismissed); !ok {
			return false
		}
		if holds, why := f.asDismissed(); !holds {
			f.because(pipeline.ReasonNotDismissed + why + ", which somebody must confirm")
			return false
		}
	}
	if layer := w.lacking(f, d.FinalIn); layer != "" {
		f.because(pipeline.ReasonNotDismissed + "the finding is final in the " + layer + "'s layer, and only whom that layer names can dismiss it")
		return false
	}
	if f.Severity == pipeline.SeverityCritical && !d.Override {
		f.because(pipeline.ReasonNotDismissed + "only somebody who may override can dismiss a critical finding")
		return false
	}
	if f.changed(d.Surroundings) {
		f.because(pipeline.ReasonNotDismissed + f.whatChanged(d.Surroundings) + " since " + d.By + " dismissed it (" + d.Reason + "), which somebody must confirm")
		return false
	}
	f.because("dismissed by " + d.By)
	w.setAside(f, pipeline.StateDismissed, "dismissed: "+d.Reason)
	return true
}

// knownFalse is what a finding of a model loses in confidence where it matches
// a known false positive.
const knownFalse = 0.30

// falsePositive is a pattern of one, with its globs compiled.
type falsePositive struct {
	pipeline.FalsePositive
	globs *glob.Set // nil: everywhere
}

// falsePositives are the known ones by rule id or normalised title.
func (w *work) falsePositives() map[string][]falsePositive {
	out := map[string][]falsePositive{}
	for _, p := range w.in.Memory.FalsePositives {
		known := falsePositive{FalsePositive: p}
		if len(p.Globs) > 0 {
			set, err := glob.Compile(p.Globs)
			if err != nil {
				continue // it was validated when it was taught
			}
			known.globs = set
		}
		for _, key := range slices.Compact([]string{p.Pattern, normalised(p.Pattern)}) {
			if key != "" {
				out[key] = append(out[key], known)
			}
		}
	}
	return out
}

// doubt takes confidence from a model's finding that a false positive matches,
// once. A critical one keeps it.
func (f *item) doubt(wrong []falsePositive) {
	if len(wrong) == 0 || f.Model == "" || f.Severity == pipeline.SeverityCritical || f.doubted {
		return
	}
	for _, p := range wrong {
		if p.globs != nil && !p.globs.Any(f.Path) {
			continue
		}
		before := f.Confidence
		f.Confidence = rounded(max(0, before-knownFalse))
		f.doubted = true
		f.because(fmt.Sprintf("confidence lowered from %.2f to %.2f: a known false positive: %s", before, f.Confidence, p.Reason))
		return
	}
}
