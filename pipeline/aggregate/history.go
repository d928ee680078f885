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
		for _, id := range fingerprintsOf(&last[i]) {
			lastIDs[id] = true
		}
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
	c.Fixed = fixed.without(w.findings, gone)
}

// knownBy reports whether the last report had the finding. What a model says must not make a new
// finding old. If agents and models made a finding together, every finding of the agents in it must
// be known, since it may be one finding only because of the model.
func (f *item) knownBy(was map[string]bool) bool {
	old, models, anew := false, false, false
	for _, m := range f.each() {
		old = old || was[m.ID]
		models = models || m.Model != ""
		anew = anew || m.Model == "" && !was[m.ID]
	}
	return old && !(models && anew)
}

// fingerprintsOf are the fingerprints of a stored finding. Older versions stored only one.
func fingerprintsOf(f *pipeline.Finding) []string {
	if len(f.Fingerprints) == 0 {
		return []string{f.ID}
	}
	return f.Fingerprints
}

// followUp decides what became of the last report's findings. A finding without a trace is resolved
// if everyone who made it looked again. If it may still be there, it goes to the next review as
// unconfirmed. followUp returns the fingerprints that are certainly gone, including further
// fingerprints of findings that remain.
func (w *work) followUp(last []pipeline.Finding) []pipeline.FixedFinding {
	c := &w.report.Changes
	here, unsure := w.fingerprintsHere()
	failed, current := w.inputs.failedAgents(), w.lineage.currentPaths()
	dropped := notRaised(&w.report)
	var gone []pipeline.FixedFinding
	for i := range last {
		f := last[i]
		place := w.lineage.placeNow(&f, current)
		looked := w.looks.lookedAgain(&f, place, failed)
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

// fingerprintsHere returns the fingerprints of everything that the report shows, and those of what
// agents found again but with too little confidence.
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

// currentPaths maps the oldest known path of each file to its current path.
func (li *lineage) currentPaths() map[string]string {
	current := map[string]string{}
	for p := range li.files {
		current[p] = p
	}
	for p, o := range li.origins {
		if p != o {
			current[o] = p
		}
	}
	return current
}

// placeNow is the current path of the file of an earlier finding. It is "" if the finding has no
// file or the change no longer has the file.
func (li *lineage) placeNow(f *pipeline.Finding, current map[string]string) string {
	if f.Path == "" {
		return ""
	}
	if p := current[or(f.OriginalPath, f.Path)]; p != "" {
		return p
	}
	return current[f.Path]
}

// lookedAgain reports whether everyone who made an earlier finding could have made it again, or
// nobody could.
func (lk *looks) lookedAgain(f *pipeline.Finding, place string, failed map[string]bool) bool {
	if lk.in.Failed != nil || lk.in.FilesUnknown && f.Path != "" || slices.ContainsFunc(lk.in.Facts.Incomplete, func(i pipeline.Incompleteness) bool { return mayHide(i, f, place) }) {
		return false
	}
	makers := f.Reviewers
	if len(makers) == 0 {
		makers = pipeline.List[string]{f.Agent}
	}
	// If the file left the change, there is nothing to look at.
	left := f.Path != "" && place == ""
	if slices.ContainsFunc(makers, func(agent string) bool { return failed[agent] }) {
		return false
	}
	elsewhere := func(agent string) bool { return !lk.looked(agent, place) }
	return left || !slices.ContainsFunc(makers, elsewhere) || lk.vanished(f, place)
}

// looked reports whether an agent answered on a file, or on the change if place is "". An agent
// whose questions were partly discarded did not.
func (lk *looks) looked(agent, place string) bool {
	answered := false
	for _, r := range lk.in.Results {
		if r.Agent == agent && r.Status == pipeline.AgentDiscarded {
			return false
		}
		answered = answered || r.Agent == agent
	}
	if !answered {
		return false
	}
	e := lk.in.Manifest.Entry(agent)
	if e == nil || place == "" || e.Scope.All {
		return true
	}
	_, scoped := slices.BinarySearch(e.Scope.Files, place)
	return scoped
}

// mayHide reports whether something unknown may hide a finding.
func mayHide(i pipeline.Incompleteness, f *pipeline.Finding, place string) bool {
	switch i.What {
	case "commits":
		return f.Path == "" && f.Section != pipeline.SectionTitle && f.Section != pipeline.SectionDescription
	case "files", "patch":
		// A file that is not in the list may be a rename that nobody saw.
		return f.Path != "" && (place == "" || i.Path == place)
	}
	return i.Gating && f.Path != "" && (i.Path == "" || i.Path == place)
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
