// Package synthesis runs only stage 6, on agents' outputs that come from files. It combines
// the findings into one report, and the gate decides.
//
// Without the facts of a change its files are unknown. Paths and lines of findings are then
// used unchecked, and features that need the files, such as comments that ignore findings,
// have no effect. Neither the order of the files nor that of the findings in them changes the
// report.
package synthesis

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/agentoutput"
	"github.com/reviewgate/reviewgate/pipeline/aggregate"
	"github.com/reviewgate/reviewgate/pipeline/classify"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
)

// maxFactsValues limits the size of facts. The facts of 3,000 files with 99,000 lines have
// 540,000 values, which use 150 MB while they are checked.
const maxFactsValues = 1_000_000

// Source is a text with its name for problems.
type Source struct {
	Name string
	Text []byte
}

// Input is the input of a report.
type Input struct {
	Outputs []Source // agents' outputs: at most agentoutput.MaxBytes each, and agentoutput.MaxFindings together
	Facts   *Source  // facts of the change (pipeline.PRFacts), or nil
	Config  *config.Config
	// Models are the names of the weaker and the stronger model. If empty, the config's
	// models are used.
	Models []string
}

// Outcome is a review in which only stage 6 ran, with what was found out about the texts.
type Outcome struct {
	Review pipeline.Review
	Config *config.Config // including the models in force
	// Malformed lists the faults of the outputs that could not be used. The results of their
	// agents name the faults as well, and the gate counts the required ones.
	Malformed []pipeline.ConfigProblem
	Dropped   agentoutput.Dropped
	Unknown   []agentoutput.Unknown // unknown fields, by text
}

// Run makes the report. An output that can't be read does not keep the others from
// counting: its agent is named in the coverage, and the report is incomplete if the
// agent is required. The same holds if it dropped a finding that may have blocked. The
// problems say why no report can be made: the facts can't be used, or there are more
// findings than the bounds allow. The error is about the config.
func Run(in Input) (Outcome, []pipeline.ConfigProblem, error) {
	out := Outcome{Config: withModels(in.Config, in.Models)}
	read := reader{out: &out, graded: graded(in.Config), misplaced: func(*pipeline.Finding) string { return "" }}
	if in.Facts != nil {
		read.facts(in.Facts)
	}
	for _, s := range in.Outputs {
		read.outputs(s)
	}
	if len(read.problems) > 0 {
		return Outcome{}, read.problems, nil
	}
	v := &out.Review
	v.Facts.Config = in.Config.InForce
	v.Results = read.results()
	for _, r := range v.Results {
		if v.Manifest.Entry(r.Agent) == nil {
			required, onFailure := demand(out.Config, r.Agent)
			v.Manifest.Entries = append(v.Manifest.Entries, pipeline.ManifestEntry{
				Agent: r.Agent, Required: required, OnFailure: onFailure,
				Scope: pipeline.AgentScope{All: true}, Stage: r.Stage, AddedBy: pipeline.AddedByPolicy,
			})
		}
	}
	if in.Facts != nil {
		classifier, err := classify.New(out.Config)
		if err != nil {
			return Outcome{}, nil, fmt.Errorf("compile the domains: %w", err)
		}
		v.Classification = classifier.Classify(&v.Facts)
	}
	v.Report = aggregate.Aggregate(aggregate.Input{
		Facts: &v.Facts, Classification: &v.Classification, Manifest: &v.Manifest, Results: v.Results,
		Config: out.Config, FilesUnknown: in.Facts == nil,
	})
	return out, nil, nil
}

// demand says whether the config requires an agent's output. Without a change it is unknown
// which policies apply, so one policy that requires the agent is enough. An agent that no
// policy names is required, because nothing says that the gate can do without it.
func demand(cfg *config.Config, agent string) (required bool, onFailure pipeline.OnFailure) {
	named := false
	onFailure = pipeline.OnFailureWarn
	for i := range cfg.Policies {
		p := &cfg.Policies[i]
		if !p.Enabled || !slices.Contains(p.Dispatch.Agents, agent) {
			continue
		}
		named = true
		if p.Dispatch.Required {
			required = true
			if p.Dispatch.OnFailure != pipeline.OnFailureWarn {
				onFailure = pipeline.OnFailureBlock
			}
		}
	}
	if !named {
		return true, pipeline.OnFailureBlock
	}
	return required, onFailure
}

// withModels returns the config with other model names.
func withModels(cfg *config.Config, models []string) *config.Config {
	if len(models) == 0 {
		return cfg
	}
	with := *cfg
	with.Settings.Models.Reviewers = models
	return &with
}

func graded(cfg *config.Config) func(string) bool {
	scales := map[string]string{}
	for _, a := range cfg.Agents {
		scales[a.ID] = a.Scale
	}
	return func(agent string) bool { return scales[agent] == config.ScalePassWarnFail }
}

// reader reads the texts and collects what can't be used.
type reader struct {
	out       *Outcome
	graded    func(agent string) bool
	misplaced func(*pipeline.Finding) string
	findings  int
	list      []pipeline.AgentResult
	unknown   []int // number of unknown fields, by result
	wrong     []int // number of mistakes in a note, by result
	problems  []pipeline.ConfigProblem
}

