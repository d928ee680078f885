package aggregate

import (
	"cmp"
	"slices"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/words"
)

// matchEarlier matches models' findings with those of earlier reports, and keeps the blocking ones
// that no model raised again although nothing about them has changed. A model words a finding
// differently each time, and may not find it again.
func (w *work) matchEarlier() {
	all := earlierFindings(w.in, w.paths)
	if len(all) == 0 {
		return
	}
	match(w.findings, all)
	w.keepUnraised(all)
}

// earlier is a model's finding in an earlier report.
type earlier struct {
	*pipeline.Finding
	title      *title
	place      string // the current path of its file
	by         map[source]bool
	onlyModels bool // only models made it
	dismissed  bool // a person dismissed it
	sameHead   bool // the earlier report is about the same head
	matched    bool // a new finding matches it
}

// earlierFindings returns the models' findings in the last report on the same head, and then in the
// last report on another head.
func earlierFindings(in *input, paths *pathHistory) []*earlier {
	var out []*earlier
	seen := map[string]bool{}
	for i, report := range []*pipeline.PreviousReport{in.SameHead, in.Previous} {
		if report == nil {
			continue
		}
		add := func(f *pipeline.Finding, dismissed bool) {
			p := &earlier{Finding: f, title: in.titles.of(f.Title), dismissed: dismissed, sameHead: i == 0, by: map[source]bool{}, onlyModels: true}
			for _, m := range makersOf(f) {
				p.by[source{m.Agent, m.Model}] = true
				p.onlyModels = p.onlyModels && m.Model != ""
			}
			// A fingerprint by rule identifies what other agents found.
			if !p.onlyModels || seen[f.ID] || len(f.Perspectives) > 0 {
				return
			}
			seen[f.ID] = true
			p.place = paths.now(f)
			out = append(out, p)
		}
		for k := range report.Findings {
			add(&report.Findings[k], false)
		}
		for k := range report.Unconfirmed {
			add(&report.Unconfirmed[k], false)
		}
		for k := range report.Suppressed {
			if s := &report.Suppressed[k]; s.Finding.State == pipeline.StateDismissed {
				add(&s.Finding, true)
			}
		}
	}
	return out
}

// makersOf returns those who made a finding of an earlier report.
func makersOf(f *pipeline.Finding) []pipeline.Maker {
	if len(f.FoundBy) > 0 {
		return f.FoundBy
	}
	return []pipeline.Maker{{Agent: f.Agent, Model: f.Model}}
}

// candidate is a new finding and an earlier finding that it may match.
type candidate struct {
	f     *item
	old   *earlier
	exact bool // they flag the same text
	basis int  // what the match is based on
	words int  // the number of words that their titles share
}

// What a match is based on. In addition, both findings must flag the same text.
const (
	byCategory = 1 + iota
	byWords
	bySameRule
)

// maxEarlier bounds the earlier findings of one file that a new finding is compared with.
const maxEarlier = 256

