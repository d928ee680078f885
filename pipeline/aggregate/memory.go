package aggregate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
	"github.com/reviewgate/reviewgate/policies/memory"
)

// knownFalse is how much confidence a finding loses if memory has false positives about it, however
// many there are.
const knownFalse = 0.30

// remembered has the false positives of memory.
type remembered struct {
	set      *memory.Set
	services map[string][]string // of each file of the change
}

// newRemembered prepares false positives. It leaves out those without an id, since the report could
// not name them.
func newRemembered(list []pipeline.FalsePositive, c *pipeline.Classification) *remembered {
	list = slices.DeleteFunc(slices.Clone(list), func(p pipeline.FalsePositive) bool { return plaintext.Line(p.Record) == "" })
	if len(list) == 0 {
		return nil
	}
	m := &remembered{memory.New(list), map[string][]string{}}
	for _, s := range c.Services {
		for _, path := range s.Files {
			m.services[path] = append(m.services[path], s.ID)
		}
	}
	return m
}

// recall looks up the records of memory about a finding. No record counts against a critical
// finding, a secret, what is final, or what no model found in this review.
func (w *work) recall(f *item) {
	m := w.in.memory
	if m == nil || f.unraised || f.Severity == pipeline.SeverityCritical || w.in.secrets[f.Agent] || w.in.final(f) {
		return
	}
	f.known = m.set.Matching(&f.Finding, m.services[f.Path])
	w.known = w.known || len(f.known) > 0
}

// doubt is what memory does to a finding of the report.
type doubt struct {
	by   []*pipeline.FalsePositive // in the order of their ids
	hide bool
	kept string // why it counts in full although it does not block
}

// name is the id of the first record.
func (d *doubt) name() string { return plaintext.Line(d.by[0].Record) }

// reason is what the first record says, after a colon.
func (d *doubt) reason() string {
	if text := plaintext.CutLine(d.by[0].Reason, pipeline.MaxMemoryReason); text != "" {
		return ": " + text
	}
	return ""
}

// withMemory makes a report, and decides. If memory has a record about some finding, it makes a
// second report, in which memory takes confidence from findings that don't block. That report must
// have the same findings that block, and a decision that is the same or, if the first one passes,
// also passes. Otherwise the first one counts.
func withMemory(w *work, decide func(*work)) *work {
	w.run()
	decide(w)
	if !w.known {
		return w
	}
	doubts, kept := w.doubtful()
	if len(doubts) == 0 {
		w.name(kept)
		return w
	}
	second := newWorkOn(w.in)
	second.doubts = doubts
	second.run()
	decide(second)
	if !sameBlocking(&w.report, &second.report) {
		for at, d := range doubts {
			d.kept = "; it counts in full, or the decision would change"
			kept[at] = d
		}
		w.name(kept)
		return w
	}
	// What models said stays the same: memory must not lead to an approval without a person.
	second.report.Models = w.report.Models
	second.name(kept)
	return second
}

// sameBlocking reports whether a report with memory may replace the one without it.
func sameBlocking(without, with *pipeline.Report) bool {
	if without.Decision.Blocks() && with.Decision != without.Decision || with.Decision.Rank() > without.Decision.Rank() {
		return false
	}
	return slices.Equal(blockingIn(without), blockingIn(with))
}

// blockingIn lists the findings that block, or wait for a person.
func blockingIn(r *pipeline.Report) (out []string) {
	for i := range r.Findings {
		if f := &r.Findings[i]; blocksGate(f) {
			out = append(out, fmt.Sprint(f.ID, f.Title, f.Severity, f.GateSeverity, f.State, f.Fingerprints))
		}
	}
	slices.Sort(out)
	return out
}

// blocksGate reports whether a finding blocks by its severity or waits for a person.
func blocksGate(f *pipeline.Finding) bool {
	return f.GateSeverity.Rank() >= pipeline.SeverityMajor.Rank() || f.HasReason(pipeline.ReasonHeld)
}

// doubtful decides what memory does to the findings of a report that was made without it. kept are
// findings that memory has records about, and that count in full nevertheless. A finding is doubted
// only if everyone who made it is a model, and memory has a record about what each of them said: a
// second voice that nobody judged keeps the finding as it is.
func (w *work) doubtful() (doubts, kept map[*pipeline.Finding]doubt) {
	doubts, kept = map[*pipeline.Finding]doubt{}, map[*pipeline.Finding]doubt{}
	needed := needed(w.findings)
	var hidden []*item
	for _, f := range w.findings {
		by, all := f.recalled()
		switch {
		case len(by) == 0 || f.Severity == pipeline.SeverityCritical || len(f.Final) > 0 || !f.onlyModels():
		case blocksGate(&f.Finding):
			kept[f.firstOriginal()] = doubt{by: by}
		case all && needed(f):
			kept[f.firstOriginal()] = doubt{by: by, kept: "; it counts in full, since something that blocks depends on it"}
		case !all || f.has(func(x *item) bool { return x.promoted }):
		default:
			doubts[f.firstOriginal()] = doubt{by: by}
			supports := f.has(func(x *item) bool { return x.supports || x.Blocking })
			if !supports && rounded(f.Confidence-knownFalse) < w.in.minConfidence(f) {
				hidden = append(hidden, f)
			}
		}
	}
	hide(w.findings, hidden, doubts)
	return doubts, kept
}

