package main

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

// patience bounds every wait. It is long, because a busy machine is no fault.
const patience = 5 * time.Minute

// serveFor runs the server with the script's environment until the script ends.
func serveFor(ts *testscript.TestScript) {
	var env []string
	for _, name := range []string{
		"PATH", "HOME", "TMPDIR", "GITHUB_APP_INTEGRATION_ID", "GITHUB_APP_PRIVATE_KEY_FILE", "GITHUB_APP_WEBHOOK_SECRET",
		"GITHUB_V3_API_URL", "GITHUB_V4_API_URL", "REVIEWGATE_DATABASE_URL",
	} {
		env = append(env, name+"="+ts.Getenv(name))
	}
	bin, err := exec.LookPath("reviewgate")
	ts.Check(err)
	_, stop, err := serveBinary(bin, append(env, "REVIEWGATE_ADDR=127.0.0.1:0"))
	ts.Check(err)
	ts.Defer(func() { ts.Check(stop()) })
}

var servesAt = regexp.MustCompile(`"addr":"([^"]+)"`)

// serveBinary starts a server and returns when it serves.
func serveBinary(bin string, env []string) (addr string, stop func() error, err error) {
	cmd := exec.Command(bin, "serve")
	cmd.Env = env
	log, err := cmd.StderrPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	ready := make(chan string, 1)
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		lines := bufio.NewScanner(log)
		for lines.Scan() {
			if m := servesAt.FindStringSubmatch(lines.Text()); m != nil && len(ready) == 0 {
				ready <- m[1]
			}
		}
		close(ready)
	}()
	stop = func() error {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			return err
		}
		<-drained
		return cmd.Wait()
	}
	select {
	case addr = <-ready:
		if addr != "" {
			return addr, stop, nil
		}
		return "", nil, errors.Join(errors.New("the server ended"), cmd.Wait())
	case <-time.After(patience):
		return "", nil, errors.Join(errors.New("the server did not start in time"), stop())
	}
}

// githubs holds the stand-ins of the running scripts.
var githubs sync.Map // *scripted by work directory

type scripted struct {
	*ghtest.Server
	ago   atomic.Int64          // how long GitHub's clock is behind, in nanoseconds
	pulls []*ghtest.PullRequest // in their order
}

// github is a command of scripts. It starts and uses a stand-in for GitHub with a repository
// acme/shop, and sets the environment for it.
//
//	github            starts it
//	github open FILE  opens a pull request with the file, two hours ago: before
//	                  the App was installed
//	github quiet      fails if a command wrote anything to it
//	github serve      starts reviewgate serve and waits until it is ready
//	github reviewed N waits until pull request N has a completed check
func github(ts *testscript.TestScript, _ bool, args []string) {
	work := ts.Getenv("WORK")
	if len(args) == 0 {
		s := new(scripted)
		gh, err := ghtest.New(ghtest.Options{Fail: ts.Fatalf, Now: func() time.Time { return time.Now().Add(-time.Duration(s.ago.Load())) }})
		ts.Check(err)
		s.Server = gh
		ts.Defer(func() { ts.Check(gh.Close()) })
		githubs.Store(work, s)
		gh.Repo("acme/shop").Commit("main", ghtest.Files{"README.md": "# shop\n"}, "start")
		key := ts.MkAbs("app.pem")
		ts.Check(os.WriteFile(key, gh.AppPrivateKeyPEM(), 0o600))
		for name, value := range map[string]string{
			"GITHUB_APP_INTEGRATION_ID":   strconv.FormatInt(gh.AppID(), 10),
			"GITHUB_APP_PRIVATE_KEY_FILE": key,
			"GITHUB_APP_WEBHOOK_SECRET":   "script-secret",
			"GITHUB_V3_API_URL":           gh.URL + "/api/v3/",
			"GITHUB_V4_API_URL":           gh.URL + "/api/graphql",
			"REVIEWGATE_DATABASE_URL":     "sqlite://" + ts.MkAbs("reviewgate.db"),
		} {
			ts.Setenv(name, value)
		}
		return
	}
	at, ok := githubs.Load(work)
	if !ok {
		ts.Fatalf("start github first")
	}
	gh := at.(*scripted)
	switch args[0] {
	case "open":
		// The App gets no webhooks of what happened before it was installed.
		gh.Uninstall("acme")
		gh.ago.Store(int64(2 * time.Hour))
		files := ghtest.Files{args[1]: ts.ReadFile(args[1])}
		gh.pulls = append(gh.pulls, gh.Repo("acme/shop").OpenPR(ghtest.PR{Head: args[1], Files: files}))
		gh.ago.Store(0)
		gh.Install("acme")
	case "quiet":
		if writes := gh.Calls.Writes(); len(writes) != 0 {
			ts.Fatalf("written: %v", writes)
		}
	case "serve":
		serveFor(ts)
	case "reviewed":
		number, err := strconv.Atoi(args[1])
		ts.Check(err)
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		ts.Check(gh.WaitFor(ctx, func() bool {
			return slices.ContainsFunc(gh.pulls[number-1].CheckRuns(), ghtest.CheckRun.Completed)
		}))
	default:
		ts.Fatalf("unknown command: github %s", args[0])
	}
}
