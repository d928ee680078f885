package orders

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// ErrTooMany says that a customer has more orders than are listed.
var ErrTooMany = errors.New("the customer has more orders than are listed")

const maxExported = 500

// Exported is an order as support sees it.
type Exported struct {
	Number   string
	PlacedAt time.Time
	Cents    int64
}

// Store reads orders.
type Store struct{ db *sql.DB }

// Export lists a customer's orders, the newest first.
func (s *Store) Export(ctx context.Context, customer int64) ([]Exported, error) {
	rows, err := s.db.QueryContext(ctx,
		`SELECT number, placed_at, total_cents FROM orders WHERE customer_id = $1 ORDER BY placed_at DESC`, customer)
	if err != nil {
		return nil, fmt.Errorf("list the orders of customer %d: %w", customer, err)
	}
	var out []Exported
	for rows.Next() {
		if len(out) == maxExported {
			return out, ErrTooMany
		}
		var o Exported
		if err := rows.Scan(&o.Number, &o.PlacedAt, &o.Cents); err != nil {
			rows.Close()
			return nil, fmt.Errorf("read an order: %w", err)
		}
		out = append(out, o)
	}
	return out, rows.Err()
}
