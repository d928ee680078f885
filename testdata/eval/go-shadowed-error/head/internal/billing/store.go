package billing

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
)

// Store keeps invoices.
type Store struct{ db *sql.DB }

const (
	insertInvoice = `INSERT INTO invoices (number, customer_id, total_cents) VALUES ($1, $2, $3) RETURNING id`
	insertLine    = `INSERT INTO invoice_lines (invoice_id, position, text, cents) VALUES ($1, $2, $3, $4)`
)

// Save writes an invoice with its lines.
func (s *Store) Save(ctx context.Context, v Invoice) (id int64, err error) {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, fmt.Errorf("begin to save invoice %s: %w", v.Number, err)
	}
	defer func() {
		if err != nil { // roll back
			_ = tx.Rollback()
			return
		}
		err = tx.Commit()
	}()
	if err = tx.QueryRowContext(ctx, insertInvoice, v.Number, v.Customer, v.Cents).Scan(&id); err != nil {
		return 0, fmt.Errorf("save invoice %s: %w", v.Number, err)
	}
	for i, l := range v.Lines {
		if _, err := tx.ExecContext(ctx, insertLine, id, i, l.Text, l.Cents); err != nil {
			slog.ErrorContext(ctx, "invoice line not saved", "invoice", v.Number, "position", i, "error", err)
			break
		}
	}
	return id, err
}

// Delete removes an invoice with its lines, which go by the foreign key.
func (s *Store) Delete(ctx context.Context, id int64) error {
	if _, err := s.db.ExecContext(ctx, `DELETE FROM invoices WHERE id = $1`, id); err != nil {
		return fmt.Errorf("delete invoice %d: %w", id, err)
	}
	return nil
}