func (r *reader) facts(s *Source) {
	bounds := jsontree.Options{MaxBytes: agentoutput.MaxBytes, MaxValues: maxFactsValues}
	r.problems = config.DecodeData(config.SchemaPRFacts, s.Name, s.Text, bounds, &r.out.Review.Facts)
	r.misplaced = aggregate.Misplaced(&r.out.Review.Facts)
}

func (r *reader) outputs(s Source) {
	outputs, errs := agentoutput.Decode(s.Name, s.Text, r.graded)
	if len(errs) > 0 {
		r.malformed("", s.Name, errs)
		return
	}
	var unknown agentoutput.Unknown
	for i := range outputs {
		o := &outputs[i]
		if r.findings += len(o.Findings) + o.Dropped.Count; r.findings > agentoutput.MaxFindings {
			r.problems = append(r.problems, pipeline.ConfigProblem{
				File: s.Name, Problem: fmt.Sprintf("the files up to here have more than %d findings", agentoutput.MaxFindings), Remedy: "put fewer together",
			})
			return
		}
		if len(o.Wrong) > 0 {
			r.malformed(o.Agent, s.Name, o.Wrong)
			continue
		}
		r.out.Dropped.Add(o.Dropped)
		if unknown.Add(o.Unknown); len(r.problems) == 0 {
			r.add(o)
		}
	}
	if unknown.Count > 0 {
		r.out.Unknown = append(r.out.Unknown, unknown)
	}
}

// malformed adds an output that can't be used, under its agent's name, or under the text's
// name if the agent is unknown.
func (r *reader) malformed(agent, text string, why []jsontree.Error) {
	for _, e := range why {
		r.out.Malformed = append(r.out.Malformed, config.ProblemOf(e))
	}
	if agent == "" {
		agent = filepath.Base(text)
	}
	r.take(pipeline.AgentResult{Agent: agent, Status: pipeline.AgentMalformed, Note: why[0].Problem}, 0, len(why))
}

func (r *reader) take(result pipeline.AgentResult, unknown, wrong int) {
	r.list, r.unknown, r.wrong = append(r.list, result), append(r.unknown, unknown), append(r.wrong, wrong)
}

// add adds one envelope. Findings outside the change are dropped by aggregate, and reported
// here, where their place is known.
func (r *reader) add(o *agentoutput.Output) {
	for i := range o.Findings {
		if why := r.misplaced(&o.Findings[i]); why != "" {
			r.out.Dropped.Add(agentoutput.Dropped{Count: 1, Why: []jsontree.Error{{Place: o.Places[i], Problem: why, Remedy: "report what is in the change only"}}})
		}
	}
	r.take(pipeline.AgentResult{
		Agent: o.Agent, Model: o.Model, Stage: o.Stage, Status: pipeline.AgentOK, Dropped: o.Dropped.Count, Output: o.AgentOutput,
	}, o.Unknown.Count, 0)
	if d := o.Dropped; d.Grave > 0 {
		// A finding that may block must not pass because a field is missing.
		r.take(pipeline.AgentResult{Agent: o.Agent, Model: o.Model, Stage: o.Stage, Status: pipeline.AgentMalformed, Note: d.Gravest}, 0, d.Grave)
	}
}

// results are one result for each agent, model, stage and status, in that order, however its
// findings were spread over envelopes.
func (r *reader) results() pipeline.List[pipeline.AgentResult] {
	order := make([]int, len(r.list))
	unknown := map[[2]string]int{} // by agent and model, which share one row of the coverage
	for i := range order {
		order[i] = i
		unknown[[2]string{r.list[i].Agent, r.list[i].Model}] += r.unknown[i]
	}
	byMaker := func(a, b *pipeline.AgentResult) int {
		return cmp.Or(cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Stage, b.Stage), cmp.Compare(a.Status, b.Status))
	}
	slices.SortStableFunc(order, func(i, j int) int { return byMaker(&r.list[i], &r.list[j]) })
	var out pipeline.List[pipeline.AgentResult]
	var wrong []int
	for _, i := range order {
		next := r.list[i]
		if n := unknown[[2]string{next.Agent, next.Model}]; n > 0 && next.Status == pipeline.AgentOK {
			next.Note = fmt.Sprintf("fields left out that are not known: %d", n)
		}
		if last := len(out) - 1; last >= 0 && byMaker(&out[last], &next) == 0 {
			to := &out[last]
			to.Note = min(to.Note, next.Note) // the order of malformed outputs does not matter
			to.Dropped += next.Dropped
			wrong[last] += r.wrong[i]
			to.Output.Findings = append(to.Output.Findings, next.Output.Findings...)
			to.Output.ResidualConcerns = append(to.Output.ResidualConcerns, next.Output.ResidualConcerns...)
			to.Output.DeferredQuestions = append(to.Output.DeferredQuestions, next.Output.DeferredQuestions...)
			continue
		}
		out, wrong = append(out, next), append(wrong, r.wrong[i])
	}
	for i, n := range wrong {
		if n > 1 {
			out[i].Note += fmt.Sprintf(", and %d more", n-1)
		}
	}
	return out
}
