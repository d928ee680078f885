package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// The file names may come from a stranger, so they must not move the cursor.
func TestNamesOfDiffsAreInert(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("\x1b[2J.diff", []byte("no diff"), 0o600); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	code := execute(t.Context(), []string{"eval", "diffs", "."}, strings.NewReader(""), &stdout, &stderr)
	if want := `"\x1b[2J" is unusable: \x1b[2J.diff: there is no changed file in it`; code != exitUnusable || !strings.HasPrefix(stderr.String(), want) {
		t.Errorf("exit code %d, %q; want 2, %q", code, stderr.String(), want)
	}
	if _, err := os.Stat("findings.json"); err != nil {
		t.Error(err)
	}
}
