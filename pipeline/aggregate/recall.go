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
)

// recall knows findings of models again that are worded anew, and keeps the blocking ones
// that no model raises again although nothing about them has changed: a model never words a
// finding twice alike, and never finds it twice for sure.
func (w *work) recall() {
	past := w.pastFindings()
	if len(past) == 0 {
		return
	}
	w.recognise(past)
	w.stand(past)
}

// past is a finding of models in an earlier report.
type past struct {
	*pipeline.Finding
	title   *title
	place   string // where its file is now
	by      map[source]bool
	models  bool // no agent made it that is none
	aside   bool // a person dismissed it
	again   bool // it stands in an earlier report on the same head
	repeats bool // it is here again
}

// pastFindings are what models found according to the last reports: that of another head,
// and an earlier one of the same head, which comes first.
func (w *work) pastFindings() []*past {
	var out []*past
	seen := map[string]bool{}
	current := w.currentPaths()
	for i, report := range []*pipeline.PreviousReport{w.in.Again, w.in.Previous} {
		if report == nil {
			continue
		}
		add := func(f *pipeline.Finding, aside bool) {
			p := &past{Finding: f, title: w.titles.of(f.Title), aside: aside, again: i == 0, by: map[source]bool{}, models: true}
			for _, m := range makersOf(f) {
				p.by[source{m.Agent, m.Model}] = true
				p.models = p.models && m.Model != ""
			}
			// What an agent made that is no model is told by its rule.
			if !p.models || seen[f.ID] || len(f.Perspectives) > 0 {
				return
			}
			seen[f.ID] = true
			p.place = w.placeNow(f, current)
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

// makersOf are those who made a finding of an earlier report.
func makersOf(f *pipeline.Finding) []pipeline.Maker {
	if len(f.FoundBy) > 0 {
		return f.FoundBy
	}
	return []pipeline.Maker{{Agent: f.Agent, Model: f.Model}}
}

// likely earlier findings of a new one, the likest first.
type recalled struct {
	f     *item
	old   *past
	exact bool // they flag the same text
	likes int  // a rule, words, or a category
	words int  // that their titles share
}

// What makes a new finding an earlier one, where both flag the same text.
const (
	byCategory = 1 + iota
	byWords
	bySameRule
)

// maxPast bounds how many earlier findings of one file a new one is compared with.
const maxPast = 256

// recognise gives new findings the identity of the earlier ones that they are. Each reviewer's
// findings are matched one to one, the likest first.
func (w *work) recognise(all []*past) {
	ids := map[string]*past{}
	for _, p := range all {
		for _, id := range known(p.Finding) {
			if ids[id] == nil {
				ids[id] = p
			}
		}
	}
	at := map[string][]*past{} // by place, or section
	for _, p := range all {
		if key := p.place + "\x00" + p.sectionKey(); len(at[key]) < maxPast {
			at[key] = append(at[key], p)
		}
	}
	var pairs []recalled
	taken := map[*past]map[int]bool{} // by answer
	for _, f := range w.findings {
		if f.Model == "" {
			continue
		}
		if p := ids[f.ID]; p != nil { // it is told by its fingerprint
			first := !p.repeats
			p.repeats = true
			take(taken, p, f.answer)
			f.is(p, byWords, first || f.ID == p.ID)
			continue
		}
		for _, p := range at[f.Path+"\x00"+sectionKey(f.Path, f.section)] {
			if pair, ok := w.pairWith(f, p); ok {
				pairs = append(pairs, pair)
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b recalled) int {
		return cmp.Or(compareBool(!a.exact, !b.exact), cmp.Compare(b.likes, a.likes), cmp.Compare(b.words, a.words))
	})
	for _, p := range pairs {
		if p.f.recalled != nil || taken[p.old][p.f.answer] {
			continue
		}
		first := !p.old.repeats
		p.old.repeats = true
		take(taken, p.old, p.f.answer)
		p.f.is(p.old, p.likes, first)
	}
}

func take(taken map[*past]map[int]bool, p *past, answer int) {
	if taken[p] == nil {
		taken[p] = map[int]bool{}
	}
	taken[p][answer] = true
}

// sectionKey is what findings without a file are told by besides their words.
func (p *past) sectionKey() string { return sectionKey(p.Path, normalised(p.Section)) }

func sectionKey(path, section string) string {
	if path != "" {
		return ""
	}
	return section
}

// pairWith compares a new finding with an earlier one at its place.
func (w *work) pairWith(f *item, p *past) (recalled, bool) {
	exact, same := sameFlagged(f.Flagged, p.Flagged)
	if !same {
		return recalled{}, false
	}
	out := recalled{f: f, old: p, exact: exact, words: f.title.common(p.title)}
	switch {
	case f.RuleID != "" && f.RuleID == p.RuleID:
		out.likes = bySameRule
	case f.title.alike(p.title):
		out.likes = byWords
	case f.Category == p.Category && config.Specific(f.Category):
		out.likes = byCategory
	default:
		return recalled{}, false
	}
	return out, true
}

// sameFlagged reports whether two findings flag the same lines, or one of them some of the
// other's: models draw the line between what is wrong and what is around it anew each time.
func sameFlagged(a, b []string) (exact, same bool) {
	if slices.Equal(a, b) {
		return true, true
	}
	if len(a) > len(b) {
		a, b = b, a
	}
	return false, len(a) > 0 && !slices.ContainsFunc(a, func(line string) bool { return !slices.Contains(b, line) })
}

// maxRecalled bounds how many fingerprints a finding remembers of the words that it was told
// in before.
const maxRecalled = 16

// is makes a finding an earlier one. first says that nobody's else is it already: then it has
// the earlier one's id.
func (f *item) is(p *past, likes int, first bool) {
	f.recalled, f.likes = p, likes
	ids := map[string]bool{f.ID: true, p.ID: true}
	for _, id := range known(p.Finding) {
		if len(ids) < maxRecalled {
			ids[id] = true
		}
	}
	around := f.Surroundings[0]
	if first {
		f.ID, f.keeps = p.ID, true
	}
	f.Fingerprints, f.Surroundings = sortedKeys(ids), nil
	for range f.Fingerprints {
		f.Surroundings = append(f.Surroundings, around)
	}
}

// asDismissed reports whether a person's word about the earlier finding holds for this one,
// and if it doesn't, why.
func (f *item) asDismissed() (holds bool, why string) {
	switch p := f.recalled; {
	case p == nil:
		return true, ""
	case f.Severity.Rank() > p.Severity.Rank():
		return false, "a model holds it to be " + string(f.Severity) + " now, and it was dismissed as " + string(p.Severity)
	case !f.title.alike(p.title):
		return false, "a model words it otherwise now"
	}
	return true, ""
}

// blocked reports whether an earlier finding blocked, or waited for a person.
func (p *past) blocked() bool {
	return p.GateSeverity.Rank() >= pipeline.SeverityMajor.Rank() || slices.Contains(p.Reasons, pipeline.ReasonHeld)
}

// unchanged reports whether the code around an earlier finding, and what the change does to
// the files that it names, are what they were.
func (w *work) unchanged(p *past, digest string) bool {
	i := slices.Index(p.Fingerprints, p.ID)
	return i >= 0 && i < len(p.Surroundings) && p.Surroundings[i] == digest && p.Cited == w.cited(p.Finding)
}

// notInName reports whether a character ends a word that can be a file's path or name.
func notInName(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_.@/+-", r)
}

// cited digests what the change does to the files that a finding names, but for its own:
// one that rests on another file may be mended there.
func (w *work) cited(f *pipeline.Finding) string {
	paths := map[string]bool{}
	for _, text := range []string{f.Citation, f.Message, f.WhyItMatters, f.Recommendation} {
		for word := range strings.FieldsFuncSeq(text, notInName) {
			if word = strings.Trim(word, ".-/"); !strings.ContainsAny(word, "./") {
				continue // it can't be a path
			}
			if path, ok := w.byName()[word]; ok {
				word = path
			}
			if w.files[word] != nil && word != f.Path {
				paths[word] = true
			}
		}
	}
	if len(paths) == 0 {
		return ""
	}
	var parts []string
	for _, path := range sortedKeys(paths) {
		whole := w.around.shape(path).whole
		parts = append(parts, path, string(whole[:]))
	}
	all := sumOf(parts...)
	return hex.EncodeToString(all[:])
}

// byName are the paths of the change's files by their last element, where no two have it.
func (w *work) byName() map[string]string {
	if w.names == nil {
		w.names = map[string]string{}
		for p := range w.files {
			name := path.Base(p)
			if _, twice := w.names[name]; twice {
				p = ""
			}
			w.names[name] = p
		}
	}
	return w.names
}

// countAsBefore has findings that blocked, and about which nothing has changed, count as
// they did: that fewer models raise one this time, or as something milder, proves nothing.
func (w *work) countAsBefore() {
	for _, f := range w.findings {
		p := f.recalled
		if p == nil || p.aside || f.standing || !p.blocked() || !w.unchanged(p, f.Surroundings[0]) {
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
		f.because(pipeline.ReasonAsBefore)
	}
}

// provenBy is how many models count as having made an earlier finding: more than one if it
// counted as proven, since some of them may not have raised it every time.
func (p *past) provenBy() int {
	if p.GateSeverity.Rank() > pipeline.SeverityWarning.Rank() {
		return max(2, len(p.by))
	}
	return 1
}

// flaggedLines of text are told apart by digests of so many bytes, at most so many of them.
const (
	flaggedDigest    = 4
	maxFlaggedDigest = 20
)

// setFlagged notes what lines the findings of models flag, by which they are known again.
func (w *work) setFlagged() {
	for _, f := range w.findings {
		if f.Model == "" {
			continue
		}
		f.Flagged = nil
		switch {
		case f.Path == "":
			if message, known := w.commit(f); known {
				f.Flagged = pipeline.List[string]{lineDigest(message)}
			}
		case f.StartLine > 0 && w.files[f.Path] != nil:
			lines := w.lines.of(f.Path)
			for n := f.StartLine; n <= f.EndLine && n < f.StartLine+maxSpanned && len(f.Flagged) < maxFlaggedDigest; n++ {
				if l := collapsed(lines[n].text); l != "" {
					f.Flagged = append(f.Flagged, lineDigest(l))
				}
			}
		}
	}
}

func lineDigest(text string) string {
	sum := sha256.Sum256([]byte(collapsed(text)))
	return hex.EncodeToString(sum[:flaggedDigest])
}

// stand keeps the earlier findings that nobody raised again although those who made them
// looked, and nothing about them has changed. Those that blocked stay; the others are
// dropped, and the report says so.
func (w *work) stand(all []*past) {
	failed := w.failedAgents()
	for _, p := range all {
		if p.repeats || p.aside || !w.makersLooked(p, failed) {
			continue
		}
		f := w.standing(p)
		if f == nil {
			continue // what it was about is gone or has changed
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

// makersLooked reports whether each model that made a finding has looked again, to the end.
func (w *work) makersLooked(p *past, failed map[string]bool) bool {
	if !w.lookedAgain(p.Finding, p.place, failed) {
		return false
	}
	for s := range p.by {
		if !slices.ContainsFunc(w.in.Results, func(r pipeline.AgentResult) bool {
			return r.Agent == s.agent && r.Model == s.model && r.Status == pipeline.AgentOK
		}) {
			return false
		}
	}
	return true
}

// standing is an earlier finding where it stands now, or nil if the lines that it is about,
// the code around them, or the files that it names, are others.
func (w *work) standing(p *past) *item {
	if p.Path != "" && p.place == "" {
		return nil
	}
	at := &item{Finding: *p.Finding, title: p.title, section: normalised(p.Section), standing: true, recalled: p, likes: byWords}
	at.as, at.own = p.Finding, p.ID
	at.Path = p.place
	switch {
	case p.Path != "" && p.StartLine > 0:
		start, end, ok := w.find(p.place, p.Flagged)
		if !ok {
			return nil
		}
		at.StartLine, at.EndLine = start, end
	case p.Path != "":
	case len(p.Flagged) > 0: // a commit's message
		section, ok := w.commitOf(p.Flagged[0])
		if !ok {
			return nil
		}
		at.Section, at.section = section, normalised(section)
	}
	digest := w.around.of(at)
	if !w.unchanged(p, digest) {
		return nil
	}
	at.flagged = w.flagged(at)
	at.Surroundings = nil
	for range at.Fingerprints {
		at.Surroundings = append(at.Surroundings, digest)
	}
	at.Reasons, at.State, at.Final = pipeline.List[string]{pipeline.ReasonNotRaised}, "", nil
	at.OriginalPath = ""
	if o := w.origins[at.Path]; o != at.Path {
		at.OriginalPath = o
	}
	for _, m := range makersOf(p.Finding) {
		member := *at
		member.Agent, member.Model, member.stage = m.Agent, m.Model, w.stageOf(m)
		at.members = append(at.members, &member)
		at.stage = cmp.Or(at.stage, member.stage)
	}
	at.FoundBy = nil
	at.proof.Models = p.provenBy()
	return at
}

func (w *work) stageOf(m pipeline.Maker) string {
	for _, r := range w.in.Results {
		if r.Agent == m.Agent && r.Model == m.Model {
			return r.Stage
		}
	}
	return ""
}

// find returns where lines with the digests stand in a file, blank lines aside.
func (w *work) find(path string, digests []string) (start, end int, ok bool) {
	if len(digests) == 0 {
		return 0, 0, false
	}
	code := w.digested(path)
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

// digestedLine is a line of the head by its digest.
type digestedLine struct {
	number int
	digest string
}

// digested are the lines of a file that the diff shows, blank ones aside. They are digested
// once, however many findings were about the file.
func (w *work) digested(path string) []digestedLine {
	if code, ok := w.digests[path]; ok {
		return code
	}
	lines := w.lines.of(path)
	var code []digestedLine
	for _, n := range slices.Sorted(maps.Keys(lines)) {
		if l := collapsed(lines[n].text); l != "" {
			code = append(code, digestedLine{n, lineDigest(l)})
		}
	}
	if w.digests == nil {
		w.digests = map[string][]digestedLine{}
	}
	w.digests[path] = code
	return code
}

// commitOf is the section of the commit with a message of the digest.
func (w *work) commitOf(digest string) (section string, ok bool) {
	for _, c := range w.in.Facts.Commits {
		if lineDigest(c.Message) == digest {
			return pipeline.SectionCommit(c.SHA), true
		}
	}
	return "", false
}

// notRaised are the ids of findings that are dropped since no model raised them again.
func (w *work) notRaised() map[string]bool {
	out := map[string]bool{}
	for i := range w.report.Changes.NotRaised {
		for _, id := range known(&w.report.Changes.NotRaised[i]) {
			out[id] = true
		}
	}
	return out
}
