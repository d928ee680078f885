package main

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/reviewgate/reviewgate/pipeline/sample"
)

var update = flag.Bool("update", false, "update the golden parts of the scripts")

func TestMain(m *testing.M) {
	testscript.Main(outsideActions{m}, map[string]func(){"reviewgate": main})
}

// outsideActions hides a job of GitHub Actions that runs the tests: it would change what commands print.
// The programs that scripts start see what the scripts set.
type outsideActions struct{ *testing.M }

func (m outsideActions) Run() int {
	for _, name := range []string{"GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"} {
		if err := os.Unsetenv(name); err != nil {
			panic(err)
		}
	}
	return m.M.Run()
}

// slowScripts run only in the full run.
var slowScripts = []string{"backfill.txtar", "eval.txtar"}

func TestScripts(t *testing.T) {
	params := testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			// The machine's git settings must not matter.
			e.Setenv("GIT_CONFIG_NOSYSTEM", "1")
			e.Setenv("GIT_AUTHOR_NAME", "alice")
			e.Setenv("GIT_AUTHOR_EMAIL", "alice@example.com")
			e.Setenv("GIT_COMMITTER_NAME", "alice")
			e.Setenv("GIT_COMMITTER_EMAIL", "alice@example.com")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "github": github, "model": startModel, "secret": writeSecret, "findingid": findingID, "installhook": installHook},
	}
	if sample.Full() {
		testscript.Run(t, params)
		return
	}
	all, err := filepath.Glob(filepath.Join(params.Dir, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	params.Dir, params.Files = "", sample.Of(t, 8, slices.DeleteFunc(all, func(path string) bool {
		return slices.Contains(slowScripts, filepath.Base(path))
	}))
	t.Logf("%d of %d scripts; -full runs all", len(params.Files), len(all))
	// Compiling rules leaves much garbage, and the compiled rules stay in memory.
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	testscript.RunT(inTurn{t}, params)
}

// exits runs a command and compares its exit code: exits 2 reviewgate ...
// The script's stdout and stderr commands can check the output.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	if err != nil {
		ts.Fatalf("exits: %v", err)
	}
	got, ran := 0, false
	if args[1] == "reviewgate" {
		got, ran = runHere(ts, args[2:])
	}
	if ran {
		compare(ts, got, want)
		return
	}
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("run %s: %v", args[1], err)
		}
		got = exit.ExitCode()
	}
	compare(ts, got, want)
}

func compare(ts *testscript.TestScript, got, want int) {
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}
