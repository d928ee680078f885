package localgit

import (
	"context"
	"io"
	"io/fs"
	"os"
	"strings"
)

// inWorkTree lists the untracked files of the work tree. The arguments of ls-files can add
// tracked files or restrict the paths. It also opens the root to read them from: through
// the root, no path can lead out of the work tree.
func (g *git) inWorkTree(ctx context.Context, args ...string) ([]string, *os.Root, error) {
	out, err := g.output(ctx, append([]string{"ls-files", "-z", "--others", "--exclude-standard"}, args...)...)
	if err != nil {
		return nil, nil, err
	}
	root, err := os.OpenRoot(g.dir)
	return splitNul(out), root, err
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
