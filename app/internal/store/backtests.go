package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
)

// ChooseReviews implements ports.Backtests.
func (s backtests) ChooseReviews(ctx context.Context, about ports.Target, organisation bool, since time.Time, most int) (ports.ChosenReviews, error) {
	of, args := `t.repo_id = ? AND t.config_branch = coalesce((SELECT a.config_branch FROM targets a WHERE a.key = ?), '')`, []any{about.RepoID, about.Key()}
	if organisation {
		of, args = ofOwner(about)
	}
	return s.choose(ctx, of+` AND t.key <> ?`, append(args, about.Key()), since, most)
}

// ChooseAllReviews implements ports.Backtests.
func (s backtests) ChooseAllReviews(ctx context.Context, about ports.Target, organisation bool, since time.Time, most int) (ports.ChosenReviews, error) {
	of, args := `t.repo_id = ?`, []any{about.RepoID}
	if organisation {
		of, args = ofOwner(about)
	}
	return s.choose(ctx, of, args, since, most)
}

// ofOwner is the condition for targets t in all repositories that an owner has in an installation.
func ofOwner(about ports.Target) (of string, args []any) {
	return `t.installation = ? AND lower(t.owner) = ?`, []any{about.Installation, strings.ToLower(about.Owner)}
}

// choose chooses the newest reviews of the targets t that meet a condition.
func (s backtests) choose(ctx context.Context, of string, args []any, since time.Time, most int) (ports.ChosenReviews, error) {
	var c ports.ChosenReviews
	first := int64(0)
	err := s.db.read(ctx, func(t tx) error {
		return t.each(ctx, func(row scanner) error {
			var h ports.ChosenHead
			if err := row.Scan(&h.Key, &h.HeadSHA, &first, &c.Stored); err != nil {
				return err
			}
			c.Heads = append(c.Heads, h)
			return nil
		}, `WITH heads AS (
				SELECT r.target_key, r.head_sha, max(r.saved_at) AS at FROM reviews r JOIN targets t ON t.key = r.target_key
				WHERE `+of+` AND t.kind = ? AND r.saved_at >= ? GROUP BY r.target_key, r.head_sha)
			SELECT target_key, head_sha, at, (SELECT count(*) FROM heads) FROM heads ORDER BY at DESC, target_key, head_sha LIMIT ?`,
			append(args, string(ports.TargetPull), micros(since), most)...)
	})
	c.Since = fromMicros(first)
	return c, wrap(err, "choose reviews to compute")
}

// ConfigBacktest implements ports.Backtests.
func (s backtests) ConfigBacktest(ctx context.Context, key string) (*ports.ConfigBacktest, error) {
	var b ports.ConfigBacktest
	var result []byte
	var savedAt int64
	err := s.db.read(ctx, func(t tx) error {
		return t.row(ctx, `SELECT head_sha, proposal, result, saved_at FROM config_backtests WHERE target_key = ?`, key).Scan(&b.HeadSHA, &b.Proposal, &result, &savedAt)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the backtest of %s: %w", key, err)
	}
	if err := json.Unmarshal(result, &b.Result); err != nil {
		return nil, fmt.Errorf("decode the backtest of %s: %w: %w", key, ports.ErrUnreadable, err)
	}
	b.SavedAt = fromMicros(savedAt)
	return &b, nil
}

// SaveConfigBacktest implements ports.Backtests. addNotice locks the target, so that a target
// that is deleted meanwhile leaves nothing.
func (s backtests) SaveConfigBacktest(ctx context.Context, key string, b ports.ConfigBacktest, notice string) error {
	result, err := json.Marshal(b.Result)
	if err != nil {
		return fmt.Errorf("encode the backtest of %s: %w", key, err)
	}
	return s.db.write(ctx, func(t tx) error {
		if err := s.addNotice(ctx, t, key, notice); err != nil && !errors.Is(err, ports.ErrManyNotices) {
			return err // the notices that wait have the comment written, too
		}
		_, err := t.exec(ctx, `
			INSERT INTO config_backtests (target_key, head_sha, proposal, result, saved_at) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (target_key) DO UPDATE SET head_sha = excluded.head_sha, proposal = excluded.proposal, result = excluded.result, saved_at = excluded.saved_at`,
			key, b.HeadSHA, b.Proposal, string(result), s.now())
		return wrap(err, "save the backtest of %s", key)
	})
}
