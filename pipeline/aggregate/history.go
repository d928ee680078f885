package aggregate

import (
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
)

// compare finds the state of each finding in the history of the pull request. Any of its
// fingerprints identifies a finding, so it stays the same when others are merged with it or no
// longer are.
func (w *work) compare() {
	prev := w.in.Previous
	if prev == nil {
		prev = &pipeline.PreviousReport{}
	}
	c := &w.report.Changes
	w.report.Iteration, c.PreviousReport = prev.Iteration+1, prev.HeadSHA
	last := slices.Concat(prev.Findings, prev.Unconfirmed)
	lastIDs := map[string]bool{}
	for i := range last {
		addTo(lastIDs, fingerprintsOf(&last[i]))
	}
	fixed := newFixed(prev.Fixed)
	for _, f := range w.findings {
		if f.knownBy(lastIDs) {
			f.State = pipeline.StateOpen
			c.Open++
		} else {
			f.State = pipeline.StateNew
			c.New++
			fixed.recognise(f)
		}
	}
	gone := w.followUp(last)
	c.Fixed = fixed.next(w.findings, gone)
}

// knownBy reports whether the last report had the finding. What a model says must not make a new
// finding old. If agents and models made a finding together, every finding of the agents in it must
// be known, since it may be one finding only because of the model.
func (f *item) knownBy(was map[string]bool) bool {
	old, models, others := false, false, false // others: an agent without a model made a new finding
	for _, m := range f.each() {
		old = old || was[m.ID]
		models = models || m.Model != ""
		others = others || m.Model == "" && !was[m.ID]
	}
	return old && !(models && others)
}

// fingerprintsOf are the fingerprints of a stored finding. Older versions stored only one.
func fingerprintsOf(f *pipeline.Finding) []string {
	if len(f.Fingerprints) == 0 {
		return []string{f.ID}
	}
	return f.Fingerprints
}

// addTo adds fingerprints to a set.
func addTo(set map[string]bool, ids []string) {
	for _, id := range ids {
		set[id] = true
	}
}

// followUp decides what became of the last report's findings. A finding that this review does not
// have is resolved if everyone who made it looked again. Otherwise it may still be there, and goes
// to the next review as unconfirmed. followUp returns the fingerprints that are certainly gone. A
// finding that remains may have some of those.
func (w *work) followUp(last []pipeline.Finding) []pipeline.FixedFinding {
	c := &w.report.Changes
	// The fingerprints in the report, and those of findings below the confidence gate.
	here, unsure := map[string]bool{}, map[string]bool{}
	for _, f := range w.findings {
		addTo(here, f.Fingerprints)
	}
	for i := range w.report.Suppressed {
		addTo(here, w.report.Suppressed[i].Finding.Fingerprints)
	}
	for _, f := range w.residuals {
		addTo(unsure, f.Fingerprints)
	}
	dropped := notRaised(&w.report)
	var gone []pipeline.FixedFinding
	for i := range last {
		f := last[i]
		place := w.paths.now(&f)
		looked := w.rechecks.rechecked(&f, place)
		seen, doubted := false, false
		for _, id := range fingerprintsOf(&f) {
			seen, doubted = seen || here[id], doubted || unsure[id]
			if looked && !here[id] && !unsure[id] {
				gone = append(gone, pipeline.FixedFinding{Fingerprint: id, HeadSHA: w.report.HeadSHA, Path: or(f.OriginalPath, f.Path)})
			}
		}
		switch {
		case seen:
		case dropped[f.ID] && !doubted:
		case looked && !doubted:
			f.State = pipeline.StateResolved
			c.Resolved = append(c.Resolved, f)
		case len(c.Unconfirmed) < pipeline.MaxUnconfirmed:
			f.State = pipeline.StateOpen
			c.Unconfirmed = append(c.Unconfirmed, f)
		}
	}
	return gone
}

// carryHistory keeps the history in a review that could not compare: nobody knows which earlier
// findings remain.
func (w *work) carryHistory() {
	prev := w.in.Previous
	if prev == nil {
		return
	}
	c := &w.report.Changes
	w.report.Iteration, c.PreviousReport, c.Fixed = prev.Iteration+1, prev.HeadSHA, prev.Fixed
	c.Unconfirmed = slices.Concat(prev.Findings, prev.Unconfirmed)
	c.Unconfirmed = c.Unconfirmed[:min(len(c.Unconfirmed), pipeline.MaxUnconfirmed)]
}
