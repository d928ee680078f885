package run

import (
	"context"
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/aggregate"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
)

// staged dispatches a manifest's agents. Those of the quality stage come after the others if that
// stage waits for the spec stage.
type staged struct {
	in      aggregate.Input // without results
	agents  agents
	carried carried
	options dispatch.Options
	redact  func(results pipeline.List[pipeline.AgentResult])
	// compared tells which findings are about the same problem, and verified which are right. Both
	// may be nil.
	compared *comparing
	verified *verifying
}

// noteNotAsked says why an agent of the quality stage was not asked.
const noteNotAsked = "not asked: the spec stage failed"

// dispatch returns the results of all agents in the manifest's order, including carried results,
// and then what models said about the findings.
func (s *staged) dispatch(ctx context.Context) (pipeline.List[pipeline.AgentResult], error) {
	all := *s.in.Manifest
	now := s.carried.without(all)
	var later pipeline.AgentManifest
	if s.waits(all) {
		now, later = splitStage(now, pipeline.ReviewStageQuality)
	}
	results, err := s.run(ctx, now)
	if err != nil {
		return s.carried.with(results, all), err
	}
	if len(later.Entries) > 0 {
		so := s.in
		if so.Results, err = s.consult(ctx, s.carried.with(results, all)); err != nil {
			return so.Results, err
		}
		if aggregate.SpecFails(so) {
			return s.withConsultations(s.carried.with(append(results, notAsked(later)...), all)), nil
		}
		rest, err := s.run(ctx, later)
		if err != nil {
			return s.carried.with(append(results, rest...), all), err
		}
		results = append(results, rest...)
	}
	return s.consult(ctx, s.carried.with(results, all))
}

// consult asks models about findings in the results, and returns the results with the answers so
// far.
func (s *staged) consult(ctx context.Context, results pipeline.List[pipeline.AgentResult]) (pipeline.List[pipeline.AgentResult], error) {
	if s.compared != nil {
		if err := s.compared.compare(ctx, s.in, s.withConsultations(results)); err != nil {
			return s.withConsultations(results), err
		}
	}
	if s.verified != nil { // a finding of two models needs no third
		if err := s.verified.verify(ctx, s.in, s.withConsultations(results)); err != nil {
			return s.withConsultations(results), err
		}
	}
	return s.withConsultations(results), nil
}

// withConsultations adds the answers so far to results.
func (s *staged) withConsultations(results pipeline.List[pipeline.AgentResult]) pipeline.List[pipeline.AgentResult] {
	results = slices.Clip(results)
	if s.compared != nil && s.compared.row != nil {
		results = append(results, *s.compared.row)
	}
	if s.verified != nil && s.verified.row != nil {
		results = append(results, *s.verified.row)
	}
	return results
}

func (s *staged) run(ctx context.Context, m pipeline.AgentManifest) (pipeline.List[pipeline.AgentResult], error) {
	results, err := dispatch.Dispatch(ctx, m, s.in.Facts, s.in.Classification, s.agents, s.options)
	s.redact(results)
	return results, err
}

// waits reports whether the quality stage waits for the spec stage. It does not on a pull request's
// first review, where most pass the spec stage, unless the settings say so. The result of the spec
// stage may have been carried.
func (s *staged) waits(m pipeline.AgentManifest) bool {
	if s.in.Previous == nil && s.in.Config.Settings.Models.SpeculativeQuality {
		return false
	}
	return slices.ContainsFunc(m.Entries, func(e pipeline.ManifestEntry) bool { return e.Stage == pipeline.ReviewStageSpec })
}

// splitStage splits a manifest into the entries of a stage and the others.
func splitStage(m pipeline.AgentManifest, stage string) (without, of pipeline.AgentManifest) {
	for _, e := range m.Entries {
		if e.Stage == stage {
			of.Entries = append(of.Entries, e)
		} else {
			without.Entries = append(without.Entries, e)
		}
	}
	return without, of
}

// notAsked are the results of agents that are skipped.
func notAsked(m pipeline.AgentManifest) (results []pipeline.AgentResult) {
	for _, e := range m.Entries {
		for _, q := range e.Questions() {
			results = append(results, pipeline.AgentResult{
				Agent: e.Agent, Model: q.Model, Run: q.Run, Stage: e.Stage, Status: pipeline.AgentDiscarded, Note: noteNotAsked,
			})
		}
	}
	return results
}
