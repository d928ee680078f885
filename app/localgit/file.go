package localgit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/reviewgate/reviewgate/app/agents/report"
)

var _ report.Files = (*Source)(nil)

// File reads a file at a commit of the range, or in the work tree or the index if that is the head.
// It returns at least the first bytes, up to most. It returns fs.ErrNotExist if the path
// does not exist, and no text if it is not a file. The text of a symbolic link is its
// target, as in git.
func (s *Source) File(ctx context.Context, commit, path string, most int64) ([]byte, error) {
	if s.workTree != nil {
		return s.workTree.read(path, most)
	}
	if s.staged {
		commit = theIndex
	}
	entries, err := s.git.list(ctx, commit, path)
	if err != nil {
		return nil, fmt.Errorf("look for the file: %w", err)
	}
	if len(entries) != 1 || entries[0].path != path {
		return nil, fmt.Errorf("%s has no file %s: %w", commit, path, fs.ErrNotExist)
	}
	if entries[0].kind != "blob" {
		return nil, nil
	}
	return s.git.blob(ctx, entries[0].sha, most)
}

// Lookup is like File, but returns false instead of an error if the path does not exist.
func (s *Source) Lookup(ctx context.Context, commit, path string, most int64) (text []byte, found bool, err error) {
	text, err = s.File(ctx, commit, path, most)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return text, err == nil, err
}
