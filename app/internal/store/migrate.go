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

//go:embed migrations
var migrations embed.FS

// tables are our own tables on one kind of database. River brings its own.
type tables struct {
	dialect goose.Dialect
	dir     string
}

var (
	sqliteTables   = tables{goose.DialectSQLite3, "migrations/sqlite"}
	postgresTables = tables{goose.DialectPostgres, "migrations/postgres"}
)

// migrateOurs brings our own tables up to date.
func migrateOurs(ctx context.Context, t tables, db *sql.DB, log *slog.Logger) error {
	files, err := fs.Sub(migrations, t.dir)
	if err != nil {
		return fmt.Errorf("read the migrations: %w", err)
	}
	p, err := goose.NewProvider(t.dialect, db, files, goose.WithSlog(log), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return fmt.Errorf("prepare the tables: %w", err)
	}
	have, err := p.GetDBVersion(ctx)
	if err != nil {
		return fmt.Errorf("read the version of the tables: %w", err)
	}
	sources := p.ListSources()
	if newest := sources[len(sources)-1].Version; have > newest {
		return fmt.Errorf("the tables have version %d, and this reviewgate supports versions up to %d: run the newer reviewgate that wrote them, or restore the backup from before that", have, newest)
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate the tables: %w", err)
	}
	return nil
}
