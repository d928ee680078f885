package run

import (
	"cmp"
	"context"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/aggregate"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/gapdetect"
	"github.com/reviewgate/reviewgate/pipeline/secrets"
)

// previewTime bounds the trial of a proposed config, including reading it. It is many times what
// the largest config takes; anybody may propose one.
const previewTime = 20 * time.Second

// testsTime bounds the policy tests of a proposed config, including reading them, since the check
// waits for them.
const testsTime = 5 * time.Second

// maxPreviews is how many proposed configs are tried at once, and of how many the tests run at once.
// What is abandoned after its time counts until it has really ended.
const maxPreviews = 2

// Why a proposed config could not be tried.
const (
	noteUnread     = "the proposed config could not be read"
	noteOutOfTime  = "the proposed config could not be tried in time"
	noteIncomplete = "the proposed config was not tried, since a stage of this review failed"
	noteFailed     = "the proposed config could not be tried"

	noteTestsFailed = "reviewgate failed"
)

// NoteTestsLate says why policy tests have no result.
const NoteTestsLate = "they took too long"

// preview says what the config that the change proposes would do. If anything goes wrong, that is a
// note, and does not affect the review's own outcome.
func (r *Runner) preview(ctx context.Context, in aggregate.Input, findings []pipeline.Finding, change *secrets.Change, o Options) pipeline.ProposedConfig {
	exceptions := exceptionFiles(in.Facts)
	out := pipeline.ProposedConfig{Files: slices.Concat(config.ChangedFiles(in.Facts), config.ChangedTests(in.Facts), exceptions), Exceptions: len(exceptions) > 0}
	slices.Sort(out.Files)
	if len(out.Files) == 0 || o.Proposed == nil || o.Only != nil {
		return pipeline.ProposedConfig{}
	}
	if in.Failed != nil {
		out.Note = noteIncomplete
		return out
	}
	review := ctx
	ctx, cancel := context.WithTimeout(ctx, previewTime)
	defer cancel()
	select {
	case r.previews <- struct{}{}:
	case <-ctx.Done():
		out.Note = noteOutOfTime
		return out
	}
	p := &previewer{runner: r, in: in, findings: findings, secrets: change, options: o}
	tried := make(chan pipeline.ProposedConfig, 1)
	begun := out // the trial's own copy, since out is written when the time is over
	go func() {
		defer func() { <-r.previews }()
		tried <- p.guarded(ctx, begun)
		p.agents.Wait() // dispatch abandons an agent that does not stop at once
	}()
	select {
	case out = <-tried:
		out.Tests = p.tested(review)
	case <-ctx.Done():
		out.Note = noteOutOfTime
	}
	r.redactProposed(&out)
	return out
}

// previewer reviews a change again under the config that it proposes. It does not change in.
type previewer struct {
	runner   *Runner
	in       aggregate.Input    // of the review under the config in force
	findings []pipeline.Finding // of that review's report
	secrets  *secrets.Change
	options  Options
	agents   sync.WaitGroup // the running agents
	tried    *Engine        // of the proposed config, once it was tried
}

// counted is an agent whose end matters even if nobody waits for its result.
type counted struct {
	dispatch.Agent
	running *sync.WaitGroup
}

// Review counts as long as the agent runs, even if nobody waits for it.
func (c counted) Review(ctx context.Context, task dispatch.Task) (dispatch.Answer, error) {
	c.running.Add(1)
	defer c.running.Done()
	return c.Agent.Review(ctx, task)
}

