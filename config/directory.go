package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// ReadDir reads the config files of a directory as a layer with the given name. It ignores other
// files, with three exceptions that become problems of the layer: a .json file, or a YAML or JSONC
// file review-*, with another name; one of the five files in another format; and a prompt whose name
// has the wrong form. A directory
// without config files is an empty layer. The error is about the directory, or about a config file
// that can't be read or is not a regular file.
//
// ReadDir follows links in the server's layer only, because that directory may be mounted. In a
// repository, a link's text is the path it leads to, as in git.
func ReadDir(name, dir string) (Layer, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return Layer{}, fmt.Errorf("read the config directory: %w", err)
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	l, ofLayer := Layer{Name: name, Source: dir}, OfLayer(names)
	for _, e := range entries {
		file := e.Name()
		if !slices.Contains(ofLayer, file) {
			continue
		}
		var text []byte
		if IsFile(file) { // other files are a problem by their name
			if text, err = readEntry(filepath.Join(dir, file), e, name == LayerServer); err != nil {
				return Layer{}, fmt.Errorf("read the config: %w", err)
			}
		}
		l.Files = append(l.Files, File{Path: file, Text: text})
	}
	return l.normal(), nil
}

func readEntry(name string, e fs.DirEntry, follow bool) ([]byte, error) {
	if !follow && e.Type()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(name)
		return []byte(target), err
	}
	// One byte above the limit shows the loader that the file is too large.
	text, err := ReadRegular(name, MaxBytes(name))
	if errors.Is(err, fs.ErrNotExist) { // the entry was listed, so its target is missing
		return nil, fmt.Errorf("%s is a broken link: fix it, or remove it", name)
	}
	return text, err
}

// ReadRegular reads at most limit bytes of a regular file. Any other file is an error: reading a
// pipe might wait, and a device may have no end.
func ReadRegular(name string, limit int64) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // opening a pipe would wait forever
		return nil, &fs.PathError{Op: "read", Path: name, Err: errors.New("this is not a regular file")}
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

// misnamed reports whether a file was probably meant to be read: it is JSON, it is YAML or JSONC whose
// name begins as those of the five files do, it has the name of one of them with another extension, or
// its name resembles a prompt's.
func misnamed(file string) bool {
	ext := filepath.Ext(file)
	return misnamedPrompt(file) || ext == ".json" || slices.Contains(formats, ext) && strings.HasPrefix(file, "review-") ||
		ext != "" && slices.Contains(FileNames(), strings.TrimSuffix(file, ext)+".json")
}

// IsRepositoryFile reports whether a path in a repository belongs to the repository's layer. Such a
// path is one of the five files, a prompt, a file that is a problem by its name, or a file in the
// place of the directory or of its parent.
func IsRepositoryFile(file string) bool {
	name := path.Base(file)
	return IsPlace(file) || path.Dir(file) == RepositoryDir && (IsFile(name) || misnamed(name))
}

// IsPlace reports whether a path in a repository is RepositoryDir or its parent. A file or a link
// there hides the repository's config, so it is a problem of the repository's layer.
func IsPlace(file string) bool { return file == RepositoryDir || file == path.Dir(RepositoryDir) }

// TestsDir is the directory in a config directory that holds policy tests.
const TestsDir = "tests"

// The bounds of the policy tests of one config. A caller that reads them reads one file or one byte
// more, so that their reader sees that there are too many.
const (
	MaxTests     = 200     // cases, so there are no more files
	MaxTestBytes = 1 << 20 // of all files together
)

// IsRepositoryTest reports whether a path in a repository is a file of policy tests.
func IsRepositoryTest(file string) bool {
	return path.Dir(file) == RepositoryDir+"/"+TestsDir && IsTest(path.Base(file))
}

// IsTest reports whether a file of TestsDir, by its name, holds policy tests.
func IsTest(name string) bool { return path.Ext(name) == ".json" }

// TestFiles collects the files with policy tests of one config, at most one file or one byte more
// than a config may have.
type TestFiles struct {
	Files []File

	bytes int64
}

// Add reads a file, unless there is enough already. A file that does not exist is left out.
func (t *TestFiles) Add(name string, read func(most int64) ([]byte, error)) error {
	left := MaxTestBytes - t.bytes
	if len(t.Files) > MaxTests || left < 0 {
		return nil
	}
	text, err := read(left + 1)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	t.bytes += int64(len(text))
	t.Files = append(t.Files, File{Path: name, Text: text})
	return nil
}

// Merged returns the files as they are after the merge of a change, sorted by path. It takes the files
// that the change touches from the head, and the others from the base.
func Merged[T any](base, head []T, path func(T) string, touched []string) []T {
	merged := slices.DeleteFunc(slices.Clone(base), func(x T) bool { return slices.Contains(touched, path(x)) })
	for _, x := range head {
		if slices.Contains(touched, path(x)) {
			merged = append(merged, x)
		}
	}
	slices.SortStableFunc(merged, func(a, b T) int { return strings.Compare(path(a), path(b)) })
	return merged
}

// ChangedFiles lists the files of the repository's layer that a change touches, sorted.
func ChangedFiles(facts *pipeline.PRFacts) pipeline.List[string] {
	return changed(facts, IsRepositoryFile)
}

// ChangedTests lists the files of policy tests that a change touches, sorted.
func ChangedTests(facts *pipeline.PRFacts) pipeline.List[string] {
	return changed(facts, IsRepositoryTest)
}

func changed(facts *pipeline.PRFacts, of func(file string) bool) (files pipeline.List[string]) {
	for i := range facts.Files {
		for _, p := range []string{facts.Files[i].Path, facts.Files[i].PreviousPath} {
			if of(p) {
				files = append(files, p)
			}
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}
