package app

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/render"
)

// pages returns the texts of the documentation by their paths from the root. They include the
// tables in testdata that the pages are about.
func pages(t *testing.T) map[string]string {
	t.Helper()
	files := []string{"README.md", "SECURITY.md", "CONTRIBUTING.md", "testdata/hostile-input.md", "testdata/usefulness.md"}
	err := filepath.WalkDir("../docs", func(file string, _ fs.DirEntry, err error) error {
		if filepath.Ext(file) == ".md" {
			files = append(files, strings.TrimPrefix(filepath.ToSlash(file), "../"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join("..", file))
		if err != nil {
			t.Fatal(err)
		}
		texts[file] = string(text)
	}
	return texts
}

var (
	// testName matches the name of a test in the documentation: a package and a function.
	// Some pages name only the function.
	testName     = regexp.MustCompile("`([a-z]+(?:/[a-z]+)*)\\.((?:Test|Fuzz|Benchmark)[A-Z][A-Za-z0-9]*)`")
	functionName = regexp.MustCompile(`\b(?:Test|Fuzz|Benchmark)[A-Z][A-Za-z0-9]+\b`)
	function     = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)[A-Z][A-Za-z0-9]*)\(`)
)

// Each test that the documentation names exists.
func TestDocsNameTestsThatExist(t *testing.T) {
	t.Parallel()
	known, anywhere := testFunctions(t)
	named := 0
	for file, text := range pages(t) {
		for _, name := range testName.FindAllStringSubmatch(text, -1) {
			if named++; !known[name[1]+"."+name[2]] {
				t.Errorf("%s: no %s in %s", file, name[2], name[1])
			}
		}
		for _, name := range functionName.FindAllString(text, -1) {
			if !anywhere[name] {
				t.Errorf("%s: no test %s", file, name)
			}
		}
	}
	if named < 400 {
		t.Errorf("%d names were read", named)
	}
}

// step is a row of the table of functions that a delivery passes.
var step = regexp.MustCompile("(?m)^\\| [0-9]+ \\| `([a-z/]+)\\.([A-Za-z]+)\\.([A-Za-z]+)` \\|")

// A delivery becomes a comment in at most 12 steps, and each of their functions exists.
func TestWayOfADelivery(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/design.md")
	if err != nil {
		t.Fatal(err)
	}
	steps := step.FindAllStringSubmatch(string(text), -1)
	if n := len(steps); n == 0 || n > 12 {
		t.Errorf("%d steps", n)
	}
	for _, s := range steps {
		method := regexp.MustCompile(`(?m)^func \(\w+ \*?` + s[2] + `\) ` + s[3] + `\(`)
		files, err := filepath.Glob(filepath.Join("..", s[1], "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(files, func(file string) bool {
			code, err := os.ReadFile(file)
			return err == nil && method.Match(code)
		}) {
			t.Errorf("%s has no method %s.%s", s[1], s[2], s[3])
		}
	}
}

// testFunctions lists the tests of the repository, by package and function and by
// function alone.
func testFunctions(t *testing.T) (known, anywhere map[string]bool) {
	t.Helper()
	known, anywhere = map[string]bool{}, map[string]bool{}
	err := filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, "_test.go") {
			return err
		}
		text, err := os.ReadFile(file)
		for _, m := range function.FindAllSubmatch(text, -1) {
			pkg := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(file)), "../")
			if filepath.Dir(file) == "." { // this package
				pkg = "app"
			}
			known[pkg+"."+string(m[1])], anywhere[string(m[1])] = true, true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return known, anywhere
}

// Each row of the tables of hostile inputs and failures names a test.
func TestEachRowNamesATest(t *testing.T) {
	t.Parallel()
	texts := pages(t)
	for file, least := range map[string]int{"testdata/hostile-input.md": 150, "docs/failures.md": 25} {
		rows := 0
		for n, line := range strings.Split(texts[file], "\n") {
			if !strings.HasPrefix(line, "| ") || strings.HasSuffix(line, "| tests |") {
				continue
			}
			if rows++; !testName.MatchString(line) {
				t.Errorf("%s:%d names no test: %s", file, n+1, line)
			}
		}
		if rows < least {
			t.Errorf("%s: %d rows were read, want %d", file, rows, least)
		}
	}
}

var (
	docLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	code    = regexp.MustCompile("(?ms)^ *```.*?^ *```$|`[^`\n]*`")
)

// Each link within the documentation leads to an existing file and, if it names a heading, to
// an existing heading.
func TestDocsLinksExist(t *testing.T) {
	t.Parallel()
	texts := pages(t)
	for file, text := range texts {
		for _, m := range docLink.FindAllStringSubmatch(code.ReplaceAllString(text, ""), -1) {
			to, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(to, "://") {
				continue
			}
			target := file
			if to != "" {
				target = path.Join(path.Dir(file), to)
			}
			if _, err := os.Stat(filepath.Join("..", target)); err != nil {
				t.Errorf("%s links to %s, which does not exist", file, m[1])
			} else if anchor != "" && !anchors(texts[target])[anchor] {
				t.Errorf("%s links to %s, and %s has no such heading", file, m[1], target)
			}
		}
	}
}

// anchors are GitHub's names for a text's headings in addresses.
func anchors(text string) map[string]bool {
	all := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		id := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
				return r
			}
			return -1
		}, strings.ToLower(m[1]))
		all[id] = true
	}
	return all
}

