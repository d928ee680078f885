package localgit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

// Proposed is the config as it would be once the change is merged: the config
// files that it touches as they are at the head, or in the work tree, and the
// others as they are at the base. What is wrong with them stands in
// InForce.Problems. It is nil where the change doesn't touch them, or where a
// directory that the user named is used in their place.
func (s *Source) Proposed(ctx context.Context) (*config.Config, error) {
	if s.configDir != "" {
		return nil, nil
	}
	changed, err := s.readFiles(ctx)
	if err != nil {
		return nil, err
	}
	touched := touchedConfig(changed.Files)
	if len(touched) == 0 {
		return nil, nil
	}
	layer := config.Layer{Name: config.LayerRepository}
	var base, head []config.File
	if base, err = s.configFiles(ctx, s.baseSHA); err != nil {
		return nil, fmt.Errorf("read %s at %s: %w", config.RepositoryDir, s.baseName, err)
	}
	if s.workTree {
		layer.Source = "the work tree"
		head, err = s.workTreeFiles(ctx, changed.Files)
	} else {
		layer.Source = s.head()
		head, err = s.configFiles(ctx, s.headSHA)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s at %s: %w", config.RepositoryDir, layer.Source, err)
	}
	layer.Files = append(
		slices.DeleteFunc(base, func(f config.File) bool { return touched[f.Path] }),
		slices.DeleteFunc(head, func(f config.File) bool { return !touched[f.Path] })...)
	return s.load(layer), nil
}

func touchedConfig(changed []raw.ChangedFile) map[string]bool {
	touched := map[string]bool{}
	for _, f := range changed {
		for _, p := range []string{f.Path, f.PreviousPath} {
			if config.IsRepositoryFile(p) {
				touched[p] = true
			}
		}
	}
	return touched
}

// workTreeFiles reads the config files as they would be committed: ignored ones
// are not, nor those that the change removes from git alone.
func (s *Source) workTreeFiles(ctx context.Context, changed []raw.ChangedFile) ([]config.File, error) {
	names, root, err := s.inWorkTree(ctx, "--cached", "--", config.RepositoryDir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var files []config.File
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(name string) bool { // one in conflict stands there thrice
		return slices.ContainsFunc(changed, func(f raw.ChangedFile) bool { return f.Path == name && f.Status == pipeline.FileRemoved })
	})
	for _, name := range ofLayer(names) {
		text, err := readWorkTree(root, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		files = append(files, config.File{Path: name, Text: text})
	}
	return files, nil
}

// readWorkTree reads a file of config. What is no file has no text, which the
// loader reports.
func readWorkTree(root *os.Root, name string) ([]byte, error) {
	f, err := openWorkTree(root, name)
	if _, ok := errors.AsType[noFile](err); ok {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, config.MaxBytes(name)))
}

// Nothing says in words that there is nothing to review: the range is empty. It
// is "" where something differs.
func (s *Source) Nothing(ctx context.Context) (string, error) {
	files, err := s.readFiles(ctx)
	switch {
	case err != nil || len(files.Files) > 0:
		return "", err
	case s.workTree:
		nothing := fmt.Sprintf("no changes against %s", s.baseName)
		for _, i := range files.Incomplete {
			nothing += fmt.Sprintf("; %s: %s", i.Path, i.Why)
		}
		return nothing, nil
	case s.headSHA == s.baseSHA:
		return fmt.Sprintf("%s and %s are the same commit", s.baseName, s.head()), nil
	}
	return fmt.Sprintf("%s already has everything that %s has", s.baseName, s.head()), nil
}

// head names the head, which has no name where it is detached.
func (s *Source) head() string { return cmp.Or(s.headName, s.headSHA) }
