// Package sqlitetest makes SQLite databases for tests, as pgtest does on
// PostgreSQL.
package sqlitetest

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	_ "modernc.org/sqlite" // opens the files that LoadURL makes
)

// URL returns the URL of a SQLite file that does not exist yet.
func URL(t testing.TB) string {
	t.Helper()
	return "sqlite://" + filepath.Join(t.TempDir(), "reviewgate.db")
}

// LoadURL returns the URL of a database that a dump makes, as the sqlite3 shell writes
// it.
func LoadURL(t testing.TB, dump string) string {
	t.Helper()
	url := URL(t)
	db, err := sql.Open("sqlite", "file:"+strings.TrimPrefix(url, "sqlite://"))
	if err == nil {
		_, err = db.ExecContext(t.Context(), dump)
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		t.Fatalf("load a dump into a database: %v", err)
	}
	return url
}

// CopyURL returns the URL of a copy of the database that prepare makes at its
// first call in the test binary. prepare closes what it opens. Creating the
// tables anew takes a hundred times as long.
func CopyURL(t testing.TB, prepare func(url string) error) string {
	t.Helper()
	prepared.once.Do(func() { prepared.file, prepared.err = read(prepare) })
	if prepared.err != nil {
		t.Fatalf("prepare a database to copy: %v", prepared.err)
	}
	path := filepath.Join(t.TempDir(), "reviewgate.db")
	if err := os.WriteFile(path, prepared.file, 0o600); err != nil {
		t.Fatal(err)
	}
	return "sqlite://" + path
}

var prepared struct {
	once sync.Once
	file []byte
	err  error
}

// read returns the bytes of the database that prepare makes.
func read(prepare func(url string) error) ([]byte, error) {
	dir, err := os.MkdirTemp("", "reviewgate-sqlitetest-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "reviewgate.db")
	if err := prepare("sqlite://" + path); err != nil {
		return nil, err
	}
	if _, err := os.Stat(path + "-wal"); err == nil {
		return nil, fmt.Errorf("%s was left open: what is in its -wal file would be missing", path)
	}
	return os.ReadFile(path)
}
