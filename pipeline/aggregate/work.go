package aggregate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/models"
)

// work is the state of a report that is being made.
type work struct {
	in           Input
	rules        map[string]*config.Rule
	agents       map[string]*config.Agent
	files        map[string]*pipeline.File
	lines        *lineIndex
	ignores      map[acceptedIgnore]pipeline.Acceptance
	windows      int // the number of lines that vanished has searched
	titles       *titles
	digests      map[string][]digestedLine // by file, computed when needed
	findings     []*item                   // after the confidence step, those above the gate
	residuals    []*item                   // those below it
	folded       int                       // the number of residuals merged into findings
	coverage     map[source]*pipeline.Coverage
	clusters     int                     // the number of clusters; see item
	reviews      []models.Review         // what the models' reviews found, by stage
	specFails    bool                    // the spec stage has a finding that may block
	discarded    bool                    // the quality stage was not asked, or some of it was suppressed
	held         bool                    // the gate waits for a person
	flaggedAt    map[flaggedLines]string // the text of flagged lines, by position
	origins      map[string]string       // the oldest known path of each file by its current path
	commits      map[string]string       // commit messages by section, computed when needed
	names        map[string]string       // of files; see byName
	surroundings *surroundings           // of findings, set once they have ids
	report       pipeline.Report
}

// item is a finding that is being worked on. It is a copy of the agent's finding, and the steps
// change it.
type item struct {
	pipeline.Finding
	original *pipeline.Finding // the finding as its maker made it
	answer   int               // the index of its answer: an agent may ask a model several times
	keyCache string            // caches key
	index    int               // its index in findings, set by agree
	class    int               // the class of findings about the same problem
	earlier  *earlier          // the earlier finding that it matches, or nil
	basis    int               // what the match is based on
	keepsID  bool              // it has the earlier finding's id
	unraised bool              // no model raised it again, and it stays
	stage    string            // of the review that made it
	title    *title
	ownID    string // the fingerprint of its own words
	section  string // normalised
	flagged  string // the text that it is about
	sides    sides  // of all findings merged into it
	proof    models.Proof
	claim    *claim          // what a model claims, shared with others that claim the same
	backers  map[string]bool // the models that agree with it
	opinions []pipeline.Opinion
	// members are the findings merged into this one, or nil if none were. parts are the
	// findings that contradict one another in a trade-off.
	members []*item
	parts   []*item
	doubted bool // it matches a known false positive
	cluster int  // the same for findings that deduplicate kept apart
	crowded bool // more findings oppose it than can be compared
}

// source is who made a finding.
type source struct{ agent, model string }

func (f *item) source() source { return source{f.Agent, f.Model} }

// each returns the findings that were merged into this one, or the finding itself.
func (f *item) each() []*item {
	if f.members == nil {
		return []*item{f}
	}
	return f.members
}

// maker returns the only maker of the finding, or an empty source if there are several.
func (f *item) maker() source {
	s := f.source()
	if slices.ContainsFunc(f.members, func(m *item) bool { return m.source() != s }) {
		return source{}
	}
	return s
}

// addReason adds a reason that nothing depends on to a finding.
func (f *item) addReason(text string) { f.addReasonOf(pipeline.ReasonOther, text) }

// addReasonOf adds a reason to a finding without changing the agent's slice.
func (f *item) addReasonOf(kind pipeline.ReasonKind, text string) {
	f.Reasons = append(f.Reasons[:len(f.Reasons):len(f.Reasons)], pipeline.Reason{Kind: kind, Text: text})
}