// hide marks the findings that fall below the confidence gate, except those that somebody else's
// finding confirms, as in promote.
func hide(findings, hidden []*item, doubts map[*pipeline.Finding]doubt) {
	if len(hidden) == 0 {
		return
	}
	is := map[*item]bool{}
	for _, f := range hidden {
		is[f] = true
	}
	others := slices.DeleteFunc(slices.Clone(findings), func(f *item) bool { return is[f] })
	near, like := newNeighbours(others), newWording(others, hidden)
	for _, f := range hidden {
		if near.of(f) == nil && like.of(f) == nil {
			d := doubts[f.firstOriginal()]
			d.hide = true
			doubts[f.firstOriginal()] = d
		}
	}
}

// needed returns a function that reports whether something that blocks depends on a finding: they
// are about the same problem, so that each proves the other.
func needed(findings []*item) func(*item) bool {
	classes, voices := map[int]bool{}, map[*item]bool{}
	for _, f := range findings {
		if !blocksGate(&f.Finding) {
			continue
		}
		for _, m := range f.each() {
			classes[m.class] = true
			for _, v := range m.voices {
				voices[v] = true
			}
		}
	}
	return func(f *item) bool {
		return slices.ContainsFunc(f.each(), func(m *item) bool { return classes[m.class] || voices[m] })
	}
}

// recalled are the records about those who made a finding, in their order in memory. all says that
// there is one about each.
func (f *item) recalled() (by []*pipeline.FalsePositive, all bool) {
	all = true
	for _, m := range f.each() {
		all = all && len(m.known) > 0
		for _, r := range m.known {
			if !slices.Contains(by, r) {
				by = append(by, r)
			}
		}
	}
	slices.SortStableFunc(by, byRecord)
	return by, all
}

// byRecord orders records by id.
func byRecord(a, b *pipeline.FalsePositive) int {
	return cmp.Or(pipeline.CompareRecords(a.Record, b.Record), cmp.Compare(a.Reason, b.Reason))
}

// onlyModels reports whether nobody but models made a finding.
func (f *item) onlyModels() bool {
	return !slices.ContainsFunc(f.each(), func(m *item) bool { return m.Model == "" })
}

// has reports whether the finding, one of those merged into it or one of its parts has something.
func (f *item) has(is func(*item) bool) bool {
	return is(f) || slices.ContainsFunc(f.members, is) || slices.ContainsFunc(f.parts, is)
}

// firstOriginal identifies a finding of the report in every report of the same input.
func (f *item) firstOriginal() *pipeline.Finding { return f.each()[0].original }

// doubt applies memory's doubts: it takes confidence from findings, and hides those that fall below
// the confidence gate.
func (w *work) doubt() {
	if len(w.doubts) == 0 {
		return
	}
	w.keep(func(f *item) bool {
		d, ok := w.doubts[f.firstOriginal()]
		if !ok {
			return true
		}
		before := f.Confidence
		f.Confidence = rounded(max(0, before-knownFalse))
		if d.hide {
			use(&w.report, &f.Finding, &d, pipeline.MemoryHidden)
			w.folded += len(f.each()) - 1
			f.State, f.FoundBy, f.Opinions = pipeline.StateSuppressed, f.madeBy(), opinionsOf(f)
			w.report.Suppressed = append(w.report.Suppressed, pipeline.Suppressed{Finding: f.Finding, Reason: pipeline.ReasonHidden + d.name() + d.reason()})
			return false
		}
		use(&w.report, &f.Finding, &d, pipeline.MemoryDoubted)
		f.addReasonOf(pipeline.ReasonDoubted, fmt.Sprintf("%s, which lowers the confidence from %.2f to %.2f%s", d.name(), before, f.Confidence, d.reason()))
		return true
	})
}

// name marks findings of the finished report that count in full although memory has records about
// them.
func (w *work) name(kept map[*pipeline.Finding]doubt) {
	for i, f := range w.findings {
		d, ok := kept[f.firstOriginal()]
		if !ok {
			continue
		}
		f.addReasonOf(pipeline.ReasonJudgedWrong, d.name()+d.kept)
		w.report.Findings[i].Reasons = f.Reasons
		use(&w.report, &f.Finding, &d, pipeline.MemoryJudgedWrong)
	}
	slices.SortFunc(w.report.Memory, func(a, b pipeline.MemoryUse) int {
		return cmp.Or(pipeline.CompareRecords(a.Record, b.Record), cmp.Compare(a.Finding, b.Finding))
	})
}

// use records what records did to a finding.
func use(r *pipeline.Report, f *pipeline.Finding, d *doubt, effect pipeline.MemoryEffect) {
	seen := ""
	n := 0
	for _, by := range d.by {
		if n < pipeline.MaxMemoryUses && (n == 0 || by.Record != seen) {
			r.Memory = append(r.Memory, pipeline.MemoryUse{Record: plaintext.Line(by.Record), Finding: f.ID, Effect: effect})
			seen = by.Record
			n++
		}
	}
}
