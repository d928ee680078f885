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

// inTurn runs scripts one after the other: those that run the program within this
// process give it their directory and their environment.
type inTurn struct{ *testing.T }

func (inTurn) Parallel()     {}
func (inTurn) Verbose() bool { return testing.Verbose() }

func (t inTurn) Run(name string, f func(testscript.T)) {
	t.T.Run(name, func(t *testing.T) { f(inTurn{t}) })
}

// runHere runs the program within this process, as a script's process would run
// it, and returns the exit code. Each process compiles the shipped rules and
// makes all packages ready, which takes longer than what most scripts ask of it:
// ran is false where every case is to run, and processes do then.
func runHere(ts *testscript.TestScript, args []string) (code int, ran bool) {
	shell, err := exec.LookPath("sh")
	if sample.Full() || err != nil {
		return 0, false
	}
	// A process tells what the script's would be given.
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

// become takes over an environment. What is the same in both is there throughout.
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
