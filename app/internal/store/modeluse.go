package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/reviewgate/reviewgate/app/ports"
)

// TakeTokens implements ports.Store.
func (s tokens) TakeTokens(ctx context.Context, ask ports.TokenAsk) (id int64, over ports.TokenBudget, err error) {
	err = s.db.write(ctx, func(t tx) error {
		id, over = 0, ""
		key := ask.Target.Key()
		// The lock keeps the target from being deleted before the row is written.
		var locked string
		switch err := t.row(ctx, `SELECT key FROM targets WHERE key = ?`+t.lock(), key).Scan(&locked); {
		case errors.Is(err, sql.ErrNoRows):
			return fmt.Errorf("target %s: %w", key, ports.ErrNotFound)
		case err != nil:
			return fmt.Errorf("lock the target: %w", err)
		}
		// Agents ask at the same time, in all reviews of a repository and in all
		// processes. Each must see the tokens that the others took.
		if err := t.alone(ctx, fmt.Sprint("model_use ", ask.Target.RepoID)); err != nil {
			return err
		}
		var pull, day int64
		if err := t.row(ctx, `SELECT coalesce(sum(tokens), 0) FROM model_use WHERE target_key = ?`, key).Scan(&pull); err != nil {
			return fmt.Errorf("sum the tokens of a pull request: %w", err)
		}
		err := t.row(ctx, `SELECT coalesce(sum(tokens), 0) FROM model_use WHERE repo_id = ? AND at > ?`, ask.Target.RepoID, micros(s.Now().Add(-ports.TokenDay))).Scan(&day)
		if err != nil {
			return fmt.Errorf("sum the tokens of a repository: %w", err)
		}
		switch want := int64(ask.Tokens); {
		case pull+want > int64(ask.PerPull):
			over = ports.BudgetPull
			return nil
		case day+want > int64(ask.PerRepositoryDay):
			over = ports.BudgetRepository
			return nil
		}
		err = t.row(ctx, `INSERT INTO model_use (repo_id, target_key, agent, model, tokens, at) VALUES (?, ?, ?, ?, ?, ?) RETURNING id`,
			ask.Target.RepoID, key, ask.Agent, ask.Model, ask.Tokens, micros(s.Now())).Scan(&id)
		if err != nil {
			return fmt.Errorf("reserve tokens for a question: %w", err)
		}
		return nil
	})
	return id, over, err
}

// SettleTokens implements ports.Store.
func (s tokens) SettleTokens(ctx context.Context, id int64, tokens int) error {
	return s.db.write(ctx, func(t tx) error {
		if _, err := t.exec(ctx, `UPDATE model_use SET tokens = ? WHERE id = ?`, tokens, id); err != nil {
			return fmt.Errorf("record the tokens of an answer: %w", err)
		}
		return nil
	})
}
