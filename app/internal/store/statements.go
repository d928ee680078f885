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
		stmt, err := s.db.PrepareContext(ctx, q)
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
