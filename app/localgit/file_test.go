package localgit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// A file is read at the named commit or, when the work tree is reviewed, from the disk.
func TestFile(t *testing.T) {
	r := newRepo(t)
	r.write("README.md", "# shop\n")
	r.commit("start")
	r.git("switch", "--quiet", "--create", "topic")
	r.write("docs/a b/r[1].md", "committed\n")
	if err := os.Symlink("../README.md", filepath.Join(r.dir, "docs", "link.md")); err != nil {
		t.Fatal(err)
	}
	head := r.commit("add a report")
	r.write("docs/a b/r[1].md", "changed since\n")
	r.write("docs/new.md", "new\n")

	const none = "\x00"
	tests := map[string]struct{ committed, lying string }{
		"docs/a b/r[1].md": {"committed\n", "changed since\n"},
		"docs/new.md":      {none, "new\n"},
		"docs/link.md":     {"../README.md", "../README.md"},
		"docs":             {"", ""},
		"docs/a b/":        {none, ""},
		"docs/none.md":     {none, none},
		"../outside.md":    {none, none},
		"docs/*.md":        {none, none},
	}
	for path, tt := range tests {
		for _, of := range []struct {
			src  *Source
			want string
		}{{r.open(Options{Base: "main", Head: "topic"}), tt.committed}, {r.open(Options{Base: "main"}), tt.lying}} {
			text, err := of.src.File(t.Context(), head, path, 100)
			switch {
			case of.want == none && err == nil:
				t.Errorf("%q exists: %q", path, text)
			case of.want == none:
				if path != "../outside.md" && !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%q: %v, want that it does not exist", path, err)
				}
			case err != nil || string(text) != of.want:
				t.Errorf("%q is %q, %v; want %q", path, text, err, of.want)
			}
		}
	}
	src := r.open(Options{Base: "main"})
	if text, err := src.File(t.Context(), head, "docs/new.md", 2); err != nil || string(text) != "ne" {
		t.Errorf("the first two bytes are %q, %v", text, err)
	}
}
