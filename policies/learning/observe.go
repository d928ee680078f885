package learning

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// Observation is a review together with what its entry has to know of the config and the code.
type Observation struct {
	Review *pipeline.Review
	Record *pipeline.RunRecord
	// Before is the history of the pull request up to this review.
	Before *History
	// Rules reports whether an agent makes findings by a rule under the config in force.
	Rules func(agent, rule string) bool
	// Prompt and Checklist return digests of an agent's prompt and checklist, or an empty string.
	Prompt, Checklist func(agent string) string
	// Trace returns the present path of the file that a finding of an earlier report is in, and
	// whether the lines that it flags have changed. The path is empty if the change no longer has
	// the file.
	Trace func(*pipeline.Finding) (path string, changed bool)
}

// Observe makes the entry of a review. The caller sets At.
func Observe(o Observation) Entry {
	v, r := o.Review, &o.Review.Report
	e := Review{
		HeadSHA: v.Facts.Head.SHA, BaseRef: v.Facts.Base.Ref, BaseSHA: v.Facts.Base.SHA, ConfigVersion: r.ConfigVersion, Version: o.Record.Version,
		Iteration: r.Iteration, Decision: r.Decision, Condition: r.Gate.Condition, FixIterations: fixIterations(o.Before, v.Facts.Head.SHA),
		DurationMS: float64(o.Record.Duration().Microseconds()) / 1000, Residual: len(r.ResidualConcerns),
	}
	for _, s := range v.Classification.Services {
		e.Services = append(e.Services, s.ID)
	}
	if m := r.Models; m != nil {
		e.Strategy, e.Confidence, e.AutoDecision = m.Strategy, m.Confidence, m.AutoDecision
		e.Stages = stagesOf(m)
	}
	for _, u := range o.Record.ModelUse {
		e.Use = append(e.Use, Use{Agent: u.Agent, Model: u.Model, Input: u.Input, Output: u.Output, Cost: u.CostUSD})
	}
	e.Asked = o.asked()
	t := tracking{Observation: o, entry: &e, ids: map[string]int{}, at: map[string]int{}, taken: map[int]bool{}, seen: map[string]bool{}}
	t.track()
	e.Findings = e.Findings[:min(len(e.Findings), MaxFindings, max(0, maxRows-o.Before.rows))]
	return Entry{Event: o.Record.RunID, Kind: KindReview, Repository: v.Facts.Repository.FullName(), Number: v.Facts.Number, Review: &e}
}

// fixIterations counts the heads before this one whose last review blocked.
func fixIterations(before *History, head string) (n int) {
	blocks := map[string]bool{}
	for _, e := range before.Reviews {
		blocks[e.Review.HeadSHA] = e.Review.Decision.Blocks()
	}
	delete(blocks, head)
	for _, b := range blocks {
		if b {
			n++
		}
	}
	return n
}

// stagesOf returns what the models said in each stage.
func stagesOf(m *pipeline.ModelsReport) (out []Stage) {
	for _, s := range m.Stages {
		row := Stage{Stage: s.Stage}
		for _, v := range m.Verdicts {
			verdict := v.Quality
			if s.Stage == pipeline.ReviewStageSpec {
				verdict = v.Spec
			}
			row.Models = append(row.Models, Verdict{v.Model, verdict})
			row.Only = append(row.Only, OnlyOne{Model: v.Model})
		}
		count := func(at, n int) {
			if at >= 0 && at < len(row.Only) {
				row.Only[at].Count = n
			}
		}
		for _, c := range s.Categories {
			switch c.Category {
			case pipeline.ModelsAgreed:
				row.Agreed = c.Count
			case pipeline.ModelsContradictions:
				row.Contradictions = c.Count
			case pipeline.ModelsAOnly:
				count(0, c.Count)
			case pipeline.ModelsBOnly:
				count(len(row.Only)-1, c.Count)
			}
		}
		out = append(out, row)
	}
	return out
}

