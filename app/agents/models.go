package agents

import (
	"context"

	"github.com/reviewgate/reviewgate/app/agents/model"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// llm makes an agent that asks language models.
func (r *Review) llm(spec run.IOAgent) (dispatch.Agent, error) {
	if r.NoModels {
		return nil, &dispatch.SkippedError{Why: "a dry run asks no models"}
	}
	needs := r.needs(spec)
	needs.Memory, needs.Cycle = spec.Memory, spec.Cycle
	agent, err := r.Models.Agent(spec.Agent, spec.Config, needs)
	if err != nil {
		return nil, err
	}
	if _, documents := spec.Agent.Reviewer(); documents { // other agents read nothing from GitHub that a review must wait for
		return watched{agent, r}, nil
	}
	return agent, nil
}

// GapModel returns a client that asks a model for gaps, or nil.
func (r *Review) GapModel(spec run.IOAgent) run.GapModel {
	gaps, err := r.Models.Gaps(spec.Config, r.needs(spec))
	if err != nil {
		r.Log.Error().Err(err).Msg("gaps can't be asked for")
		return nil
	}
	return gaps
}

// Comparer returns a client that asks a model which findings are about the same problem,
// or nil.
func (r *Review) Comparer(spec run.IOAgent) run.Comparer {
	comparer, err := r.Models.Comparer(spec.Config, r.needs(spec))
	if err != nil {
		r.Log.Error().Err(err).Msg("findings can't be compared by a model")
		return nil
	}
	return comparer
}

// Verifier returns a client that asks a model whether findings are right, or nil.
func (r *Review) Verifier(spec run.IOAgent) run.Verifier {
	verifier, err := r.Models.Verifier(spec.Config, r.needs(spec))
	if err != nil {
		r.Log.Error().Err(err).Msg("findings can't be verified by a model")
		return nil
	}
	return verifier
}

// needs returns what this review provides for an agent that asks models.
func (r *Review) needs(spec run.IOAgent) model.Needs {
	id, budget := spec.Agent.ID, spec.Config.Settings.ModelBudget
	needs := model.Needs{
		Redact: spec.Redact, RedactBeside: spec.RedactOther, Round: &r.round, Shares: spec.Shares,
		Answered: spec.Answered, Files: r.Files, Manifest: spec.Manifest,
		Used: func(u pipeline.ModelUse) {
			spec.Used(u)
			r.used(u)
		},
		Failed: func(name string, err error) {
			r.Log.Warn().Str("agent", id).Str("model", name).Err(err).Msg("a model did not answer")
			if r.Unanswered != nil {
				r.Unanswered(name, err)
			}
		},
	}
	if spec.Evaluation { // the other half is left to the enforced agents
		budget.PerPull /= 2
		budget.PerRepositoryDay /= 2
	}
	if r.Tokens != nil {
		needs.Budget = &tokens{store: r.Tokens, log: r.Log, ask: ports.TokenAsk{
			Target: r.Target, Agent: id, PerPull: budget.PerPull, PerRepositoryDay: budget.PerRepositoryDay,
		}}
	}
	if r.Discussion != nil {
		needs.Issues = func(ctx context.Context, f *pipeline.PRFacts) ([]ports.LinkedIssue, error) {
			return model.LinkedIssues(ctx, r.Discussion, f)
		}
	}
	return needs
}

// used reports the tokens and cost of a question to a model.
func (r *Review) used(u pipeline.ModelUse) {
	r.Log.Info().Str("agent", u.Agent).Str("model", u.Model).Int("asked", u.Asked).
		Int("input", u.Input).Int("cached", u.Cached).Int("output", u.Output).Float64("cost_usd", u.CostUSD).Msg("model asked")
	if r.Used != nil {
		r.Used(u)
	}
}
