package store

import (
	"context"
	"fmt"

	"github.com/reviewgate/reviewgate/app/review"
)

// Unanswered implements review.Store.
func (s *Store) Unanswered(ctx context.Context, installation int64) ([]review.Target, error) {
	var all []review.Target
	err := s.db.read(ctx, func(t tx) error {
		return t.each(ctx, func(row scanner) error {
			var g review.Target
			if err := row.Scan(targetDest(&g)...); err != nil {
				return err
			}
			all = append(all, g)
			return nil
		}, `SELECT `+targetColumns+` FROM targets
			WHERE installation = ? AND closed = 0 AND wanted = done AND gave_up = 1 AND result <> '' ORDER BY key`, installation)
	})
	if err != nil {
		return nil, fmt.Errorf("list what installation %d was refused: %w", installation, err)
	}
	return all, nil
}