// asked returns what each model was asked about.
func (o *Observation) asked() (out []Asked) {
	room := maxRanges - o.Before.ranges
	for _, r := range o.Review.Results {
		if r.Model == "" || len(r.Asked) == 0 {
			continue
		}
		a := Asked{Agent: r.Agent, Model: r.Model, Stage: r.Stage, Checklist: o.Checklist(r.Agent), Prompt: o.Prompt(r.Agent)}
		n := min(len(r.Asked), MaxAsked, max(0, room))
		room -= n
		for _, l := range r.Asked[:n] {
			a.Lines = append(a.Lines, Lines{Path: l.Path, First: l.First, Last: l.Last})
		}
		out = append(out, a)
	}
	return out
}

// tracking finds out what a review says about each finding that it or an earlier one has.
type tracking struct {
	Observation
	entry *Review
	ids   map[string]int  // the index in Before.Findings, by ID
	at    map[string]int  // likewise by fingerprint
	taken map[int]bool    // those that this review has
	seen  map[string]bool // the findings of this review, by ID
	known map[string]*pipeline.Finding
	last  *Review // the review before, or nil
}

func (t *tracking) track() {
	for i := range t.Before.Findings {
		f := &t.Before.Findings[i]
		t.ids[f.ID] = i
		for _, id := range append([]string{f.ID}, f.Also...) {
			t.at[id] = i
		}
	}
	if n := len(t.Before.Reviews); n > 0 {
		t.last = t.Before.Reviews[n-1].Review
	}
	r := &t.Review.Report
	for i := range r.Findings {
		t.has(&r.Findings[i], StatusOpen)
	}
	for i := range r.Suppressed {
		t.has(&r.Suppressed[i].Finding, StatusUnshown)
	}
	for i := range r.Changes.Unconfirmed {
		t.has(&r.Changes.Unconfirmed[i], StatusUnknown)
	}
	if r.Evaluation != nil {
		for i := range r.Evaluation.Findings {
			t.has(&r.Evaluation.Findings[i], StatusUnshown)
		}
	}
	t.recall()
	for i := range t.Before.Findings {
		if f := &t.Before.Findings[i]; !t.taken[i] && (f.Status == StatusOpen || f.Status == StatusUnknown) {
			t.gone(f)
		}
	}
}

// has records a finding of this review.
func (t *tracking) has(f *pipeline.Finding, status Status) {
	if t.seen[f.ID] { // findings that are shown come first
		return
	}
	t.seen[f.ID] = true
	row := t.rowOf(f, status)
	own := -1 // the earlier finding that it is
	var joined []int
	for _, id := range append([]string{f.ID}, f.Fingerprints...) {
		at, known := t.at[id]
		switch {
		case !known || t.taken[at]:
		case own < 0:
			own = at
			t.taken[at] = true
		default:
			joined = append(joined, at)
			t.taken[at] = true
		}
	}
	if own < 0 {
		if at, known := t.ids[row.ID]; known && t.taken[at] {
			return // the review has the finding twice
		}
		t.entry.Findings = append(t.entry.Findings, row)
		return
	}
	for _, at := range joined {
		was := t.Before.Findings[at].Finding
		was.Status = StatusJoined
		t.entry.Findings = append(t.entry.Findings, was)
	}
	before := &t.Before.Findings[own]
	was := &before.Finding
	judged := before.Judged != nil && before.Judged.Judged.Verdict == Dismissed
	switch {
	case status == StatusUnshown && f.State == pipeline.StateDismissed && judged:
		row.Status = StatusOpen // what the person said of it is an entry of its own
	case status == StatusOpen && judged:
		row.Lapsed = !slices.ContainsFunc(t.Review.Memory.Dismissed, func(d pipeline.Dismissal) bool { return slices.Contains(f.Fingerprints, d.Fingerprint) })
	}
	if row.ID != was.ID {
		row.Also = append(row.Also, row.ID)
		row.Also = slices.DeleteFunc(row.Also, func(id string) bool { return id == was.ID })
		slices.Sort(row.Also)
		row.Also = slices.Compact(row.Also)
		row.ID = was.ID
	}
	t.add(row, was)
}

