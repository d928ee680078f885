package store

import (
	"context"
	"fmt"
	"time"

	"github.com/reviewgate/reviewgate/app/review"
)

// Died implements review.Store.
func (s *Store) Died(ctx context.Context, l review.Lease, next time.Time) error {
	return s.fenced(ctx, l, "note that a review ended its process", `
		UPDATE targets SET deaths = deaths + 1, next_try = ?, crashes = CASE WHEN crashes = 0 THEN 1 ELSE crashes END,
			quarantined_at = CASE WHEN quarantined_at = 0 THEN ? ELSE quarantined_at END
		WHERE key = ?`, micros(next), s.now(), l.Key)
}

// Rest implements review.Store.
func (s *Store) Rest(ctx context.Context, l review.Lease) error {
	return s.fenced(ctx, l, "let a quarantined review rest", `UPDATE targets SET deaths = 0, next_try = 0, quarantined_at = 0 WHERE key = ?`, l.Key)
}

func (s *Store) fenced(ctx context.Context, l review.Lease, what, query string, args ...any) error {
	return s.db.write(ctx, func(t tx) error {
		if err := fence(ctx, t, l); err != nil {
			return err
		}
		if err := must(t.exec(ctx, query, args...)); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		return nil
	})
}

// Quarantined lists the targets whose review ended its process and that are tried
// again later, the one that is tried first before the others.
func (s *Store) Quarantined(ctx context.Context) (all []review.TargetState, err error) {
	var keys []string
	err = s.db.read(ctx, func(t tx) error {
		keys, err = texts(ctx, t, `SELECT key FROM targets WHERE deaths > 0 AND closed = 0 ORDER BY next_try LIMIT 1000`)
		return err
	})
	for _, key := range keys {
		if err != nil {
			break
		}
		var st review.TargetState
		if st, err = s.Target(ctx, key); err == nil {
			all = append(all, st)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("list what is quarantined: %w", err)
	}
	return all, nil
}
