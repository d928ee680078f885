package store_test

import (
	"database/sql"
	"os"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // for goose, by the name "pgx"
	"github.com/pressly/goose/v3"
	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/app/ports"
)

// What a database holds survives that its tables go back to the first version
// and forward again, as far as that version has room for it.
func TestTablesGoBackAndForth(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		url := preparedSQLite(t)
		backAndForth(t, url, goose.DialectSQLite3, "migrations/sqlite", "sqlite", "file:"+strings.TrimPrefix(url, "sqlite://"))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		url := preparedURL(t)
		backAndForth(t, url, goose.DialectPostgres, "migrations/postgres", "pgx", url)
	})
}

func backAndForth(t *testing.T, url string, dialect goose.Dialect, dir, driver, source string) {
	pull := ports.Target{Kind: ports.TargetPull, Installation: 5, RepoID: 77, Owner: "acme", Name: "shop", Number: 1}
	s, err := store.Open(t.Context(), url, store.Options{Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	for guid, place := range map[string]ports.CommentPlace{"a": ports.PlaceConversation, "b": ports.PlaceReview, "c": ports.PlaceReviewLine} {
		d := ports.Delivery{GUID: guid, Event: "issue_comment", Asks: []ports.Ask{ports.Command{
			Place: place, CommentID: 7, Target: pull, Sender: "ann", Author: "bob", Name: "dismiss", Args: "0f3a in " + string(place),
		}}}
		if _, err := s.Accept(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	p, err := goose.NewProvider(dialect, db, os.DirFS(dir), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.DownTo(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	again := openStore(t, url)
	for place, there := range map[ports.CommentPlace]bool{ports.PlaceConversation: true, ports.PlaceReview: false, ports.PlaceReviewLine: false} {
		c, _, err := again.Command(t.Context(), place, 7)
		if (err == nil) != there {
			t.Errorf("%s: %v", place, err)
		}
		if there && (c.Sender != "ann" || c.Name != "dismiss" || c.Target != pull) {
			t.Errorf("%s: came back as %+v", place, c)
		}
	}
}
