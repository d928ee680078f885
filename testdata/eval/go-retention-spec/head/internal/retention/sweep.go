package retention

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"time"
)

// keep is how long a message stays once it was read.
const keep = 90 * 24 * time.Hour

const batch = 1000

const deleteBatch = `
DELETE FROM messages WHERE id IN (
	SELECT id FROM messages
	WHERE read_at < $1
	ORDER BY read_at
	LIMIT $2
)`

// Sweeper deletes old messages.
type Sweeper struct {
	DB  *sql.DB
	Now func() time.Time
}

// Sweep deletes until nothing is left to delete, and returns how many went.
func (s *Sweeper) Sweep(ctx context.Context) (int64, error) {
	before := s.Now().Add(-keep)
	var total int64
	for {
		result, err := s.DB.ExecContext(ctx, deleteBatch, before, batch)
		if err != nil {
			return total, fmt.Errorf("delete messages read before %s: %w", before.Format(time.RFC3339), err)
		}
		n, err := result.RowsAffected()
		if err != nil {
			return total, fmt.Errorf("count the deleted messages: %w", err)
		}
		total += n
		if n < batch {
			slog.InfoContext(ctx, "messages deleted", "count", total)
			return total, nil
		}
	}
}
