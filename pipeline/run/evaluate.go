package run

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/aggregate"
)

// noteNotEvaluated says that what is in evaluation could not run.
const noteNotEvaluated = "what is in evaluation could not run"

// evaluation runs what a config has in evaluation on one change. It runs after everything that is
// enforced and has results of its own, so it can't affect a decision.
type evaluation struct {
	runner *Runner
	engine *Engine // of the config in which everything is enforced
	// in has the manifest of what runs, and no results.
	in aggregate.Input
	// enforced is the manifest of the review itself.
	enforced *pipeline.AgentManifest
	// rules are in evaluation, by id. ruled are the agents that look for them.
	rules, ruled map[string]bool
}

// evaluation chooses what runs in evaluation. It returns nil if nothing runs, and nothing found by an
// earlier evaluation has to be followed up.
func (r *Runner) evaluation(ctx context.Context, engine *Engine, v *pipeline.Review, enforced *pipeline.AgentManifest, only *Only) (*evaluation, error) {
	e := &evaluation{
		runner: r, engine: engine, enforced: enforced, rules: map[string]bool{}, ruled: map[string]bool{},
		in: aggregate.Input{Facts: &v.Facts, Memory: v.Memory, Config: engine.config, Rules: engine.byID},
	}
	e.findRules()
	if err := engine.choose(ctx, &e.in); err != nil {
		return nil, err
	}
	e.in.Gaps = nil
	all := e.in.Manifest.Entries
	if only != nil {
		limited, _ := only.limit(*e.in.Manifest)
		all = limited.Entries
	}
	e.in.Manifest = &pipeline.AgentManifest{}
	for i := range all {
		if entry, ok := e.brings(&all[i]); ok && !engine.absent(entry.Agent) {
			e.in.Manifest.Entries = append(e.in.Manifest.Entries, entry)
		}
	}
	e.in.Previous, e.in.SameHead = e.before(v.Previous), e.before(v.SameHead)
	if len(e.in.Manifest.Entries) == 0 && e.in.Previous == nil {
		return nil, nil
	}
	return e, nil
}

// findRules notes the rules in evaluation, and the agents that check them. If an agent of the kind
// rules checks a rule, no model is asked about it.
func (e *evaluation) findRules() {
	cfg := e.engine.config
	checked := func(r *config.Rule) bool {
		return r.Match != nil && e.runner.kindOf(e.engine, r.Agent) == config.KindRules
	}
	for i := range cfg.Rules {
		if r := &cfg.Rules[i]; r.Mode == config.ModeEvaluate {
			e.rules[r.ID] = true
			e.ruled[r.Agent] = e.ruled[r.Agent] || r.When != "" || checked(r)
		}
	}
	for i := range cfg.Agents {
		if a := &cfg.Agents[i]; a.Kind == config.KindLLM {
			e.ruled[a.ID] = slices.ContainsFunc(cfg.Checklist(a), func(r config.Rule) bool { return e.rules[r.ID] && !checked(&r) })
		}
	}
}

// brings returns what an agent would be asked in addition to the review itself, and whether it would.
// The agent is never required.
func (e *evaluation) brings(entry *pipeline.ManifestEntry) (more pipeline.ManifestEntry, ok bool) {
	more = *entry
	more.Required, more.OnFailure = false, pipeline.OnFailureWarn
	own := e.enforced.Entry(entry.Agent)
	if own == nil || e.ruled[entry.Agent] {
		return more, true
	}
	models := slices.DeleteFunc(slices.Clone(entry.Models), func(m string) bool { return slices.Contains(own.Models, m) })
	files := e.files(&entry.Scope)
	files = slices.DeleteFunc(files, own.Scope.Has)
	switch {
	case len(files) == 0:
		more.Models = models
		return more, len(models) > 0
	case len(models) == 0:
		more.Scope = pipeline.AgentScope{Files: files}
	}
	return more, true
}

// files returns the files of a scope, sorted.
func (e *evaluation) files(s *pipeline.AgentScope) (files pipeline.List[string]) {
	if !s.All {
		return slices.Clone(s.Files)
	}
	for i := range e.in.Facts.Files {
		files = append(files, e.in.Facts.Files[i].Path)
	}
	slices.Sort(files)
	return files
}

