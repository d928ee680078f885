package agents

import (
	"context"
	"errors"
	"fmt"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/agents/model"
	"github.com/reviewgate/reviewgate/app/llm"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
)

// tokens is one agent's budget for models, which the store keeps.
type tokens struct {
	store ports.Tokens
	log   zerolog.Logger
	ask   ports.TokenAsk
}

var _ model.Budget = (*tokens)(nil)

// Take implements model.Budget.
func (t *tokens) Take(ctx context.Context, name string, n int) (func(llm.Use), error) {
	ask := t.ask
	ask.Model, ask.Tokens = name, n
	id, over, err := t.store.TakeTokens(ctx, ask)
	switch {
	case err != nil:
		return nil, fmt.Errorf("take %d tokens from the budget: %w", n, err)
	case over == ports.BudgetPull:
		return nil, &dispatch.SkippedError{Why: fmt.Sprintf("over budget: this pull request's reviews have %d tokens in all (model_budget.per_pull_request)", ask.PerPull)}
	case over == ports.BudgetRepository:
		return nil, &dispatch.SkippedError{Why: fmt.Sprintf("over budget: the repository has %d tokens a day (model_budget.per_repository_day)", ask.PerRepositoryDay)}
	}
	return func(use llm.Use) {
		// The tokens were spent, even if ctx has ended.
		if err := t.store.SettleTokens(context.WithoutCancel(ctx), id, use.Total()); err != nil && !errors.Is(err, ports.ErrNotFound) {
			t.log.Error().Err(err).Msg("what a model took can't be noted: what it may have taken counts")
		}
	}, nil
}
