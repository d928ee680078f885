package run

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/aggregate"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/gapdetect"
)

// Replay computes the report of a finished review again. cfg is the config that the review used. It
// classifies the change, chooses agents, runs the agents of the kind rules and aggregates. It takes
// the results of all other agents, and everything that models said, from the review. It reads no
// clock and does no I/O, so the same program makes the same report.
//
// Of a review in which a stage failed, it only aggregates: the failure can't be repeated.
func (r *Runner) Replay(ctx context.Context, was *pipeline.Review, cfg *config.Config) (pipeline.Report, error) {
	engine, err := r.Engines.get(cfg)
	if err != nil {
		return pipeline.Report{}, err
	}
	in := aggregate.Input{
		Facts: &was.Facts, Previous: was.Previous, SameHead: was.SameHead, Memory: was.Memory, Session: was.Session, Config: cfg, Rules: engine.byID,
		Failed: failureOf(was.Failed),
	}
	if in.Failed != nil {
		in.Classification, in.Manifest, in.Gaps, in.Results = &was.Classification, &was.Manifest, was.Gaps, was.Results
	} else if err := r.recompute(ctx, engine, was, &in); err != nil {
		return pipeline.Report{}, err
	}
	in = reconciled(in)
	var report pipeline.Report
	if was.Failed == pipeline.StageAggregate {
		report = aggregate.Failed(in, in.Failed)
	} else {
		report = aggregate.Aggregate(in)
	}
	if report.Evaluation, err = r.evaluateAgain(ctx, was, &in, &report); err != nil {
		return pipeline.Report{}, err
	}
	if was.Proposed != nil {
		report.ProposedConfig = *was.Proposed
	}
	return report, nil
}

// choose fills in what the stages before dispatch make of the input's facts.
func (e *Engine) choose(ctx context.Context, in *aggregate.Input) error {
	classification := e.classify.Classify(in.Facts)
	manifest := e.compose.Compose(in.Facts, &classification)
	var err error
	if manifest, in.Gaps, err = e.gaps.Detect(ctx, in.Facts, &classification, manifest); err != nil {
		return fmt.Errorf("look for gaps: %w", err)
	}
	if manifest, err = e.hold(ctx, in.Facts, manifest); err != nil {
		return fmt.Errorf("add what is final: %w", err)
	}
	in.Classification, in.Manifest = &classification, &manifest
	return nil
}

// recompute fills in everything that the stages before aggregate make of a stored review's facts.
func (r *Runner) recompute(ctx context.Context, engine *Engine, was *pipeline.Review, in *aggregate.Input) error {
	if err := engine.choose(ctx, in); err != nil {
		return err
	}
	r.redactGaps(in.Gaps)
	for i := range was.Results {
		if row := &was.Results[i]; row.Agent == pipeline.GapDetector && row.Status == pipeline.AgentOK {
			r.proposeAgain(engine, was, in, row.Model)
		}
	}
	var err error
	in.Results, err = r.again(ctx, engine, in, was.Results)
	return err
}

// again returns stored results with those of the rules computed again.
func (r *Runner) again(ctx context.Context, engine *Engine, in *aggregate.Input, stored pipeline.List[pipeline.AgentResult]) (results pipeline.List[pipeline.AgentResult], err error) {
	again, err := r.rerun(ctx, engine, in, func(agent string) bool {
		return r.kindOf(engine, agent) == config.KindRules && ended(stored, agent) == pipeline.AgentOK
	})
	if err != nil {
		return nil, err
	}
	for _, row := range stored {
		if fresh, ok := again[row.Agent]; ok {
			row.Output, row.Note = fresh.Output, fresh.Note
		}
		results = append(results, row)
	}
	return results, nil
}

// proposeAgain amends the input by the gaps that a model proposed in a stored review.
func (r *Runner) proposeAgain(engine *Engine, was *pipeline.Review, in *aggregate.Input, model string) {
	g := gapRun{runner: r, engine: engine, review: &pipeline.Review{Facts: *in.Facts, Manifest: *in.Manifest}, gaps: in.Gaps}
	proposed := g.propose(model, gapdetect.Logged(was.Gaps, model))
	in.Gaps, *in.Manifest = proposed.Log, proposed.Manifest
}

// longest is how long an agent of the kind rules may take in a replay. On a busy machine it may need
// longer than in the review, and must find the same.
const longest = 10 * time.Minute

// rerun runs those agents of the manifest that which chooses, and returns their results.
func (r *Runner) rerun(ctx context.Context, engine *Engine, in *aggregate.Input, which func(agent string) bool) (map[string]pipeline.AgentResult, error) {
	var manifest pipeline.AgentManifest
	for _, e := range in.Manifest.Entries {
		if which(e.Agent) {
			manifest.Entries = append(manifest.Entries, e)
		}
	}
	if len(manifest.Entries) == 0 {
		return nil, nil
	}
	all := engine.builtIn(in.Facts, in.Classification)
	for _, e := range manifest.Entries {
		if engine.absent(e.Agent) {
			all[e.Agent] = modelless{}
		}
	}
	results, err := dispatch.Dispatch(ctx, manifest, in.Facts, in.Classification, all, dispatch.Options{
		Concurrency: runtime.GOMAXPROCS(0),
		Limits:      func(string) dispatch.Limits { return dispatch.Limits{Timeout: longest} },
	})
	if err != nil {
		return nil, fmt.Errorf("run the rules again: %w", err)
	}
	r.redactRules(results, engine)
	again := map[string]pipeline.AgentResult{}
	for _, row := range results {
		if row.Status != pipeline.AgentOK && !engine.absent(row.Agent) {
			return nil, fmt.Errorf("run %s again: %s", row.Agent, row.Note)
		}
		again[row.Agent] = row
	}
	return again, nil
}

// kindOf returns the kind of an agent, or "" for one that replaces the config's.
func (r *Runner) kindOf(engine *Engine, agent string) string {
	if r.Agents[agent] != nil {
		return ""
	}
	for i := range engine.config.Agents {
		if a := &engine.config.Agents[i]; a.ID == agent {
			return a.Kind
		}
	}
	return ""
}

// absent reports whether an agent asks a language model and the config has none.
func (e *Engine) absent(agent string) bool {
	return slices.ContainsFunc(e.config.Agents, func(a config.Agent) bool { return a.ID == agent && e.config.Absent(&a) })
}

// ended returns how an agent without a model ended, or "" if it did not run.
func ended(results pipeline.List[pipeline.AgentResult], agent string) pipeline.AgentStatus {
	for i := range results {
		if results[i].Agent == agent {
			return results[i].Status
		}
	}
	return ""
}
