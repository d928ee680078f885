package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline/needs"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// endless is an input of 100 MB or more that counts the bytes read.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	e.read += len(p)
	return len(p), nil
}

// An input of 100 MB is refused, and the command reads no more of it than the limit.
func TestInputThatIsTooLarge(t *testing.T) {
	for _, tt := range sample.Of(t, 1, []struct {
		command string
		limit   int
	}{{"verdict", 4 << 20}, {"synthesize", 64 << 20}}) {
		command, limit := tt.command, tt.limit
		var in endless
		var stdout, stderr bytes.Buffer
		code := execute(t.Context(), []string{command, "-"}, &in, &stdout, &stderr)
		if want := "standard input: the input is larger than"; code != exitUnusable || !strings.Contains(stderr.String(), want) || stdout.Len() > 0 {
			t.Errorf("%s: exit code %d, %s", command, code, stderr.String())
		}
		if in.read > limit+1<<20 {
			t.Errorf("%s read %d bytes", command, in.read)
		}
		big := filepath.Join(t.TempDir(), "big.json")
		f, err := os.Create(big)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Truncate(100 << 20); err != nil { // takes up no room
			t.Fatal(err)
		}
		f.Close()
		stderr.Reset()
		code = execute(t.Context(), []string{command, big}, strings.NewReader(""), &stdout, &stderr)
		if want := "big.json: the input is larger than"; code != exitUnusable || !strings.Contains(stderr.String(), want) {
			t.Errorf("%s: exit code %d, %s", command, code, stderr.String())
		}
	}
}

// Several files share the limit.
func TestInputsThatAreTooLargeTogether(t *testing.T) {
	dir := t.TempDir()
	var names []string
	for _, name := range []string{"a.json", "b.json"} {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, bytes.Repeat([]byte(" "), 3<<20), 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	var stderr bytes.Buffer
	code := execute(t.Context(), append([]string{"verdict"}, names...), strings.NewReader(""), io.Discard, &stderr)
	if code != exitUnusable || !strings.Contains(stderr.String(), "b.json: the input is larger than 4 MiB in all: shorten it") {
		t.Errorf("exit code %d, %s", code, stderr.String())
	}
}

// Standard error stays short when many findings are dropped.
func TestManyDroppedFindings(t *testing.T) {
	var stdout, stderr bytes.Buffer
	in := `{"agent": "a", "findings": [` + strings.Repeat("{},", 5000) + `{}]}`
	code := execute(t.Context(), []string{"synthesize", "-"}, strings.NewReader(in), &stdout, &stderr)
	if n := strings.Count(stderr.String(), "\n"); code != exitBlocked || n != maxTold+1 || !strings.HasSuffix(stderr.String(), "and 4901 more\n") {
		t.Errorf("exit code %d, %d lines, the last of which %s", code, n, stderr.String()[max(0, stderr.Len()-100):])
	}
	if !strings.Contains(stdout.String(), `"dropped": 5001`) {
		t.Error("the dropped findings are not counted")
	}
}

// silent is an input that sends nothing until the test ends.
type silent struct {
	asked chan struct{}
	once  sync.Once
	ended <-chan struct{}
}

func (s *silent) Read([]byte) (int, error) {
	s.once.Do(func() { close(s.asked) })
	<-s.ended
	return 0, io.EOF
}

// Ctrl-C ends a command that waits for its input.
func TestInterruptedWhileReading(t *testing.T) {
	for _, command := range []string{"synthesize", "verdict", "aggregate"} {
		ended := make(chan struct{})
		in := &silent{asked: make(chan struct{}), ended: ended}
		ctx, interrupt := context.WithCancel(t.Context())
		go func() {
			<-in.asked
			interrupt()
		}()
		var stdout, stderr bytes.Buffer
		code := execute(ctx, []string{command, "-"}, in, &stdout, &stderr)
		if code != exitUnfinished || stderr.String() != "reviewgate: interrupted: run the command again\n" || stdout.Len() > 0 {
			t.Errorf("%s: exit code %d, %s", command, code, stderr.String())
		}
		close(ended)
	}
}

// Ctrl-C also ends commands that run git or a server.
func TestInterrupted(t *testing.T) {
	const want = "reviewgate: interrupted: run the command again\n"
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	for _, args := range [][]string{{"review"}, {"secrets", "allow", "abc", "--reason", "r"}, {"demo", "--once"}} {
		var stdout, stderr bytes.Buffer
		if code := execute(ctx, args, strings.NewReader(""), &stdout, &stderr); code != exitUnfinished || stderr.String() != want {
			t.Errorf("%q: exit code %d, %s", args, code, stderr.String())
		}
	}
}

// The command reports an interruption also if the signal reaches git first.
func TestInterruptedWhileGitRuns(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		needs.Lacks(t, "no sh stands in for git on this machine")
	}
	dir := t.TempDir()
	for _, signal := range []string{"INT", "TERM"} {
		if err := os.WriteFile(filepath.Join(dir, "git"), []byte("#!"+shell+"\nkill -"+signal+" $$\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", dir)
		var stdout, stderr bytes.Buffer
		code := execute(t.Context(), []string{"review"}, strings.NewReader(""), &stdout, &stderr)
		if code != exitUnfinished || stderr.String() != "reviewgate: interrupted: run the command again\n" {
			t.Errorf("SIG%s: exit code %d, %s", signal, code, stderr.String())
		}
	}
}

// A command without files says which files it needs.
func TestNoInput(t *testing.T) {
	for command, what := range map[string]string{"synthesize": "agents' findings", "verdict": "review results"} {
		var stdout, stderr bytes.Buffer
		code := execute(t.Context(), []string{command}, strings.NewReader(""), &stdout, &stderr)
		if want := "reviewgate: name at least one file with " + what + ", or - for standard input\n"; code != exitUnusable || stderr.String() != want {
			t.Errorf("%s: exit code %d, %s", command, code, stderr.String())
		}
	}
}

// An error of any command shows a terminal no control sequences of its arguments.
func TestErrorsHoldNoControlSequences(t *testing.T) {
	t.Chdir(t.TempDir())
	const evil = "a\x1b[31m\u202eb\r"
	for _, args := range [][]string{
		{"review", "--format", evil}, {"review", "--repo", evil}, {"review", "--no" + evil}, {evil}, {"help", evil},
		{"config", "check", evil}, {"config", "apply", "gap", evil}, {"demo", "--config", evil}, {"demo", "--database", evil + "/x"},
		{"eval", evil}, {"synthesize", evil}, {"verdict", evil},
	} {
		var stderr bytes.Buffer
		if code := execute(t.Context(), args, strings.NewReader(""), io.Discard, &stderr); code == exitGood {
			t.Errorf("%q: exit code 0", args)
		}
		if text := stderr.String(); strings.ContainsAny(text, "\x1b\r\u202e") || !strings.Contains(text, `\x1b[31m\u202eb\r`) {
			t.Errorf("%q: the error is %q", args, text)
		}
	}
}
