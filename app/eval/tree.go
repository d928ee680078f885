package eval

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// Bounds of one tree: a change that a person reviews in a sitting.
const (
	maxTreeFiles = 100
	maxTreeBytes = 1 << 20
)

// plainPath matches the allowed paths of cases. Other characters may have a meaning in git
// fast-import.
var plainPath = regexp.MustCompile(`^[A-Za-z0-9._][A-Za-z0-9._/\[\]()@-]*$`)

// readTree reads the files below a directory, by their path with slashes.
func readTree(dir string) (map[string]string, error) {
	files := map[string]string{}
	left := int64(maxTreeBytes)
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir():
			return nil
		case name == dir:
			return fmt.Errorf("%s is not a directory: put the files into one of this name", dir)
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		path := filepath.ToSlash(rel)
		switch {
		case !plainPath.MatchString(path):
			return fmt.Errorf("%q: the name has characters that no case needs: use letters, digits and . _ - @ [ ] ( )", name)
		case len(files) == maxTreeFiles:
			return fmt.Errorf("%s has more than %d files: make the change smaller", dir, maxTreeFiles)
		}
		text, err := readFile(name, left, caseLimits)
		if err != nil {
			return err
		}
		left -= int64(len(text))
		files[path] = string(text)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read a tree of a case: %w", err)
	}
	return files, nil
}

// caseLimits say how large the files of a case may be.
var caseLimits = fmt.Sprintf("case.json may have %d KiB, a tree %d KiB", maxCaseBytes>>10, maxTreeBytes>>10)

// readFile reads a regular file. It refuses links and pipes. If the file is larger than most
// bytes, the error contains limits.
func readFile(name string, most int64, limits string) ([]byte, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return nil, fmt.Errorf("read the file: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file: put a copy of the text there", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read the file: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, fmt.Errorf("read the file: %w", err)
	}
	if int64(len(text)) > most {
		return nil, fmt.Errorf("%s is too large: %s", name, limits)
	}
	return text, nil
}