// match gives new findings the identity of the earlier findings that they match. It matches each
// reviewer's findings one to one, the most similar first.
func match(findings []*item, all []*earlier) {
	ids := map[string]*earlier{}
	for _, p := range all {
		for _, id := range fingerprintsOf(p.Finding) {
			if ids[id] == nil {
				ids[id] = p
			}
		}
	}
	at := map[string][]*earlier{} // by place or section
	for _, p := range all {
		if key := p.place + "\x00" + p.sectionKey(); len(at[key]) < maxEarlier {
			at[key] = append(at[key], p)
		}
	}
	var pairs []candidate
	taken := map[*earlier]map[int]bool{} // the answers with a match, by earlier finding
	for _, f := range findings {
		if f.Model == "" {
			continue
		}
		if p := ids[f.ID]; p != nil { // the fingerprint matches
			first := !p.matched
			p.matched = true
			setTaken(taken, p, f.answer)
			f.setEarlier(p, byWords, first || f.ID == p.ID)
			continue
		}
		for _, p := range at[f.Path+"\x00"+sectionKey(f.Path, f.section)] {
			if pair, ok := pairWith(f, p); ok {
				pairs = append(pairs, pair)
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b candidate) int {
		return cmp.Or(compareBool(!a.exact, !b.exact), cmp.Compare(b.basis, a.basis), cmp.Compare(b.words, a.words))
	})
	for _, p := range pairs {
		if p.f.earlier != nil || taken[p.old][p.f.answer] {
			continue
		}
		first := !p.old.matched
		p.old.matched = true
		setTaken(taken, p.old, p.f.answer)
		p.f.setEarlier(p.old, p.basis, first)
	}
}

func setTaken(taken map[*earlier]map[int]bool, p *earlier, answer int) {
	if taken[p] == nil {
		taken[p] = map[int]bool{}
	}
	taken[p][answer] = true
}

// sectionKey is the section of a finding without a file. Only such findings are told apart by it.
func (p *earlier) sectionKey() string { return sectionKey(p.Path, words.Normalised(p.Section)) }

func sectionKey(path, section string) string {
	if path != "" {
		return ""
	}
	return section
}

// pairWith compares a new finding with an earlier one at the same place.
func pairWith(f *item, p *earlier) (candidate, bool) {
	exact, same := sameFlagged(f.Flagged, p.Flagged)
	if !same {
		return candidate{}, false
	}
	out := candidate{f: f, old: p, exact: exact, words: f.title.common(p.title)}
	switch {
	case f.RuleID != "" && f.RuleID == p.RuleID:
		out.basis = bySameRule
	case f.title.alike(p.title):
		out.basis = byWords
	case f.Category == p.Category && config.Specific(f.Category):
		out.basis = byCategory
	default:
		return candidate{}, false
	}
	return out, true
}

// sameFlagged reports whether two findings flag the same lines, or one flags a part of the other's
// lines. Models draw the line between a problem and its surroundings differently each time.
func sameFlagged(a, b []string) (exact, same bool) {
	if slices.Equal(a, b) {
		return true, true
	}
	if len(a) > len(b) {
		a, b = b, a
	}
	return false, len(a) > 0 && !slices.ContainsFunc(a, func(line string) bool { return !slices.Contains(b, line) })
}

// maxEarlierIDs bounds the fingerprints of earlier wordings that a finding keeps.
const maxEarlierIDs = 16

// setEarlier records that a finding matches an earlier one. If it is the first to match, it takes
// the earlier finding's id.
func (f *item) setEarlier(p *earlier, basis int, first bool) {
	f.earlier, f.basis = p, basis
	ids := map[string]bool{f.ID: true, p.ID: true}
	for _, id := range fingerprintsOf(p.Finding) {
		if len(ids) < maxEarlierIDs {
			ids[id] = true
		}
	}
	around := f.Surroundings[0]
	if first {
		f.ID, f.keepsID = p.ID, true
	}
	f.Fingerprints, f.Surroundings = sortedKeys(ids), nil
	for range f.Fingerprints {
		f.Surroundings = append(f.Surroundings, around)
	}
}

// dismissalHolds reports whether a dismissal of the earlier finding holds for this one, and if not,
// why.
func (f *item) dismissalHolds() (holds bool, why string) {
	switch p := f.earlier; {
	case p == nil:
		return true, ""
	case f.Severity.Rank() > p.Severity.Rank():
		return false, "a model holds it to be " + string(f.Severity) + " now, and it was dismissed as " + string(p.Severity)
	case !f.title.alike(p.title):
		return false, "a model words it otherwise now"
	}
	return true, ""
}

// blocked reports whether an earlier finding blocked or waited for a person.
func (p *earlier) blocked() bool {
	return p.GateSeverity.Rank() >= pipeline.SeverityMajor.Rank() || p.HasReason(pipeline.ReasonHeld)
}

// countAsBefore makes findings that blocked count as before if nothing about them has changed. That
// fewer models raise one this time, or raise it as something milder, proves nothing.
func (w *work) countAsBefore() {
	for _, f := range w.findings {
		p := f.earlier
		if p == nil || p.dismissed || f.unraised || !p.blocked() || !w.surroundings.unchanged(p, f.Surroundings[0]) {
			continue
		}
		models := p.provenBy()
		if f.Severity.Rank() >= p.Severity.Rank() && f.proof.Models >= models {
			continue
		}
		if f.Severity.Rank() < p.Severity.Rank() {
			f.Severity = p.Severity
		}
		f.proof.Models = max(f.proof.Models, models)
		f.addReasonOf(pipeline.ReasonAsBefore, "")
	}
}

// provenBy is the number of models that count as having made an earlier finding. It is at least two
// if the finding counted as proven, since not every model may have raised it each time.
func (p *earlier) provenBy() int {
	if p.GateSeverity.Rank() > pipeline.SeverityWarning.Rank() {
		return max(2, len(p.by))
	}
	return 1
}

// keepUnraised handles earlier findings that no model raised again, although those who made them
// looked and nothing about them has changed. It keeps those that blocked, and drops and reports the
// others.
func (w *work) keepUnraised(all []*earlier) {
	for _, p := range all {
		if p.matched || p.dismissed || !w.rechecks.makersLooked(p) {
			continue
		}
		f := w.unraised(p)
		if f == nil {
			continue // its subject is gone or has changed
		}
		if !p.blocked() {
			dropped := *p.Finding
			dropped.State = pipeline.StateNotRaised
			w.report.Changes.NotRaised = append(w.report.Changes.NotRaised, dropped)
			continue
		}
		w.findings = append(w.findings, f)
	}
	sortByContent(w.findings)
}

// unraised returns an earlier finding at its current place. It returns nil if the lines of the
// finding, the code around them, or the files that it names have changed.
func (w *work) unraised(p *earlier) *item {
	if p.Path != "" && p.place == "" {
		return nil
	}
	at := &item{Finding: *p.Finding, title: p.title, section: words.Normalised(p.Section), unraised: true, earlier: p, basis: byWords}
	at.original, at.ownID = p.Finding, p.ID
	at.Path = p.place
	switch {
	case p.Path != "" && p.StartLine > 0:
		start, end, ok := w.texts.findLines(p.place, p.Flagged)
		if !ok {
			return nil
		}
		at.StartLine, at.EndLine = start, end
	case p.Path != "":
	case len(p.Flagged) > 0: // it is about a commit's message
		section, ok := w.texts.commitOf(p.Flagged[0])
		if !ok {
			return nil
		}
		at.Section, at.section = section, words.Normalised(section)
	}
	digest := w.surroundings.of(at)
	if !w.surroundings.unchanged(p, digest) {
		return nil
	}
	at.flagged = w.texts.flagged(at)
	at.Surroundings = nil
	for range at.Fingerprints {
		at.Surroundings = append(at.Surroundings, digest)
	}
	at.Reasons, at.State, at.Final = pipeline.List[pipeline.Reason]{{Kind: pipeline.ReasonNotRaised}}, "", nil
	at.OriginalPath = ""
	if o := w.paths.oldest[at.Path]; o != at.Path {
		at.OriginalPath = o
	}
	for _, m := range makersOf(p.Finding) {
		member := *at
		member.Agent, member.Model, member.stage = m.Agent, m.Model, stageOf(w.in.Results, m)
		at.members = append(at.members, &member)
		at.stage = cmp.Or(at.stage, member.stage)
	}
	at.FoundBy = nil
	at.proof.Models = p.provenBy()
	return at
}

func stageOf(results []pipeline.AgentResult, m pipeline.Maker) string {
	for _, r := range results {
		if r.Agent == m.Agent && r.Model == m.Model {
			return r.Stage
		}
	}
	return ""
}

// notRaised are the ids of the findings that were dropped because no model raised them again.
func notRaised(r *pipeline.Report) map[string]bool {
	out := map[string]bool{}
	for i := range r.Changes.NotRaised {
		addTo(out, fingerprintsOf(&r.Changes.NotRaised[i]))
	}
	return out
}
