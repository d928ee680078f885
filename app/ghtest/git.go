package ghtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// git is the object store of a repository and of its forks. They share it as on GitHub, so a
// fork's commits can be read through the repository that it was forked from. Objects read by
// SHA never change and are cached.
type git struct {
	ctx context.Context
	dir string

	write sync.Mutex // one writer at a time

	disk  sync.Mutex // guards dir
	there bool       // whether dir holds anything

	mu        sync.Mutex
	objects   map[string]gitObject // objects that were put here, by SHA
	unwritten []string             // those of them that are not in dir
	outside   bool                 // whether git may have other objects
	cache     map[string]any
	made      map[string]made // commits written by this process
	forgot    map[string]bool // commits that can no longer be found by their SHA
}

func newGit(ctx context.Context, dir string) *git {
	return &git{ctx: ctx, dir: dir, objects: map[string]gitObject{}, cache: map[string]any{}, made: map[string]made{}, forgot: map[string]bool{}}
}

// gitError is a git command that failed.
type gitError struct {
	args   []string
	code   int
	stderr string
}

func (e *gitError) Error() string {
	return fmt.Sprintf("git %s: exit status %d: %s", strings.Join(e.args, " "), e.code, strings.TrimSpace(e.stderr))
}

// run runs git with all objects that exist by now.
func (g *git) run(args ...string) ([]byte, error) {
	if err := g.sync(); err != nil {
		return nil, err
	}
	cmd := gitCommand(g.ctx, append([]string{"--git-dir=" + g.dir, "-c", "core.quotePath=false"}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return out, &gitError{args: args, code: exit.ExitCode(), stderr: stderr.String()}
	}
	if err != nil {
		return nil, fmt.Errorf("run git %s: %w", args[0], err)
	}
	return out, nil
}

// findGit finds git once, so that a test may remove it from the PATH of the code under test.
var findGit = sync.OnceValues(func() (string, error) { return exec.LookPath("git") })

// gitCommand is a command of git.
func gitCommand(ctx context.Context, args ...string) *exec.Cmd {
	program, err := findGit()
	if err != nil {
		program = "git" // running it gives the same error
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = gitEnv()
	return cmd
}

// gitEnv is the environment of git without variables that point it to another repository, as
// within a hook, and without the user's configuration.
func gitEnv() []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_") })
	return append(env, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_NO_LAZY_FETCH=1", "LC_ALL=C")
}

// keep returns the cached value of key, or makes and caches it. Failures are not cached,
// because a missing object may be pushed later.
func keep[T any](g *git, key string, make func() (T, error)) (T, error) {
	g.mu.Lock()
	v, ok := g.cache[key]
	g.mu.Unlock()
	if ok {
		return v.(T), nil
	}
	made, err := make()
	if err != nil {
		return made, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.cache[key] = made
	return made, nil
}

// commit is one commit's metadata.
type commit struct {
	SHA, Tree         string
	Parents           []string
	Name, Email       string
	AuthoredAt        time.Time
	Committer, CEmail string
	CommittedAt       time.Time
	Message           string
}

const commitFormat = "%H%x00%T%x00%P%x00%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI%x00%B%x00%x01"

func parseCommits(out []byte) ([]commit, error) {
	var commits []commit
	for record := range strings.SplitSeq(string(out), "\x00\x01") {
		record = strings.TrimLeft(record, "\n")
		if record == "" {
			continue
		}
		f := strings.Split(record, "\x00")
		if len(f) != 10 {
			return nil, fmt.Errorf("read git log: %d fields instead of 10", len(f))
		}
		c := commit{SHA: f[0], Tree: f[1], Parents: strings.Fields(f[2]), Name: f[3], Email: f[4], Committer: f[6], CEmail: f[7], Message: strings.TrimRight(f[9], "\n")}
		var err1, err2 error
		c.AuthoredAt, err1 = time.Parse(time.RFC3339, f[5])
		c.CommittedAt, err2 = time.Parse(time.RFC3339, f[8])
		if err := errors.Join(err1, err2); err != nil {
			return nil, fmt.Errorf("read git log: %w", err)
		}
		commits = append(commits, c)
	}
	return commits, nil
}

// commit returns the commit of a full SHA, unless it has been forgotten.
func (g *git) commit(sha string) (commit, error) {
	g.mu.Lock()
	forgotten := g.forgot[sha]
	g.mu.Unlock()
	if forgotten {
		return commit{}, fmt.Errorf("%s is not a commit any more", sha)
	}
	return g.stored(sha)
}

// stored returns the commit of a full SHA, forgotten or not.
func (g *git) stored(sha string) (commit, error) {
	return keep(g, "commit "+sha, func() (commit, error) {
		if !isSHA(sha) {
			return commit{}, fmt.Errorf("%q is not a commit SHA", sha)
		}
		if err := g.elsewhere(sha); err != nil {
			return commit{}, err
		}
		out, err := g.run("log", "-1", "--no-show-signature", "--format="+commitFormat, sha, "--")
		if err != nil {
			return commit{}, err
		}
		commits, err := parseCommits(out)
		if err != nil {
			return commit{}, err
		}
		if len(commits) != 1 || commits[0].SHA != sha {
			return commit{}, fmt.Errorf("%s is not a commit", sha)
		}
		return commits[0], nil
	})
}

// errOldGit means that git can't merge without a work tree.
var errOldGit = errors.New("merging branches that have diverged needs git 2.38 or newer")

// mergeTree returns the tree of the merge of b into a. ok is false if they conflict. It fails
// with errOldGit if git can't tell.
func (g *git) mergeTree(a, b string) (tree string, ok bool, err error) {
	if ahead, err := g.contains(b, a); err != nil || ahead {
		c, err2 := g.stored(b)
		return c.Tree, true, errors.Join(err, err2)
	}
	tree, err = keep(g, "merge-tree "+a+" "+b, func() (string, error) {
		if tree, plain, err := g.mergePlainly(a, b); plain || err != nil {
			return tree, err
		}
		return g.askMergeTree(a, b)
	})
	return tree, tree != "", err
}

// askMergeTree asks git for the tree of a merge. The result is empty if there are conflicts.
func (g *git) askMergeTree(a, b string) (string, error) {
	g.lookOutside()
	out, err := g.run("merge-tree", "--write-tree", "--allow-unrelated-histories", a, b)
	if failed, isGit := errors.AsType[*gitError](err); isGit {
		switch failed.code {
		case 1:
			return "", nil
		case 129: // usage
			return "", errOldGit
		}
	}
	tree, _, _ := strings.Cut(string(out), "\n")
	return tree, err
}

// mergeCommit commits the merge of two commits.
func (g *git) mergeCommit(a, b, message string, when time.Time) (string, error) {
	tree, ok, err := g.mergeTree(a, b)
	if err != nil {
		return "", err
	}
	if !ok {
		return "", fmt.Errorf("merge %s into %s: they conflict", b, a)
	}
	who := signature{Name: "GitHub", Email: "noreply@github.com", When: when}
	g.write.Lock()
	defer g.write.Unlock()
	return g.putCommit(who.commit(tree, message, a, b), who, message+"\n"), nil
}

// entry is one entry of a tree.
type entry struct {
	Mode, Type, SHA, Path string
	Size                  int // of a blob
}

// tree lists a tree or a commit's tree. recursive includes the trees below.
func (g *git) tree(treeish string, recursive bool) ([]entry, error) {
	return keep(g, fmt.Sprintf("tree %s %t", treeish, recursive), func() ([]entry, error) {
		if o, there := g.object(treeish); there && (o.kind == "commit" || recursive) {
			return g.walk(treeish, o, recursive)
		}
		if err := g.elsewhere(treeish); err != nil && treeish != emptyTree {
			return nil, err
		}
		args := []string{"ls-tree", "-z", "-l"}
		if recursive {
			args = append(args, "-r", "-t")
		}
		out, err := g.run(append(args, treeish)...)
		if err != nil {
			return nil, err
		}
		return parseTree(out)
	})
}

// walk lists a tree that was put here, or the tree of a commit. It keeps git's order, in
// which a folder comes before its contents.
func (g *git) walk(treeish string, o gitObject, recursive bool) ([]entry, error) {
	switch o.kind {
	case "commit":
		c, err := g.stored(treeish)
		if err != nil {
			return nil, err
		}
		return g.tree(c.Tree, recursive)
	case "blob":
		return nil, fmt.Errorf("%s is a file", treeish)
	}
	entries, err := g.tree(treeish, false)
	if err != nil {
		return nil, err
	}
	var all []entry
	for _, e := range entries {
		all = append(all, e)
		if e.Type != "tree" {
			continue
		}
		below, err := g.tree(e.SHA, true)
		if err != nil {
			return nil, err
		}
		for _, sub := range below {
			sub.Path = e.Path + "/" + sub.Path
			all = append(all, sub)
		}
	}
	return all, nil
}

// lookup returns the entry of a path in a commit; ok is false if there is none.
func (g *git) lookup(commitSHA, path string) (e entry, ok bool, err error) {
	c, err := g.stored(commitSHA)
	if err != nil {
		return entry{}, false, err
	}
	e = entry{Type: "tree", SHA: c.Tree}
	for name := range strings.SplitSeq(path, "/") {
		if e.Type != "tree" {
			return entry{}, false, nil
		}
		entries, err := g.tree(e.SHA, false)
		if err != nil {
			return entry{}, false, err
		}
		n := slices.IndexFunc(entries, func(e entry) bool { return e.Path == name })
		if n < 0 {
			return entry{}, false, nil
		}
		e = entries[n]
	}
	e.Path = path
	return e, true, nil
}

func parseTree(out []byte) ([]entry, error) {
	var entries []entry
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if line == "" {
			continue
		}
		meta, path, ok := strings.Cut(line, "\t")
		f := strings.Fields(meta)
		if !ok || len(f) != 4 {
			return nil, fmt.Errorf("read git ls-tree: strange line %q", line)
		}
		e := entry{Mode: f[0], Type: f[1], SHA: f[2], Path: path}
		if f[3] != "-" {
			size, err := strconv.Atoi(f[3])
			if err != nil {
				return nil, fmt.Errorf("read git ls-tree: %w", err)
			}
			e.Size = size
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// blob returns a blob's bytes.
func (g *git) blob(sha string) ([]byte, error) {
	if o, there := g.object(sha); there && o.kind == "blob" {
		return o.data, nil
	}
	return keep(g, "blob "+sha, func() ([]byte, error) {
		if !isSHA(sha) {
			return nil, fmt.Errorf("%q is not a blob SHA", sha)
		}
		if err := g.elsewhere(sha); err != nil {
			return nil, err
		}
		return g.run("cat-file", "blob", sha)
	})
}

// kind returns the type of the object with a full SHA.
func (g *git) kind(sha string) (string, error) {
	if o, there := g.object(sha); there {
		return o.kind, nil
	}
	return keep(g, "kind "+sha, func() (string, error) {
		if !isSHA(sha) {
			return "", fmt.Errorf("%q is not a SHA", sha)
		}
		if err := g.elsewhere(sha); err != nil {
			return "", err
		}
		out, err := g.run("cat-file", "-t", sha)
		return strings.TrimSpace(string(out)), err
	})
}

// borrow makes the objects of another repository on this machine readable here, without
// copying them, and resolves revisions of it.
func (g *git) borrow(dir string, revs ...string) ([]string, error) {
	there := func(args ...string) ([]byte, error) {
		cmd := gitCommand(g.ctx, append([]string{"-C", dir, "rev-parse"}, args...)...)
		return cmd.Output()
	}
	objects, err := there("--path-format=absolute", "--git-path", "objects")
	if err != nil {
		return nil, fmt.Errorf("find the objects of %s: %w", dir, err)
	}
	shas := make([]string, len(revs))
	for i, rev := range revs {
		out, err := there("--verify", "--end-of-options", rev+"^{commit}")
		if err != nil {
			return nil, fmt.Errorf("resolve %s in %s: %w", rev, dir, err)
		}
		shas[i] = strings.TrimSpace(string(out))
	}
	if err := g.sync(); err != nil {
		return nil, err
	}
	g.lookOutside()
	g.disk.Lock()
	defer g.disk.Unlock()
	path := filepath.Join(g.dir, "objects", "info", "alternates")
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("borrow the objects of %s: %w", dir, err)
	}
	_, err = f.Write(objects)
	return shas, errors.Join(err, f.Close())
}

// isSHA reports whether s is a full object name.
func isSHA(s string) bool {
	if len(s) != 40 {
		return false
	}
	return strings.Trim(s, "0123456789abcdef") == ""
}