// The JSON on the pages is valid.
func TestDocsShowJSON(t *testing.T) {
	t.Parallel()
	shown := regexp.MustCompile("(?ms)^```json[^\n]*\n(.*?)^```$")
	for file, text := range pages(t) {
		for _, m := range shown.FindAllStringSubmatch(text, -1) {
			if !json.Valid([]byte(m[1])) {
				t.Errorf("%s shows invalid JSON:\n%s", file, m[1])
			}
		}
	}
}

// The README leads to each page, and stays two screens long.
func TestReadmeLinksToEachPage(t *testing.T) {
	t.Parallel()
	texts := pages(t)
	readme := texts["README.md"]
	for file := range texts {
		if dir := path.Dir(file); dir != "docs" && dir != "docs/reference" {
			continue
		}
		if !strings.Contains(readme, "]("+file+")") {
			t.Errorf("the README has no link to %s", file)
		}
	}
	if n := strings.Count(readme, "\n"); n > 110 {
		t.Errorf("the README has %d lines, want two screens", n)
	}
}

// Each package that docs/design.md lists exists, and is listed once.
func TestDesignListsEachPackage(t *testing.T) {
	t.Parallel()
	_, design, _ := strings.Cut(pages(t)["docs/design.md"], "\n## Packages\n")
	table, _, _ := strings.Cut(design, "\nImports go one way")
	listed := regexp.MustCompile("`((?:app|cmd|pipeline|policies|config)(?:/[a-z]+)*)`").FindAllStringSubmatch(table, -1)
	seen := map[string]bool{}
	for _, m := range listed {
		if seen[m[1]] {
			t.Errorf("docs/design.md lists %s twice", m[1])
		}
		seen[m[1]] = true
		if files, err := filepath.Glob(filepath.Join("..", m[1], "*.go")); err != nil || len(files) == 0 {
			t.Errorf("docs/design.md lists %s, which does not exist", m[1])
		}
	}
	if len(listed) < 40 {
		t.Errorf("%d packages were read", len(listed))
	}
	for _, dir := range packages(t) {
		if !seen[dir] {
			t.Errorf("docs/design.md does not list %s", dir)
		}
	}
}

// packages returns the folders of the packages that are part of the program, other than internal ones.
func packages(t *testing.T) (dirs []string) {
	t.Helper()
	for _, root := range []string{"app", "cmd", "pipeline", "policies", "config"} {
		err := filepath.WalkDir(filepath.Join("..", root), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			switch d.Name() {
			case "internal", "testdata", "ghtest", "apptest", "conversations", "harness", "sample", "needs":
				return filepath.SkipDir
			}
			files, err := filepath.Glob(filepath.Join(path, "*.go"))
			if slices.ContainsFunc(files, func(file string) bool { return !strings.HasSuffix(file, "_test.go") }) {
				dirs = append(dirs, filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator))))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return dirs
}

// The guide lists the commands in the same words as the help.
func TestGuideListsTheCommands(t *testing.T) {
	t.Parallel()
	if table := render.CommandTable(); !strings.Contains(pages(t)["docs/guide.md"], "\n"+table+"\n") {
		t.Errorf("docs/guide.md lacks the current table of the commands:\n%s", table)
	}
}

// figure is a goal or a measurement: a comparison, a number and its unit.
var figure = regexp.MustCompile(`^(≥|≤|<)? ?([0-9.]+) (\S+)$`)

// docs/performance.md names the benchmark or test of each figure, and tells which goals are
// missed.
func TestPerformanceNamesMissedGoals(t *testing.T) {
	t.Parallel()
	rows := 0
	for line := range strings.SplitSeq(pages(t)["docs/performance.md"], "\n") {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if len(cells) != 5 || !testName.MatchString(cells[4]) {
			continue
		}
		rows++
		if want, err := met(cells[1], cells[2]); err != nil || cells[3] != want {
			t.Errorf("%s: %s of %s is %q, the page says %q; %v", cells[0], cells[2], cells[1], want, cells[3], err)
		}
	}
	if rows < 20 {
		t.Errorf("%d rows were read", rows)
	}
}

// met compares a measured figure with its goal: yes, no, or – where there is no goal.
func met(goal, measured string) (string, error) {
	m := figure.FindStringSubmatch(measured)
	if m == nil || m[1] != "" {
		return "", fmt.Errorf("%q is not a number with its unit", measured)
	}
	if goal == "–" {
		return "–", nil
	}
	g := figure.FindStringSubmatch(goal)
	if g == nil || g[1] == "" {
		return "", fmt.Errorf("%q is not a goal", goal)
	}
	limit, _ := strconv.ParseFloat(g[2], 64)
	got, _ := strconv.ParseFloat(m[2], 64)
	switch {
	case g[3] == m[3]:
	case g[3] == "s" && m[3] == "ms": // a goal in seconds, a measurement in milliseconds
		got /= 1000
	default:
		return "", fmt.Errorf("%q and %q have different units", goal, measured)
	}
	if g[1] == "≥" && got >= limit || g[1] == "≤" && got <= limit || g[1] == "<" && got < limit {
		return "yes", nil
	}
	return "no", nil
}
