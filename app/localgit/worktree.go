package localgit

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline/raw"
)

// workTree reads the files of a work tree.
type workTree struct{ git *git }

// list lists the untracked files of the work tree. The arguments of ls-files can add
// tracked files or restrict the paths. It also opens the root to read them from: through
// the root, no path can lead out of the work tree.
func (w *workTree) list(ctx context.Context, args ...string) ([]string, *os.Root, error) {
	out, err := w.git.output(ctx, append([]string{"ls-files", "-z", "--others", "--exclude-standard"}, args...)...)
	if err != nil {
		return nil, nil, err
	}
	root, err := os.OpenRoot(w.git.dir)
	return splitNul(out), root, err
}

// read reads the first bytes of a file, up to most. A path that is not a file has no text.
func (w *workTree) read(path string, most int64) ([]byte, error) {
	root, err := os.OpenRoot(w.git.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return readWorkTree(root, path, most)
}

func readWorkTree(root *os.Root, path string, most int64) ([]byte, error) {
	file, err := openWorkTree(root, path)
	switch {
	case errors.As(err, new(noFile)):
		return nil, nil
	case err != nil:
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, most))
}

func (w *workTree) executable(path string) (bool, error) {
	root, err := os.OpenRoot(w.git.dir)
	if err != nil {
		return false, err
	}
	defer root.Close()
	info, err := root.Lstat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o100 != 0, err
}

// findEmpty marks the files that have no content: in a work tree, git does not know the
// SHAs of all contents.
func (w *workTree) findEmpty(files []raw.ChangedFile) error {
	root, err := os.OpenRoot(w.git.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for i := range files {
		if f := &files[i]; f.Patch == "" && !f.Binary {
			info, err := root.Lstat(f.Path)
			f.Empty = err == nil && info.Mode().IsRegular() && info.Size() == 0
		}
	}
	return nil
}

// openWorkTree opens a file as git would read it: the content of a symbolic link is its
// target. The error is a noFile for paths without a text, such as sockets.
func openWorkTree(root *os.Root, name string) (io.ReadCloser, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := root.Readlink(name)
		return io.NopCloser(strings.NewReader(target)), err
	}
	if !info.Mode().IsRegular() {
		return nil, noFile(info.Mode().Type())
	}
	return root.Open(name)
}

// noFile is the type of a path that is not a file.
type noFile fs.FileMode

func (n noFile) Error() string { return "it is a " + fs.FileMode(n).String() }
