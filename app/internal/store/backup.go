package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// Backup describes a finished backup.
type Backup struct {
	Bytes   int64
	Version int64 // of the tables
	Reviews int64
}

// RefusedError says why no backup was started, and what to do instead.
type RefusedError struct{ why string }

func (e *RefusedError) Error() string { return e.why }

func refused(format string, args ...any) error { return &RefusedError{fmt.Sprintf(format, args...)} }

// MakeBackup copies one snapshot of the SQLite database that rawURL names to a new file.
// A server that uses the database can keep running. MakeBackup checks the whole copy
// before it gives it its name. It never replaces another file, and only the owner can
// read the copy. The copy is one file without the space of deleted rows, and opens like
// the database itself.
func MakeBackup(ctx context.Context, rawURL, to string) (Backup, error) {
	from, err := existing(rawURL)
	if err != nil {
		return Backup{}, err
	}
	if to, err = filepath.Abs(to); err != nil {
		return Backup{}, fmt.Errorf("find %s: %w", to, err)
	}
	if err := newFile(to); err != nil {
		return Backup{}, err
	}
	partial := to + ".partial-" + strings.ToLower(rand.Text()[:8])
	defer os.Remove(partial) // after a success the file has its final name
	if err := copyDatabase(ctx, from, partial); err != nil {
		return Backup{}, fmt.Errorf("back up %s: %w", from, err)
	}
	b, err := checkBackup(ctx, partial)
	if err != nil {
		return Backup{}, fmt.Errorf("check the backup of %s: %w", from, err)
	}
	if err := renameBackup(partial, to); err != nil {
		return Backup{}, fmt.Errorf("save the backup of %s: %w", from, err)
	}
	return b, nil
}

// existing returns the path of a SQLite database that is there.
func existing(rawURL string) (string, error) {
	path, ok := strings.CutPrefix(rawURL, "sqlite://")
	if !ok || path == "" {
		return "", refused("the database is not a SQLite file: back PostgreSQL up with pg_dump (docs/data.md says how)")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find database %s: %w", path, err)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", refused("there is no database %s: set REVIEWGATE_DATABASE_URL to the one that the server uses", path)
	case err != nil:
		return "", fmt.Errorf("check database %s: %w", path, err)
	case !info.Mode().IsRegular():
		return "", refused("database %s is not a regular file", path)
	}
	return path, nil
}

// newFile refuses a path that exists, or whose directory does not exist.
func newFile(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return refused("%s is there already: name a file that is not, or move that one away", path)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return refused("%s can't be written: %v", path, err)
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return refused("%s is not a directory: make it first", filepath.Dir(path))
	}
	return nil
}

// copyDatabase writes the copy. VACUUM INTO reads one snapshot while others may write.
// The file is created here first, so that it has the right mode.
func copyDatabase(ctx context.Context, from, to string) error {
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("create the file: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("create the file: %w", err)
	}
	db, err := sql.Open("sqlite", fileURL(from, "rw"))
	if err != nil {
		return fmt.Errorf("open it: %w", err)
	}
	db.SetMaxOpenConns(1)
	_, err = db.ExecContext(ctx, `VACUUM INTO ?`, to)
	if err = errors.Join(err, db.Close()); err != nil {
		return explain(from, err)
	}
	return nil
}

// fileURL returns the driver's name for a file that must exist.
func fileURL(path, mode string) string {
	q := url.Values{"mode": {mode}, "_pragma": {fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds())}}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + q.Encode()
}

// checkBackup reads the whole copy and checks its integrity.
func checkBackup(ctx context.Context, path string) (b Backup, err error) {
	db, err := sql.Open("sqlite", fileURL(path, "ro"))
	if err != nil {
		return b, fmt.Errorf("open it: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var result string
	if err := db.QueryRowContext(ctx, `SELECT group_concat(integrity_check, '; ') FROM (SELECT integrity_check FROM pragma_integrity_check)`).Scan(&result); err != nil {
		return b, fmt.Errorf("check its integrity: %w", err)
	}
	if result != "ok" {
		return b, fmt.Errorf("the backup is damaged, and the database may be damaged too: %s", result)
	}
	var dangling int
	if err := db.QueryRowContext(ctx, `SELECT count(*) FROM pragma_foreign_key_check`).Scan(&dangling); err != nil || dangling > 0 {
		return b, errors.Join(err, fmt.Errorf("%d rows refer to missing rows", dangling))
	}
	err = db.QueryRowContext(ctx, `SELECT (SELECT max(version_id) FROM goose_db_version WHERE is_applied), (SELECT count(*) FROM reviews)`).Scan(&b.Version, &b.Reviews)
	if err != nil {
		return b, fmt.Errorf("read the version of its tables (is this a database of reviewgate?): %w", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return b, fmt.Errorf("check its size: %w", err)
	}
	b.Bytes = info.Size()
	return b, nil
}

// renameBackup syncs the copy to disk and gives it its name, unless a file has the name
// by now.
func renameBackup(partial, to string) error {
	if err := syncFile(partial); err != nil {
		return err
	}
	err := os.Link(partial, to)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		// A file system without hard links.
		if err = newFile(to); err == nil {
			err = os.Rename(partial, to)
		}
	}
	if err != nil {
		return fmt.Errorf("rename it: %w", err)
	}
	return syncFile(filepath.Dir(to))
}

func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open to sync: %w", err)
	}
	return errors.Join(f.Sync(), f.Close())
}

// checkWAL refuses a -wal file that another database left: if a backup has replaced that
// database, SQLite would write the old -wal file's content into the backup. A backup
// never had a -wal file of its own, and its header shows that.
func checkWAL(path string) error {
	info, err := os.Stat(path + "-wal")
	if err != nil || info.Size() == 0 {
		return nil //nolint:nilerr // there is no -wal file; opening the database shows other errors
	}
	f, err := os.Open(path)
	if err != nil {
		return nil //nolint:nilerr // as above
	}
	defer f.Close()
	const versions, rollback = 18, 1 // offset of the file format in the header, and the format without a -wal file
	var header [versions + 2]byte
	if _, err := f.Read(header[:]); err != nil || header[versions] != rollback || header[versions+1] != rollback {
		return nil //nolint:nilerr // as above
	}
	return fmt.Errorf("database %s is a backup, but %s-wal belongs to the earlier database: move %s-wal and %s-shm away, then start again", path, path, path, path)
}