// keeps reports whether nobody would have made a finding without an entry in evaluation.
func (e *evaluation) keeps(f *pipeline.Finding) bool {
	own := e.enforced.Entry(f.Agent)
	switch {
	case own == nil, e.rules[f.RuleID], f.Model != "" && !slices.Contains(own.Models, f.Model):
		return true
	}
	return !own.Scope.Has(f.Path)
}

// before returns the earlier findings that entries still in evaluation had made.
func (e *evaluation) before(report *pipeline.PreviousReport) *pipeline.PreviousReport {
	if report == nil {
		return nil
	}
	found := slices.DeleteFunc(slices.Clone(report.Evaluated), func(f pipeline.Finding) bool { return !e.keeps(&f) })
	if len(found) == 0 {
		return nil
	}
	return &pipeline.PreviousReport{HeadSHA: report.HeadSHA, Findings: found, Iteration: report.Iteration}
}

// report aggregates results of the run.
func (e *evaluation) report(results pipeline.List[pipeline.AgentResult], report *pipeline.Report) *pipeline.Evaluation {
	in := e.in
	for _, row := range results {
		row.Output.Findings = slices.DeleteFunc(slices.Clone(row.Output.Findings), func(f pipeline.Finding) bool {
			f.Agent, f.Model = row.Agent, row.Model
			return !e.keeps(&f)
		})
		in.Results = append(in.Results, row)
	}
	return aggregate.Evaluate(in, report)
}

// evaluate runs what is in evaluation on a reviewed change, and adds what it finds to the report.
// Only an error of ctx is returned: whatever else goes wrong is a note, and in the record.
func (r *Runner) evaluate(ctx context.Context, out *Outcome, last *LastReview, each IOAgent, o Options, t *timer) error {
	v := &out.Review
	if out.Config.Evaluation == nil || v.Failed != "" {
		return nil
	}
	err := t.stage(pipeline.StageEvaluate, "running what is in evaluation", func() error {
		engine, err := r.Engines.get(out.Config.Evaluation)
		if err != nil {
			return err
		}
		if out.LabelsRead != pipeline.LabelsAll {
			out.LabelsRead = cmp.Or(engine.labelsRead(&v.Facts), out.LabelsRead)
		}
		e, err := r.evaluation(ctx, engine, v, &v.Manifest, o.Only)
		if err != nil || e == nil {
			return err
		}
		return e.run(ctx, v, last, each, o)
	})
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err != nil {
		v.Evaluation, v.Report.Evaluation = &pipeline.EvaluationRun{Note: noteNotEvaluated}, &pipeline.Evaluation{Note: noteNotEvaluated}
	}
	return nil
}

// run runs the agents of the evaluation.
func (e *evaluation) run(ctx context.Context, v *pipeline.Review, last *LastReview, each IOAgent, o Options) error {
	r := e.runner
	own := pipeline.Review{Facts: v.Facts, Classification: *e.in.Classification, Manifest: *e.in.Manifest, Memory: v.Memory}
	quiet := o
	quiet.Progress = nil
	t := &timer{now: r.Now, record: &pipeline.RunRecord{}, options: quiet} // answers and times apart from the others'
	each.Evaluation, each.Manifest, each.Answered = true, &own.Manifest, t.answered
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

// evaluateAgain computes the evaluation of a stored review again. report has everything else.
func (r *Runner) evaluateAgain(ctx context.Context, was *pipeline.Review, in *aggregate.Input, report *pipeline.Report) (*pipeline.Evaluation, error) {
	switch stored := was.Evaluation; {
	case stored == nil || in.Failed != nil || in.Config.Evaluation == nil:
		return nil, nil
	case stored.Note != "":
		return &pipeline.Evaluation{Note: stored.Note}, nil
	}
	engine, err := r.Engines.get(in.Config.Evaluation)
	if err != nil {
		return nil, err
	}
	e, err := r.evaluation(ctx, engine, was, in.Manifest, nil)
	if err != nil || e == nil {
		return nil, err
	}
	results, err := r.again(ctx, e.engine, &e.in, was.Evaluation.Results)
	if err != nil {
		return nil, fmt.Errorf("evaluate again: %w", err)
	}
	return e.report(results, report), nil
}
