package agents

import (
	"context"
	"errors"
	"testing"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
)

// purse is a store with a budget.
type purse struct {
	ports.Tokens
	over ports.TokenBudget
	err  error
}

func (p purse) TakeTokens(context.Context, ports.TokenAsk) (int64, ports.TokenBudget, error) {
	return 1, p.over, p.err
}

// A budget that is used up skips the question and is named. A budget that can't be read
// fails. In neither case is the question asked.
func TestBudgetsAreNamed(t *testing.T) {
	for name, tt := range map[string]struct {
		p    purse
		skip string
	}{
		"pull request": {purse{over: ports.BudgetPull}, "over budget: this pull request's reviews have 10 tokens in all (model_budget.per_pull_request)"},
		"repository":   {purse{over: ports.BudgetRepository}, "over budget: the repository has 20 tokens a day (model_budget.per_repository_day)"},
		"no database":  {purse{err: errors.New("gone")}, ""},
	} {
		b := &tokens{store: tt.p, ask: ports.TokenAsk{PerPull: 10, PerRepositoryDay: 20}}
		done, err := b.Take(t.Context(), "big", 5)
		if err == nil || done != nil {
			t.Errorf("%s: the question was allowed", name)
		}
		var skipped *dispatch.SkippedError
		if errors.As(err, &skipped) != (tt.skip != "") || skipped != nil && skipped.Why != tt.skip {
			t.Errorf("%s: %v", name, err)
		}
	}
}
