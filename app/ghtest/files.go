package ghtest

import (
	"fmt"
	"strings"
	"time"
)

// Files is a change to a tree: contents by path. A value made by Executable, Symlink,
// Submodule or MovedFrom creates such an entry, and Gone deletes the file.
type Files map[string]string

// These marks distinguish values that are not plain contents. They start with a NUL, so that
// no text matches them. A binary file that starts like one can't be written.
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

// signature is a committer with the time of the commit.
type signature struct {
	Name, Email string
	When        time.Time
}

func (s signature) String() string {
	return fmt.Sprintf("%s <%s> %d +0000", s.Name, s.Email, s.When.Unix())
}

// commit returns git's description of a commit with the signature, without asking git. It
// lacks the SHA.
func (s signature) commit(tree, message string, parents ...string) commit {
	when := time.Unix(s.When.Unix(), 0).UTC()
	return commit{
		Tree: tree, Parents: parents, Message: strings.TrimRight(message, "\n"),
		Name: s.Name, Email: s.Email, AuthoredAt: when, Committer: s.Name, CEmail: s.Email, CommittedAt: when,
	}
}

// commitFiles commits a change on top of parent, or as a first commit if parent is empty. No
// git ref points to the commit, because no garbage is collected here.
func (g *git) commitFiles(parent string, files Files, message string, who signature) (string, error) {
	base := ""
	var parents []string
	if parent != "" {
		c, err := g.objects.commit(parent)
		if err != nil {
			return "", err
		}
		base, parents = c.Tree, []string{parent}
	}
	root, err := g.objects.open(base)
	if err != nil {
		return "", err
	}
	if err := root.apply(files); err != nil {
		return "", err
	}
	tree, err := root.save(true)
	if err != nil {
		return "", err
	}
	return g.putCommit(who.commit(tree, message, parents...), who, message), nil
}

// putCommit writes a commit and returns its SHA.
func (g *git) putCommit(c commit, who signature, message string) string {
	raw := fmt.Appendf(nil, "tree %s\n", c.Tree)
	for _, parent := range c.Parents {
		raw = fmt.Appendf(raw, "parent %s\n", parent)
	}
	raw = fmt.Appendf(raw, "author %s\ncommitter %s\n\n%s", who, who, message)
	c = g.objects.putCommit(c, raw)
	g.history.learn(c)
	return c.SHA
}
