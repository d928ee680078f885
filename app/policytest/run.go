package policytest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
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
}

// Options say how cases are run.
type Options struct {
	// Engines may have the compiled config already. The default is a cache of its own.
	Engines *run.Engines
	// Now is the clock for cases that name no day. The default is the system's.
	Now func() time.Time
	// Progress is told the number of cases that are done. It may be nil.
	Progress func(done int)

	running *sync.WaitGroup // the agents that run
}

// Run reviews the cases' changes with a config and compares. It starts no case after MaxTime or
// after the end of ctx, and returns when no agent runs any more.
func Run(ctx context.Context, cases []*Case, cfg *config.Config, o Options) *Report {
	ctx, cancel := context.WithTimeout(ctx, MaxTime)
	defer cancel()
	if o.Engines == nil {
		o.Engines = run.NewEngines()
	}
	o.running = &sync.WaitGroup{}
	defer o.running.Wait()
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
		Differences: []string{}, Assumed: []string{},
	}
	if ctx.Err() != nil {
		return result
	}
	v, unused, err := c.review(ctx, cfg, o)
	switch {
	case ctx.Err() != nil:
		return result
	case err != nil:
		result.Status, result.Differences = Failed, []string{"the change could not be reviewed: " + quoted(err.Error())}
		return result
	}
	for i := range cfg.Agents {
		a := &cfg.Agents[i]
		said := slices.ContainsFunc(c.outputs, func(o output) bool { return o.agent.text == a.ID })
		if outside(a) && !said && v.Manifest.Entry(a.ID) != nil {
			result.Assumed = append(result.Assumed, a.ID)
		}
	}
	result.Differences = append(result.Differences, c.expect.differences(v)...)
	result.Differences = append(result.Differences, listed(unused, func(i int) bool { return true }, func(i int) string { return c.outputs[i].unused(&v.Manifest) })...)
	if len(result.Differences) == 0 {
		result.Status = Passed
	} else {
		result.Status = Failed
	}
	return result
}

// review reviews a case's change. Agents that need more than the facts say what the case says. It
// also returns which outputs no agent was asked for.
func (c *Case) review(ctx context.Context, cfg *config.Config, o Options) (v *pipeline.Review, unused []int, err error) {
	s := &said{outputs: c.outputs, used: map[int]bool{}}
	agents := map[string]dispatch.Agent{}
	for i := range cfg.Agents {
		if a := &cfg.Agents[i]; outside(a) {
			agents[a.ID] = s
		}
	}
	now := o.Now
	if now == nil {
		now = time.Now
	}
	if !c.on.IsZero() {
		now = func() time.Time { return c.on }
	}
	runner, err := run.NewRunner(run.Config{Now: now, Agents: agents, Engines: o.Engines})
	if err != nil {
		return nil, nil, err
	}
	src := source{&c.change, cfg}
	outcome, err := runner.Run(ctx, src, run.Options{RunID: "policy-test", Trigger: "a policy test", File: src.file(), Running: o.running})
	if err != nil {
		return nil, nil, err
	}
	return &outcome.Review, s.unused(), nil
}

// said is an agent that says what a case says.
type said struct {
	outputs []output

	mu   sync.Mutex
	used map[int]bool // by the index of the output
}

var _ dispatch.Agent = (*said)(nil)

// Review returns the agent's output for the model that is asked. If it is asked several times, the
// outputs are the answers in order, and the last one answers all further questions. An output that
// names no model is for every model.
func (s *said) Review(_ context.Context, task dispatch.Task) (dispatch.Answer, error) {
	var mine []int
	for i := range s.outputs {
		if o := &s.outputs[i]; o.agent.text == task.Entry.Agent && (o.Model == "" || o.Model == task.Model) {
			mine = append(mine, i)
		}
	}
	if len(mine) == 0 {
		return dispatch.Answer{}, nil
	}
	i := mine[min(task.Run, len(mine)-1)]
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used[i] = true
	answer := s.outputs[i].AgentOutput
	answer.Findings = slices.Clone(answer.Findings)
	return dispatch.Answer{Output: answer}, nil
}