func newWork(in Input) *work {
	if in.Manifest == nil {
		in.Manifest = &pipeline.AgentManifest{}
	}
	if in.Classification == nil {
		in.Classification = &pipeline.Classification{}
	}
	w := &work{
		in: in, rules: in.Rules, agents: map[string]*config.Agent{}, titles: newTitles(),
		files: map[string]*pipeline.File{}, flaggedAt: map[flaggedLines]string{}, coverage: map[source]*pipeline.Coverage{},
	}
	if w.rules == nil {
		w.rules = RulesByID(in.Config)
	}
	for i := range in.Config.Agents {
		w.agents[in.Config.Agents[i].ID] = &in.Config.Agents[i]
	}
	for i := range in.Facts.Files {
		w.files[in.Facts.Files[i].Path] = &in.Facts.Files[i]
	}
	w.lines = newLineIndex(w.files)
	f := in.Facts
	w.report = pipeline.Report{
		SchemaVersion: pipeline.ReportSchemaVersion, Repository: f.Repository.FullName(), Number: f.Number,
		HeadSHA: f.Head.SHA, ConfigVersion: f.Config.Version, GapLog: in.Gaps, Iteration: 1,
	}
	if f.Head.WorkTree { // a work tree is not a commit
		w.report.HeadSHA = ""
	}
	w.addResults()
	return w
}

// RulesByID returns the value for Input.Rules. A config may have thousands of rules, so callers
// compute it once.
func RulesByID(cfg *config.Config) map[string]*config.Rule {
	out := make(map[string]*config.Rule, len(cfg.Rules))
	for i := range cfg.Rules {
		out[cfg.Rules[i].ID] = &cfg.Rules[i]
	}
	return out
}

// addResults adds the agents' outputs, sorted by content, so that the order in which they came does
// not matter.
func (w *work) addResults() {
	w.in.Results = slices.Clone(w.in.Results)
	slices.SortStableFunc(w.in.Results, byAgent)
	for answer, r := range w.in.Results {
		s := source{r.Agent, r.Model}
		// An agent that reviews in two stages or asks a model several times has one row. If one of
		// its reviews did not finish, the row shows the first such review.
		if c := w.coverage[s]; c == nil {
			w.coverage[s] = &pipeline.Coverage{Agent: r.Agent, Model: r.Model, Status: r.Status, Note: w.note(r)}
		} else if done(c.Status) && !done(r.Status) {
			c.Status, c.Note = r.Status, w.note(r)
		}
		w.coverage[s].Dropped += r.Dropped
		if r.Run > 0 {
			w.coverage[s].Runs = max(w.coverage[s].Runs, r.Run+1)
		}
		items := make([]item, len(r.Output.Findings))
		for i := range items {
			items[i] = item{Finding: r.Output.Findings[i], original: &r.Output.Findings[i], answer: answer, stage: r.Stage}
			items[i].Agent, items[i].Model = r.Agent, r.Model
			w.findings = append(w.findings, &items[i])
		}
		for _, t := range r.Output.ResidualConcerns {
			w.report.ResidualConcerns = append(w.report.ResidualConcerns, pipeline.SourcedText{Text: t, Source: r.Agent})
		}
		for _, t := range r.Output.DeferredQuestions {
			w.report.DeferredQuestions = append(w.report.DeferredQuestions, pipeline.SourcedText{Text: t, Source: r.Agent})
		}
	}
	sortByContent(w.findings)
}

// note is what a person has to know about an agent's result.
func (w *work) note(r pipeline.AgentResult) string {
	from := r.CarriedFrom
	if from == "" {
		return r.Note
	}
	carried := fmt.Sprintf("carried over from %s, whose change is equal", from[:min(7, len(from))])
	if from == w.in.Facts.Head.SHA {
		carried = "its last result on this head stands"
	}
	if r.Note != "" {
		return r.Note + "; " + carried
	}
	return carried
}

func byAgent(a, b pipeline.AgentResult) int {
	return cmp.Or(
		cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Stage, b.Stage), cmp.Compare(a.Run, b.Run),
		cmp.Compare(a.Status, b.Status), cmp.Compare(a.Note, b.Note),
	)
}

// keep removes the findings for which f returns false. f may change findings.
func (w *work) keep(f func(*item) bool) {
	w.findings = slices.DeleteFunc(w.findings, func(x *item) bool { return !f(x) })
}

func (w *work) kind(agent string) string {
	if a := w.agents[agent]; a != nil {
		return a.Kind
	}
	return ""
}

// suppressFinding suppresses a finding with a reason. The report shows both.
func (w *work) suppressFinding(f *item, state pipeline.FindingState, reason string) {
	f.State, f.GateSeverity = state, f.Severity
	w.report.Suppressed = append(w.report.Suppressed, pipeline.Suppressed{Finding: f.Finding, Reason: reason})
}
