package localgit

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

// binaryProbe is how much of a file git looks at to tell binary from text.
const binaryProbe = 8000

// untracked reads the files of the work tree that git neither tracks nor ignores. A person
// counts them as a part of the change, although git does not. Repositories within this one
// are listed, but not read.
func (w *workTree) untracked(ctx context.Context) (files []raw.ChangedFile, repositories []string, err error) {
	paths, root, err := w.list(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	size := 0
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if repository, is := strings.CutSuffix(path, "/"); is {
			repositories = append(repositories, repository)
			continue
		}
		f, err := readUntracked(root, path, min(maxPatch, maxPatches-size))
		if errors.Is(err, fs.ErrNotExist) {
			continue // gone meanwhile
		}
		if err != nil {
			return nil, nil, fmt.Errorf("read the untracked file %q: %w", path, err)
		}
		size += len(f.Patch)
		files = append(files, f)
	}
	return files, repositories, nil
}

// LeftOut counts the untracked files of the work tree that are not reviewed, although git does not
// ignore them. It is 0 if the work tree is not what is reviewed.
func (s *Source) LeftOut(ctx context.Context) (int, error) {
	if s.workTree == nil || s.untracked {
		return 0, nil
	}
	paths, root, err := s.workTree.list(ctx)
	if err != nil {
		return 0, fmt.Errorf("list the untracked files: %w", err)
	}
	defer root.Close()
	return len(slices.DeleteFunc(paths, isRepository)), nil
}

// LeftOutNote tells the user how many untracked files were left out, and how to include them.
func LeftOutNote(n int) string {
	if n == 1 {
		return "1 untracked file was left out; --untracked includes it"
	}
	return fmt.Sprintf("%d untracked files were left out; --untracked includes them", n)
}

// isRepository reports whether an untracked path is a repository within the work tree.
func isRepository(path string) bool { return strings.HasSuffix(path, "/") }

// stagedOtherwise lists the files that have a change in the index, but another content in
// the work tree. A commit would have the index's content.
func (w *workTree) stagedOtherwise(ctx context.Context, head string) ([]string, error) {
	list := func(args ...string) ([]string, error) {
		out, err := w.git.output(ctx, append([]string{"diff", "--name-only", "-z", "--no-ext-diff", "--no-textconv", "--no-renames"}, args...)...)
		return splitNul(out), err
	}
	staged, err := list("--cached", head, "--")
	if err != nil || len(staged) == 0 {
		return nil, err
	}
	edited, err := list("--")
	return slices.DeleteFunc(staged, func(path string) bool {
		_, is := slices.BinarySearch(edited, path)
		return !is
	}), err
}

// maxUnreviewed bounds how many unread files are named for one reason.
const maxUnreviewed = 50

// unreviewed reports files that were not read. The reports don't block the review.
func unreviewed(paths []string, why string) (out []pipeline.Incompleteness) {
	for _, path := range paths[:min(len(paths), maxUnreviewed)] {
		out = append(out, pipeline.Incompleteness{What: "patch", Path: path, Why: why})
	}
	return out
}

// readUntracked makes a patch that adds the file. It leaves out a patch longer than limit.
func readUntracked(root *os.Root, path string, limit int) (raw.ChangedFile, error) {
	f := raw.ChangedFile{Path: path, Status: pipeline.FileAdded}
	file, err := openWorkTree(root, path)
	if err != nil {
		return f, err
	}
	defer file.Close()
	r := &failing{r: file}
	f.Additions, f.Patch, f.Binary = addition(r, limit)
	return f, r.err
}

// addition makes a patch that adds all lines of the text. If the patch exceeds the limit,
// addition only counts the lines.
func addition(r io.Reader, limit int) (lines int, patch string, binary bool) {
	in := bufio.NewReaderSize(r, 64<<10)
	// A short file has fewer bytes, which is fine.
	if probe, _ := in.Peek(binaryProbe); bytes.IndexByte(probe, 0) >= 0 {
		return 0, "", true
	}
	var hunk strings.Builder
	fits, start, last := true, true, byte('\n')
	for {
		part, err := in.ReadSlice('\n')
		if len(part) > 0 {
			last = part[len(part)-1]
			if fits = fits && hunk.Len()+len(part) < limit; fits {
				if start {
					hunk.WriteByte('+')
				}
				hunk.Write(part)
			}
			if start {
				lines++
			}
			start = last == '\n'
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
	}
	if !fits || lines == 0 {
		return lines, "", false
	}
	patch = fmt.Sprintf("@@ -0,0 +%s @@\n%s", wholeRange(lines), hunk.String())
	if last != '\n' {
		patch += "\n\\ No newline at end of file"
	}
	return lines, strings.TrimSuffix(patch, "\n"), false
}

// failing is a reader that keeps the error of a failed read.
type failing struct {
	r   io.Reader
	err error
}

func (f *failing) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		f.err = err
	}
	return n, err
}
