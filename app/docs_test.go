package app

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/render"
)

// testName is how the documentation names a test: its package and its function.
var testName = regexp.MustCompile("`([a-z/]+)\\.((?:Test|Fuzz)[A-Za-z0-9]+)`")

// Each line of the tables of hostile input has a test, and each test that is
// named there exists.
func TestHostileInputNamesItsTests(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/hostile-input.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	known := map[string]map[string]bool{}
	// What is still possible has no test.
	closed, _, found := strings.Cut(string(text), "\n## What is still possible\n")
	if !found {
		t.Error("the page does not say what is still possible")
	}
	for n, line := range strings.Split(closed, "\n") {
		if !strings.HasPrefix(line, "| ") || strings.HasSuffix(line, "| tests |") {
			continue
		}
		rows++
		names := testName.FindAllStringSubmatch(line, -1)
		if len(names) == 0 {
			t.Errorf("line %d names no test: %s", n+1, line)
		}
		for _, name := range names {
			if known[name[1]] == nil {
				known[name[1]] = testsOf(t, name[1])
			}
			if !known[name[1]][name[2]] {
				t.Errorf("line %d: there is no %s in %s", n+1, name[2], name[1])
			}
		}
	}
	if rows < 60 {
		t.Errorf("%d rows were read", rows)
	}
}

// The README lists the commands in the words of the help.
func TestReadmeListsTheCommands(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if table := render.CommandTable(); !strings.Contains(string(text), "\n"+table+"\n") {
		t.Errorf("the README lacks the table of the commands as it is:\n%s", table)
	}
}

// testsOf lists the test functions of a package.
func testsOf(t *testing.T, pkg string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", pkg, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
				names[fn.Name.Name] = true
			}
		}
	}
	return names
}
