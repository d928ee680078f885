package policytest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// Report is what came of the cases of a config.
type Report struct {
	Cases   int      `json:"cases"`
	Passed  int      `json:"passed"`
	Failed  int      `json:"failed"`
	NotRun  int      `json:"not_run"`
	Results []Result `json:"results"` // in the order of the cases
}

// Status is how a case ended.
type Status string

// The statuses. A case that was not run has neither passed nor failed.
const (
	Passed Status = "passed"
	Failed Status = "failed"
	NotRun Status = "not_run"
)

// Result is what came of one case. Its lists are never nil.
type Result struct {
	Name   string `json:"name"`
	File   string `json:"file"`
	Line   int    `json:"line"` // where the case begins
	Status Status `json:"status"`
	// Differences say what was expected and what came instead, one line each.
	Differences []string `json:"differences"`
	// Assumed are the agents that are assumed to find nothing: they ran, and the case has no output
	// of theirs.
	Assumed []string `json:"assumed"`
	// Unused are the agents of outputs that were not used, because these agents did not run.
	Unused []string `json:"unused"`
}

// Options say how cases are run.
type Options struct {
	// Engines may have the compiled config already. The default is a cache of its own.
	Engines *run.Engines
	// Progress is told the number of cases that are done. It may be nil.
	Progress func(done int)
}

// Run reviews the cases' changes with a config and compares. It starts no case after MaxTime or
// after the end of ctx.
func Run(ctx context.Context, cases []*Case, cfg *config.Config, o Options) *Report {
	ctx, cancel := context.WithTimeout(ctx, MaxTime)
	defer cancel()
	if o.Engines == nil {
		o.Engines = run.NewEngines()
	}
	r := &Report{Cases: len(cases), Results: make([]Result, 0, len(cases))}
	for _, c := range cases {
		result := c.run(ctx, cfg, o)
		switch r.Results = append(r.Results, result); result.Status {
		case Passed:
			r.Passed++
		case Failed:
			r.Failed++
		default:
			r.NotRun++
		}
		if o.Progress != nil {
			o.Progress(len(r.Results))
		}
	}
	return r
}

// run reviews a case's change and compares.
func (c *Case) run(ctx context.Context, cfg *config.Config, o Options) Result {
	result := Result{
		Name: c.Name, File: c.at.Document.Name, Line: c.at.Line, Status: NotRun,
		Differences: []string{}, Assumed: []string{}, Unused: []string{},
	}
	if ctx.Err() != nil {
		return result
	}
	outcome, err := c.review(ctx, cfg, o)
	switch {
	case ctx.Err() != nil:
		return result
	case err != nil:
		result.Status, result.Differences = Failed, []string{"the change could not be reviewed: " + plaintext.CutLine(err.Error(), maxQuote)}
		return result
	}
	v := &outcome.Review
	for i := range cfg.Agents {
		a := &cfg.Agents[i]
		said := slices.ContainsFunc(c.outputs, func(o output) bool { return o.agent.text == a.ID })
		switch runs := v.Manifest.Entry(a.ID) != nil; {
		case runs && outside(a) && !said:
			result.Assumed = append(result.Assumed, a.ID)
		case !runs && said:
			result.Unused = append(result.Unused, a.ID)
		}
	}
	if result.Differences = append(result.Differences, c.expect.differences(v)...); len(result.Differences) == 0 {
		result.Status = Passed
	} else {
		result.Status = Failed
	}
	return result
}

// review reviews a case's change. Agents that need more than the facts say what the case says.
func (c *Case) review(ctx context.Context, cfg *config.Config, o Options) (run.Outcome, error) {
	agents := map[string]dispatch.Agent{}
	for i := range cfg.Agents {
		if a := &cfg.Agents[i]; outside(a) {
			agents[a.ID] = said{c.outputs}
		}
	}
	runner, err := run.NewRunner(run.Config{Now: time.Now, Agents: agents, Engines: o.Engines})
	if err != nil {
		return run.Outcome{}, err
	}
	src := source{&c.change, cfg}
	return runner.Run(ctx, src, run.Options{RunID: "policy-test", Trigger: "a policy test", File: src.file()})
}

// said is an agent that says what a case says.
type said struct{ outputs []output }

var _ dispatch.Agent = said{}

// Review returns the agent's output for the model that is asked. If it is asked several times, the
// outputs are the answers in order, and the last one is that to all further questions. An output
// that names no model is every model's.
func (s said) Review(_ context.Context, task dispatch.Task) (dispatch.Answer, error) {
	var mine []pipeline.AgentOutput
	for _, o := range s.outputs {
		if o.agent.text == task.Entry.Agent && (o.Model == "" || o.Model == task.Model) {
			mine = append(mine, o.AgentOutput)
		}
	}
	if len(mine) == 0 {
		return dispatch.Answer{}, nil
	}
	answer := mine[min(task.Run, len(mine)-1)]
	answer.Findings = slices.Clone(answer.Findings)
	return dispatch.Answer{Output: answer}, nil
}

