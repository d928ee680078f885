package aggregate

import (
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
)

// compare places the findings in the history of the pull request. A finding is
// known again by any of its fingerprints, so that it stays the same one when
// others are merged with it or no longer are.
func (w *work) compare() {
	prev := w.in.Previous
	if prev == nil {
		prev = &pipeline.PreviousReport{}
	}
	c := &w.report.Changes
	w.report.Iteration, c.PreviousReport = prev.Iteration+1, prev.HeadSHA
	last := slices.Concat(prev.Findings, prev.Unconfirmed)
	was := map[string]bool{}
	for i := range last {
		for _, id := range known(&last[i]) {
			was[id] = true
		}
	}
	fixed := newFixed(prev.Fixed)
	for _, f := range w.findings {
		if f.knownBy(was) {
			f.State = pipeline.StateOpen
			c.Open++
		} else {
			f.State = pipeline.StateNew
			c.New++
			fixed.recognise(f)
		}
	}
	gone := w.follow(last)
	c.Fixed = fixed.without(w.findings, gone)
}

// knownBy reports whether the last report had the finding. What a model says
// can't make old what is new without it: of a finding that agents and models
// make together all that the agents say must be known, since the model may be
// why it is one finding.
func (f *item) knownBy(was map[string]bool) bool {
	old, models, anew := false, false, false
	for _, m := range f.each() {
		old = old || was[m.ID]
		models = models || m.Model != ""
		anew = anew || m.Model == "" && !was[m.ID]
	}
	return old && !(models && anew)
}

// known are the fingerprints of a stored finding. Older versions kept one.
func known(f *pipeline.Finding) []string {
	if len(f.Fingerprints) == 0 {
		return []string{f.ID}
	}
	return f.Fingerprints
}

// follow says what became of the last report's findings: those of which
// nothing is left are resolved if everybody who made them looked again. Of
// those that are nowhere and may still be there, the next review has to know.
// It returns the fingerprints that are gone for sure, those too that a finding
// had besides others.
func (w *work) follow(last []pipeline.Finding) []pipeline.FixedFinding {
	c := &w.report.Changes
	here, unsure := w.fingerprintsHere()
	failed, current := w.failedAgents(), w.currentPaths()
	dropped := w.notRaised()
	var gone []pipeline.FixedFinding
	for i := range last {
		f := last[i]
		place := w.placeNow(&f, current)
		looked := w.lookedAgain(&f, place, failed)
		seen, doubted := false, false
		for _, id := range known(&f) {
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

// fingerprintsHere are those of all that the report shows, and those of what
// agents still say and are too unsure of.
func (w *work) fingerprintsHere() (here, unsure map[string]bool) {
	here, unsure = map[string]bool{}, map[string]bool{}
	for _, f := range w.findings {
		for _, id := range f.Fingerprints {
			here[id] = true
		}
	}
	for i := range w.report.Suppressed {
		for _, id := range w.report.Suppressed[i].Finding.Fingerprints {
			here[id] = true
		}
	}
	for _, f := range w.residuals {
		for _, id := range f.Fingerprints {
			unsure[id] = true
		}
	}
	return here, unsure
}

// currentPaths are those of the files by their oldest known path.
func (w *work) currentPaths() map[string]string {
	current := map[string]string{}
	for p := range w.files {
		current[p] = p
	}
	for p, o := range w.origins {
		if p != o {
			current[o] = p
		}
	}
	return current
}

// placeNow is where the file of one of the last report's findings is now, or
// "" where it has none or is in the change no more.
func (w *work) placeNow(f *pipeline.Finding, current map[string]string) string {
	if f.Path == "" {
		return ""
	}
	if p := current[or(f.OriginalPath, f.Path)]; p != "" {
		return p
	}
	return current[f.Path]
}

// lookedAgain reports whether everybody who made a finding of the last report
// could have made it again, or nobody could.
func (w *work) lookedAgain(f *pipeline.Finding, place string, failed map[string]bool) bool {
	if w.in.Failed != nil || w.in.FilesUnknown && f.Path != "" || slices.ContainsFunc(w.in.Facts.Incomplete, func(i pipeline.Incompleteness) bool { return hides(i, f, place) }) {
		return false
	}
	makers := f.Reviewers
	if len(makers) == 0 {
		makers = pipeline.List[string]{f.Agent}
	}
	// Where its file left the change, there is nothing to look at.
	left := f.Path != "" && place == ""
	if slices.ContainsFunc(makers, func(agent string) bool { return failed[agent] }) {
		return false
	}
	elsewhere := func(agent string) bool { return !w.looked(agent, place) }
	return left || !slices.ContainsFunc(makers, elsewhere) || w.vanished(f, place)
}

// looked reports whether an agent answered on a file, or on the change where
// the place is "". One that was not asked in full did not.
func (w *work) looked(agent, place string) bool {
	answered := false
	for _, r := range w.in.Results {
		if r.Agent == agent && r.Status == pipeline.AgentDiscarded {
			return false
		}
		answered = answered || r.Agent == agent
	}
	if !answered {
		return false
	}
	e := w.in.Manifest.Entry(agent)
	if e == nil || place == "" || e.Scope.All {
		return true
	}
	_, scoped := slices.BinarySearch(e.Scope.Files, place)
	return scoped
}

// hides reports whether something that could not be known may hide a finding.
func hides(i pipeline.Incompleteness, f *pipeline.Finding, place string) bool {
	switch i.What {
	case "commits":
		return f.Path == "" && f.Section != pipeline.SectionTitle && f.Section != pipeline.SectionDescription
	case "files", "patch":
		// A file that is not in the list may have been renamed unseen.
		return f.Path != "" && (place == "" || i.Path == place)
	}
	return i.Gating && f.Path != "" && (i.Path == "" || i.Path == place)
}

// remember carries the history through a review that could not compare: of
// nothing that was there is it known whether it still is.
func (w *work) remember() {
	prev := w.in.Previous
	if prev == nil {
		return
	}
	c := &w.report.Changes
	w.report.Iteration, c.PreviousReport, c.Fixed = prev.Iteration+1, prev.HeadSHA, prev.Fixed
	c.Unconfirmed = slices.Concat(prev.Findings, prev.Unconfirmed)
	c.Unconfirmed = c.Unconfirmed[:min(len(c.Unconfirmed), pipeline.MaxUnconfirmed)]
}
