package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/internal/store"
)

// reused holds databases with open stores, which tests use one after another. A test gets
// an empty one. It would take ten times as long as most tests do to create a database for
// each test and connect to it.
type reused struct {
	url    func(testing.TB) string // of a database with tables
	stores int                     // on each database; each stands for a process
	// connect opens another connection to the database, and returns the statement that
	// empties it.
	connect func(url string) (db *sql.DB, empty string, err error)

	mu        sync.Mutex
	all, free []*usedDatabase
	dirs      []string
}

var (
	onSQLite     = reused{url: preparedSQLite, stores: 1, connect: connectSQLite}
	onPostgreSQL = reused{url: preparedURL, stores: 2, connect: connectPostgreSQL}
)

type usedDatabase struct {
	db     *sql.DB
	empty  string
	log    testLog
	stores []*store.Store
}

// take reserves a database until the test ends, and returns its stores.
func (r *reused) take(t *testing.T) []*store.Store {
	t.Helper()
	d := r.unused()
	if d == nil {
		var err error
		if d, err = r.create(t); err != nil {
			t.Fatal(err)
		}
	}
	d.log.set(t)
	t.Cleanup(func() {
		d.log.set(nil)
		if t.Failed() {
			return // something may still be using it, so no other test gets it
		}
		if _, err := d.db.Exec(d.empty); err != nil {
			t.Errorf("empty the database: %v", err)
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.free = append(r.free, d)
	})
	return d.stores
}

func (r *reused) unused() *usedDatabase {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(r.free)
	if n == 0 {
		return nil
	}
	d := r.free[n-1]
	r.free = r.free[:n-1]
	return d
}

func (r *reused) create(t *testing.T) (*usedDatabase, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	dir, err := os.MkdirTemp("", "reviewgate-store-")
	if err != nil {
		return nil, err
	}
	r.dirs = append(r.dirs, dir)
	d := &usedDatabase{}
	r.all = append(r.all, d)
	url := r.url(lasting{t, dir})
	if d.db, d.empty, err = r.connect(url); err != nil {
		return nil, err
	}
	for len(d.stores) < r.stores {
		s, err := store.Open(context.Background(), url, store.Options{Log: zerolog.New(&d.log).Level(zerolog.WarnLevel), Unsynced: true})
		if err != nil {
			return nil, err
		}
		d.stores = append(d.stores, s)
	}
	return d, nil
}

// close closes all databases. No test may be running.
func (r *reused) close() error {
	var errs []error
	for _, d := range r.all {
		for _, s := range d.stores {
			errs = append(errs, s.Close())
		}
		if d.db != nil {
			errs = append(errs, d.db.Close())
		}
	}
	for _, dir := range r.dirs {
		errs = append(errs, os.RemoveAll(dir))
	}
	return errors.Join(errs...)
}

// lasting is a test without cleanup, because a database is used after the first test that
// used it has ended.
type lasting struct {
	testing.TB
	dir string
}

func (lasting) Cleanup(func())    {}
func (l lasting) TempDir() string { return l.dir }

func connectSQLite(url string) (*sql.DB, string, error) {
	db, err := sql.Open("sqlite", "file:"+strings.TrimPrefix(url, "sqlite://")+"?_pragma=busy_timeout(5000)&_pragma=synchronous(OFF)&_txlock=immediate")
	if err != nil {
		return nil, "", err
	}
	deletes, err := deletes(db, `SELECT name FROM sqlite_master WHERE type = 'table'`)
	return db, "BEGIN;" + deletes + "DELETE FROM sqlite_sequence; COMMIT", err
}

func connectPostgreSQL(url string) (*sql.DB, string, error) {
	db, err := sql.Open("pgx", url)
	if err != nil {
		return nil, "", err
	}
	deletes, err := deletes(db, `SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`)
	return db, `DO $$ BEGIN
		SET LOCAL session_replication_role = replica; -- whatever refers to what
		PERFORM setval(oid::regclass, 1, false) FROM pg_class WHERE relkind = 'S';
		` + deletes + `
	END $$`, err
}

// deletes returns statements that empty the database again. They delete the rows of all
// tables that are empty now, except the table of running processes.
func deletes(db *sql.DB, query string) (string, error) {
	rows, err := db.Query(query)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	var tables []string
	for rows.Next() {
		var table string
		if err := rows.Scan(&table); err != nil {
			return "", err
		}
		tables = append(tables, table)
	}
	if err := rows.Err(); err != nil {
		return "", err
	}
	var all strings.Builder
	for _, table := range tables {
		var filled bool
		if err := db.QueryRow(fmt.Sprintf(`SELECT EXISTS (SELECT 1 FROM %q)`, table)).Scan(&filled); err != nil {
			return "", err
		}
		if !filled && table != "processes" {
			fmt.Fprintf(&all, "DELETE FROM %q; ", table)
		}
	}
	return all.String(), nil
}

// testLog writes to the log of the test that uses the database now.
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
