package review

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/internal/trail"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// What a question took is counted and logged as soon as it is known: the review may
// yet come to nothing.
func TestUseIsToldAtOnce(t *testing.T) {
	var log bytes.Buffer
	var counted, recorded []pipeline.ModelUse
	s := &Service{Options: Options{Log: zerolog.New(&log), Observe: Observer{ModelUse: func(u pipeline.ModelUse) { counted = append(counted, u) }}}}
	o := &outside{service: s, target: ports.Target{Kind: ports.TargetPull, RepoID: 7, Number: 3}, trail: &trail.Trail{Kind: "review", Job: 12}}
	r := o.modelReview(run.IOAgent{
		Agent: config.Agent{ID: "sme"}, Config: &config.Config{}, Used: func(u pipeline.ModelUse) { recorded = append(recorded, u) },
	})
	use := pipeline.ModelUse{Agent: "sme", Model: "big", Asked: 1, Input: 100, Cached: 40, Output: 7, CostUSD: 0.25}
	r.Used(use)
	if diff := cmp.Diff([][]pipeline.ModelUse{{use}, {use}}, [][]pipeline.ModelUse{counted, recorded}); diff != "" {
		t.Error(diff)
	}
	var line map[string]any
	if err := json.Unmarshal(log.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"level": "info", "message": "model asked", "job": "review", "job_id": 12.0, "target": o.target.Key(), "agent": "sme", "model": "big",
		"asked": 1.0, "input": 100.0, "cached": 40.0, "output": 7.0, "cost_usd": 0.25,
	}
	if diff := cmp.Diff(want, line); diff != "" {
		t.Error(diff)
	}
}

// purse is a store of which a budget is asked.
type purse struct {
	ports.Tokens
	over ports.TokenBudget
	err  error
}

func (p purse) TakeTokens(context.Context, ports.TokenAsk) (int64, ports.TokenBudget, error) {
	return 1, p.over, p.err
}

// A budget that is used up skips, in words that name it; one that can't be read
// fails. Neither lets the question through.
func TestBudgetsAreNamed(t *testing.T) {
	for name, tt := range map[string]struct {
		p    purse
		skip string
	}{
		"pull request": {purse{over: ports.BudgetPull}, "over budget: this pull request's reviews have 10 tokens in all (model_budget.per_pull_request)"},
		"repository":   {purse{over: ports.BudgetRepository}, "over budget: the repository has 20 tokens a day (model_budget.per_repository_day)"},
		"no database":  {purse{err: errors.New("gone")}, ""},
	} {
		b := &tokens{service: &Service{Options: Options{Store: ports.Store{Tokens: tt.p}}}, ask: ports.TokenAsk{PerPull: 10, PerRepositoryDay: 20}}
		done, err := b.Take(t.Context(), "big", 5)
		if err == nil || done != nil {
			t.Errorf("%s: it was let through", name)
		}
		var skipped *dispatch.SkippedError
		if errors.As(err, &skipped) != (tt.skip != "") || skipped != nil && skipped.Why != tt.skip {
			t.Errorf("%s: %v", name, err)
		}
	}
}
