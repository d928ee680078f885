package secrets

import (
	"hash/fnv"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline/needs"
)

// file is one file of the code in tests and benchmarks.
type file struct{ path, text string }

// maxFile bounds a file, in bytes. Larger files are mostly generated.
const maxFile = 128 << 10

var extensions = []string{".go", ".ts", ".tsx", ".js", ".py", ".sql", ".yml", ".yaml", ".sh", ".md", ".json", ".tf"}

// code returns files of the Go distribution and of the downloaded modules, at most limit bytes.
// They come from all over the trees and are always the same on one machine. Without a go command
// the test is skipped.
func code(t testing.TB, limit int) []file {
	t.Helper()
	var files []file
	roots := goDirs(t, "env", "GOROOT", "GOMODCACHE")
	for i, root := range roots {
		if i == 0 {
			root = filepath.Join(root, "src")
		}
		files = append(files, collect(t, root, limit/len(roots), func(path string) bool {
			h := fnv.New32()
			h.Write([]byte(path))
			// There is little besides Go, so everything else is taken.
			return filepath.Ext(path) != ".go" || h.Sum32()%16 == 0
		})...)
	}
	return files
}

// module returns the files below a directory of a module that the build needs.
func module(t testing.TB, name, dir string) []file {
	t.Helper()
	roots := goDirs(t, "list", "-m", "-f", "{{.Dir}}", name)
	if len(roots) == 0 {
		needs.Lacks(t, "module %s is not downloaded", name)
	}
	return collect(t, filepath.Join(roots[0], dir), 64<<20, func(string) bool { return true })
}

func goDirs(t testing.TB, args ...string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", args...).Output()
	if err != nil {
		needs.Lacks(t, "go %s: %v", strings.Join(args, " "), err)
	}
	return strings.Fields(string(out))
}

func collect(t testing.TB, root string, limit int, take func(path string) bool) []file {
	t.Helper()
	var files []file
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		rel := strings.TrimPrefix(path, root+string(filepath.Separator))
		if !slices.Contains(extensions, filepath.Ext(path)) || !take(rel) {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil || len(b) > maxFile {
			return err
		}
		if limit -= len(b); limit < 0 {
			return filepath.SkipAll
		}
		files = append(files, file{path: filepath.ToSlash(rel), text: string(b)})
		return nil
	})
	if err != nil {
		t.Fatalf("read the corpus: %v", err)
	}
	return files
}
