package eval

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

const set = "../../testdata/eval"

func loadSet(t testing.TB) []Case {
	t.Helper()
	cases, err := Load(set)
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

// The shipped set is large and varied enough for meaningful figures.
func TestSet(t *testing.T) {
	defects, clean := map[string]int{}, map[string]int{}
	seeded := 0
	categories := map[string]bool{}
	for _, c := range loadSet(t) {
		if c.Clean() != strings.Contains(c.Name, "-clean-") {
			t.Errorf("%s: clean is %t", c.Name, c.Clean())
		}
		if c.Clean() {
			clean[c.Language]++
			continue
		}
		seeded++
		for _, d := range c.Defects {
			defects[c.Language]++
			categories[d.Category] = true
			if len(d.Words) == 0 {
				t.Errorf("%s: no word shows that a finding is about %q", c.Name, d.What)
			}
			if d.Severity.Rank() < pipeline.SeverityWarning.Rank() {
				t.Errorf("%s: the severity of %q blocks no change", c.Name, d.What)
			}
		}
	}
	sum := func(m map[string]int) (n int) {
		for _, v := range m {
			n += v
		}
		return n
	}
	if seeded < 40 || sum(clean) < 20 || len(categories) < 20 {
		t.Errorf("%d cases with defects of %d categories and %d clean ones, want 40 of 20 and 20", seeded, len(categories), sum(clean))
	}
	for _, language := range []string{"Go", "TypeScript", "Python", "Java", "SQL"} {
		if defects[language] < 4 || clean[language] < 2 {
			t.Errorf("%s has %d defects and %d clean changes", language, defects[language], clean[language])
		}
	}
}

// A case has the size of a normal review: more than a line, and no rewrite.
func TestSetHasNormalSizes(t *testing.T) {
	all, dir := loadSet(t), t.TempDir()
	cases := sample.Of(t, 10, all)
	if err := importCases(t.Context(), dir, cases); err != nil {
		t.Fatal(err)
	}
	for i := range cases {
		src, err := open(t.Context(), dir, &cases[i], nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := src.PullRequest(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if n := p.Totals.Additions; n < 20 || n > 150 {
			t.Errorf("%s adds %d lines, want 20 to 150", cases[i].Name, n)
		}
		if n := len(changed(&cases[i])); p.Totals.Files != n {
			t.Errorf("%s changes %d files, but its trees differ in %d", cases[i].Name, p.Totals.Files, n)
		}
		if text := fmt.Sprintf("%+v", p); strings.Contains(text, cases[i].Name) {
			t.Errorf("%s: the case's name, which gives the defect away, is in %s", cases[i].Name, text)
		}
		if p.Title != cases[i].Title || p.Body != cases[i].Body || p.Repository.FullName() != p.Head.Repository {
			t.Errorf("%s is reviewed as %+v", cases[i].Name, p)
		}
	}
	several := 0
	for i := range all {
		if len(changed(&all[i])) > 1 {
			several++
		}
	}
	if several < len(all)/2 {
		t.Errorf("%d of %d cases change several files, want half", several, len(all))
	}
}

// changed are the files that a case adds, changes or removes.
func changed(c *Case) map[string]bool {
	paths := map[string]bool{}
	for path, text := range c.Head {
		if was, ok := c.Base[path]; !ok || was != text {
			paths[path] = true
		}
	}
	for path := range c.Base {
		if _, ok := c.Head[path]; !ok {
			paths[path] = true
		}
	}
	return paths
}

var typed = regexp.MustCompile(`^(feat|fix|perf|refactor|build|ci)(\([a-z]+\))?: \S`)

// Cases look like pull requests: neither titles nor code give the defect away.
func TestSetLooksReal(t *testing.T) {
	for _, c := range loadSet(t) {
		if !typed.MatchString(c.Title) || c.Body == "" {
			t.Errorf("%s: the title %q or the description is empty", c.Name, c.Title)
		}
		for _, wrong := range append(goFaults(c.Base), goFaults(c.Head)...) {
			t.Errorf("%s: %s", c.Name, wrong)
		}
		for name, text := range c.Head {
			for _, giveaway := range []string{"BUG", "FIXME", "DEFECT", "vulnerable", "insecure"} {
				if strings.Contains(text, giveaway) {
					t.Errorf("%s: %s contains %s", c.Name, name, giveaway)
				}
			}
		}
	}
}

// goFaults are the errors of a compiler or gofmt for the Go files of a tree. That other files
// are left out is no error.
func goFaults(tree map[string]string) (faults []string) {
	packages, files := map[string][]*ast.File{}, token.NewFileSet()
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		if path.Ext(name) != ".go" {
			continue
		}
		file, err := parser.ParseFile(files, name, tree[name], 0)
		if err != nil {
			faults = append(faults, err.Error())
			continue
		}
		if text, err := format.Source([]byte(tree[name])); err != nil || string(text) != tree[name] {
			faults = append(faults, name+" is not as gofmt has it")
		}
		packages[path.Dir(name)] = append(packages[path.Dir(name)], file)
	}
	check := types.Config{Importer: empty{}, Error: func(err error) {
		if strings.Contains(err.Error(), "not used") || strings.Contains(err.Error(), "redeclared") {
			faults = append(faults, err.Error())
		}
	}}
	for dir, parts := range packages {
		_, _ = check.Check(dir, files, parts, nil) // Error gets the errors
	}
	return faults
}

// empty resolves every package to an empty one.
type empty struct{}

func (empty) Import(name string) (*types.Package, error) {
	p := types.NewPackage(name, path.Base(name))
	p.MarkComplete()
	return p, nil
}
