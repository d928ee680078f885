package aggregate

import (
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/internal/linters"
)

// suppress removes findings that people have decided about: those that they dismissed, and those
// that comments in the code ignore, or that linters were told to ignore. Accepted findings are neither dismissed nor doubted. A
// suppressed finding keeps its fingerprint, so that it is recognised again. It also looks up what
// memory has about each of the other findings.
func (w *work) suppress() {
	for _, f := range w.findings {
		f.sides = sidesOf(f)
	}
	s := newSuppressor(w.in, &w.report)
	w.keep(func(f *item) bool {
		if f.accept(s.accepted) {
			return !s.applyComment(f) // records why a comment does not count
		}
		if s.allow(f) || s.ignore(f) || s.dismiss(f) || s.applyComment(f) || s.answer(f) {
			return false
		}
		w.recall(f)
		return true
	})
}

// suppressor suppresses what people and the config decided about.
type suppressor struct {
	in        *input
	report    *pipeline.Report
	dismissed map[string]pipeline.Dismissal // by fingerprint
	accepted  map[accepted]pipeline.Acceptance
	secrets   map[secretAt][]string // see allowedSecrets
	ignored   []ignoreEntry
	linters   map[*pipeline.Hunk]*linters.Hunk
}

func newSuppressor(in *input, report *pipeline.Report) *suppressor {
	s := &suppressor{
		in: in, report: report, dismissed: map[string]pipeline.Dismissal{}, linters: map[*pipeline.Hunk]*linters.Hunk{},
		accepted: acceptances(in.Memory.Accepted), secrets: allowedSecrets(in.Facts), ignored: ignoreEntries(in.Config.Settings.Ignore),
	}
	for _, d := range in.Memory.Dismissed {
		if known, ok := s.dismissed[d.Fingerprint]; !ok || d.Override && !known.Override || len(d.FinalIn) > len(known.FinalIn) {
			s.dismissed[d.Fingerprint] = d
		}
	}
	return s
}

// dismissal is the dismissal of the finding itself, or else of the earlier finding that it was
// matched with. earlier reports the latter.
func (s *suppressor) dismissal(f *item) (d pipeline.Dismissal, earlier, ok bool) {
	if d, ok = s.dismissed[f.ownID]; ok || f.earlier == nil {
		return d, false, ok
	}
	for _, id := range append([]string{f.ID}, f.Fingerprints...) {
		if d, ok = s.dismissed[id]; ok {
			return d, true, true
		}
	}
	return d, false, false
}

// dismiss suppresses a finding that a person dismissed, unless the dismissal does not hold.
func (s *suppressor) dismiss(f *item) bool {
	d, earlier, ok := s.dismissal(f)
	if !ok {
		return false
	}
	if earlier {
		if holds, why := f.dismissalHolds(); !holds {
			f.addReasonOf(pipeline.ReasonNotDismissed, why+", which somebody must confirm")
			return false
		}
	}
	if layer := s.in.missingLayer(f, d.FinalIn); layer != "" {
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
	f.suppress(s.report, pipeline.StateDismissed, "dismissed: "+d.Reason)
	return true
}
