package aggregate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/models"
)

// work is a report in the making.
type work struct {
	in        Input
	rules     map[string]*config.Rule
	agents    map[string]*config.Agent
	files     map[string]*pipeline.File
	lines     *lineIndex
	ignores   map[acceptedIgnore]pipeline.Acceptance
	windows   int // of lines that were looked through for what is gone
	titles    *titles
	digests   map[string][]digestedLine // of files, once asked for
	findings  []*item                   // above the confidence gate, once that has been
	residuals []*item                   // below it
	folded    int                       // of those, that became a part of findings
	coverage  map[source]*pipeline.Coverage
	clusters  int                     // see item
	reviews   []models.Review         // what the models' reviews found, stage by stage
	specFails bool                    // the spec stage holds a finding that may block
	discarded bool                    // something of the quality stage was set aside for that, or not asked
	held      bool                    // the gate waits for a person
	flaggedAt map[flaggedLines]string // what findings are about, by where that is
	origins   map[string]string       // of files: the oldest known path by the current one
	commits   map[string]string       // their messages by their section, once asked for
	names     map[string]string       // of files: see byName
	around    *arounds                // of the findings, once they have ids
	report    pipeline.ReviewReport
}

// item is a finding under way. It is a copy of what an agent said: the steps
// change it.
type item struct {
	pipeline.Finding
	as       *pipeline.Finding // as its maker made it
	answer   int               // the one that it came in: an agent may ask a model several times
	keyed    string            // see key
	at       int               // its place among the findings, while agree is at work
	class    int               // of those that say the same
	recalled *past             // the earlier finding that it is, if its fingerprint does not tell
	likes    int               // what makes it that
	keeps    bool              // its id is that of the earlier finding
	standing bool              // nobody raised it again, and it stands
	stage    string            // of the review that made it
	title    *title
	own      string // the fingerprint by its own words
	section  string // normalised
	flagged  string // the text it is about
	sides    sides  // of all that were merged into it
	proof    models.Proof
	said     *said           // of a model's finding: who else says it
	backers  map[string]bool // the models that agree with it
	opinions []pipeline.Opinion
	// members are the findings that were merged into this one, nil for one that
	// was not. parts are those that contradict one another in it.
	members []*item
	parts   []*item
	doubted bool // it matches a known false positive
	cluster int  // those that deduplicate kept apart have the same
	crowded bool // more findings oppose it than can be compared
}

// source is who made a finding.
type source struct{ agent, model string }

func (f *item) source() source { return source{f.Agent, f.Model} }

// each returns the findings that were merged into this one, or itself.
func (f *item) each() []*item {
	if f.members == nil {
		return []*item{f}
	}
	return f.members
}

// maker is who alone made the finding, or nobody where several did.
func (f *item) maker() source {
	s := f.source()
	if slices.ContainsFunc(f.members, func(m *item) bool { return m.source() != s }) {
		return source{}
	}
	return s
}

// because adds to the reasons of a finding without touching the agent's list.
func (f *item) because(reason string) {
	f.Reasons = append(f.Reasons[:len(f.Reasons):len(f.Reasons)], reason)
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
	w.report = pipeline.ReviewReport{
		SchemaVersion: pipeline.ReportSchemaVersion, Repository: f.Repository.FullName(), Number: f.Number,
		HeadSHA: f.Head.SHA, ConfigVersion: f.Config.Version, GapLog: in.Gaps, Iteration: 1,
	}
	if f.Head.WorkTree { // which no commit is
		w.report.HeadSHA = ""
	}
	w.take()
	return w
}

// RulesByID is for Input.Rules: a config may have thousands, which need not be
// looked through for every report.
func RulesByID(cfg *config.Config) map[string]*config.Rule {
	out := make(map[string]*config.Rule, len(cfg.Rules))
	for i := range cfg.Rules {
		out[cfg.Rules[i].ID] = &cfg.Rules[i]
	}
	return out
}

// take takes in the agents' outputs in an order of their content, so that the
// order in which they came can't matter.
func (w *work) take() {
	w.in.Results = slices.Clone(w.in.Results)
	slices.SortStableFunc(w.in.Results, byAgent)
	for answer, r := range w.in.Results {
		s := source{r.Agent, r.Model}
		// An agent that asks a model several times, or reviews in two stages has one row: of the first that did
		// not finish, if one did not.
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
			items[i] = item{Finding: r.Output.Findings[i], as: &r.Output.Findings[i], answer: answer, stage: r.Stage}
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

// note is what a person has to know of an agent's result.
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

// keep removes the findings for which f returns false. It may change them.
func (w *work) keep(f func(*item) bool) {
	w.findings = slices.DeleteFunc(w.findings, func(x *item) bool { return !f(x) })
}

func (w *work) kind(agent string) string {
	if a := w.agents[agent]; a != nil {
		return a.Kind
	}
	return ""
}

// setAside takes a finding out of the gate, where it is shown with the reason.
func (w *work) setAside(f *item, state pipeline.FindingState, reason string) {
	f.State, f.GateSeverity = state, f.Severity
	w.report.Suppressed = append(w.report.Suppressed, pipeline.Suppressed{Finding: f.Finding, Reason: reason})
}
