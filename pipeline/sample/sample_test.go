package sample

import (
	"flag"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestOf(t *testing.T) {
	was := *full
	t.Cleanup(func() { *full = was })
	cases := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	t.Setenv("CI", "true")
	if got := Of(t, 3, cases); !slices.Equal(got, cases) {
		t.Errorf("in CI the cases are %v, want all", got)
	}
	if got := Size(3, 10); got != 10 {
		t.Errorf("in CI the size is %d, want 10", got)
	}
	t.Setenv("CI", "")
	*full = true
	if got := Of(t, 3, cases); !slices.Equal(got, cases) {
		t.Errorf("with -full the cases are %v, want all", got)
	}
	*full = false
	for n, want := range map[int][]int{1: {0}, 2: {0, 9}, 3: {0, 4, 9}, 10: cases, 20: cases} {
		if got := Of(t, n, cases); !slices.Equal(got, want) {
			t.Errorf("%d of the cases are %v, want %v", n, got, want)
		}
	}
	if got := Size(3, 10); got != 3 {
		t.Errorf("the size is %d, want 3", got)
	}
}

func TestCheck(t *testing.T) {
	drawn := 0
	Check(t, func(*rapid.T) { drawn++ })
	set := os.Getenv("RAPID_CHECKS") != "" || slices.ContainsFunc(os.Args, func(arg string) bool { return strings.Contains(arg, "rapid.checks") })
	want := draws
	switch {
	case set:
		want, _ = strconv.Atoi(flag.Lookup("rapid.checks").Value.String()) // the flag is an int
	case Full():
		want = 100
	}
	if testing.Short() {
		want = max(1, want/5) // as rapid does
	}
	if drawn != want {
		t.Errorf("the property was tried %d times, want %d", drawn, want)
	}
}

// With -full, go test ./... fails in a package whose tests don't know the flag.
func TestEveryPackageKnowsTheFlag(t *testing.T) {
	knows := map[string]bool{}
	root := os.DirFS("../..")
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if name == "deploy" || d.Name() == "testdata" || len(name) > 1 && strings.HasPrefix(d.Name(), ".") {
				return fs.SkipDir
			}
			return nil
		case !strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
		if err != nil {
			return err
		}
		dir := path.Dir(name)
		knows[dir] = knows[dir] || dir == "pipeline/sample"
		for _, i := range file.Imports {
			if i.Path.Value == `"github.com/reviewgate/reviewgate/pipeline/sample"` {
				knows[dir] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir, ok := range knows {
		if !ok {
			t.Errorf("%s: no test imports pipeline/sample; add a full_test.go that does", dir)
		}
	}
	if len(knows) < 50 {
		t.Errorf("only %d packages have tests", len(knows))
	}
}
