package review

import (
	"context"
	"errors"
	"fmt"

	"github.com/reviewgate/reviewgate/app/agents/model"
	"github.com/reviewgate/reviewgate/app/llm"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// asking makes an agent that asks language models.
func (o *outside) asking(of run.IOAgent) dispatch.Agent {
	if o.dry {
		return unmade{&dispatch.SkippedError{Why: "a dry run asks no models"}}
	}
	agent, err := o.service.Models.Agent(of.Agent, of.Config, o.modelReview(of))
	if err != nil {
		return unmade{err}
	}
	if documents, ok := agent.(*model.Documents); ok {
		return &reading{o, documents}
	}
	return agent
}

// reading is an agent that reads documents on GitHub, of which is noted how its last
// attempt ended with each model.
type reading struct {
	by *outside
	*model.Documents
}

var _ dispatch.Noter = (*reading)(nil)

// ReviewAndNote implements dispatch.Noter.
func (r *reading) ReviewAndNote(ctx context.Context, task dispatch.Task) (pipeline.AgentOutput, string, error) {
	out, note, err := r.Documents.ReviewAndNote(ctx, task)
	r.by.note(ctx, fmt.Sprintf("%s %s %d", task.Entry.Agent, task.Model, task.Run), err)
	return out, note, err
}

// gapModel makes what asks a model for gaps.
func (o *outside) gapModel(of run.IOAgent) run.GapModel {
	gaps, err := o.service.Models.Gaps(of.Config, o.modelReview(of))
	if err != nil {
		o.service.Log.Error().Str("target", o.target.Key()).Err(err).Msg("gaps can't be asked for")
		return nil
	}
	return gaps
}

// comparer makes what asks a model which findings are about one thing.
func (o *outside) comparer(of run.IOAgent) run.Comparer {
	if o.dry {
		return nil
	}
	comparer, err := o.service.Models.Comparer(of.Config, o.modelReview(of))
	if err != nil {
		o.service.Log.Error().Str("target", o.target.Key()).Err(err).Msg("findings can't be compared by a model")
		return nil
	}
	return comparer
}

// verifier makes what asks a model whether findings are right.
func (o *outside) verifier(of run.IOAgent) run.Verifier {
	if o.dry {
		return nil
	}
	verifier, err := o.service.Models.Verifier(of.Config, o.modelReview(of))
	if err != nil {
		o.service.Log.Error().Str("target", o.target.Key()).Err(err).Msg("findings can't be verified by a model")
		return nil
	}
	return verifier
}

// modelReview is what those who ask models need of this review.
func (o *outside) modelReview(of run.IOAgent) model.Review {
	id, s := of.Agent.ID, o.service
	return model.Review{
		Redact: of.Redact, RedactBeside: of.RedactOther, Round: &o.round, Shares: of.Shares,
		Used: func(u pipeline.ModelUse) {
			of.Used(u)
			o.used(u)
		},
		Budget: &tokens{service: s, ask: ports.TokenAsk{
			Target: o.target, Agent: id,
			PerPull:          of.Config.Settings.ModelBudget.PerPull,
			PerRepositoryDay: of.Config.Settings.ModelBudget.PerRepositoryDay,
		}},
		Issues: func(ctx context.Context, f *pipeline.PRFacts) ([]model.Issue, error) {
			return linkedIssues(ctx, o.src, f)
		},
		Answered: of.Answered, Files: o.src, Manifest: of.Manifest,
		Failed: func(name string, err error) {
			s.Log.Warn().EmbedObject(o.trail).Str("target", o.target.Key()).Str("agent", id).Str("model", name).Err(err).Msg("a model did not answer")
		},
	}
}

// used tells what a question to a model took, at once: it is paid for also where
// the review comes to nothing, because a newer head ends it.
func (o *outside) used(u pipeline.ModelUse) {
	o.service.Log.Info().EmbedObject(o.trail).Str("target", o.target.Key()).Str("agent", u.Agent).Str("model", u.Model).Int("asked", u.Asked).
		Int("input", u.Input).Int("cached", u.Cached).Int("output", u.Output).Float64("cost_usd", u.CostUSD).Msg("model asked")
	if o.service.Observe.ModelUse != nil {
		o.service.Observe.ModelUse(u)
	}
}

// unmade is an agent that could not be made.
type unmade struct{ err error }

// Review fails.
func (u unmade) Review(context.Context, dispatch.Task) (pipeline.AgentOutput, error) {
	return pipeline.AgentOutput{}, u.err
}

// tokens is what one agent may spend on models, as the store keeps it.
type tokens struct {
	service *Service
	ask     ports.TokenAsk
}

var _ model.Budget = (*tokens)(nil)

// Take implements model.Budget.
func (t *tokens) Take(ctx context.Context, name string, n int) (func(llm.Use), error) {
	ask := t.ask
	ask.Model, ask.Tokens = name, n
	id, over, err := t.service.Store.TakeTokens(ctx, ask)
	switch {
	case err != nil:
		return nil, fmt.Errorf("take %d tokens from the budget: %w", n, err)
	case over == ports.BudgetPull:
		return nil, &dispatch.SkippedError{Why: fmt.Sprintf("over budget: this pull request's reviews have %d tokens in all (model_budget.per_pull_request)", ask.PerPull)}
	case over == ports.BudgetRepository:
		return nil, &dispatch.SkippedError{Why: fmt.Sprintf("over budget: the repository has %d tokens a day (model_budget.per_repository_day)", ask.PerRepositoryDay)}
	}
	return func(use llm.Use) {
		// It was spent, whatever ended the review.
		if err := t.service.Store.SettleTokens(context.WithoutCancel(ctx), id, use.Total()); err != nil && !errors.Is(err, ports.ErrNotFound) {
			t.service.Log.Error().Str("target", ask.Target.Key()).Err(err).Msg("what a model took can't be noted: what it may have taken counts")
		}
	}, nil
}
