package store_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/app/internal/store/pgtest"
	"github.com/reviewgate/reviewgate/app/ports"
)

// Inspect reads a database before it has tables, and while a server uses it.
func TestInspect(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]func(*testing.T) string{
		"sqlite":   func(t *testing.T) string { return "sqlite://" + filepath.Join(t.TempDir(), "reviewgate.db") },
		"postgres": func(t *testing.T) string { return pgtest.URL(t) },
	} {
		t.Run(name, func(t *testing.T) {
			url := url(t)
			before, err := store.Inspect(t.Context(), url)
			if err != nil || before.Version != 0 || before.Newest < 1 {
				t.Fatalf("before: %+v, %v", before, err)
			}
			s, err := store.Open(context.Background(), url, store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			look := func(when string) {
				now, err := store.Inspect(t.Context(), url)
				if err != nil || now.Version != now.Newest || now.Newest != before.Newest {
					t.Errorf("%s: %+v, %v", when, now, err)
				}
			}
			look("while it is open")
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			look("afterwards")
		})
	}
}

func TestInspectMakesNothing(t *testing.T) {
	dir := t.TempDir()
	if _, err := store.Inspect(t.Context(), "sqlite://"+filepath.Join(dir, "reviewgate.db")); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("%v are there now (%v)", left, err)
	}
	file := filepath.Join(dir, "no.db")
	if err := os.WriteFile(file, []byte(strings.Repeat("no database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Inspect(t.Context(), "sqlite://"+file); err == nil || !strings.Contains(err.Error(), "not a SQLite database") {
		t.Errorf("error %v", err)
	}
}

// A Reader reads a database while a server has it open and after the server has closed it.
// It refuses a database without tables.
func TestReader(t *testing.T) {
	t.Parallel()
	for name, on := range map[string]struct {
		url    func(*testing.T) string
		refuse string
	}{
		"sqlite":   {func(t *testing.T) string { return "sqlite://" + filepath.Join(t.TempDir(), "reviewgate.db") }, "there is no database"},
		"postgres": {func(t *testing.T) string { return pgtest.URL(t) }, "start the server once"},
	} {
		t.Run(name, func(t *testing.T) {
			url := on.url(t)
			if _, err := store.OpenReader(t.Context(), url); err == nil || !strings.Contains(err.Error(), on.refuse) {
				t.Errorf("without tables: %v", err)
			}
			s, err := store.Open(context.Background(), url, store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			good := ports.GoodLayer{Source: "acme/shop", Files: []ports.ConfigBlob{{Layer: "repository", Path: "review-settings.json", BlobSHA: "1", Text: []byte(`{}`)}}}
			if err := s.SaveGoodLayer(t.Context(), 7, "repository", good); err != nil {
				t.Fatal(err)
			}
			look := func(when string) {
				r, err := store.OpenReader(t.Context(), url)
				if err != nil {
					t.Fatalf("%s: %v", when, err)
				}
				got, err := r.GoodLayer(t.Context(), 7, "repository")
				if diff := cmp.Diff(&good, got); err != nil || diff != "" {
					t.Errorf("%s: %v %s", when, err, diff)
				}
				if got, err := r.GoodLayer(t.Context(), 8, "repository"); got != nil || err != nil {
					t.Errorf("%s: of another repository %v, %v", when, got, err)
				}
				if err := r.Close(); err != nil {
					t.Errorf("%s: %v", when, err)
				}
			}
			look("while it is open")
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			look("afterwards")
		})
	}
}
