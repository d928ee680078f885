package aggregate

import (
	"slices"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// Input is all that a report is made from. Nothing in it is changed. Facts and
// Config are needed; of the rest the zero values stand for nothing.
type Input struct {
	Facts          *pipeline.PRFacts
	Classification *pipeline.Classification
	Manifest       *pipeline.AgentManifest
	Gaps           pipeline.List[pipeline.GapLogEntry]
	Results        pipeline.List[pipeline.AgentResult]
	Previous       *pipeline.PreviousReport
	Config         *config.Config
	// Rules are the config's, by id; nil has them looked for.
	Rules map[string]*config.Rule
	// Failed is the stage before this one that failed, if one did.
	Failed *pipeline.Incompleteness
}

// Aggregate makes the report.
func Aggregate(in Input) pipeline.ReviewReport {
	w := newWork(in)
	for _, step := range []func(*work){
		(*work).validate,    // drop what is no finding, so that no later step has to look
		(*work).enrich,      // from the rules, and raise by scale, before severities are compared
		(*work).ignore,      // what comments take out, before anything is merged with it
		(*work).confidence,  // unsure findings must not raise others' severity by merging
		(*work).deduplicate, // one finding for each thing
		(*work).route,       // needs the fix of the merged finding
		(*work).identify,    // fingerprints count equals, so after merging
		(*work).sort,        // ends with the fingerprint, so that the order is total
		(*work).compare,     // with the last report
		(*work).gate,        // reads all of the above
	} {
		step(w)
	}
	return w.report
}

// Failed is the report of a review whose last stage failed itself: it has no
// findings, and it does not pass.
func Failed(in Input, failed *pipeline.Incompleteness) pipeline.ReviewReport {
	in.Results, in.Gaps, in.Previous, in.Failed = nil, nil, nil, failed
	w := newWork(in)
	w.gate()
	return w.report
}

// work is a report in the making.
type work struct {
	in       Input
	rules    map[string]*config.Rule
	agents   map[string]*config.Agent
	files    map[string]*pipeline.File
	lines    *lineIndex
	findings []*pipeline.Finding // copies: a step may change them
	ignored  []ignored
	coverage map[source]*pipeline.Coverage
	report   pipeline.ReviewReport
}

// source is who made a finding.
type source struct{ agent, model string }

func sourceOf(f *pipeline.Finding) source { return source{f.Agent, f.Model} }

func newWork(in Input) *work {
	if in.Manifest == nil {
		in.Manifest = &pipeline.AgentManifest{}
	}
	if in.Classification == nil {
		in.Classification = &pipeline.Classification{}
	}
	w := &work{
		in: in, agents: map[string]*config.Agent{},
		files: map[string]*pipeline.File{}, coverage: map[source]*pipeline.Coverage{},
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
	w.take()
	w.lookUpRules()
	return w
}

// lookUpRules finds the config's rules by id, unless the caller has.
func (w *work) lookUpRules() {
	if w.rules = w.in.Rules; w.rules == nil {
		w.rules = RulesByID(w.in.Config)
	}
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
	for _, r := range w.in.Results {
		s := source{r.Agent, r.Model}
		c := w.coverage[s]
		if c == nil {
			c = &pipeline.Coverage{Agent: r.Agent, Model: r.Model, Status: r.Status, Note: r.Note}
			w.coverage[s] = c
		}
		copies := slices.Clone(r.Output.Findings)
		for i := range copies {
			copies[i].Agent, copies[i].Model = r.Agent, r.Model
			w.findings = append(w.findings, &copies[i])
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

// keep removes the findings for which f returns false. It may change them.
func (w *work) keep(f func(*pipeline.Finding) bool) {
	w.findings = slices.DeleteFunc(w.findings, func(x *pipeline.Finding) bool { return !f(x) })
}

// because adds to the reasons of a finding without touching the agent's list.
func because(f *pipeline.Finding, reason string) {
	f.Reasons = append(f.Reasons[:len(f.Reasons):len(f.Reasons)], reason)
}
