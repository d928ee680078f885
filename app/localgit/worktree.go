package localgit

import (
	"context"
	"io"
	"io/fs"
	"os"
	"strings"
)

// inWorkTree lists the files of the work tree that ls-files lists with the
// arguments, and opens the root to read them from: it keeps a path from leading
// out of the work tree.
func (s *Source) inWorkTree(ctx context.Context, args ...string) ([]string, *os.Root, error) {
	out, err := s.git.output(ctx, append([]string{"ls-files", "-z", "--others", "--exclude-standard"}, args...)...)
	if err != nil {
		return nil, nil, err
	}
	root, err := os.OpenRoot(s.git.dir)
	return splitNul(out), root, err
}

// openWorkTree opens a file as git would read it: of a symbolic link its
// target. What has no text, such as a socket, is a noFile.
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

// noFile is what stands where a file was expected.
type noFile fs.FileMode

func (n noFile) Error() string { return "it is a " + fs.FileMode(n).String() }