// The bounds of what is said about one case.
const (
	maxListed = 10   // differences of one kind
	maxQuote  = 1000 // characters; whoever shows less of a text redacts it before
	maxOthers = 3    // findings that came instead
)

// differences says what a review has otherwise than expected.
func (e *expectation) differences(v *pipeline.Review) []string {
	var out []string
	r := &v.Report
	if e.decision != "" && e.decision != r.Decision {
		out = append(out, fmt.Sprintf("decision: want %s, got %s (%s)", e.decision, r.Decision, quoted(r.Gate.Condition)))
	}
	if e.condition != "" && e.condition != r.Gate.Condition {
		out = append(out, fmt.Sprintf("condition: want %s, got %s", quoted(e.condition), quoted(r.Gate.Condition)))
	}
	out = append(out, listed(e.agents, func(w word) string {
		if v.Manifest.Entry(w.text) != nil {
			return ""
		}
		return fmt.Sprintf("agent %s: not chosen%s", w.text, reason(&v.Manifest, w.text))
	})...)
	out = append(out, listed(e.notAgents, func(w word) string {
		entry := v.Manifest.Entry(w.text)
		if entry == nil {
			return ""
		}
		return fmt.Sprintf("agent %s: chosen%s", w.text, chosenBy(entry))
	})...)
	return append(out, e.findingDifferences(r)...)
}

func reason(m *pipeline.AgentManifest, agent string) string {
	for _, s := range m.Skipped {
		if s.Agent == agent && s.Reason != "" {
			return " (" + quoted(s.Reason) + ")"
		}
	}
	return ""
}

func chosenBy(e *pipeline.ManifestEntry) string {
	if len(e.Policies) == 0 {
		return " for a gap in the config"
	}
	return fmt.Sprintf(" by the policy %s (%s)", quoted(e.Policies[0].Policy), quoted(e.Policies[0].Trigger))
}

func quoted(s string) string { return plaintext.CutLine(plaintext.Printable(s), maxQuote) }

// listed returns what a function says about each element, and counts what is too much to list.
func listed[T any](all []T, say func(T) string) []string {
	var out []string
	more := 0
	for _, x := range all {
		switch text := say(x); {
		case text == "":
		case len(out) == maxListed:
			more++
		default:
			out = append(out, text)
		}
	}
	if more > 0 {
		out = append(out, fmt.Sprintf("and %d more like the last one", more))
	}
	return out
}

func (e *expectation) findingDifferences(r *pipeline.Report) []string {
	out := listed(e.findings, func(p place) string {
		if slices.ContainsFunc(r.Findings, func(f pipeline.Finding) bool { return p.fits(&f) }) {
			return ""
		}
		return "finding " + quoted(p.String()) + ": not found; " + p.instead(r)
	})
	out = append(out, listed(e.notFound, func(p place) string {
		i := slices.IndexFunc(r.Findings, func(f pipeline.Finding) bool { return p.fits(&f) })
		if i < 0 {
			return ""
		}
		return "finding " + quoted(p.String()) + ": found, and should not be: " + shown(&r.Findings[i])
	})...)
	if !e.only {
		return out
	}
	return append(out, listed(r.Findings, func(f pipeline.Finding) string {
		if slices.ContainsFunc(e.findings, func(p place) bool { return p.fits(&f) }) {
			return ""
		}
		return "finding " + shown(&f) + ": not expected"
	})...)
}

// instead says what was found instead of the described finding: first what is like it.
func (p *place) instead(r *pipeline.Report) string {
	for _, s := range r.Suppressed {
		if p.fits(&s.Finding) {
			return "suppressed: " + quoted(s.Reason)
		}
	}
	if e := r.Evaluation; e != nil && slices.ContainsFunc(e.Findings, func(f pipeline.Finding) bool { return p.fits(&f) }) {
		return "it is in evaluation, so it does not count"
	}
	if len(r.Findings) == 0 {
		return "there is no finding"
	}
	like := slices.Clone(r.Findings)
	slices.SortStableFunc(like, func(a, b pipeline.Finding) int { return p.likeness(&b) - p.likeness(&a) })
	var others []string
	for i := range like[:min(len(like), maxOthers)] {
		others = append(others, shown(&like[i]))
	}
	if more := len(like) - len(others); more > 0 {
		others = append(others, fmt.Sprintf("%d more", more))
	}
	return "found instead: " + strings.Join(others, ", ")
}

func (p *place) likeness(f *pipeline.Finding) (n int) {
	if p.rule != "" && p.rule == f.RuleID {
		n += 2
	}
	if p.path != "" && p.path == f.Path {
		n++
	}
	return n
}

// shown names a finding by its rule or its agent and its title, and by its place.
func shown(f *pipeline.Finding) string {
	what := f.RuleID
	if what == "" {
		what = fmt.Sprintf("%q by %s", plaintext.Line(f.Title), f.Agent)
	}
	if f.Path != "" {
		what += at(f.Path, f.StartLine)
	} else if f.Section != "" {
		what += " at " + f.Section
	}
	return quoted(what)
}
