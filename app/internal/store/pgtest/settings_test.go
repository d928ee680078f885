package pgtest

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
)

// Syncs is for the tests outside the package.
var Syncs = syncs

// Figures that are published are measured on a server that syncs, on a real disk.
func TestServerSyncsWhereFiguresAreMeasured(t *testing.T) {
	leavesOut := func() bool {
		return slices.ContainsFunc((&server{}).settings(), func(s string) bool {
			return strings.HasPrefix(s, "fsync=") || strings.HasPrefix(s, "synchronous_commit=") || strings.HasPrefix(s, "full_page_writes=")
		})
	}
	want := func(when string, syncs bool) {
		t.Helper()
		if leavesOut() == syncs {
			t.Errorf("%s: settings %v; want that it syncs: %v", when, (&server{}).settings(), syncs)
		}
		if dir := home(); syncs && dir != "" {
			t.Errorf("%s: the server's directory would be made in %s, want %s", when, dir, os.TempDir())
		}
	}
	bench := flag.Lookup("test.bench")
	before := bench.Value.String()
	defer func() {
		synced.Store(false)
		if err := bench.Value.Set(before); err != nil {
			t.Error(err)
		}
	}()
	for _, pattern := range []string{"", "."} {
		if err := bench.Value.Set(pattern); err != nil {
			t.Fatal(err)
		}
		want("with -bench "+pattern, pattern != "")
		Sync()
		want("after Sync, with -bench "+pattern, true)
		synced.Store(false)
	}
}
