package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Inspection is the result of Inspect.
type Inspection struct {
	// Version is the version of our tables, 0 if there are none yet. Newest is the
	// version that this reviewgate migrates them to.
	Version, Newest int64
}

// Inspect reads the version of a database's tables and changes nothing. A server may be
// using the database. It is no error if the database has no tables, or if a SQLite file
// does not exist yet but its directory does.
func Inspect(ctx context.Context, rawURL string) (Inspection, error) {
	scheme, path, _ := strings.Cut(rawURL, "://")
	dir := postgresTables.dir
	look := inspectPostgres
	if scheme == "sqlite" {
		dir, look, rawURL = sqliteTables.dir, inspectSQLite, path
	}
	newest, err := newestVersion(dir)
	if err != nil {
		return Inspection{}, err
	}
	version, err := look(ctx, rawURL)
	return Inspection{Version: version, Newest: newest}, err
}

// newestVersion returns the version of the last migration.
func newestVersion(dir string) (int64, error) {
	files, err := fs.Glob(migrations, dir+"/*.sql")
	if err != nil {
		return 0, fmt.Errorf("list the migrations: %w", err)
	}
	var newest int64
	for _, f := range files {
		var n int64
		if _, err := fmt.Sscanf(filepath.Base(f), "%d_", &n); err != nil {
			return 0, fmt.Errorf("read the number of migration %s: %w", f, err)
		}
		newest = max(newest, n)
	}
	return newest, nil
}

// versionQuery reads the version from goose's table.
const versionQuery = `SELECT coalesce(max(version_id), 0) FROM goose_db_version`

func inspectSQLite(ctx context.Context, path string) (int64, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return 0, fmt.Errorf("find database %s: %w", path, err)
	}
	if err := checkDirectory(path); err != nil {
		return 0, err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	db, err := sql.Open("sqlite", readOnly(path))
	if err != nil {
		return 0, fmt.Errorf("open database %s: %w", path, err)
	}
	defer db.Close()
	var version int64
	err = db.QueryRowContext(ctx, versionQuery).Scan(&version)
	if err != nil && strings.Contains(err.Error(), "no such table") {
		return 0, nil
	}
	if err != nil {
		return 0, explain(path, err)
	}
	return version, nil
}

// readOnly returns the driver's name for an existing file that is only read.
func readOnly(path string) string {
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?mode=ro&_pragma=query_only(1)&_pragma=busy_timeout(5000)"
}

func inspectPostgres(ctx context.Context, rawURL string) (int64, error) {
	cfg, err := postgresConfig(rawURL)
	if err != nil {
		return 0, fmt.Errorf("database URL: %w", err)
	}
	conn, err := pgx.ConnectConfig(ctx, cfg.ConnConfig)
	if err != nil {
		return 0, explainPostgres(cfg.ConnConfig, err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // only read
	var version int64
	err = conn.QueryRow(ctx, versionQuery).Scan(&version)
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == "42P01" { // no such table
		return 0, nil
	}
	if err != nil {
		return 0, explainPostgres(cfg.ConnConfig, err)
	}
	return version, nil
}
