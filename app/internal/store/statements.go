package store

import (
	"context"
	"database/sql"
	"sync"
)

// statements keeps a SQLite database's statements prepared: to parse one takes
// about as long as to run it.
type statements struct {
	db *sql.DB
	mu sync.RWMutex
	m  map[string]*sql.Stmt
}

// maxStatements bounds what is kept. The store has about 80, and a few that
// depend on the number of their parameters.
const maxStatements = 200

func newStatements(db *sql.DB) *statements {
	return &statements{db: db, m: map[string]*sql.Stmt{}}
}

func (s *statements) get(query string) *sql.Stmt {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.m[query]
}

// add prepares queries. It needs a connection, so no transaction may hold the
// only one. A query that can't be prepared is parsed each time, and the error
// is seen there.
func (s *statements) add(ctx context.Context, queries []string) {
	for _, q := range queries {
		if s.get(q) != nil {
			continue
		}
		stmt, err := s.db.PrepareContext(ctx, q) //nolint:sqlclosecheck // the database closes what is kept
		if err != nil {
			return
		}
		s.mu.Lock()
		if s.m[q] == nil && len(s.m) < maxStatements {
			s.m[q], stmt = stmt, nil
		}
		s.mu.Unlock()
		if stmt != nil {
			stmt.Close()
		}
	}
}

// statement is what *sql.Stmt does.
type statement interface {
	ExecContext(ctx context.Context, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, args ...any) *sql.Row
}

// parsed is a statement that is parsed each time.
type parsed struct {
	tx    *sql.Tx
	query string
}

func (p parsed) ExecContext(ctx context.Context, args ...any) (sql.Result, error) {
	return p.tx.ExecContext(ctx, p.query, args...)
}

func (p parsed) QueryContext(ctx context.Context, args ...any) (*sql.Rows, error) {
	return p.tx.QueryContext(ctx, p.query, args...)
}

func (p parsed) QueryRowContext(ctx context.Context, args ...any) *sql.Row {
	return p.tx.QueryRowContext(ctx, p.query, args...)
}
