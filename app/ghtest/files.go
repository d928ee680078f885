package ghtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Files is a change to a tree: contents by path. A value made by Executable,
// Symlink, Submodule or MovedFrom stands for that, and Gone for a deletion.
type Files map[string]string

// The marks of values that are no plain contents. A NUL in front keeps them
// apart from any text; a binary file that begins like one can't be written.
const (
	markExecutable = "\x00ghtest:executable\x00"
	markSymlink    = "\x00ghtest:symlink\x00"
	markSubmodule  = "\x00ghtest:submodule\x00"
	markMoved      = "\x00ghtest:moved\x00"
)

// Gone deletes the file.
const Gone = "\x00ghtest:gone\x00"

// Executable is a file with mode 755.
func Executable(content string) string { return markExecutable + content }

// Symlink is a symbolic link.
func Symlink(target string) string { return markSymlink + target }

// Submodule is a submodule at a commit of another repository.
func Submodule(sha string) string { return markSubmodule + sha }

// MovedFrom is the file or directory that was at another path.
func MovedFrom(path string) string { return markMoved + path }

// signature is who commits, and when.
type signature struct {
	Name, Email string
	When        time.Time
}

func (s signature) String() string {
	return fmt.Sprintf("%s <%s> %d +0000", s.Name, s.Email, s.When.Unix())
}

// commitFiles commits a change on top of parent, or as a first commit where
// parent is empty, and points ref at it.
func (g *git) commitFiles(ref, parent string, files Files, message string, who signature) (string, error) {
	var in strings.Builder
	// A ref of its own, so that fast-import has no say about where ref may go.
	const scratch = "refs/ghtest/scratch"
	fmt.Fprintf(&in, "feature done\ncommit %s\nmark :1\nauthor %s\ncommitter %s\ndata %d\n%s\n", scratch, who, who, len(message), message)
	if parent != "" {
		fmt.Fprintf(&in, "from %s\n", parent)
	}
	// Moves come first: what they leave behind may be written anew.
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if from, ok := strings.CutPrefix(files[path], markMoved); ok {
			fmt.Fprintf(&in, "R %s %s\n", quotePath(from), quotePath(path))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		writeFile(&in, path, files[path])
	}
	fmt.Fprintf(&in, "\nget-mark :1\ndone\n")

	g.write.Lock()
	defer g.write.Unlock()
	out, err := g.feed([]byte(in.String()), "fast-import", "--quiet", "--force", "--date-format=raw", "--done", "--cat-blob-fd=1")
	if err != nil {
		return "", err
	}
	sha := strings.TrimSpace(string(out))
	if !isSHA(sha) {
		return "", fmt.Errorf("git fast-import answered %q instead of a commit", sha)
	}
	_, err = g.feed([]byte("update "+ref+" "+sha+"\ndelete "+scratch+"\n"), "update-ref", "--stdin")
	return sha, err
}

func writeFile(in *strings.Builder, path, content string) {
	mode := "100644"
	for mark, marked := range map[string]string{markExecutable: "100755", markSymlink: "120000"} {
		if rest, ok := strings.CutPrefix(content, mark); ok {
			mode, content = marked, rest
		}
	}
	switch {
	case content == Gone:
		fmt.Fprintf(in, "D %s\n", quotePath(path))
	case strings.HasPrefix(content, markMoved):
	case strings.HasPrefix(content, markSubmodule):
		fmt.Fprintf(in, "M 160000 %s %s\n", strings.TrimPrefix(content, markSubmodule), quotePath(path))
	default:
		fmt.Fprintf(in, "M %s inline %s\ndata %d\n%s\n", mode, quotePath(path), len(content), content)
	}
}

// quotePath writes a path as fast-import reads it: C-style, any byte.
func quotePath(path string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(path) {
		switch c := path[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
