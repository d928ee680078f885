package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/internal/store"
)

// reused are stores on PostgreSQL databases of their own that tests use one after
// another. Whoever takes one finds it empty. To create a database for each test, and
// to connect to it, would take ten times as long as most tests do.
type reused struct {
	owner *testing.T // the test whose subtests use them

	mu   sync.Mutex
	free []*reusedStore
}

type reusedStore struct {
	*store.Store
	log   *testLog
	conn  *pgx.Conn
	empty string // statements that empty it
}

func newReused(owner *testing.T) *reused { return &reused{owner: owner} }

// open takes a store for a test, and takes it back when that ends.
func (r *reused) open(t *testing.T) *store.Store {
	t.Helper()
	s := r.take()
	if s == nil {
		var err error
		if s, err = openReused(preparedURL(r.owner)); err != nil {
			t.Fatal(err)
		}
		r.owner.Cleanup(func() { // before the database is dropped
			if err := errors.Join(s.Close(), s.conn.Close(context.Background())); err != nil {
				r.owner.Error(err)
			}
		})
	}
	s.log.set(t)
	t.Cleanup(func() {
		s.log.set(nil)
		if t.Failed() {
			return // whatever it left at work is nobody else's
		}
		if _, err := s.conn.Exec(context.Background(), s.empty); err != nil {
			t.Errorf("empty the database: %v", err)
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.free = append(r.free, s)
	})
	return s.Store
}

func (r *reused) take() *reusedStore {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(r.free)
	if n == 0 {
		return nil
	}
	s := r.free[n-1]
	r.free = r.free[:n-1]
	return s
}

func openReused(url string) (*reusedStore, error) {
	ctx := context.Background()
	s := &reusedStore{log: &testLog{}}
	var err error
	if s.conn, err = pgx.Connect(ctx, url); err != nil {
		return nil, err
	}
	if s.empty, err = emptying(ctx, s.conn); err != nil {
		return nil, errors.Join(err, s.conn.Close(ctx))
	}
	s.Store, err = store.Open(ctx, url, store.Options{Log: zerolog.New(s.log).Level(zerolog.WarnLevel)})
	if err != nil {
		return nil, errors.Join(err, s.conn.Close(ctx))
	}
	return s, nil
}

// emptying are the statements that make a database what it is now: they delete all
// rows of the tables that have none, but of the one of processes at work, and have
// numbers begin anew.
func emptying(ctx context.Context, conn *pgx.Conn) (string, error) {
	rows, err := conn.Query(ctx, `SELECT quote_ident(relname) FROM pg_class
		WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> 'processes'`)
	if err != nil {
		return "", err
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return "", err
	}
	all := []string{
		"SET session_replication_role = replica", // in any order, whatever refers to what
		`SELECT setval(oid::regclass, 1, false) FROM pg_class WHERE relkind = 'S'`,
	}
	for _, table := range tables {
		var rows bool
		if err := conn.QueryRow(ctx, fmt.Sprintf("SELECT EXISTS (SELECT FROM %s)", table)).Scan(&rows); err != nil {
			return "", err
		}
		if !rows {
			all = append(all, "DELETE FROM "+table)
		}
	}
	return strings.Join(all, ";\n"), nil
}

// testLog writes to the log of the test that uses a store at the moment.
type testLog struct {
	mu sync.Mutex
	t  *testing.T
}

func (l *testLog) set(t *testing.T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.t = t
}

func (l *testLog) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.t != nil {
		l.t.Logf("%s", line)
	}
	return len(line), nil
}
