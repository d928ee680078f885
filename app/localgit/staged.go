package localgit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
)

// theIndex stands for the index where the name of a commit is expected.
const theIndex = ":"

// openStaged makes the index the head: the files as the next commit would have them.
func (s *Source) openStaged(ctx context.Context) error {
	if s.bare {
		return errors.New("a bare repository has no index, so nothing is staged in it: name a revision with --head")
	}
	index, err := s.indexOfHook(ctx)
	if err != nil {
		return err
	}
	if index != "" {
		s.git.env = append(s.git.env, indexVariable+"="+index)
	}
	if s.git.emptyTree, err = s.git.line(ctx, "hash-object", "-t", "tree", os.DevNull); err != nil {
		return fmt.Errorf("find the name of the empty tree: %w", err)
	}
	out, err := s.git.output(ctx, "ls-files", "--unmerged", "-z")
	if err != nil {
		return fmt.Errorf("read the index: %w", err)
	}
	if unmerged := splitNul(out); len(unmerged) > 0 {
		_, path, _ := strings.Cut(unmerged[0], "\t") // mode, SHA and stage come before it
		return fmt.Errorf("%q has conflicts, so nothing can be committed: resolve them and run git add", path)
	}
	return nil
}

// indexVariable names the index that git reads. Git sets it for hooks.
const indexVariable = "GIT_INDEX_FILE"

// indexOfHook returns the index that the environment names, or "" for the repository's own.
// git commit -a and git commit FILE prepare the commit in another index than the usual one, and
// name it for their hooks. It counts only if the current directory is in the same repository:
// a hook may also review another one.
func (s *Source) indexOfHook(ctx context.Context) (string, error) {
	index := os.Getenv(indexVariable)
	if index == "" {
		return "", nil
	}
	own, err := s.git.line(ctx, "rev-parse", "--absolute-git-dir")
	if err != nil {
		return "", fmt.Errorf("find git's directory: %w", err)
	}
	here := &git{dir: ".", env: environment(os.Environ())}
	if current, err := here.line(ctx, "rev-parse", "--absolute-git-dir"); err != nil || current != own {
		return "", nil //nolint:nilerr // the current directory is in no repository
	}
	return index, nil
}

// listIndex lists the files of the index that a commit would have, by default all. git ls-files would
// also list files that git add --intent-to-add has only marked.
func (g *git) listIndex(ctx context.Context, paths ...string) ([]treeEntry, error) {
	out, err := g.output(ctx, append([]string{
		"diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev", "--ita-invisible-in-index", g.emptyTree, "--",
	}, paths...)...)
	if err != nil {
		return nil, err
	}
	var entries []treeEntry
	fields := splitNul(out)
	for i := 0; i+1 < len(fields); i += 2 {
		meta := strings.Fields(fields[i]) // both modes, both SHAs, status
		if len(meta) != 5 {
			return nil, fmt.Errorf("git's list of the index has the line %.200q, which is not understood", fields[i])
		}
		e := treeEntry{kind: "blob", sha: meta[3], path: fields[i+1]}
		if meta[1] == submodule {
			e.kind = "commit"
		}
		entries = append(entries, e)
	}
	return entries, nil
}
