package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/app/ports"
)

// A backup is made while deliveries come in. It has every delivery that came before it
// began. Of the later ones it has all parts, or none.
func TestBackupBesideWriters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	from, to := filepath.Join(dir, "reviewgate.db"), filepath.Join(dir, "odd name?#%41.db")
	s := openSQLite(t, from)
	accept := func(i int) {
		g := ports.Target{Kind: ports.TargetPull, Installation: 5, RepoID: 1, Owner: "acme", Name: "shop", Number: i, HeadSHA: fmt.Sprint("head", i)}
		mustAccept(t, s, push(fmt.Sprint("guid-", i), g))
	}
	const before = 200
	for i := range before {
		accept(i + 1)
	}
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	begun := make(chan bool)
	wg.Go(func() {
		for i := before; ctx.Err() == nil; i++ {
			accept(i + 1)
			if i == before+10 {
				close(begun)
			}
		}
	})
	<-begun
	b, err := store.MakeBackup(t.Context(), "sqlite://"+from, to)
	stop()
	wg.Wait()
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(to)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 || info.Size() != b.Bytes || b.Version < 4 {
		t.Errorf("mode %o, %d bytes, %+v", info.Mode().Perm(), info.Size(), b)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*partial*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}

	restored := openSQLite(t, to)
	q, err := store.NewQueue(restored, nil, store.QueueOptions{})
	if err != nil {
		t.Fatal(err)
	}
	depth, err := q.Depth(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if depth.Available < before+10 {
		t.Errorf("%d jobs in the backup, want those of the %d deliveries before it at least", depth.Available, before+10)
	}
	for i := range depth.Available {
		key := ports.Target{Kind: ports.TargetPull, RepoID: 1, Number: i + 1}.Key()
		if st := state(t, restored, key); st.Wanted != 1 {
			t.Errorf("%s: %+v", key, st)
		}
		if a := mustAccept(t, restored, ports.Delivery{GUID: fmt.Sprint("guid-", i+1)}); !a.Duplicate {
			t.Errorf("delivery %d has a job and is not known", i+1)
		}
	}
	if _, err := restored.Target(t.Context(), ports.Target{Kind: ports.TargetPull, RepoID: 1, Number: depth.Available + 1}.Key()); !errors.Is(err, ports.ErrNotFound) {
		t.Errorf("a target without its job: %v", err)
	}
}

// A backup of a database that a crash left behind includes the -wal file.
func TestBackupOfWhatNobodyUses(t *testing.T) {
	dir := t.TempDir()
	from, crashed := filepath.Join(dir, "reviewgate.db"), filepath.Join(dir, "crashed.db")
	s := openSQLite(t, from)
	mustAccept(t, s, ports.Delivery{GUID: "in the -wal", Event: "ping"})
	for _, suffix := range []string{"", "-wal"} {
		text, err := os.ReadFile(from + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(crashed+suffix, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	to := filepath.Join(dir, "backup.db")
	if _, err := store.MakeBackup(t.Context(), "sqlite://"+crashed, to); err != nil {
		t.Fatal(err)
	}
	if a := mustAccept(t, openSQLite(t, to), ports.Delivery{GUID: "in the -wal", Event: "ping"}); !a.Duplicate {
		t.Error("what was in the -wal is not in the backup")
	}
}

func TestBackupSaysWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "good.db")
	if err := openAndClose(t, good); err != nil {
		t.Fatal(err)
	}
	write := func(name string, text []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	text, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	damaged := append([]byte(nil), text...)
	for i := len(damaged) / 4; i < len(damaged)*3/4; i++ { // some of these pages are in use
		damaged[i] = 0xa5
	}
	foreign := filepath.Join(dir, "foreign.db")
	other, err := sql.Open("sqlite", "file:"+foreign)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Exec(`CREATE TABLE t (a)`); err != nil {
		t.Fatal(err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	taken := write("taken.db", []byte("mine"))
	to := filepath.Join(dir, "new.db")
	for name, tt := range map[string]struct {
		url, to string
		refused bool
		want    string
	}{
		"taken":        {"sqlite://" + good, taken, true, "is there already"},
		"no directory": {"sqlite://" + good, filepath.Join(dir, "none", "x.db"), true, "is not a directory"},
		"no database":  {"sqlite://" + filepath.Join(dir, "none.db"), to, true, "there is no database"},
		"PostgreSQL":   {"postgres://u:hunter2@h/d", to, true, "pg_dump"},
		"no file":      {"sqlite://" + dir, to, true, "not a regular file"},
		"damaged":      {"sqlite://" + write("damaged.db", damaged), to, false, "damaged"},
		"text":         {"sqlite://" + write("text.db", []byte(strings.Repeat("no database\n", 500))), to, false, "not a SQLite database"},
		"another's":    {"sqlite://" + foreign, to, false, "is this a database of reviewgate?"},
	} {
		_, err := store.MakeBackup(t.Context(), tt.url, tt.to)
		var refused *store.RefusedError
		if err == nil || !strings.Contains(err.Error(), tt.want) || errors.As(err, &refused) != tt.refused || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v; want %q, refused %v", name, err, tt.want, tt.refused)
		}
	}
	if text, err := os.ReadFile(taken); err != nil || string(text) != "mine" {
		t.Errorf("the file that was there: %q, %v", text, err)
	}
	if _, err := os.Stat(to); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a backup that failed is there: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*partial*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := store.MakeBackup(ended, "sqlite://"+good, to); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// A backup that replaces a database must not be opened with the -wal file of that
// database: SQLite would apply it to the backup.
func TestBackupIsNotOpenedWithAnothersWAL(t *testing.T) {
	dir := t.TempDir()
	from, to, place := filepath.Join(dir, "reviewgate.db"), filepath.Join(dir, "backup.db"), filepath.Join(dir, "place.db")
	s := openSQLite(t, from)
	if _, err := store.MakeBackup(t.Context(), "sqlite://"+from, to); err != nil {
		t.Fatal(err)
	}
	mustAccept(t, s, ports.Delivery{GUID: "later", Event: "ping"})
	for file, as := range map[string]string{to: place, from + "-wal": place + "-wal"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(as, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, err := store.Open(t.Context(), "sqlite://"+place, store.Options{Log: zerolog.Nop()})
	if err == nil || !strings.Contains(err.Error(), "place.db-wal belongs to the earlier database: move") {
		t.Fatalf("opened: %v", err)
	}
	if err := os.Remove(place + "-wal"); err != nil {
		t.Fatal(err)
	}
	if err := openAndClose(t, place); err != nil {
		t.Error(err)
	}
}
