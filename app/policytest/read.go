package policytest

import (
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
	var files []config.File
	left := int64(config.MaxTestBytes)
	for _, e := range entries {
		if !config.IsTest(e.Name()) || len(files) > config.MaxTests || left < 0 {
			continue
		}
		name := filepath.Join(dir, e.Name())
		if !e.Type().IsRegular() {
			return nil, fmt.Errorf("%s is not a regular file: put a copy of the text there", name)
		}
		text, err := config.ReadRegular(name, left+1)
		if err != nil {
			return nil, fmt.Errorf("read the policy tests: %w", err)
		}
		left -= int64(len(text))
		files = append(files, config.File{Path: filepath.ToSlash(name), Text: text})
	}
	return files, nil
}

// Read reads the cases of files. It returns those that can be read, in order, and the problems of
// the others. If there are too many, it returns none.
func Read(files []config.File) ([]*Case, []pipeline.ConfigProblem) {
	size := 0
	for _, f := range files {
		size += len(f.Text)
	}
	switch {
	case len(files) > config.MaxTests:
		return nil, tooMany(files[0].Path, fmt.Sprintf("there are more than %d files", config.MaxTests))
	case size > config.MaxTestBytes:
		return nil, tooMany(files[0].Path, fmt.Sprintf("the files have more than %d MB in all", config.MaxTestBytes>>20))
	}
	r := reader{named: map[string]jsontree.Place{}}
	for _, f := range files {
		r.file(f)
	}
	if len(r.cases) > config.MaxTests {
		return nil, tooMany(files[0].Path, fmt.Sprintf("there are %d cases, more than the limit of %d", len(r.cases), config.MaxTests))
	}
	return r.cases, r.problems
}

func tooMany(file, problem string) []pipeline.ConfigProblem {
	return []pipeline.ConfigProblem{{File: path.Dir(file), Problem: problem, Remedy: "keep the cases that tell you most"}}
}

// reader collects cases and problems.
type reader struct {
	cases    []*Case
	problems []pipeline.ConfigProblem
	named    map[string]jsontree.Place
}

// file reads a file, which holds one case or a list of cases.
func (r *reader) file(f config.File) {
	root, errs := jsontree.Options{MaxBytes: config.MaxTestBytes}.Parse(&jsontree.Document{Name: f.Path}, f.Text)
	if r.refuse(errs); len(errs) > 0 {
		return
	}
	list := []*jsontree.Node{root}
	if root.Kind == jsontree.Array {
		if list = root.Elems; len(list) == 0 {
			r.refuse([]jsontree.Error{*root.Error("the list has no case", "add a case, or remove the file")})
		}
	}
	for _, n := range list {
		c, errs := readCase(n)
		if first, twice := r.named[c.Name]; twice && c.Name != "" {
			errs = append(errs, *n.Get("name").Error(fmt.Sprintf("another case has this name, in %s on line %d", first.Document.Name, first.Line), "give one of the two another name"))
		}
		if r.refuse(errs); len(errs) > 0 {
			continue
		}
		r.named[c.Name] = n.Place()
		r.cases = append(r.cases, c)
	}
}

func (r *reader) refuse(errs []jsontree.Error) {
	for _, e := range errs {
		r.problems = append(r.problems, config.ProblemOf(e))
	}
}

// Select returns the cases whose names contain a text, in any case of letters.
func Select(cases []*Case, text string) []*Case {
	return slices.DeleteFunc(slices.Clone(cases), func(c *Case) bool {
		return !strings.Contains(strings.ToLower(c.Name), strings.ToLower(text))
	})
}
