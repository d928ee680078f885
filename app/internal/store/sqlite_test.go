package store_test

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/app/internal/store/sqlitetest"
	"github.com/reviewgate/reviewgate/app/internal/store/storetest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

func TestMain(m *testing.M) {
	if url := os.Getenv(childEnv); url != "" {
		child(url)
	}
	sample.Parallel(8)
	if !benchmarking() {
		debug.SetGCPercent(400)
	}
	goleak.VerifyTestMain(closing{m})
}

// closing closes the databases that tests reuse.
type closing struct{ *testing.M }

func (m closing) Run() int {
	code := m.M.Run()
	if err := errors.Join(onSQLite.close(), onPostgreSQL.close()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	return code
}

// benchmarking reports whether benchmarks run. Their figures depend on syncs to disk.
func benchmarking() bool { return flag.Lookup("test.bench").Value.String() != "" }

func openStore(t testing.TB, url string) *store.Store {
	t.Helper()
	s, err := store.Open(context.Background(), url, store.Options{Log: zerolog.New(zerolog.NewTestWriter(t)).Level(zerolog.WarnLevel), Unsynced: !benchmarking()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func openSQLite(t testing.TB, path string) *store.Store {
	t.Helper()
	return openStore(t, "sqlite://"+path)
}

func TestSQLite(t *testing.T) {
	t.Parallel()
	storetest.Run(t, true, func(t *testing.T) *store.Store { return onSQLite.take(t)[0] })
}

// preparedSQLite returns the URL of a new file that has the tables already.
func preparedSQLite(t testing.TB) string {
	t.Helper()
	return sqlitetest.CopyURL(t, store.Prepare)
}

// A server is not ready if its file was deleted or replaced, because everything that it
// stored would be lost.
func TestSQLiteFileIsReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "reviewgate.db")
	q, err := store.NewQueue(openSQLite(t, path), nil, store.QueueOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := q.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	if err := q.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "deleted or replaced") {
		t.Errorf("the file is gone: %v", err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := q.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "another file") {
		t.Errorf("the file is another: %v", err)
	}
}

func TestSQLiteFileIsPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "odd name?#%41.db")
	for _, existing := range []string{"", path} { // a new file, then one that others may read
		if existing != "" {
			if err := os.Chmod(existing, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		s, err := store.Open(t.Context(), "sqlite://"+path, store.Options{Log: zerolog.Nop()})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Accept(t.Context(), ports.Delivery{GUID: "g" + existing, Event: "ping"}); err != nil {
			t.Fatal(err)
		}
		names, err := os.ReadDir(filepath.Dir(path))
		if err != nil {
			t.Fatal(err)
		}
		if len(names) != 4 { // the database, -wal, -shm and .lock
			t.Errorf("%d files, want 4: %v", len(names), names)
		}
		for _, e := range names {
			info, err := e.Info()
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode().Perm() != 0o600 {
				t.Errorf("%s has mode %o, want 600", e.Name(), info.Mode().Perm())
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func openAndClose(t *testing.T, path string) error {
	s, err := store.Open(t.Context(), "sqlite://"+path, store.Options{Log: zerolog.Nop()})
	if err != nil {
		return err
	}
	return s.Close()
}

// Another program, such as the sqlite3 shell, may hold a lock for a moment. The store waits
// a while, and then names the cause.
func TestSQLiteLockedByAnotherProgram(t *testing.T) {
	t.Parallel() // the store waits for 5 s
	path := filepath.Join(t.TempDir(), "reviewgate.db")
	if err := openAndClose(t, path); err != nil {
		t.Fatal(err)
	}
	other, err := sql.Open("sqlite", "file:"+path+"?_txlock=exclusive&_pragma=locking_mode(EXCLUSIVE)")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	tx, err := other.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if err := openAndClose(t, path); err == nil || !strings.Contains(err.Error(), "another program holds a lock") {
		t.Errorf("error %v does not say that another program holds a lock", err)
	}
}

func TestSQLiteReopened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "reviewgate.db")
	for i := range 3 {
		s, err := store.Open(t.Context(), "sqlite://"+path, store.Options{Log: zerolog.Nop()})
		if err != nil {
			t.Fatalf("open %d: %v", i+1, err)
		}
		a, err := s.Accept(t.Context(), ports.Delivery{GUID: "same", Event: "ping"})
		if err != nil || a.Duplicate != (i > 0) {
			t.Errorf("open %d: %+v, %v", i+1, a, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Accept(t.Context(), ports.Delivery{GUID: "late"}); !errors.Is(err, store.ErrClosed) {
			t.Errorf("Accept after Close: %v, want ErrClosed", err)
		}
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	damaged := filepath.Join(dir, "damaged.db")
	if err := openAndClose(t, damaged); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(damaged)
	if err != nil {
		t.Fatal(err)
	}
	for i := 4096; i < len(data); i++ { // all but the first page
		data[i] = 0xa5
	}
	write("damaged.db", data, 0o600)
	inUse := filepath.Join(dir, "inuse.db")
	openSQLite(t, inUse)
	for _, tt := range []struct {
		name, url string
		want      []string
	}{
		{"no scheme", "reviewgate.db", []string{"write sqlite://FILE", "or postgres://"}},
		{"no file", "sqlite://", []string{"write sqlite://FILE"}},
		{"other scheme", "mysql://h/db", []string{`"mysql"`, "write sqlite://FILE"}},
		{"no directory", "sqlite://" + dir + "/none/x.db", []string{dir + "/none", "does not exist", "create it"}},
		{"directory is a file", "sqlite://" + write("file", nil, 0o600) + "/x.db", []string{"not a directory"}},
		{"is a directory", "sqlite://" + dir, []string{"not a regular file"}},
		{"not a database", "sqlite://" + write("text.db", []byte(strings.Repeat("not a database\n", 500)), 0o600), []string{"text.db", "not a SQLite database"}},
		{"damaged", "sqlite://" + damaged, []string{"damaged.db", "it is damaged", "backup"}},
		{"in use", "sqlite://" + inUse, []string{"inuse.db", "another reviewgate uses it"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := store.Open(t.Context(), tt.url, store.Options{Log: zerolog.Nop()})
			if err == nil {
				t.Fatal("opened")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
		})
	}
}
