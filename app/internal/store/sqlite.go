package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivertype"
	"modernc.org/sqlite"
	sqlitelib "modernc.org/sqlite/lib"

	"github.com/reviewgate/reviewgate/app/ports"
)

// sqliteDB is a backend on one SQLite file. Our writes and River's share one
// connection, so that they queue in the process instead of polling for the file's
// lock. Reads and checkpoints have their own connections and run at the same time (WAL).
type sqliteDB struct {
	path    string
	file    fs.FileInfo // as it was opened
	unlock  func() error
	w, r, c *sql.DB // for writes, reads, checkpoints
	jobs    *riverJobs[*sql.Tx]
	wakeup  *wakeup
	group   *group

	writes        atomic.Int64 // transactions committed
	stop          context.CancelFunc
	checkpointing sync.WaitGroup
}

var _ backend = (*sqliteDB)(nil)

const (
	// busyTimeout is how long a statement waits for a lock that another
	// program, such as the sqlite3 shell, holds.
	busyTimeout = 5 * time.Second
	// readers bounds the connections that read.
	readers = 4
	// readerCache bounds the pages that a connection keeps for reading, in KB. SQLite's
	// default is 2 MB, which take twice as much memory. The system caches the file anyway.
	readerCache = 256
	// checkpointInterval is how long the writer must rest before a checkpoint copies
	// the -wal file into the database. By SQLite's default, the commit that makes the
	// file 4 MB long makes the checkpoint.
	checkpointInterval = time.Second
	// checkpointPages is the size of the -wal file, in pages of 4 kB, at which a
	// commit makes the checkpoint after all: 64 MB.
	checkpointPages = 16384
)

// openSQLite opens the file, creates it if necessary, and brings its tables up
// to date. Only the owner can read the file, -wal and -shm. If durable, each
// commit is synced to disk.
func openSQLite(ctx context.Context, path string, durable, beside bool, log *slog.Logger) (_ *sqliteDB, err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find database %s: %w", path, err)
	}
	if err := checkDirectory(path); err != nil {
		return nil, err
	}
	unlock := func() error { return nil }
	if !beside {
		if unlock, err = lockFile(path + ".lock"); err != nil {
			return nil, fmt.Errorf("lock database %s: %w", path, err)
		}
	}
	db := &sqliteDB{path: path, unlock: unlock, wakeup: newWakeup(), group: newGroup(), stop: func() {}}
	defer func() {
		if err != nil {
			err = errors.Join(explain(path, err), db.close())
		}
	}()
	if err := makePrivate(path); err != nil {
		return nil, err
	}
	if err := checkWAL(path); err != nil {
		return nil, err
	}
	if db.file, err = os.Stat(path); err != nil {
		return nil, fmt.Errorf("check the file: %w", err)
	}
	if db.w, err = openStatements(dsn(path, true, durable)); err != nil {
		return nil, fmt.Errorf("open for writing: %w", err)
	}
	db.w.SetMaxOpenConns(1)
	driver := &wakingDriver{Driver: riversqlite.New(db.w), db: db}
	if db.jobs, err = newRiverJobs(riverdriver.Driver[*sql.Tx](driver), log); err != nil {
		return nil, err
	}
	if !beside {
		if err := migrateOurs(ctx, sqliteTables, db.w, log); err != nil {
			return nil, err
		}
		if err := db.jobs.migrate(ctx, log); err != nil {
			return nil, err
		}
	}
	if db.r, err = openStatements(dsn(path, false, durable)); err != nil {
		return nil, fmt.Errorf("open for reading: %w", err)
	}
	db.r.SetMaxOpenConns(readers)
	db.r.SetMaxIdleConns(readers)
	if db.c, err = sql.Open("sqlite", dsn(path, true, durable)); err != nil {
		return nil, fmt.Errorf("open for checkpoints: %w", err)
	}
	if !beside {
		db.startCheckpoints(log)
	}
	db.group.start(db.commitGroup)
	return db, nil
}

// startCheckpoints starts a goroutine that makes checkpoints while the writer rests: a
// checkpoint syncs two files, and may make a commit at the same time take 10 ms longer.
func (d *sqliteDB) startCheckpoints(log *slog.Logger) {
	ctx, cancel := context.WithCancel(context.Background())
	d.stop = cancel
	d.checkpointing.Go(func() {
		tick := time.NewTicker(checkpointInterval)
		defer tick.Stop()
		var seen, copied int64
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			last := seen
			seen = d.writes.Load()
			if seen == copied || seen != last {
				continue // nothing to do, or not at rest
			}
			if _, err := d.c.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)"); err != nil && ctx.Err() == nil {
				log.Warn("checkpoint failed", slog.String("database", d.path), slog.String("error", err.Error()))
			}
			copied = seen
		}
	})
}

// dsn returns the driver's name for the file. If durable, each commit is synced to disk,
// so that acknowledged deliveries survive a power cut.
func dsn(path string, write, durable bool) string {
	q := url.Values{}
	q.Add("_pragma", fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()))
	q.Add("_pragma", "journal_mode(WAL)")
	q.Add("_pragma", "foreign_keys(1)")
	if write {
		level := "OFF"
		if durable {
			level = "FULL"
		}
		q.Add("_pragma", "synchronous("+level+")")
		q.Add("_pragma", fmt.Sprintf("wal_autocheckpoint(%d)", checkpointPages))
		q.Set("_txlock", "immediate")
	} else {
		q.Add("_pragma", "query_only(1)")
		q.Add("_pragma", fmt.Sprintf("cache_size(-%d)", readerCache))
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + q.Encode()
}

