package ghtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
)

// git is the git repository behind a repository and its forks. They share it as on GitHub, so
// a fork's commits can be read through the repository that it was forked from. Its own methods
// create commits.
type git struct {
	objects *objectStore
	history *history
	diffs   *diffs
}

func newGit(ctx context.Context, dir string) *git {
	objects := &objectStore{ctx: ctx, dir: dir, bySHA: map[string]gitObject{}}
	return &git{
		objects: objects,
		history: &history{objects: objects, made: map[string]ownCommit{}, forgot: map[string]bool{}},
		diffs:   &diffs{objects: objects},
	}
}

// pullDiff returns the diff that a pull request from head to base shows: from their merge base
// to head.
func (g *git) pullDiff(base, head string) (*diff, error) {
	from, err := g.history.mergeBase(base, head)
	if err != nil {
		return nil, err
	}
	return g.diffs.between(from, head)
}

// warm asks git about a pull request's change, so that the answers are known when they are
// needed with the Server's lock held. A failure shows when git is asked again.
func (g *git) warm(base, head string) {
	_, _ = g.pullDiff(base, head)
	_, _ = g.history.commits(base, head)
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

// isSHA reports whether s is a full object name.
func isSHA(s string) bool {
	if len(s) != 40 {
		return false
	}
	return strings.Trim(s, "0123456789abcdef") == ""
}
