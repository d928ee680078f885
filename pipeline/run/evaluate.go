package run

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/aggregate"
)

// noteNotEvaluated says that what is in evaluation could not run.
const noteNotEvaluated = "what is in evaluation could not run"

// evaluation is what of a config in evaluation looks at one change. It runs after everything that is
// enforced, with results of its own, so it can't affect a decision.
type evaluation struct {
	runner *Runner
	engine *Engine // of the config in which everything is enforced
	// in has the manifest of what runs, and no results.
	in aggregate.Input
	// enforced is the manifest of the review itself.
	enforced *pipeline.AgentManifest
	// rules and agents are in evaluation, by id. ruled are the agents that have such rules.
	rules, agents, ruled map[string]bool
}

// evaluation chooses what runs in evaluation. It returns nil if that is nothing.
func (r *Runner) evaluation(ctx context.Context, cfg *config.Config, facts *pipeline.PRFacts, enforced *pipeline.AgentManifest) (*evaluation, error) {
	if cfg.Evaluation == nil {
		return nil, nil
	}
	engine, err := r.Engines.get(cfg.Evaluation)
	if err != nil {
		return nil, err
	}
	e := &evaluation{
		runner: r, engine: engine, enforced: enforced, rules: map[string]bool{}, agents: map[string]bool{}, ruled: map[string]bool{},
		in: aggregate.Input{Facts: facts, Config: engine.config, Rules: engine.byID},
	}
	for i := range engine.config.Rules {
		if rule := &engine.config.Rules[i]; rule.Mode == config.ModeEvaluate {
			e.rules[rule.ID], e.ruled[rule.Agent] = true, true
		}
	}
	for i := range engine.config.Agents {
		a := &engine.config.Agents[i]
		e.agents[a.ID] = a.Mode == config.ModeEvaluate
		if a.Kind == config.KindLLM { // its machine-checkable rules are checked without a model
			e.ruled[a.ID] = slices.ContainsFunc(engine.config.Checklist(a), func(r config.Rule) bool { return r.Mode == config.ModeEvaluate && r.Match == nil })
		}
	}
	if err := engine.choose(ctx, &e.in); err != nil {
		return nil, err
	}
	e.in.Gaps = nil
	all := e.in.Manifest.Entries
	e.in.Manifest = &pipeline.AgentManifest{}
	for _, entry := range all {
		entry.Required, entry.OnFailure = false, pipeline.OnFailureWarn
		if !engine.absent(entry.Agent) && e.brings(&entry) {
			e.in.Manifest.Entries = append(e.in.Manifest.Entries, entry)
		}
	}
	if len(e.in.Manifest.Entries) == 0 {
		return nil, nil
	}
	return e, nil
}

// brings reports whether an agent is asked more than in the review itself.
func (e *evaluation) brings(entry *pipeline.ManifestEntry) bool {
	own := e.enforced.Entry(entry.Agent)
	return own == nil || e.ruled[entry.Agent] ||
		!own.Scope.All && (entry.Scope.All || slices.ContainsFunc(entry.Scope.Files, func(f string) bool { return !own.Scope.Has(f) })) ||
		slices.ContainsFunc(entry.Models, func(m string) bool { return !slices.Contains(own.Models, m) })
}

// keeps reports whether a finding is there only because of what is in evaluation.
func (e *evaluation) keeps(f *pipeline.Finding, by *pipeline.AgentResult) bool {
	own := e.enforced.Entry(by.Agent)
	switch {
	case own == nil, e.agents[by.Agent], e.rules[f.RuleID]:
		return true
	case by.Model != "" && !slices.Contains(own.Models, by.Model):
		return true
	}
	return !own.Scope.All && !own.Scope.Has(f.Path)
}

// report aggregates results of the run.
func (e *evaluation) report(results pipeline.List[pipeline.AgentResult], report *pipeline.Report) *pipeline.Evaluation {
	in := e.in
	for _, row := range results {
		row.Output.Findings = slices.DeleteFunc(slices.Clone(row.Output.Findings), func(f pipeline.Finding) bool { return !e.keeps(&f, &row) })
		in.Results = append(in.Results, row)
	}
	return aggregate.Evaluate(in, report)
}

// evaluate runs what is in evaluation on a reviewed change, and adds what it finds to the report.
// Only an error of ctx is returned: whatever else goes wrong is a note.
func (r *Runner) evaluate(ctx context.Context, v *pipeline.Review, cfg *config.Config, last *LastReview, each IOAgent, o Options) error {
	if cfg.Evaluation == nil || v.Failed != "" {
		return nil
	}
	err := r.tryEvaluation(ctx, v, cfg, last, each, o)
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err != nil {
		v.Evaluation, v.Report.Evaluation = &pipeline.EvaluationRun{Note: noteNotEvaluated}, &pipeline.Evaluation{Note: noteNotEvaluated}
	}
	return nil
}

func (r *Runner) tryEvaluation(ctx context.Context, v *pipeline.Review, cfg *config.Config, last *LastReview, each IOAgent, o Options) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &pipeline.PanicError{Value: p}
			if o.Panicked != nil {
				o.Panicked("the evaluation", err, debug.Stack())
			}
		}
	}()
	e, err := r.evaluation(ctx, cfg, &v.Facts, &v.Manifest)
	if err != nil || e == nil {
		return err
	}
	e.in.Memory = v.Memory
	own := pipeline.Review{Facts: v.Facts, Classification: *e.in.Classification, Manifest: *e.in.Manifest}
	t := &timer{now: r.Now, record: &pipeline.RunRecord{}, options: o}
	each.Manifest, each.Answered = &own.Manifest, t.answered
	s := staged{in: e.in, agents: r.agents(e.engine, o, &own, each), options: t.dispatchOptions(e.engine.config, &v.Facts)}
	s.carried = r.carry(ctx, e.engine, &own, last.evaluated(), o.Carry, s.options)
	s.redact = func(results pipeline.List[pipeline.AgentResult]) { r.redactRules(results, e.engine) }
	results, err := s.run(ctx, s.carried.without(own.Manifest))
	if err != nil {
		return err
	}
	t.putAnswers(results)
	v.Evaluation = &pipeline.EvaluationRun{Entries: own.Manifest.Entries, Results: s.carried.with(results, own.Manifest)}
	v.Report.Evaluation = e.report(v.Evaluation.Results, &v.Report)
	return nil
}

// evaluated returns the last review's evaluation in the form of a review, or nil.
func (l *LastReview) evaluated() *LastReview {
	if l == nil || l.Review.Evaluation == nil {
		return nil
	}
	v := *l.Review
	v.Manifest, v.Results = pipeline.AgentManifest{Entries: v.Evaluation.Entries}, v.Evaluation.Results
	return &LastReview{Review: &v, Version: l.Version}
}

// evaluateAgain computes the evaluation of a stored review again. report is the one without it.
func (r *Runner) evaluateAgain(ctx context.Context, was *pipeline.Review, in *aggregate.Input, report *pipeline.Report) (*pipeline.Evaluation, error) {
	switch stored := was.Evaluation; {
	case stored == nil || in.Failed != nil:
		return nil, nil
	case stored.Note != "":
		return &pipeline.Evaluation{Note: stored.Note}, nil
	}
	e, err := r.evaluation(ctx, in.Config, in.Facts, in.Manifest)
	if err != nil || e == nil {
		return nil, err
	}
	e.in.Memory = was.Memory
	results, err := r.again(ctx, e.engine, &e.in, was.Evaluation.Results)
	if err != nil {
		return nil, fmt.Errorf("evaluate again: %w", err)
	}
	return e.report(results, report), nil
}
