package store_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	_ "github.com/jackc/pgx/v5/stdlib" // for goose, by the name "pgx"
	"github.com/pressly/goose/v3"
	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/app/ports"
)

// The tables are migrated back to the first version and forward again. Everything that the
// first version can hold is still there.
func TestTablesGoBackAndForth(t *testing.T) {
	onEach(t, backAndForth)
}

// onEach runs a test on each kind of database.
func onEach(t *testing.T, test func(*testing.T, prepared)) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		url := preparedSQLite(t)
		test(t, prepared{url, goose.DialectSQLite3, "migrations/sqlite", "sqlite", "file:" + strings.TrimPrefix(url, "sqlite://")})
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		url := preparedURL(t)
		test(t, prepared{url, goose.DialectPostgres, "migrations/postgres", "pgx", url})
	})
}

// prepared is a database with our tables.
type prepared struct {
	url            string
	dialect        goose.Dialect
	dir            string
	driver, source string
}

// downTo migrates the tables back to a version, and calls look with the database.
func (p prepared) downTo(t *testing.T, version int64, look func(*sql.DB)) {
	t.Helper()
	db, err := sql.Open(p.driver, p.source)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	g, err := goose.NewProvider(p.dialect, db, os.DirFS(p.dir), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.DownTo(t.Context(), version); err != nil {
		t.Fatal(err)
	}
	look(db)
}

func backAndForth(t *testing.T, p prepared) {
	pull := ports.Target{Kind: ports.TargetPull, Installation: 5, RepoID: 77, Owner: "acme", Name: "shop", Number: 1}
	s, err := store.Open(t.Context(), p.url, store.Options{Log: zerolog.Nop()})
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
	p.downTo(t, 1, func(*sql.DB) {})
	again := openStore(t, p.url)
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

// Version 20 kept several values in one text. They now have columns of their own, and stay
// the same if the tables are migrated back to version 20 and forward again.
func TestTextsBecomeColumns(t *testing.T) {
	onEach(t, textsBecomeColumns)
}

func textsBecomeColumns(t *testing.T, p prepared) {
	pull := ports.Target{Kind: ports.TargetPull, Installation: 5, RepoID: 77, Owner: "acme", Name: "shop", Number: 1, HeadSHA: "aaa"}
	key := pull.Key()
	writes := []struct {
		ports.Write
		digest string // the text in version 20
	}{
		{ports.Write{Kind: ports.WriteComment, Digest: "0f"}, "0f"},
		{ports.Write{Kind: ports.WriteCheck}, ""},
		{ports.Write{Kind: ports.WriteCheck, Conclusion: "cancelled", Digest: "0f"}, "cancelled 0f"},
		{ports.Write{Kind: ports.WriteCheck, Conclusion: "action_required", Sending: "0f"}, "sending action_required 0f"},
		{ports.Write{Kind: ports.WriteReview, Verdict: ports.ReviewApprove, BaseRef: "release/1+2"}, "APPROVE release/1+2"},
		{ports.Write{Kind: ports.WriteRequests}, ""},
		{ports.Write{Kind: ports.WriteRequests, Asked: []string{"ann", "acme/team"}}, "ann acme/team"},
		{ports.Write{Kind: ports.WriteRequests, Asking: []string{"ann", "acme/team"}}, "+ann +acme/team"},
		{ports.Write{Kind: ports.WriteRequests, Asked: []string{"ann", "acme/team"}, Asking: []string{"bob", "cy"}}, "ann acme/team +bob +cy"},
	}
	pushes := []ports.Push{
		{Target: pull, Retargeted: true},
		{Target: pull, Retargeted: true, FromBase: "main", ToBase: "release/1"},
		{Target: pull, Sender: "ann", SenderID: 7},
		{Target: pull, Before: "bbb", Sender: "ann", SenderID: 7},
	}
	overdue, names := ports.Overdue{Generation: 4, Attempts: 11}, []string{"acme/shop", "acme/bank", "acme/attic"}
	fill := func(s *store.Store) error {
		for i := range pushes {
			d := ports.Delivery{GUID: fmt.Sprint(i), Event: "pull_request", Asks: []ports.Ask{ports.ReviewAsk{Target: pull}, pushes[i]}}
			if _, err := s.Accept(t.Context(), d); err != nil {
				return err
			}
		}
		l, ok, err := s.Acquire(t.Context(), key, "me", time.Minute)
		if err != nil || !ok {
			return fmt.Errorf("the lease: %v, %w", ok, err)
		}
		for i := range writes {
			w := &writes[i].Write
			w.Subject, w.Key = fmt.Sprint(i), key
			if *w, err = s.Intend(t.Context(), l, *w); err != nil {
				return err
			}
		}
		if err := s.SetOverdue(t.Context(), key, overdue); err != nil {
			return err
		}
		if err := s.SetConfigBranch(t.Context(), key, "release/1"); err != nil {
			return err
		}
		return s.AddRepositoryNames(t.Context(), 77, names)
	}
	s, err := store.Open(t.Context(), p.url, store.Options{Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	if err := fill(s); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	p.downTo(t, 20, func(db *sql.DB) {
		var digests []string
		for _, w := range writes {
			digests = append(digests, w.digest)
		}
		for query, want := range map[string][]string{
			`SELECT digest FROM writes ORDER BY id`:           digests,
			`SELECT result FROM targets`:                      {"giving up generation 4 since attempt 11"},
			`SELECT layer FROM good_layers ORDER BY 1`:        {"branch of " + key, "names"},
			`SELECT source FROM good_layers ORDER BY 1`:       {"acme/shop acme/bank acme/attic", "release/1"},
			`SELECT before_sha FROM pushes ORDER BY 1`:        {"", " ", "bbb", "main release/1"},
			`SELECT sender FROM pushes ORDER BY 1`:            {"", "", "ann", "ann"},
			`SELECT count(*) FROM pushes WHERE sender_id = 7`: {"2"},
		} {
			got := column(t, db, query)
			if strings.Contains(query, "before_sha") {
				slices.Sort(got) // the databases sort spaces differently
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", query, diff)
			}
		}
	})
	again := openStore(t, p.url)
	for _, w := range writes {
		got, err := again.NewestWrite(t.Context(), w.Kind, w.Subject)
		if diff := cmp.Diff(&w.Write, got); err != nil || diff != "" {
			t.Errorf("write (-want +got), %v:\n%s", err, diff)
		}
	}
	got, err := again.Pushes(t.Context(), pull)
	for i := range got {
		got[i].Target.HeadSHA = "aaa"
	}
	if diff := cmp.Diff(pushes, got); err != nil || diff != "" {
		t.Errorf("pushes (-want +got), %v:\n%s", err, diff)
	}
	state, err := again.Target(t.Context(), key)
	branch, berr := again.ConfigBranch(t.Context(), key)
	known, nerr := again.RepositoryNames(t.Context(), 77)
	layers, lerr := again.GoodLayerNames(t.Context(), 77)
	if err := errors.Join(err, berr, nerr, lerr); err != nil {
		t.Fatal(err)
	}
	if state.Overdue != overdue || state.Result != "" || branch != "release/1" || !slices.Equal(known, names) || len(layers) > 0 {
		t.Errorf("came back with %+v, result %q, branch %q, names %q, layers %q", state.Overdue, state.Result, branch, known, layers)
	}
}

// column returns the values of the query's only column as texts.
func column(t *testing.T, db *sql.DB, query string) (all []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var v string
		if err := rows.Scan(&v); err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
