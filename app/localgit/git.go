package localgit

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

const (
	// maxOutput bounds the output of a git command, in bytes. Diffs are streamed and
	// have limits of their own.
	maxOutput = 64 << 20
	maxStderr = 4 << 10
	// killDelay is how long git's child processes may take to end after git.
	killDelay = 2 * time.Second
)

// git runs git commands in one repository.
type git struct {
	dir       string
	env       []string
	memory    int64  // that each process may take, in bytes; 0 is any amount
	emptyTree string // its SHA, if the index is read
}

// global are the options before every subcommand. Each keeps git from running a
// program, or fixes an output format that the repository's config could change.
var global = []string{
	"--no-pager", "--no-replace-objects", "--literal-pathspecs",
	"-c", "core.fsmonitor=false",
	"-c", "core.hooksPath=" + os.DevNull,
	"-c", "core.quotePath=true",
	"-c", "diff.external=",
	"-c", "diff.autoRefreshIndex=false", // don't write the index
	"-c", "diff.suppressBlankEmpty=false",
	"-c", "log.showSignature=false",
	"-c", "gc.auto=0",
	"-c", "maintenance.auto=false",
}

func newGit(ctx context.Context, dir string) (*git, error) {
	g := &git{dir: dir, env: environment(os.Environ())}
	// Git would run filters to compare the work tree with a commit. Listing them
	// runs nothing.
	out, err := g.output(ctx, "config", "--null", "--name-only", "--get-regexp", `^filter\..*\.(clean|smudge|process|required)$`)
	if code, ok := exitCode(err); ok && code == 1 { // no filter is configured
		return g, nil
	}
	if err != nil {
		return nil, err
	}
	g.env = append(g.env, withoutFilters(splitNul(out))...)
	return g, nil
}

// environment drops every variable that could make git use another repository, config
// or program.
func environment(env []string) []string {
	kept := make([]string, 0, len(env))
	for _, v := range env {
		if !strings.HasPrefix(strings.ToUpper(v), "GIT_") {
			kept = append(kept, v)
		}
	}
	return append(kept,
		"LC_ALL=C", "LANGUAGE=", // errors are told apart by their words
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", // a partial clone would fetch
		"GIT_ATTR_NOSYSTEM=1",
	)
}

// withoutFilters returns variables that set each of the named settings to "". It can't
// use the command line, where a name can't have a "=".
func withoutFilters(names []string) []string {
	env := []string{fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(names))}
	for i, name := range names {
		value := ""
		if strings.HasSuffix(name, ".required") {
			value = "false"
		}
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, name), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, value))
	}
	return env
}

func (g *git) command(ctx context.Context, args []string) (*exec.Cmd, *head) {
	cmd := exec.CommandContext(ctx, "git", append(append([]string{}, global...), args...)...)
	cmd.Dir = g.dir
	cmd.Env = g.env
	stderr := &head{}
	cmd.Stderr = stderr
	return cmd, stderr
}

// output runs git and returns what it prints.
func (g *git) output(ctx context.Context, args ...string) ([]byte, error) {
	var out []byte
	err := g.stream(ctx, func(r io.Reader) error {
		var err error
		if out, err = io.ReadAll(io.LimitReader(r, maxOutput+1)); err == nil && len(out) > maxOutput {
			err = fmt.Errorf("git %s printed more than %d MB", args[0], maxOutput>>20)
		}
		return err
	}, args...)
	return out, err
}

// line returns the one line that git prints.
func (g *git) line(ctx context.Context, args ...string) (string, error) {
	out, err := g.output(ctx, args...)
	return strings.TrimSuffix(string(out), "\n"), err
}

// errEnough ends a stream before its end.
var errEnough = errors.New("enough was read")

// stream runs git and lets read read its output. If read fails, stream stops git.
func (g *git) stream(ctx context.Context, read func(io.Reader) error, args ...string) error {
	return g.streamFrom(ctx, nil, read, args...)
}

// streamFrom is like stream, with an input for git.
func (g *git) streamFrom(ctx context.Context, input io.Reader, read func(io.Reader) error, args ...string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd, stderr := g.command(ctx, args)
	cmd.Stdin = input
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = g.start(cmd)
	}
	if err != nil {
		return fmt.Errorf("run git: %w", err)
	}
	readErr := read(out)
	if readErr != nil {
		cancel()
	}
	err = cmd.Wait()
	switch {
	case errors.Is(readErr, errEnough):
		return nil
	case readErr != nil:
		return readErr
	case err != nil:
		return &gitError{command: args[0], stderr: stderr.String(), err: err}
	}
	return nil
}

// feed runs git with an input, and discards the output.
func (g *git) feed(ctx context.Context, input io.Reader, args ...string) error {
	cmd, stderr := g.command(ctx, args)
	cmd.Stdin = input
	endTogether(cmd)
	// Git's child processes may still outlive git and keep its output open.
	cmd.WaitDelay = killDelay
	runtime.LockOSThread() // see endWithParent
	defer runtime.UnlockOSThread()
	err := g.start(cmd)
	if err == nil {
		err = cmd.Wait()
	}
	if err != nil {
		return &gitError{command: args[0], stderr: stderr.String(), err: err}
	}
	return nil
}

// start starts a command and then limits its memory. Until then the command has read
// nothing that could take much memory.
func (g *git) start(cmd *exec.Cmd) error {
	err := cmd.Start()
	if err != nil || g.memory == 0 {
		return err
	}
	if err = limitMemory(cmd.Process.Pid, g.memory); errors.Is(err, syscall.ESRCH) {
		return nil // it has ended already
	}
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		return fmt.Errorf("limit git's memory: %w", err)
	}
	return nil
}

// gitError is a failure that git reported.
type gitError struct {
	command string
	stderr  string
	err     error
}

func (e *gitError) Error() string {
	text := strings.TrimPrefix(strings.TrimSpace(e.stderr), "fatal: ")
	return fmt.Sprintf("git %s: %s", e.command, cmp.Or(text, e.err.Error()))
}

func (e *gitError) Unwrap() error { return e.err }

func exitCode(err error) (int, bool) {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), true
	}
	return 0, false
}

// stderrHas reports whether git's error output contains the words.
func stderrHas(err error, words string) bool {
	var g *gitError
	return errors.As(err, &g) && strings.Contains(g.stderr, words)
}

// head is a writer that keeps only the beginning.
type head struct{ buf bytes.Buffer }

func (h *head) Write(p []byte) (int, error) {
	if room := maxStderr - h.buf.Len(); room > 0 {
		h.buf.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func (h *head) String() string { return h.buf.String() }

// splitNul splits the output of git with -z.
func splitNul(out []byte) []string {
	text := strings.TrimSuffix(string(out), "\x00")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\x00")
}
