package aggregate

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// matchEarlier matches models' findings with those of earlier reports, and keeps the blocking ones
// that no model raised again although nothing about them has changed. A model words a finding
// differently each time, and may not find it again.
func (w *work) matchEarlier() {
	all := w.last.earlierFindings()
	if len(all) == 0 {
		return
	}
	w.match(all)
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
func (er *earlierReport) earlierFindings() []*earlier {
	var out []*earlier
	seen := map[string]bool{}
	current := er.lineage.currentPaths()
	for i, report := range []*pipeline.PreviousReport{er.in.Again, er.in.Previous} {
		if report == nil {
			continue
		}
		add := func(f *pipeline.Finding, aside bool) {
			p := &earlier{Finding: f, title: er.titles.of(f.Title), dismissed: aside, sameHead: i == 0, by: map[source]bool{}, onlyModels: true}
			for _, m := range makersOf(f) {
				p.by[source{m.Agent, m.Model}] = true
				p.onlyModels = p.onlyModels && m.Model != ""
			}
			// A fingerprint by rule identifies what other agents found.
			if !p.onlyModels || seen[f.ID] || len(f.Perspectives) > 0 {
				return
			}
			seen[f.ID] = true
			p.place = er.lineage.placeNow(f, current)
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
func (w *work) match(all []*earlier) {
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
	for _, f := range w.findings {
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
func (p *earlier) sectionKey() string { return sectionKey(p.Path, normalised(p.Section)) }

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

// unchanged reports whether the code around an earlier finding, and what the change does to the
// files that it names, are still the same.
func (er *earlierReport) unchanged(p *earlier, digest string) bool {
	i := slices.Index(p.Fingerprints, p.ID)
	return i >= 0 && i < len(p.Surroundings) && p.Surroundings[i] == digest && p.Cited == er.cited(p.Finding)
}

// notInName reports whether a character can't be part of a file's path or name.
func notInName(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_.@/+-", r)
}

// cited is a digest of what the change does to the other files that a finding names. A finding that
// depends on another file may be fixed there.
func (er *earlierReport) cited(f *pipeline.Finding) string {
	paths := map[string]bool{}
	for _, text := range []string{f.Citation, f.Message, f.WhyItMatters, f.Recommendation} {
		for word := range strings.FieldsFuncSeq(text, notInName) {
			if word = strings.Trim(word, ".-/"); !strings.ContainsAny(word, "./") {
				continue // it can't be a path
			}
			if path, ok := er.byName()[word]; ok {
				word = path
			}
			if er.files[word] != nil && word != f.Path {
				paths[word] = true
			}
		}
	}
	if len(paths) == 0 {
		return ""
	}
	var parts []string
	for _, path := range sortedKeys(paths) {
		whole := er.surroundings.shape(path).whole
		parts = append(parts, path, string(whole[:]))
	}
	all := sumOf(parts...)
	return hex.EncodeToString(all[:])
}

// byName maps file names to the paths of the change's files, for names that only one file has.
func (er *earlierReport) byName() map[string]string {
	if er.names == nil {
		er.names = map[string]string{}
		for p := range er.files {
			name := path.Base(p)
			if _, twice := er.names[name]; twice {
				p = ""
			}
			er.names[name] = p
		}
	}
	return er.names
}

// countAsBefore makes findings that blocked count as before if nothing about them has changed. That
// fewer models raise one this time, or raise it as something milder, proves nothing.
func (w *work) countAsBefore() {
	for _, f := range w.findings {
		p := f.earlier
		if p == nil || p.dismissed || f.unraised || !p.blocked() || !w.last.unchanged(p, f.Surroundings[0]) {
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

// The bytes of a flagged line's digest, and the digests that a finding keeps.
const (
	flaggedDigest    = 4
	maxFlaggedDigest = 20
)

// setFlagged records the lines that models' findings flag, so that a later review can match them.
func (tx *texts) setFlagged(findings []*item) {
	for _, f := range findings {
		if f.Model == "" {
			continue
		}
		f.Flagged = nil
		switch {
		case f.Path == "":
			if message, known := tx.commit(f); known {
				f.Flagged = pipeline.List[string]{lineDigest(message)}
			}
		case f.StartLine > 0 && tx.files[f.Path] != nil:
			lines := tx.lines.of(f.Path)
			for n := f.StartLine; n <= f.EndLine && n < f.StartLine+maxSpanned && len(f.Flagged) < maxFlaggedDigest; n++ {
				if l := plaintext.Line(lines[n].text); l != "" {
					f.Flagged = append(f.Flagged, lineDigest(l))
				}
			}
		}
	}
}

func lineDigest(text string) string {
	sum := sha256.Sum256([]byte(plaintext.Line(text)))
	return hex.EncodeToString(sum[:flaggedDigest])
}

// keepUnraised handles earlier findings that no model raised again, although those who made them
// looked and nothing about them has changed. It keeps those that blocked, and drops and reports the
// others.
func (w *work) keepUnraised(all []*earlier) {
	failed := w.inputs.failedAgents()
	for _, p := range all {
		if p.matched || p.dismissed || !w.last.makersLooked(p, failed) {
			continue
		}
		f := w.last.unraised(p)
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

// makersLooked reports whether each model that made a finding has looked again and finished.
func (er *earlierReport) makersLooked(p *earlier, failed map[string]bool) bool {
	if !er.looks.lookedAgain(p.Finding, p.place, failed) {
		return false
	}
	for s := range p.by {
		if !slices.ContainsFunc(er.in.Results, func(r pipeline.AgentResult) bool {
			return r.Agent == s.agent && r.Model == s.model && r.Status == pipeline.AgentOK
		}) {
			return false
		}
	}
	return true
}

// unraised returns an earlier finding at its current place. It returns nil if the lines of the
// finding, the code around them, or the files that it names have changed.
func (er *earlierReport) unraised(p *earlier) *item {
	if p.Path != "" && p.place == "" {
		return nil
	}
	at := &item{Finding: *p.Finding, title: p.title, section: normalised(p.Section), unraised: true, earlier: p, basis: byWords}
	at.original, at.ownID = p.Finding, p.ID
	at.Path = p.place
	switch {
	case p.Path != "" && p.StartLine > 0:
		start, end, ok := er.texts.findLines(p.place, p.Flagged)
		if !ok {
			return nil
		}
		at.StartLine, at.EndLine = start, end
	case p.Path != "":
	case len(p.Flagged) > 0: // it is about a commit's message
		section, ok := er.texts.commitOf(p.Flagged[0])
		if !ok {
			return nil
		}
		at.Section, at.section = section, normalised(section)
	}
	digest := er.surroundings.of(at)
	if !er.unchanged(p, digest) {
		return nil
	}
	at.flagged = er.texts.flagged(at)
	at.Surroundings = nil
	for range at.Fingerprints {
		at.Surroundings = append(at.Surroundings, digest)
	}
	at.Reasons, at.State, at.Final = pipeline.List[pipeline.Reason]{{Kind: pipeline.ReasonNotRaised}}, "", nil
	at.OriginalPath = ""
	if o := er.lineage.origins[at.Path]; o != at.Path {
		at.OriginalPath = o
	}
	for _, m := range makersOf(p.Finding) {
		member := *at
		member.Agent, member.Model, member.stage = m.Agent, m.Model, er.inputs.stageOf(m)
		at.members = append(at.members, &member)
		at.stage = cmp.Or(at.stage, member.stage)
	}
	at.FoundBy = nil
	at.proof.Models = p.provenBy()
	return at
}

func (c *inputs) stageOf(m pipeline.Maker) string {
	for _, r := range c.in.Results {
		if r.Agent == m.Agent && r.Model == m.Model {
			return r.Stage
		}
	}
	return ""
}

// findLines returns where a file has lines with the digests, ignoring blank lines.
func (tx *texts) findLines(path string, digests []string) (start, end int, ok bool) {
	if len(digests) == 0 {
		return 0, 0, false
	}
	code := tx.digested(path)
	for i := 0; i+len(digests) <= len(code); i++ {
		same := 0
		for same < len(digests) && code[i+same].digest == digests[same] {
			same++
		}
		if same == len(digests) {
			return code[i].number, code[i+same-1].number, true
		}
	}
	return 0, 0, false
}

// digestedLine is a line of the head with its digest.
type digestedLine struct {
	number int
	digest string
}

// digested returns the lines of a file that the diff shows, without blank ones. It computes the
// digests once for all findings.
func (tx *texts) digested(path string) []digestedLine {
	if code, ok := tx.digests[path]; ok {
		return code
	}
	lines := tx.lines.of(path)
	var code []digestedLine
	for _, n := range slices.Sorted(maps.Keys(lines)) {
		if l := plaintext.Line(lines[n].text); l != "" {
			code = append(code, digestedLine{n, lineDigest(l)})
		}
	}
	if tx.digests == nil {
		tx.digests = map[string][]digestedLine{}
	}
	tx.digests[path] = code
	return code
}

// commitOf is the section of the commit whose message has the digest.
func (tx *texts) commitOf(digest string) (section string, ok bool) {
	for _, c := range tx.in.Facts.Commits {
		if lineDigest(c.Message) == digest {
			return pipeline.SectionCommit(c.SHA), true
		}
	}
	return "", false
}

// notRaised are the ids of the findings that were dropped because no model raised them again.
func notRaised(r *pipeline.Report) map[string]bool {
	out := map[string]bool{}
	for i := range r.Changes.NotRaised {
		for _, id := range fingerprintsOf(&r.Changes.NotRaised[i]) {
			out[id] = true
		}
	}
	return out
}
