package billing

import (
	"context"
	"database/sql"
	"fmt"
)

// Store keeps invoices.
type Store struct{ db *sql.DB }

const (
	insertInvoice = `INSERT INTO invoices (number, customer_id, total_cents) VALUES ($1, $2, $3) RETURNING id`
	insertLine    = `INSERT INTO invoice_lines (invoice_id, position, text, cents) VALUES ($1, $2, $3, $4)`
)

// Save writes an invoice with its lines.
func (s *Store) Save(ctx context.Context, v Invoice) (int64, error) {
	var id int64
	if err := s.db.QueryRowContext(ctx, insertInvoice, v.Number, v.Customer, v.Cents).Scan(&id); err != nil {
		return 0, fmt.Errorf("save invoice %s: %w", v.Number, err)
	}
	for i, l := range v.Lines {
		if _, err := s.db.ExecContext(ctx, insertLine, id, i, l.Text, l.Cents); err != nil {
			return 0, fmt.Errorf("save line %d of invoice %s: %w", i, v.Number, err)
		}
	}
	return id, nil
}
