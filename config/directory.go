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

// ReadDir reads the config files of a directory as a layer of that name. Files
// of other names are left alone, except that a .json file that is none of the
// five, one of the five in another format, or a prompt of another form of name is
// the layer's problem. A
// directory without config files is an empty layer. The error is about the
// directory, or about a config file in it that can't be read or is no regular
// file.
//
// Links are followed in the server's layer alone, which may be mounted. Those
// in a repository are the path that they lead to, as git has them.
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
		if IsFile(file) { // of others the name is what is wrong
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
	// One byte more than it may have, so that the loader sees that it is too large.
	text, err := ReadRegular(name, MaxBytes(name))
	if errors.Is(err, fs.ErrNotExist) { // it was listed, so what is missing is its target
		return nil, fmt.Errorf("%s is a broken link: fix it, or remove it", name)
	}
	return text, err
}

// ReadRegular reads a regular file, at most limit bytes of it. Anything else is an
// error: a pipe would make it wait, and a device may have no end.
func ReadRegular(name string, limit int64) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // opening a pipe would wait for ever
		return nil, &fs.PathError{Op: "read", Path: name, Err: errors.New("this is not a regular file")}
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

// misnamed reports whether a file was probably meant to be read: it is JSON, or
// named like one of the five but for its ending, or nearly like a prompt.
func misnamed(file string) bool {
	ext := filepath.Ext(file)
	return misnamedPrompt(file) || ext == ".json" || ext != "" && slices.Contains(FileNames(), strings.TrimSuffix(file, ext)+".json")
}

// IsRepositoryFile reports whether a file of a repository, by its path, is of
// its layer: one of the five, a prompt, one whose name alone is what is wrong with
// it, or one that stands where their directory should.
func IsRepositoryFile(file string) bool {
	name := path.Base(file)
	return file == RepositoryDir || path.Dir(file) == RepositoryDir && (IsFile(name) || misnamed(name))
}

// ChangedFiles lists the files of the repository's layer that a change touches,
// sorted.
func ChangedFiles(facts *pipeline.PRFacts) pipeline.List[string] {
	var changed pipeline.List[string]
	for i := range facts.Files {
		for _, p := range []string{facts.Files[i].Path, facts.Files[i].PreviousPath} {
			if IsRepositoryFile(p) {
				changed = append(changed, p)
			}
		}
	}
	slices.Sort(changed)
	return slices.Compact(changed)
}