// add adds a row if it says more than the last one. Lines move with each push, and those of the first
// review count.
func (t *tracking) add(row Finding, was *Finding) {
	same := row
	same.First, same.Last = was.First, was.Last
	if !reflect.DeepEqual(same, *was) {
		t.entry.Findings = append(t.entry.Findings, row)
	}
}

// rowOf describes a finding of this review.
func (t *tracking) rowOf(f *pipeline.Finding, status Status) Finding {
	row := Finding{
		ID: f.ID, Agent: f.Agent, Rule: name(f.RuleID), Severity: f.Severity, Gate: cmp.Or(f.GateSeverity, f.Severity),
		Category: name(f.Category), Path: f.Path, Section: sectionOf(f),
		First: f.StartLine, Last: f.EndLine, Holds: f.HasReason(pipeline.ReasonHeld), Status: status,
	}
	for i, id := range f.Fingerprints {
		if id != f.ID {
			row.Also = append(row.Also, id)
		} else if i < len(f.Surroundings) {
			row.Around = f.Surroundings[i]
		}
	}
	makers := f.FoundBy
	if len(makers) == 0 {
		makers = pipeline.List[pipeline.Maker]{{Agent: f.Agent, Model: f.Model}}
	}
	for _, m := range makers {
		i := slices.IndexFunc(row.Models, func(o Stated) bool { return o.Model == m.Model })
		switch {
		case m.Model == "":
		case i >= 0:
			row.Models[i].Confidence = max(row.Models[i].Confidence, m.Stated)
		default:
			row.Models = append(row.Models, Stated{m.Model, m.Agent, m.Stated})
		}
	}
	if len(row.Models) > 0 {
		row.Prompt = t.Prompt(row.Models[0].Agent)
	}
	for _, agent := range f.Reviewers {
		if agent != f.Agent {
			row.Others = append(row.Others, agent)
		}
	}
	if e := t.Review.Manifest.Entry(f.Agent); e != nil {
		row.Stage = e.Stage
	}
	for _, s := range t.Review.Classification.Services {
		if slices.Contains(s.Files, f.Path) {
			row.Services = append(row.Services, s.ID)
		}
	}
	return row
}

// names are what a log keeps of a rule or a category. Agents outside may put a text there.
var names = regexp.MustCompile(`^[\w.:/@+#-]{0,100}$`)

// name is a text if it is a name, and else a digest of it.
func name(text string) string {
	if names.MatchString(text) {
		return text
	}
	return digest(text)
}

// sectionOf is the section of a finding if it is one of ours, and else a digest of it.
func sectionOf(f *pipeline.Finding) string {
	switch commit := strings.TrimPrefix(f.Section, pipeline.SectionCommit("")); {
	case f.Path != "":
		return ""
	case slices.Contains([]string{"", pipeline.SectionTitle, pipeline.SectionDescription, pipeline.SectionChange}, f.Section):
		return f.Section
	case commit != f.Section && names.MatchString(commit):
		return f.Section
	}
	return digest(f.Section)
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "digest:" + hex.EncodeToString(sum[:6])
}

// recall finds the earlier reports' findings as they were.
func (t *tracking) recall() {
	t.known = map[string]*pipeline.Finding{}
	note := func(findings []pipeline.Finding) {
		for i := range findings {
			f := &findings[i]
			for _, id := range append([]string{f.ID}, f.Fingerprints...) {
				if t.known[id] == nil {
					t.known[id] = f
				}
			}
		}
	}
	v := t.Review
	note(v.Report.Changes.NotRaised)
	note(v.Report.Changes.Resolved)
	for _, p := range []*pipeline.PreviousReport{v.SameHead, v.Previous} {
		if p == nil {
			continue
		}
		note(p.Findings)
		note(p.Unconfirmed)
		for i := range p.Suppressed {
			note([]pipeline.Finding{p.Suppressed[i].Finding})
		}
	}
}

// gone says why a finding of an earlier review is no longer there.
func (t *tracking) gone(f *Followed) {
	row := f.Finding
	row.Status = t.why(f)
	if row.Status != f.Status {
		t.entry.Findings = append(t.entry.Findings, row)
	}
}

