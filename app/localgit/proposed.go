package localgit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

// Proposed returns the config as it would be after the merge: it reads the config files
// that the change touches at the head, in the index or in the work tree, and the others at the base.
// InForce.Problems lists their problems. Proposed returns nil if the change touches no
// config file, or if the user named a directory with config.
func (s *Source) Proposed(ctx context.Context) (*config.Config, error) {
	if s.configDir != "" {
		return nil, nil
	}
	changed, err := s.readFiles(ctx)
	if err != nil {
		return nil, err
	}
	touched := touchedBy(changed.Files, config.IsRepositoryFile)
	if len(touched) == 0 {
		return nil, nil
	}
	layer := config.Layer{Name: config.LayerRepository}
	var base, head []config.File
	if base, err = s.git.configFiles(ctx, s.baseSHA); err != nil {
		return nil, fmt.Errorf("read %s at %s: %w", config.RepositoryDir, s.baseName, err)
	}
	switch {
	case s.workTree != nil:
		layer.Source = "the work tree"
		head, err = s.workTree.configFiles(ctx, changed.Files)
	case s.staged:
		layer.Source = "the index"
		head, err = s.git.configFiles(ctx, theIndex)
	default:
		layer.Source = s.head()
		head, err = s.git.configFiles(ctx, s.headSHA)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s at %s: %w", config.RepositoryDir, layer.Source, err)
	}
	layer.Files = config.Merged(base, head, func(f config.File) string { return f.Path }, touched)
	return s.load(layer), nil
}

// touchedBy are the files of a kind that are changed, moved or removed.
func touchedBy(changed []raw.ChangedFile, of func(path string) bool) (touched []string) {
	for _, f := range changed {
		for _, p := range []string{f.Path, f.PreviousPath} {
			if of(p) {
				touched = append(touched, p)
			}
		}
	}
	return touched
}

// configFiles reads the config files that a commit of the work tree would have. It
// skips ignored files, and files that the change removes from git but not from disk. The
// loader reports a path that is not a file.
func (w *workTree) configFiles(ctx context.Context, changed []raw.ChangedFile) ([]config.File, error) {
	names, root, err := w.list(ctx, "--cached", "--", path.Dir(config.RepositoryDir))
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
		text, err := readWorkTree(root, name, config.MaxBytes(name))
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

// ProposedTests reads the policy tests as they would be after the merge, like [Source.Proposed].
func (s *Source) ProposedTests(ctx context.Context) ([]config.File, error) {
	const dir = config.RepositoryDir + "/" + config.TestsDir
	changed, err := s.readFiles(ctx)
	if err != nil {
		return nil, err
	}
	touched := touchedBy(changed.Files, config.IsRepositoryTest)
	var files config.TestFiles
	blobs := func(sha string, wanted bool) error {
		entries, err := s.git.list(ctx, sha, dir+"/")
		for _, e := range entries {
			if e.kind != "blob" || !config.IsRepositoryTest(e.path) || slices.Contains(touched, e.path) != wanted {
				continue
			}
			if err := files.Add(e.path, func(most int64) ([]byte, error) { return s.git.blob(ctx, e.sha, most) }); err != nil {
				return err
			}
		}
		return err
	}
	if err := blobs(s.baseSHA, false); err != nil {
		return nil, err
	}
	if s.staged {
		err = blobs(theIndex, true)
		return files.Files, err
	}
	if s.workTree == nil {
		err = blobs(s.headSHA, true)
		return files.Files, err
	}
	names, root, err := s.workTree.list(ctx, "--cached", "--", dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	slices.Sort(names)
	for _, name := range slices.Compact(names) { // one in conflict stands there thrice
		if !slices.Contains(touched, name) {
			continue
		}
		if err := files.Add(name, func(most int64) ([]byte, error) { return readWorkTree(root, name, most) }); err != nil {
			return nil, err
		}
	}
	return files.Files, nil
}

// Nothing returns a sentence for the user if the range has no changes, and "" otherwise.
func (s *Source) Nothing(ctx context.Context) (string, error) {
	files, err := s.readFiles(ctx)
	switch {
	case err != nil || len(files.Files) > 0:
		return "", err
	case s.workTree != nil:
		nothing := fmt.Sprintf("no changes against %s", s.baseName)
		for _, i := range files.Incomplete {
			nothing += fmt.Sprintf("; %s: %s", i.Path, i.Why)
		}
		left, err := s.LeftOut(ctx)
		if left > 0 {
			nothing += "; " + LeftOutNote(left)
		}
		return nothing, err
	case s.staged:
		return fmt.Sprintf("no staged changes against %s", s.baseName), nil
	case s.headSHA == s.baseSHA:
		return fmt.Sprintf("%s and %s are the same commit", s.baseName, s.head()), nil
	}
	return fmt.Sprintf("%s already has everything that %s has", s.baseName, s.head()), nil
}

// head returns the name of the head's branch, or the SHA of a detached head.
func (s *Source) head() string { return cmp.Or(s.headName, s.headSHA) }
