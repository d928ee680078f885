package aggregate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/models"
)

// work is the state of a report that is being made. The parts in the first group know the
// change, the config and the last report; the steps change the rest.
type work struct {
	in         Input
	inputs     *inputs
	finality   *finality
	comments   *commentIgnores
	texts      *texts
	lineage    *lineage
	looks      *looks
	last       *earlierReport
	rows       *coverageRows
	merger     *merger
	suppressor *suppressor

	rules     map[string]*config.Rule
	files     map[string]*pipeline.File
	lines     *lineIndex
	titles    *titles
	findings  []*item         // after the confidence step, those above the gate
	residuals []*item         // those below it
	folded    int             // the number of residuals merged into findings
	clusters  int             // the number of clusters; see item
	reviews   []models.Review // what the models' reviews found, by stage
	specFails bool            // the spec stage has a finding that may block
	discarded bool            // the quality stage was not asked, or some of it was suppressed
	held      bool            // the gate waits for a person
	report    pipeline.Report
}

// inputs is the input and the config's agents and rules.
type inputs struct {
	in     *Input
	rules  map[string]*config.Rule
	agents map[string]*config.Agent
	files  map[string]*pipeline.File
}

// finality knows which layers of the config have the last word about a rule.
type finality struct {
	in    *Input
	rules map[string]*config.Rule
}

// commentIgnores finds and judges the comments that ignore findings.
type commentIgnores struct {
	in       *Input
	inputs   *inputs
	finality *finality
	rules    map[string]*config.Rule
	files    map[string]*pipeline.File
	lines    *lineIndex
	ignores  map[acceptedIgnore]pipeline.Acceptance
}

// texts finds the text that findings are about.
type texts struct {
	in        *Input
	files     map[string]*pipeline.File
	lines     *lineIndex
	flaggedAt map[flaggedLines]string   // the text of flagged lines, by position
	digests   map[string][]digestedLine // by file, computed when needed
	commits   map[string]string         // commit messages by section, computed when needed
}

// lineage follows files through renames.
type lineage struct {
	in      *Input
	files   map[string]*pipeline.File
	texts   *texts
	origins map[string]string // the oldest known path of each file by its current path
}

// looks knows what the agents of this review looked at.
type looks struct {
	in      *Input
	lines   *lineIndex
	titles  *titles
	windows int // the number of lines that vanished has searched
}

// earlierReport finds the findings of the last report again.
type earlierReport struct {
	in           *Input
	inputs       *inputs
	lineage      *lineage
	texts        *texts
	looks        *looks
	titles       *titles
	files        map[string]*pipeline.File
	names        map[string]string // of files; see byName
	surroundings *surroundings     // of findings, set once they have ids
}

// coverageRows has a row for each agent and model.
type coverageRows struct {
	in       *Input
	inputs   *inputs
	last     *earlierReport
	coverage map[source]*pipeline.Coverage
}

// suppressor takes findings out of the report, with the reason.
type suppressor struct {
	in       *Input
	inputs   *inputs
	finality *finality
	comments *commentIgnores
	report   *pipeline.Report
}

// merger merges findings.
type merger struct {
	finality *finality
	titles   *titles
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
	files := map[string]*pipeline.File{}
	for i := range in.Facts.Files {
		files[in.Facts.Files[i].Path] = &in.Facts.Files[i]
	}
	w := &work{in: in, rules: in.Rules, files: files, lines: newLineIndex(files), titles: newTitles()}
	if w.rules == nil {
		w.rules = RulesByID(in.Config)
	}
	w.inputs = &inputs{in: &w.in, rules: w.rules, agents: map[string]*config.Agent{}, files: files}
	for i := range in.Config.Agents {
		w.inputs.agents[in.Config.Agents[i].ID] = &in.Config.Agents[i]
	}
	w.finality = &finality{&w.in, w.rules}
	w.comments = &commentIgnores{in: &w.in, inputs: w.inputs, finality: w.finality, rules: w.rules, files: files, lines: w.lines}
	w.texts = &texts{in: &w.in, files: files, lines: w.lines, flaggedAt: map[flaggedLines]string{}}
	w.lineage = &lineage{in: &w.in, files: files, texts: w.texts}
	w.looks = &looks{in: &w.in, lines: w.lines, titles: w.titles}
	w.last = &earlierReport{in: &w.in, inputs: w.inputs, lineage: w.lineage, texts: w.texts, looks: w.looks, titles: w.titles, files: files}
	w.rows = &coverageRows{in: &w.in, inputs: w.inputs, last: w.last, coverage: map[source]*pipeline.Coverage{}}
	w.suppressor = &suppressor{&w.in, w.inputs, w.finality, w.comments, &w.report}
	w.merger = &merger{w.finality, w.titles}
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
		if c := w.rows.coverage[s]; c == nil {
			w.rows.coverage[s] = &pipeline.Coverage{Agent: r.Agent, Model: r.Model, Status: r.Status, Note: w.inputs.note(r)}
		} else if done(c.Status) && !done(r.Status) {
			c.Status, c.Note = r.Status, w.inputs.note(r)
		}
		w.rows.coverage[s].Dropped += r.Dropped
		if r.Run > 0 {
			w.rows.coverage[s].Runs = max(w.rows.coverage[s].Runs, r.Run+1)
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
func (c *inputs) note(r pipeline.AgentResult) string {
	from := r.CarriedFrom
	if from == "" {
		return r.Note
	}
	carried := fmt.Sprintf("carried over from %s, whose change is equal", from[:min(7, len(from))])
	if from == c.in.Facts.Head.SHA {
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

func (c *inputs) kind(agent string) string {
	if a := c.agents[agent]; a != nil {
		return a.Kind
	}
	return ""
}

// suppressFinding suppresses a finding with a reason. The report shows both.
func (sup *suppressor) suppressFinding(f *item, state pipeline.FindingState, reason string) {
	f.State, f.GateSeverity = state, f.Severity
	sup.report.Suppressed = append(sup.report.Suppressed, pipeline.Suppressed{Finding: f.Finding, Reason: reason})
}
