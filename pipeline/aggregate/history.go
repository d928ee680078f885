package aggregate

import (
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
)

// compare places the findings in the history of the pull request. A finding of
// the last report that is gone counts as resolved only if those who made it
// looked again, and at all of its file.
func (w *work) compare() {
	prev := w.in.Previous
	if prev == nil {
		for _, f := range w.findings {
			f.State = pipeline.StateNew
		}
		w.report.Changes.New = len(w.findings)
		return
	}
	w.report.Iteration = prev.Iteration + 1
	w.report.Changes.PreviousReport = prev.HeadSHA
	was := map[string]bool{}
	for i := range prev.Findings {
		was[prev.Findings[i].ID] = true
	}
	is := map[string]bool{}
	for _, f := range w.findings {
		is[f.ID] = true
		f.State = pipeline.StateNew
		if was[f.ID] {
			f.State = pipeline.StateOpen
			w.report.Changes.Open++
		} else {
			w.report.Changes.New++
		}
	}
	for i := range w.report.Suppressed {
		is[w.report.Suppressed[i].Finding.ID] = true // it is there still
	}
	failed := w.failedAgents()
	for _, f := range prev.Findings {
		if !is[f.ID] && w.lookedAgain(&f, failed) {
			f.State = pipeline.StateResolved
			w.report.Changes.Resolved = append(w.report.Changes.Resolved, f)
		}
	}
}

// lookedAgain reports whether everybody who made a finding of the last report
// could have made it again.
func (w *work) lookedAgain(f *pipeline.Finding, failed map[string]bool) bool {
	if w.in.Failed != nil || failed[f.Agent] || slices.ContainsFunc(f.Reviewers, func(r string) bool { return failed[r] }) {
		return false
	}
	return !slices.ContainsFunc(w.in.Facts.Incomplete, func(i pipeline.Incompleteness) bool {
		return i.Gating && f.Path != "" && (i.Path == "" || i.Path == f.Path)
	})
}