// guarded is try, with a note for everything that goes wrong.
func (p *previewer) guarded(ctx context.Context, out pipeline.ProposedConfig) (tried pipeline.ProposedConfig) {
	defer func() {
		if v := recover(); v != nil {
			tried = pipeline.ProposedConfig{Files: out.Files, Exceptions: out.Exceptions, Note: noteFailed}
			if p.options.Panicked != nil {
				p.options.Panicked("the try of a proposed config", &pipeline.PanicError{Value: v}, debug.Stack())
			}
		}
	}()
	cfg, err := p.in.Config, error(nil)
	if len(config.ChangedFiles(p.in.Facts)) > 0 {
		cfg, err = p.options.Proposed(ctx, p.in.Facts)
	}
	facts := p.in.Facts
	if err == nil && cfg != nil {
		facts, err = p.except(ctx, &out)
	}
	if err == nil && cfg != nil && cfg != p.in.Config {
		facts, err = p.allow(cfg, facts)
	}
	switch {
	case ctx.Err() != nil:
		out.Note = noteOutOfTime
	case err != nil || cfg == nil:
		out.Note = noteUnread
	case len(out.Problems) > 0 || cfg != p.in.Config && len(cfg.InForce.Problems) > 0:
		if cfg != p.in.Config { // problems of the config in force are not the change's
			out.Problems = append(out.Problems, cfg.InForce.Problems...)
		}
	default:
		if err := p.try(ctx, cfg, facts, &out); err != nil {
			out = pipeline.ProposedConfig{Files: out.Files, Exceptions: out.Exceptions, Note: noteFailed}
			if ctx.Err() != nil {
				out.Note = noteOutOfTime
			}
		}
	}
	return out
}

// try runs the stages after normalize on the facts under the proposed exceptions. If the engine is
// not in use already, it is compiled for this trial only: proposed configs must not push configs in
// use out of the cache.
func (p *previewer) try(ctx context.Context, cfg *config.Config, facts *pipeline.PRFacts, out *pipeline.ProposedConfig) error {
	out.Changes = config.Diff(p.in.Config, cfg)
	if n := len(out.Changes); n > pipeline.MaxConfigChanges {
		out.Changes, out.ChangesMore = slices.Clone(out.Changes[:pipeline.MaxConfigChanges]), n-pipeline.MaxConfigChanges
	}
	var err error
	engine, ok := p.runner.Engines.cache.Get(cfg.Key)
	if !ok {
		if engine, err = Compile(cfg); err != nil {
			return err
		}
	}
	in := aggregate.Input{Facts: facts, Previous: p.in.Previous, Memory: p.in.Memory, Session: p.in.Session, Config: cfg, Rules: engine.byID}
	in.Memory.ByHand = nil // the question is what the config would decide
	if err := engine.choose(ctx, &in); err != nil {
		return err
	}
	proposedRow := p.proposedGaps(engine, &in)
	if in.Results, err = p.results(ctx, engine, in); err != nil {
		return err
	}
	in.Results = append(in.Results, proposedRow...)
	report := aggregate.Aggregate(in)
	p.tried = engine

	repository := facts.Repository.FullName()
	if mode := cfg.Mode(repository); mode != p.in.Config.Mode(repository) {
		out.Mode = mode
	}
	out.Decision, out.Condition, out.Counts = report.Decision, report.Gate.Condition, report.Counts
	out.AgentsAdded, out.AgentsGone = difference(agentIDs(in.Manifest), agentIDs(p.in.Manifest))
	added, gone := pipeline.OnlyIn(report.Findings, p.findings), pipeline.OnlyIn(p.findings, report.Findings)
	out.FindingsNew, out.FindingsGone = len(added), len(gone)
	for i, f := range append(added, gone...) {
		if i == pipeline.MaxConfigFindings {
			break
		}
		out.Findings = append(out.Findings, pipeline.ConfigFinding{
			Gone: i >= len(added), Severity: cmp.Or(f.GateSeverity, f.Severity), Title: f.Title, Path: f.Path, Line: f.StartLine, RuleID: f.RuleID,
		})
	}
	return nil
}

