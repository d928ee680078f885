package store

import (
	"database/sql"
	"slices"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/reviewgate/reviewgate/app/internal/store/pgtest"
	"github.com/reviewgate/reviewgate/app/internal/store/sqlitetest"
)

// Each table is in a list that says when its rows are deleted, so that nothing remains of a
// repository that is forgotten.
func TestTablesAreKnown(t *testing.T) {
	t.Run("SQLite", func(t *testing.T) {
		url := sqlitetest.CopyURL(t, Prepare)
		checkTables(t, "sqlite", strings.TrimPrefix(url, "sqlite://"), `SELECT m.name, p.name FROM sqlite_master m JOIN pragma_table_info(m.name) p WHERE m.type = 'table'`)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		url := pgtest.CopyURL(t, Prepare)
		checkTables(t, "pgx", url, `SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'`)
	})
}

func checkTables(t *testing.T, driver, dsn, query string) {
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns := map[string][]string{}
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			t.Fatal(err)
		}
		// goose's tables hold only ids, and River empties the queue's tables.
		if !strings.HasPrefix(table, "river_") && !strings.HasPrefix(table, "goose_") && !strings.HasPrefix(table, "sqlite_") {
			columns[table] = append(columns[table], column)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for table, has := range columns {
		ofTarget, ofRepository := slices.Contains(targetTables, table), slices.Contains(repositoryTables, table)
		_, other := otherTables[table]
		switch {
		case !ofTarget && !ofRepository && !other:
			t.Errorf("table %s is in no list of tables.go: say there when its rows are deleted", table)
		case ofTarget && !slices.Contains(has, "target_key"), ofRepository && !slices.Contains(has, "repo_id"):
			t.Errorf("table %s lacks the column that its rows are found by: %v", table, has)
		case !ofTarget && slices.Contains(has, "target_key") && table != "deliveries" && table != "learning" && table != "learning_logs": // which outlive the target
			t.Errorf("table %s has a target_key, and its rows don't go with the target", table)
		}
	}
	for _, table := range slices.Concat(targetTables, repositoryTables) {
		if columns[table] == nil {
			t.Errorf("there is no table %s", table)
		}
	}
}
