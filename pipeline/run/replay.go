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
		Facts: &was.Facts, Previous: was.Previous, SameHead: was.SameHead, Memory: was.Memory, Config: cfg, Rules: engine.byID,
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
			g := gapRun{runner: r, engine: engine, review: &pipeline.Review{Facts: *in.Facts, Manifest: *in.Manifest}, gaps: in.Gaps}
			proposed := g.propose(row.Model, gapdetect.Logged(was.Gaps, row.Model))
			in.Gaps, *in.Manifest = proposed.Log, proposed.Manifest
		}
	}
	again, err := r.rerun(ctx, engine, was, in)
	if err != nil {
		return err
	}
	for _, row := range was.Results {
		if fresh, ok := again[row.Agent]; ok {
			row.Output, row.Note = fresh.Output, fresh.Note
		}
		in.Results = append(in.Results, row)
	}
	return nil
}

// longest is how long an agent of the kind rules may take in a replay. On a busy machine it may need
// longer than in the review, and must find the same.
const longest = 10 * time.Minute

// rerun runs the agents of the kind rules that finished in a stored review, and returns their
// results.
func (r *Runner) rerun(ctx context.Context, engine *Engine, was *pipeline.Review, in *aggregate.Input) (map[string]pipeline.AgentResult, error) {
	var manifest pipeline.AgentManifest
	for _, e := range in.Manifest.Entries {
		finished := func(row pipeline.AgentResult) bool { return row.Agent == e.Agent && row.Status == pipeline.AgentOK }
		if engine.hasRules(e.Agent) && r.Agents[e.Agent] == nil && slices.ContainsFunc(was.Results, finished) {
			manifest.Entries = append(manifest.Entries, e)
		}
	}
	if len(manifest.Entries) == 0 {
		return nil, nil
	}
	results, err := dispatch.Dispatch(ctx, manifest, in.Facts, in.Classification, engine.builtIn(in.Facts, in.Classification), dispatch.Options{
		Concurrency: runtime.GOMAXPROCS(0),
		Limits:      func(string) dispatch.Limits { return dispatch.Limits{Timeout: longest} },
	})
	if err != nil {
		return nil, fmt.Errorf("run the rules again: %w", err)
	}
	r.redactRules(results, engine)
	again := map[string]pipeline.AgentResult{}
	for _, row := range results {
		if row.Status != pipeline.AgentOK {
			return nil, fmt.Errorf("run the rules of %s again: %s", row.Agent, row.Note)
		}
		again[row.Agent] = row
	}
	return again, nil
}

// hasRules reports whether an agent is of the kind rules.
func (e *Engine) hasRules(agent string) bool {
	return slices.ContainsFunc(e.config.Agents, func(a config.Agent) bool { return a.ID == agent && a.Kind == config.KindRules })
}