// unused are the outputs that nobody asked for.
func (s *said) unused() (all []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.outputs {
		if !s.used[i] {
			all = append(all, i)
		}
	}
	return all
}

// unused says that a test does not use an output, and why.
func (o *output) unused(m *pipeline.AgentManifest) string {
	what := "output of " + o.agent.text
	if o.Model != "" {
		what += " with the model " + quoted(o.Model)
	}
	if m.Entry(o.agent.text) == nil {
		return what + ": not used, because the agent was not chosen"
	}
	return what + ": not used, because the agent was not asked for it"
}

// The bounds of what is said about one case.
const (
	maxListed = 10   // differences of one kind
	maxQuote  = 1000 // characters of a text
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
	chosen := func(w word) bool { return v.Manifest.Entry(w.text) != nil }
	out = append(out, listed(e.agents, func(w word) bool { return !chosen(w) }, func(w word) string {
		return fmt.Sprintf("agent %s: not chosen%s", w.text, reason(&v.Manifest, w.text))
	})...)
	out = append(out, listed(e.notAgents, chosen, func(w word) string {
		return fmt.Sprintf("agent %s: chosen%s", w.text, chosenBy(v.Manifest.Entry(w.text)))
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

func quoted(s string) string { return shortened(plaintext.Printable(s), maxQuote) }

// listed says something about each element that differs, and counts those that are too many to list.
func listed[T any](all []T, differs func(T) bool, say func(T) string) []string {
	var out []string
	more := 0
	for _, x := range all {
		switch {
		case !differs(x):
		case len(out) == maxListed:
			more++
		default:
			out = append(out, say(x))
		}
	}
	if more > 0 {
		out = append(out, fmt.Sprintf("and %d more like the last one", more))
	}
	return out
}

// found returns the findings of a report, enforced and in evaluation, once for each of their places:
// what a rule finds does not depend on whether it counts.
func found(r *pipeline.Report) []pipeline.Finding {
	var out []pipeline.Finding
	add := func(list []pipeline.Finding) {
		for i := range list {
			for _, f := range list[i].Places() {
				out = append(out, *f)
			}
		}
	}
	add(r.Findings)
	if r.Evaluation != nil {
		add(r.Evaluation.Findings)
	}
	return out
}

// findingDifferences compares the findings.
func (e *expectation) findingDifferences(r *pipeline.Report) []string {
	found := found(r)
	first := func(p place) int {
		return slices.IndexFunc(found, func(f pipeline.Finding) bool { return p.fits(&f) })
	}
	out := listed(e.findings, func(p place) bool { return first(p) < 0 }, func(p place) string {
		return "finding " + quoted(p.String()) + ": not found; " + p.instead(found, r.Suppressed)
	})
	out = append(out, listed(e.notFound, func(p place) bool { return first(p) >= 0 }, func(p place) string {
		return "finding " + quoted(p.String()) + ": found, and should not be: " + shown(&found[first(p)])
	})...)
	if !e.only {
		return out
	}
	return append(out, listed(found, func(f pipeline.Finding) bool {
		return !slices.ContainsFunc(e.findings, func(p place) bool { return p.fits(&f) })
	}, func(f pipeline.Finding) string {
		return "finding " + shown(&f) + ": not expected"
	})...)
}

// instead says what was found instead of the described finding: first what is like it.
func (p *place) instead(found []pipeline.Finding, suppressed []pipeline.Suppressed) string {
	for _, s := range suppressed {
		if p.fits(&s.Finding) {
			return "suppressed: " + quoted(s.Reason)
		}
	}
	if len(found) == 0 {
		return "there is no finding"
	}
	var others []string
	for n := mostAlike; n >= 0; n-- {
		for i := range found {
			if f := &found[i]; len(others) < maxOthers && p.likeness(f) == n {
				others = append(others, shown(f))
			}
		}
	}
	if more := len(found) - len(others); more > 0 {
		others = append(others, fmt.Sprintf("%d more", more))
	}
	return "found instead: " + strings.Join(others, ", ")
}

// mostAlike is the largest likeness.
const mostAlike = 3

// likeness says how much a finding is like the described one.
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
