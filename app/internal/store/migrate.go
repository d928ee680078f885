package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"log/slog"

	"github.com/pressly/goose/v3"
)

//go:embed migrations/sqlite/*.sql
var sqliteMigrations embed.FS

// migrateSQLite brings our own tables up to date. River brings its own.
func migrateSQLite(ctx context.Context, db *sql.DB, log *slog.Logger) error {
	files, err := fs.Sub(sqliteMigrations, "migrations/sqlite")
	if err != nil {
		return fmt.Errorf("read the migrations: %w", err)
	}
	return migrate(ctx, goose.DialectSQLite3, db, files, log)
}

func migrate(ctx context.Context, dialect goose.Dialect, db *sql.DB, files fs.FS, log *slog.Logger) error {
	p, err := goose.NewProvider(dialect, db, files, goose.WithSlog(log), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return fmt.Errorf("prepare the tables: %w", err)
	}
	have, err := p.GetDBVersion(ctx)
	if err != nil {
		return fmt.Errorf("read the version of the tables: %w", err)
	}
	sources := p.ListSources()
	if newest := sources[len(sources)-1].Version; have > newest {
		return fmt.Errorf("the tables are of version %d, and this reviewgate knows up to %d: run the newer reviewgate that wrote them, or restore the backup made before it ran", have, newest)
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("bring the tables up to date: %w", err)
	}
	return nil
}
