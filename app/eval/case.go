package eval

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
)

// Case is a change to review and what is wrong with it.
type Case struct {
	Name     string // of its directory
	Title    string // of the pull request
	Body     string
	Language string
	Defects  []Defect // none if the change is clean
	// Base and Head are the repository before and after, by path.
	Base, Head map[string]string
}

// Clean reports whether nothing is wrong with the change.
func (c *Case) Clean() bool { return len(c.Defects) == 0 }

// Defect is a problem for which a reviewer would not approve a change.
type Defect struct {
	Path string
	// Quotes mark the places of the defect. A finding may name any of them. Each quote
	// occurs in exactly one line of the file at the head.
	Quotes   []string
	Lines    []Range // of the Quotes
	Category string
	Severity pipeline.Severity
	What     string // in a sentence
	// Words are beginnings of words that a reviewer who has understood the defect would
	// use. One of them is enough.
	Words []string
	Rules []string // their findings at the place name the defect, even without the words
}

// Range are the lines from First to Last, from 1.
type Range struct{ First, Last int }

// Bounds of a set of cases. People write sets by hand.
const (
	maxCases     = 1000
	maxCaseBytes = 64 << 10
	maxSetBytes  = 16 << 20 // of all trees together
	maxProblems  = 20
)

const caseFile = "case.json"

var (
	caseName     = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	languageName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\pL\pN][\pL\pN +#./-]{0,39}$`) })
)

// Load reads the cases of a directory, by name. The error lists up to 20 problems, each
// with its place.
func Load(dir string) ([]Case, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read the cases: %w", err)
	}
	if len(entries) == 0 {
		return nil, fmt.Errorf("%s has no cases: add a directory with a %s", dir, caseFile)
	}
	if len(entries) > maxCases {
		return nil, fmt.Errorf("%s has %d cases, more than the limit of %d: split them", dir, len(entries), maxCases)
	}
	var cases []Case
	var wrong []error
	left := maxSetBytes
	for _, e := range entries {
		if !e.IsDir() || !caseName.MatchString(e.Name()) {
			wrong = append(wrong, fmt.Errorf("%q is not a case: a case is a directory named in small letters, digits and hyphens", filepath.Join(dir, e.Name())))
			continue
		}
		c, errs := loadCase(filepath.Join(dir, e.Name()))
		wrong = append(wrong, errs...)
		cases = append(cases, c)
		if left -= c.size(); left < 0 {
			return nil, fmt.Errorf("the cases of %s have more than %d MiB of files: split them", dir, maxSetBytes>>20)
		}
	}
	if len(wrong) > maxProblems {
		wrong = append(wrong[:maxProblems], fmt.Errorf("and %d more", len(wrong)-maxProblems))
	}
	return cases, errors.Join(wrong...)
}

// size is how much the trees hold, in bytes.
func (c *Case) size() (n int) {
	for _, tree := range []map[string]string{c.Base, c.Head} {
		for _, text := range tree {
			n += len(text)
		}
	}
	return n
}

func loadCase(dir string) (Case, []error) {
	c := Case{Name: filepath.Base(dir)}
	name := filepath.Join(dir, caseFile)
	text, err := readFile(name, maxCaseBytes, caseLimits)
	if err != nil {
		return c, []error{err}
	}
	if c.Base, err = readTree(filepath.Join(dir, "base")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return c, []error{err}
	}
	if c.Head, err = readTree(filepath.Join(dir, "head")); err != nil {
		return c, []error{err}
	}
	if err := strays(dir); err != nil {
		return c, []error{err}
	}
	root, problems := jsontree.Parse(&jsontree.Document{Name: name}, text)
	if len(problems) == 0 {
		problems = c.read(root)
	}
	var errs []error
	for _, p := range problems {
		errs = append(errs, p)
	}
	return c, errs
}

// strays refuses other files in a case, because their author would think that they count.
func strays(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("read the case: %w", err)
	}
	for _, e := range entries {
		switch e.Name() {
		case caseFile, "base", "head":
		default:
			return fmt.Errorf("%q has no place in a case, which is %s, base and head: move it into one of them", filepath.Join(dir, e.Name()), caseFile)
		}
	}
	return nil
}

func (c *Case) read(root *jsontree.Node) []jsontree.Error {
	f := jsontree.FieldsOf(root, "a case")
	c.Title, c.Body, c.Language = f.Needed("title"), f.Given("body"), f.Needed("language")
	if c.Language != "" && !languageName().MatchString(c.Language) {
		f.Refuse("language", fmt.Sprintf("%q is not the name of a language", c.Language), "use up to 40 letters, digits, spaces and + # . / -")
	}
	for _, n := range f.List("defects") {
		d, wrong := c.defect(n)
		c.Defects = append(c.Defects, d)
		f.Wrong = append(f.Wrong, wrong...)
	}
	if clean := f.Bool("clean"); clean != c.Clean() && len(f.Wrong) == 0 {
		f.Wrong = append(f.Wrong, *root.Error(
			fmt.Sprintf("clean is %t, and there are %d defects", clean, len(c.Defects)), `list "defects", or write "clean": true`))
	}
	refuseUnknown(f, "title", "body", "language", "clean", "defects")
	return f.Wrong
}

func (c *Case) defect(n *jsontree.Node) (Defect, []jsontree.Error) {
	f := jsontree.FieldsOf(n, "a defect")
	d := Defect{
		Path: f.Needed("path"), Category: f.Needed("category"), What: f.Needed("what"),
		Quotes: f.Texts("quotes"), Words: f.Texts("words"), Rules: f.Texts("rules"),
	}
	f.Needed("severity")
	d.Severity = pipeline.Severity(f.OneOf("severity", string(pipeline.SeverityCritical), string(pipeline.SeverityMajor), string(pipeline.SeverityWarning), string(pipeline.SeverityInfo)))
	refuseUnknown(f, "path", "quotes", "category", "severity", "what", "words", "rules")
	if len(d.Quotes) == 0 && len(f.Wrong) == 0 {
		f.Wrong = append(f.Wrong, *n.Error("no line is quoted", `quote the text of a line at the head in "quotes"`))
	}
	text, ok := c.Head[d.Path]
	if !ok {
		f.Refuse("path", "the head has no such file", "name a file under head/, as it is named there")
		return d, f.Wrong
	}
	for _, q := range d.Quotes {
		lines := linesWith(text, q)
		if len(lines) != 1 {
			f.Refuse("quotes", fmt.Sprintf("%q stands in %d lines of %s", q, len(lines), d.Path), "quote what stands in exactly one")
			continue
		}
		d.Lines = append(d.Lines, Range{lines[0], lines[0]})
	}
	for _, w := range append(d.Words, d.Category) {
		if strings.TrimSpace(w) == "" || w != strings.ToLower(w) {
			f.Wrong = append(f.Wrong, *n.Error(fmt.Sprintf("%q is not a word to look for", w), "write it in small letters, and not empty"))
		}
	}
	return d, f.Wrong
}

func refuseUnknown(f *jsontree.Fields, known ...string) {
	for _, m := range f.Unknown(known...) {
		f.Wrong = append(f.Wrong, jsontree.Error{Place: m.KeyPlace(), Problem: fmt.Sprintf("%q is not known", m.Key), Remedy: "use " + strings.Join(known, ", ")})
	}
}

// linesWith returns the numbers, from 1, of the lines that contain a quote.
func linesWith(text, quote string) []int {
	var out []int
	n := 0
	for line := range strings.Lines(text) {
		n++
		if quote != "" && strings.Contains(line, quote) {
			out = append(out, n)
		}
	}
	return out
}
