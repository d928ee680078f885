package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// inTurn runs scripts one after the other. A script that runs the program within this process
// changes the process's directory and environment.
type inTurn struct{ *testing.T }

func (inTurn) Parallel()     {}
func (inTurn) Verbose() bool { return testing.Verbose() }

func (t inTurn) Run(name string, f func(testscript.T)) {
	t.T.Run(name, func(t *testing.T) { f(inTurn{t}) })
}

// runHere runs the program within this process instead of a new one, and returns the exit
// code. A new process must initialize all packages and compile the shipped rules, which takes
// longer than most scripts' commands. In a full run it does nothing, and ran is false: then
// the caller starts a process.
func runHere(ts *testscript.TestScript, args []string) (code int, ran bool) {
	shell, err := exec.LookPath("sh")
	if sample.Full() || err != nil {
		return 0, false
	}
	// A shell records the environment and the standard input that the script gives a process.
	dir, err := os.MkdirTemp("", "here-")
	ts.Check(err)
	defer os.RemoveAll(dir)
	names := [2]string{filepath.Join(dir, "env"), filepath.Join(dir, "stdin")}
	ts.Check(ts.Exec(shell, "-c", `env -0 > "$0" && cat > "$1"`, names[0], names[1]))
	var given [2]string
	for i, name := range names {
		text, err := os.ReadFile(name)
		ts.Check(err)
		given[i] = string(text)
	}
	back, err := os.Getwd()
	ts.Check(err)
	old := os.Environ()
	defer func() {
		ts.Check(os.Chdir(back))
		become(ts, old)
	}()
	ts.Check(os.Chdir(ts.MkAbs(".")))
	become(ts, strings.Split(strings.TrimSuffix(given[0], "\x00"), "\x00"))
	return execute(context.Background(), args, strings.NewReader(given[1]), ts.Stdout(), ts.Stderr()), true
}

// become replaces this process's environment. A variable that both environments have is
// set at every moment.
func become(ts *testscript.TestScript, env []string) {
	wanted := map[string]bool{}
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		wanted[name] = true
		ts.Check(os.Setenv(name, value))
	}
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); !wanted[name] {
			ts.Check(os.Unsetenv(name))
		}
	}
}
