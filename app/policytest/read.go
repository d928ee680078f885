package policytest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
)

// MaxTime bounds a run of all cases, since somebody waits for it.
const MaxTime = 10 * time.Second

// ReadDir reads the files with cases that belong to a config directory, by name. There are none if
// the directory has no tests. It follows no links. It reads only a little more than [Read] accepts.
func ReadDir(dir string) ([]config.File, error) {
	dir = filepath.Join(dir, config.TestsDir)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the policy tests: %w", err)
	}
	var files config.TestFiles
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if !config.IsTest(e.Name()) {
			if e.IsDir() || misnamed(e.Name()) {
				return nil, fmt.Errorf("%s is not read: put cases into files directly in %s whose names end in .json", name, dir)
			}
			continue
		}
		if !e.Type().IsRegular() {
			return nil, fmt.Errorf("%s is not a regular file: put a copy of the text there", name)
		}
		if err := files.Add(filepath.ToSlash(name), func(most int64) ([]byte, error) { return config.ReadRegular(name, most) }); err != nil {
			return nil, fmt.Errorf("read the policy tests: %w", err)
		}
	}
	return files.Files, nil
}

// misnamed reports whether a file probably holds cases, but has the wrong extension.
func misnamed(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".json", ".jsonc", ".json5", ".yaml", ".yml":
		return true
	}
	return false
}

// maxProblems bounds the mistakes that are listed. Anybody may write cases with any number of them.
const maxProblems = 50

// Problems are mistakes in cases.
type Problems struct {
	List []pipeline.ConfigProblem // the first ones
	More int                      // those that are not listed
}

// Listed are the mistakes for a terminal, with a last one that counts what is not listed.
func (p *Problems) Listed() []pipeline.ConfigProblem {
	if p.More == 0 {
		return p.List
	}
	return append(slices.Clip(p.List), pipeline.ConfigProblem{
		File: path.Dir(p.List[0].File), Problem: fmt.Sprintf("there are at least %d more mistakes", p.More), Remedy: "correct these first",
	})
}

// add adds a mistake. The remedy is only worded if it is listed, since that may be slow.
func (p *Problems) add(n *jsontree.Node, problem string, remedy func() string) {
	if len(p.List) == maxProblems {
		p.More++
		return
	}
	p.List = append(p.List, config.ProblemOf(*n.Error(problem, remedy())))
}

func (p *Problems) addAll(errs []jsontree.Error) {
	for _, e := range errs {
		if len(p.List) == maxProblems {
			p.More++
			continue
		}
		p.List = append(p.List, config.ProblemOf(e))
	}
}

// Read reads the cases of files, and checks that they name only what the config and their changes
// have. It returns the good ones, in order, and the mistakes in the others. If there are too many
// cases, it returns none of them. The only error is that of ctx: then nobody knows what else is wrong.
func Read(ctx context.Context, files []config.File, cfg *config.Config) ([]*Case, Problems, error) {
	size := 0
	for _, f := range files {
		size += len(f.Text)
	}
	switch {
	case len(files) > config.MaxTests:
		return nil, tooMany(files[0].Path, fmt.Sprintf("there are more than %d files", config.MaxTests)), nil
	case size > config.MaxTestBytes:
		return nil, tooMany(files[0].Path, fmt.Sprintf("the files have more than %d MB in all", config.MaxTestBytes>>20)), nil
	}
	r := reader{checker: newChecker(cfg), named: map[string]jsontree.Place{}}
	for _, f := range files {
		r.file(ctx, f)
	}
	if err := ctx.Err(); err != nil {
		return nil, Problems{}, err
	}
	if r.total > config.MaxTests {
		return nil, tooMany(files[0].Path, fmt.Sprintf("there are %d cases, more than the limit of %d", r.total, config.MaxTests)), nil
	}
	return r.cases, r.problems, nil
}

func tooMany(file, problem string) Problems {
	return Problems{List: []pipeline.ConfigProblem{{File: path.Dir(file), Problem: problem, Remedy: "keep the cases that tell you most"}}}
}

// reader collects cases and problems.
type reader struct {
	*checker
	cases []*Case
	total int // cases in the files
	named map[string]jsontree.Place
}

// file reads a file, which holds one case or a list of cases.
func (r *reader) file(ctx context.Context, f config.File) {
	if ctx.Err() != nil {
		return
	}
	root, errs := jsontree.Options{MaxBytes: config.MaxTestBytes}.Parse(&jsontree.Document{Name: f.Path}, f.Text)
	if r.problems.addAll(errs); len(errs) > 0 {
		return
	}
	list := []*jsontree.Node{root}
	if root.Kind == jsontree.Array {
		if list = root.Elems; len(list) == 0 {
			r.problems.addAll([]jsontree.Error{*root.Error("the list has no case", "add a case, or remove the file")})
		}
	}
	if r.total += len(list); r.total > config.MaxTests {
		return
	}
	for _, n := range list {
		if ctx.Err() != nil {
			return
		}
		c, errs := readCase(n)
		if first, twice := r.named[c.Name]; twice && c.Name != "" {
			errs = append(errs, *n.Get("name").Error(fmt.Sprintf("another case has this name, in %s on line %d", first.Document.Name, first.Line), "give one of the two another name"))
		}
		if r.problems.addAll(errs); len(errs) > 0 {
			continue
		}
		r.named[c.Name] = n.Place()
		if r.good(ctx, c) {
			r.cases = append(r.cases, c)
		}
	}
}

// Select returns the cases whose names contain a text, in any case of letters.
func Select(cases []*Case, text string) []*Case {
	return slices.DeleteFunc(slices.Clone(cases), func(c *Case) bool {
		return !strings.Contains(strings.ToLower(c.Name), strings.ToLower(text))
	})
}