// checkDirectory explains what is wrong with the file's path. SQLite would only say
// "unable to open database file".
func checkDirectory(path string) error {
	dir := filepath.Dir(path)
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("database %s: the directory %s does not exist; create it, owned by the user that runs reviewgate", path, dir)
	case err != nil:
		return fmt.Errorf("check the database's directory: %w", err)
	case !info.IsDir():
		return fmt.Errorf("database %s: %s is not a directory", path, dir)
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("database %s is not a regular file; name a file, such as %s", path, filepath.Join(path, "reviewgate.db"))
	}
	return nil
}

// makePrivate creates the file if necessary, and lets only its owner read and
// write it. SQLite gives -wal and -shm the same mode as the file.
func makePrivate(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("open: %w; the user that runs reviewgate needs read and write permission", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("create: %w", err)
	}
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		if err := os.Chmod(name, 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("make the file private: %w", err)
		}
	}
	return nil
}

// explain adds the path to an error, and a remedy to SQLite's more common ones.
func explain(path string, err error) error {
	remedy := ""
	var e *sqlite.Error
	if errors.As(err, &e) {
		switch e.Code() & 0xff { // the low byte is the primary code
		case sqlitelib.SQLITE_NOTADB:
			remedy = "it is not a SQLite database; name another file, or move this one away"
		case sqlitelib.SQLITE_CORRUPT:
			remedy = "it is damaged; restore it from a backup, or move it away to start afresh"
		case sqlitelib.SQLITE_BUSY, sqlitelib.SQLITE_LOCKED:
			remedy = "another program holds a lock on it; close that program"
		case sqlitelib.SQLITE_READONLY, sqlitelib.SQLITE_CANTOPEN, sqlitelib.SQLITE_PERM:
			remedy = "the user that runs reviewgate must be able to write to it and its directory"
		case sqlitelib.SQLITE_FULL:
			remedy = "the disk is full"
		}
	}
	if remedy == "" {
		return fmt.Errorf("open database %s: %w", path, err)
	}
	return fmt.Errorf("open database %s: %s: %w", path, remedy, err)
}

func (d *sqliteDB) read(ctx context.Context, f func(tx) error) error {
	sqltx, err := d.r.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return fmt.Errorf("begin to read: %w", err)
	}
	defer sqltx.Rollback() // nothing was written
	return f(&sqliteTx{tx: sqltx})
}

func (d *sqliteDB) write(ctx context.Context, f func(tx) error) error {
	return d.group.write(ctx, d.group.rest, f)
}

func (d *sqliteDB) writeFirst(ctx context.Context, f func(tx) error) error {
	return d.group.write(ctx, d.group.first, f)
}

func (d *sqliteDB) runner(cfg *river.Config) (runner, error) {
	c, err := river.NewClient(d.jobs.driver, cfg)
	if err != nil {
		return nil, fmt.Errorf("create the queue's client: %w", err)
	}
	return c, nil
}

// there returns an error if the file was deleted or replaced: SQLite would keep
// writing to the file that it opened.
func (d *sqliteDB) there() error {
	now, err := os.Stat(d.path)
	if err == nil && !os.SameFile(now, d.file) {
		err = errors.New("the path now names another file")
	}
	return wrap(err, "database %s was deleted or replaced while it was open; new data will be lost", d.path)
}

// lone is true: the lock on the file keeps other processes out.
func (d *sqliteDB) lone() bool { return true }

func (d *sqliteDB) now() time.Time { return time.Now() }

// bury does nothing: there are no other processes.
func (d *sqliteDB) bury(context.Context) (int, error) { return 0, nil }

func (d *sqliteDB) close() error {
	d.group.stop()
	d.stop()
	d.checkpointing.Wait()
	var errs []error
	for _, db := range []*sql.DB{d.r, d.c, d.w} { // the writer last: it folds -wal into the file
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	errs = append(errs, d.unlock())
	return errors.Join(errs...)
}

func (t *sqliteTx) context(ctx context.Context) context.Context {
	if t.whole {
		return context.WithoutCancel(ctx)
	}
	return ctx
}

func (t *sqliteTx) exec(ctx context.Context, query string, args ...any) (int64, error) {
	ctx = t.context(ctx)
	res, err := t.tx.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

func (t *sqliteTx) row(ctx context.Context, query string, args ...any) scanner {
	ctx = t.context(ctx)
	return t.tx.QueryRowContext(ctx, query, args...)
}

func (t *sqliteTx) each(ctx context.Context, f func(scanner) error, query string, args ...any) error {
	ctx = t.context(ctx)
	rows, err := t.tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close() // Err returns the same error
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// lock is empty: SQLite has one writer at a time.
func (t *sqliteTx) lock() string { return "" }

func (t *sqliteTx) lockFree() string { return "" }

// alone does nothing: SQLite has one writer at a time.
func (t *sqliteTx) alone(context.Context, string) error { return nil }

func (t *sqliteTx) insertJob(ctx context.Context, j ports.Job) (rivertype.JobState, error) {
	alive, err := t.jobs.insert(t.context(ctx), t.tx, j)
	if err == nil && alive == "" {
		t.inserted[queueOf(j.Kind)] = true
	}
	return alive, err
}

func (t *sqliteTx) adoptJobs(ctx context.Context) (int, error) {
	n, err := t.jobs.adopt(t.context(ctx), t.tx, "")
	if n > 0 {
		for _, q := range queues {
			t.inserted[q] = true
		}
	}
	return n, err
}
