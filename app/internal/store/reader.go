package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/reviewgate/reviewgate/app/ports"
)

// Reader reads a database and changes nothing. A server may be using the database.
type Reader struct {
	ports.KnownLayers
	ports.Archive
	ports.Learning
	ports.MemoryReader
	probations probations
	from       snapshots
	close      func() error
}

func newReader(db backend, close func() error) *Reader {
	c := &core{db: db}
	return &Reader{layers{c}, archive{c}, learned{c}, memory{c}, probations{c}, db, close}
}

// OpenReader opens a database to read. Its tables must have the version of this
// reviewgate. Close the reader when it is no longer needed.
func OpenReader(ctx context.Context, rawURL string) (*Reader, error) {
	if err := CheckTables(ctx, rawURL); err != nil {
		return nil, err
	}
	if path, ok := strings.CutPrefix(rawURL, "sqlite://"); ok {
		return readSQLite(path)
	}
	return readPostgres(ctx, rawURL)
}

// CheckTables returns an error unless the database has the tables of this reviewgate's
// version.
func CheckTables(ctx context.Context, rawURL string) error {
	i, err := Inspect(ctx, rawURL)
	switch {
	case err != nil:
		return err
	case i.Version == 0:
		if _, err := existing(rawURL); strings.HasPrefix(rawURL, "sqlite://") && err != nil {
			return fmt.Errorf("%w, or start the server once", err)
		}
		return errors.New("the database has no tables yet: start the server once, with the same REVIEWGATE_DATABASE_URL")
	case i.Version != i.Newest:
		return fmt.Errorf("the database's tables have version %d, but this reviewgate uses version %d: run the same version as the server", i.Version, i.Newest)
	}
	return nil
}

func readSQLite(path string) (*Reader, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find database %s: %w", path, err)
	}
	r, err := openStatements(readOnly(path))
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	return newReader(&sqliteDB{r: r}, r.Close), nil
}

func readPostgres(ctx context.Context, rawURL string) (*Reader, error) {
	cfg, err := postgresConfig(rawURL)
	if err != nil {
		return nil, fmt.Errorf("database URL: %w", err)
	}
	cfg.MinConns, cfg.MaxConns = 0, 1
	db := &postgresDB{}
	if db.pool, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
		return nil, fmt.Errorf("create the connection pool: %w", err)
	}
	return newReader(db, db.close), nil
}

// Close closes the database.
func (r *Reader) Close() error { return r.close() }