// tested runs the policy tests under the proposed config, if that could be tried. They have their own
// time and slots, so that they take none from trials.
func (p *previewer) tested(ctx context.Context) *pipeline.PolicyTests {
	touched := len(config.ChangedFiles(p.in.Facts)) + len(config.ChangedTests(p.in.Facts))
	if p.tried == nil || p.options.Tests == nil || touched == 0 { // exceptions alone change no test
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, testsTime)
	defer cancel()
	late := &pipeline.PolicyTests{Note: NoteTestsLate}
	select {
	case p.runner.testing <- struct{}{}:
	case <-ctx.Done():
		return late
	}
	tested := make(chan *pipeline.PolicyTests, 1)
	go func() {
		defer func() { <-p.runner.testing }()
		tested <- p.tests(ctx)
	}()
	select {
	case tests := <-tested:
		return tests
	case <-ctx.Done():
		return late
	}
}

// tests runs the policy tests, with a note if that panics.
func (p *previewer) tests(ctx context.Context) (tests *pipeline.PolicyTests) {
	defer func() {
		if v := recover(); v != nil {
			tests = &pipeline.PolicyTests{Note: noteTestsFailed}
			if p.options.Panicked != nil {
				p.options.Panicked("the policy tests of a proposed config", &pipeline.PanicError{Value: v}, debug.Stack())
			}
		}
	}()
	return p.options.Tests(ctx, p.in.Facts, p.tried)
}

// proposedGaps assumes that the model would propose the same gaps again, if the proposed config
// asks it, and returns its row.
func (p *previewer) proposedGaps(engine *Engine, in *aggregate.Input) pipeline.List[pipeline.AgentResult] {
	for _, r := range p.in.Results {
		if r.Agent != pipeline.GapDetector || r.Model != in.Config.Settings.Models.GapDetector {
			continue
		}
		proposed := engine.gaps.Propose(in.Facts, *in.Manifest, in.Gaps, r.Model, gapdetect.Logged(p.in.Gaps, r.Model))
		in.Gaps, *in.Manifest = proposed.Log, proposed.Manifest
		return pipeline.List[pipeline.AgentResult]{r}
	}
	return nil
}

// results runs the agents that only read the facts. Others are assumed to say what they said about
// the same change under the config in force. Those that did not run then say nothing.
func (p *previewer) results(ctx context.Context, engine *Engine, in aggregate.Input) (pipeline.List[pipeline.AgentResult], error) {
	run := pipeline.AgentManifest{}
	var results pipeline.List[pipeline.AgentResult]
	builtIn := engine.builtIn(in.Facts, in.Classification)
	for id, a := range builtIn {
		builtIn[id] = counted{a, &p.agents}
	}
	for _, e := range in.Manifest.Entries {
		_, other := p.runner.Agents[e.Agent]
		if _, ok := builtIn[e.Agent]; ok && !other {
			run.Entries = append(run.Entries, e)
			continue
		}
		results = append(results, p.resultsOf(e)...)
	}
	t := timer{now: p.runner.Now, record: &pipeline.RunRecord{}, options: Options{Panicked: p.options.Panicked}}
	dispatched, err := dispatch.Dispatch(ctx, run, in.Facts, in.Classification, builtIn, t.dispatchOptions(in.Config, in.Facts))
	return append(results, dispatched...), err
}

func (p *previewer) resultsOf(e pipeline.ManifestEntry) (results []pipeline.AgentResult) {
	for _, r := range p.in.Results {
		if r.Agent == e.Agent {
			results = append(results, r)
		}
	}
	if results == nil {
		results = []pipeline.AgentResult{{Agent: e.Agent, Stage: e.Stage, Status: pipeline.AgentOK}}
	}
	return results
}

func agentIDs(m *pipeline.AgentManifest) []string {
	var ids []string
	for i := range m.Entries {
		ids = append(ids, m.Entries[i].Agent)
	}
	return ids
}

// difference returns what only the one and what only the other list has, sorted.
func difference(one, other []string) (onlyOne, onlyOther pipeline.List[string]) {
	for _, id := range one {
		if !slices.Contains(other, id) {
			onlyOne = append(onlyOne, id)
		}
	}
	for _, id := range other {
		if !slices.Contains(one, id) {
			onlyOther = append(onlyOther, id)
		}
	}
	slices.Sort(onlyOne)
	slices.Sort(onlyOther)
	return onlyOne, onlyOther
}