func (t *tracking) why(f *Followed) Status {
	v := t.Review
	path, changed := t.trace(f)
	had := t.last // the review that had it last
	if f.had != nil {
		had = f.had
	}
	sameHead := had.HeadSHA == v.Facts.Head.SHA
	otherwise := t.otherwise(f, had)
	onlyModels := len(f.Models) > 0 && len(f.Others) == 0
	asked, ran := t.asks(f)
	switch {
	case v.Failed != "":
		return StatusUnknown
	case !sameHead && f.Path != "" && path == "":
		if !filesKnown(&v.Facts) {
			return StatusUnknown
		}
		return StatusWithdrawn
	case !asked && otherwise:
		return StatusObsolete
	case !ran:
		return StatusUnknown
	case f.Path == "" && changed && !(otherwise && f.Section == pipeline.SectionChange):
		return StatusFixed // such as the title, which can change without a push
	case sameHead && onlyModels && !otherwise:
		return StatusNotRaised
	case sameHead: // the same rule says otherwise because of something that is not stored
		return StatusObsolete
	case otherwise && !changed:
		return StatusObsolete
	case onlyModels && !changed:
		return StatusNotRaised
	}
	return StatusFixed
}

// trace returns the present path of a finding's file, and whether the lines or the text that it is
// about have certainly changed. The last report on the same head is not at hand; without it, a model's
// finding can't be traced.
func (t *tracking) trace(f *Followed) (path string, changed bool) {
	for _, id := range append([]string{f.ID}, f.Also...) {
		if full := t.known[id]; full != nil {
			return t.Trace(full)
		}
	}
	if len(f.Models) > 0 {
		return pathNow(&t.Review.Facts, f.Path), false
	}
	return t.Trace(&pipeline.Finding{
		ID: f.ID, Fingerprints: append(pipeline.List[string]{f.ID}, f.Also...), Surroundings: pipeline.List[string]{f.Around},
		Agent: f.Agent, RuleID: f.Rule, Path: f.Path, Section: f.Section, StartLine: f.First, EndLine: f.Last,
	})
}

// otherwise reports whether this review asks something else than an earlier one: with another config,
// version, prompt or base.
func (t *tracking) otherwise(f *Followed, had *Review) bool {
	v := t.Review
	return had.ConfigVersion != v.Report.ConfigVersion || had.Version != t.Record.Version || had.BaseRef != v.Facts.Base.Ref ||
		had.HeadSHA == v.Facts.Head.SHA && had.BaseSHA != v.Facts.Base.SHA ||
		len(f.Models) > 0 && f.Models[0].Agent != "" && t.Prompt(f.Models[0].Agent) != f.Prompt
}

// asks reports whether this review looks for a finding: an agent that made it is among those that run,
// and still has the rule. ran says that such an agent also finished.
func (t *tracking) asks(f *Followed) (asked, ran bool) {
	if f.Rule != "" && !t.Rules(f.Agent, f.Rule) {
		return false, false
	}
	for _, agent := range append([]string{f.Agent}, f.Others...) {
		asked = asked || t.Review.Manifest.Entry(agent) != nil
		ran = ran || slices.ContainsFunc(t.Review.Results, func(r pipeline.AgentResult) bool {
			return r.Agent == agent && r.Status == pipeline.AgentOK && (r.Model == "" || len(f.Models) == 0 || slices.ContainsFunc(f.Models, func(m Stated) bool { return m.Model == r.Model }))
		})
	}
	return asked, ran
}

// pathNow returns the present path of a file of an earlier head, or an empty string if the change no
// longer has it.
func pathNow(facts *pipeline.PRFacts, path string) string {
	for i := range facts.Files {
		f := &facts.Files[i]
		switch {
		case f.Status == pipeline.FileRemoved:
		case f.Path == path, f.PreviousPath == path && f.Status == pipeline.FileRenamed:
			return f.Path
		}
	}
	return ""
}

// filesKnown reports whether the facts have all files of the change.
func filesKnown(facts *pipeline.PRFacts) bool {
	return !slices.ContainsFunc(facts.Incomplete, func(i pipeline.Incompleteness) bool { return i.What == "files" })
}
