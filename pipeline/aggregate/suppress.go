package aggregate

import (
	"fmt"
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/glob"
)

// suppress removes findings that people have decided about: those that they dismissed, and those
// that comments in the code ignore. Accepted findings are neither dismissed nor doubted. A
// suppressed finding keeps its fingerprint, so that it is recognised again. A model's finding that
// matches a known false positive loses confidence, and may then fall below the confidence gate.
func (w *work) suppress() {
	for _, f := range w.findings {
		f.sides = sidesOf(f)
	}
	dismissed := map[string]pipeline.Dismissal{}
	for _, d := range w.in.Memory.Dismissed {
		if known, ok := dismissed[d.Fingerprint]; !ok || d.Override && !known.Override || len(d.FinalIn) > len(known.FinalIn) {
			dismissed[d.Fingerprint] = d
		}
	}
	wrong, accepted := w.inputs.falsePositives(), w.inputs.accepted()
	w.comments.ignores = w.inputs.acceptedIgnores()
	allowed, left := allowedSecrets(w.in.Facts), w.inputs.ignoreEntries()
	w.keep(func(f *item) bool {
		if f.accept(accepted) {
			return !w.suppressor.applyComment(f) // records why a comment does not count
		}
		if w.suppressor.allow(f, allowed) || w.suppressor.ignore(f, left) || w.suppressor.dismiss(f, dismissed) || w.suppressor.applyComment(f) {
			return false
		}
		if !w.finality.final(f) {
			f.doubt(wrong[f.RuleID])
			f.doubt(wrong[f.title.norm])
		}
		return true
	})
}

// dismissedBefore is the dismissal of the earlier finding that f was matched with.
func (f *item) dismissedBefore(dismissed map[string]pipeline.Dismissal) (pipeline.Dismissal, bool) {
	if f.earlier == nil {
		return pipeline.Dismissal{}, false
	}
	for _, id := range append([]string{f.ID}, f.Fingerprints...) {
		if d, ok := dismissed[id]; ok {
			return d, true
		}
	}
	return pipeline.Dismissal{}, false
}

func (sup *suppressor) dismiss(f *item, dismissed map[string]pipeline.Dismissal) bool {
	d, ok := dismissed[f.ownID]
	if !ok {
		if d, ok = f.dismissedBefore(dismissed); !ok {
			return false
		}
		if holds, why := f.dismissalHolds(); !holds {
			f.addReasonOf(pipeline.ReasonNotDismissed, why+", which somebody must confirm")
			return false
		}
	}
	if layer := sup.finality.missingLayer(f, d.FinalIn); layer != "" {
		f.addReasonOf(pipeline.ReasonNotDismissed, "the finding is final in the "+layer+"'s layer, and only whom that layer names can dismiss it")
		return false
	}
	if f.Severity == pipeline.SeverityCritical && !d.Override {
		f.addReasonOf(pipeline.ReasonNotDismissed, "only somebody who may override can dismiss a critical finding")
		return false
	}
	if f.changed(d.Surroundings) {
		f.addReasonOf(pipeline.ReasonNotDismissed, f.whatChanged(d.Surroundings)+" since "+d.By+" dismissed it ("+d.Reason+"), which somebody must confirm")
		return false
	}
	f.addReason("dismissed by " + d.By)
	sup.suppressFinding(f, pipeline.StateDismissed, "dismissed: "+d.Reason)
	return true
}

// knownFalse is how much confidence a model's finding loses if it matches a known false positive.
const knownFalse = 0.30

// falsePositive is a known false positive with its globs compiled.
type falsePositive struct {
	pipeline.FalsePositive
	globs *glob.Set // nil if it holds everywhere
}

// falsePositives are the known false positives by rule id or normalised title.
func (c *inputs) falsePositives() map[string][]falsePositive {
	out := map[string][]falsePositive{}
	for _, p := range c.in.Memory.FalsePositives {
		known := falsePositive{FalsePositive: p}
		if len(p.Globs) > 0 {
			set, err := glob.Compile(p.Globs)
			if err != nil {
				continue // can't happen: the glob was validated earlier
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

// doubt lowers the confidence of a model's finding that a false positive matches, once. A critical
// finding keeps its confidence.
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
		f.addReason(fmt.Sprintf("confidence lowered from %.2f to %.2f: a known false positive: %s", before, f.Confidence, p.Reason))
		return
	}
}
