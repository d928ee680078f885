package ghtest

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFailedWriteLosesNothing: git gets the objects of a write that failed with the next one.
func TestFailedWriteLosesNothing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "1.git")
	objects := newGit(t.Context(), dir).objects
	if err := objects.sync(); err != nil {
		t.Fatal(err)
	}
	packs := filepath.Join(dir, "objects", "pack")
	if err := os.Remove(packs); err != nil {
		t.Fatal(err)
	}
	first := objects.put("blob", []byte("first"))
	if err := objects.sync(); err == nil {
		t.Fatal("a pack was written into a folder that doesn't exist")
	}
	if err := os.Mkdir(packs, 0o700); err != nil {
		t.Fatal(err)
	}
	second := objects.put("blob", []byte("second"))
	for sha, want := range map[string]string{first: "first", second: "second"} {
		if got, err := objects.run("cat-file", "blob", sha); err != nil || string(got) != want {
			t.Errorf("git reads %q, %v instead of %q", got, err, want)
		}
	}
	if len(objects.unwritten) > 0 {
		t.Errorf("%v would be written again", objects.unwritten)
	}
}
