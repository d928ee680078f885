package explain

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
)

// What is read of a list of paths: as many as GitHub lists of a pull request
// thrice over, and paths as long as Linux has them.
const (
	maxPaths = 9000
	maxPath  = 4096     // bytes
	maxList  = 16 << 20 // bytes
)

// Clean makes a path as it was typed one that is relative to the repository's
// root. The error says what to write.
func Clean(p string) (string, error) {
	switch {
	case p == "":
		return "", errors.New("a path is empty: leave it out")
	case len(p) > maxPath:
		return "", fmt.Errorf("a path has %d bytes: %d is the most", len(p), maxPath)
	case strings.HasSuffix(p, "/"):
		return "", fmt.Errorf("%q is a directory: name files, as with git ls-files %s | reviewgate config explain -", p, p)
	case path.IsAbs(p):
		return "", fmt.Errorf("%q is absolute: write it from the repository's root on", p)
	}
	clean := path.Clean(p)
	if clean == "." || clean == ".." || strings.HasPrefix(clean, "../") {
		return "", fmt.Errorf("%q is not a file in the repository: write it from the repository's root on", p)
	}
	return clean, nil
}

// CleanAll cleans a list.
func CleanAll(list []string) ([]string, error) {
	if len(list) > maxPaths {
		return nil, fmt.Errorf("there are %d paths: %d is the most", len(list), maxPaths)
	}
	out := make([]string, 0, len(list))
	for _, p := range list {
		clean, err := Clean(p)
		if err != nil {
			return nil, err
		}
		out = append(out, clean)
	}
	return out, nil
}

// ReadList reads a list of paths as git prints it: one a line, unusual ones in
// quotes, or with NUL bytes between them (git's -z).
func ReadList(r io.Reader) ([]string, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxList+1))
	if err != nil {
		return nil, fmt.Errorf("read the list of paths: %w", err)
	}
	if len(text) > maxList {
		return nil, fmt.Errorf("the list of paths is longer than %d MiB", maxList>>20)
	}
	zero := bytes.IndexByte(text, 0) >= 0
	sep := "\n"
	if zero {
		sep = "\x00"
	}
	var out []string
	for p := range strings.SplitSeq(string(text), sep) {
		if !zero {
			if p, err = unquote(strings.TrimSuffix(p, "\r")); err != nil {
				return nil, err
			}
		}
		if p != "" {
			out = append(out, p)
		}
	}
	return out, nil
}

// unquote reads a path as git quotes it, which is as Go does.
func unquote(p string) (string, error) {
	if !strings.HasPrefix(p, `"`) {
		return p, nil
	}
	plain, err := strconv.Unquote(p)
	if err != nil {
		return "", fmt.Errorf("%s is in quotes that git would not write: use git's -z", p)
	}
	return plain, nil
}
