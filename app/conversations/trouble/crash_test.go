package trouble

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// child is a server process.
type child struct {
	t        *testing.T
	settings app.Settings
	log      *os.File
	cmd      *exec.Cmd
}

func newChild(t *testing.T, gh *ghtest.Server) *child {
	t.Helper()
	dir := t.TempDir()
	l, err := net.Listen("tcp", "127.0.0.1:0") // a port that is free, and stays the same over restarts
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	c := &child{t: t, log: log, settings: app.Settings{
		AppID: gh.AppID(), PrivateKey: gh.AppPrivateKeyPEM(), WebhookSecrets: [][]byte{[]byte(apptest.Secret)},
		V3URL: gh.URL + "/api/v3/", V4URL: gh.URL + "/api/graphql", WebURL: "https://github.test",
		Addr: addr, DatabaseURL: apptest.Database(t),
	}}
	gh.SetWebhook("http://"+addr+app.HookPath, apptest.Secret)
	t.Cleanup(func() {
		c.kill()
		log.Close()
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("the server's log:\n%s", text)
		}
	})
	return c
}

// start starts the process and returns once it is ready.
func (c *child) start() {
	c.t.Helper()
	text, err := json.Marshal(c.settings)
	if err != nil {
		c.t.Fatal(err)
	}
	c.cmd = exec.Command(os.Args[0])
	c.cmd.Env = append(os.Environ(), apptest.ServerEnv+"="+string(text), "GOGC=400")
	c.cmd.Stderr = c.log
	if err := c.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	deadline := time.Now().Add(apptest.Patience)
	for time.Now().Before(deadline) {
		if resp, err := http.Get("http://" + c.settings.Addr + "/readyz"); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	c.t.Fatalf("the server is not ready after %s", apptest.Patience)
}

// idle waits until every ask is answered and no job waits or runs.
func (c *child) idle() {
	c.t.Helper()
	done := []string{"reviewgate_queue_waiting 0", "reviewgate_queue_running 0", "reviewgate_queue_later 0", "reviewgate_oldest_unanswered_seconds 0"}
	deadline := time.Now().Add(apptest.Patience)
	var text string
	for time.Now().Before(deadline) {
		if resp, err := http.Get("http://" + c.settings.Addr + "/metrics"); err == nil {
			b, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			text = string(b)
		}
		if !slices.ContainsFunc(done, func(line string) bool { return !strings.Contains(text, "\n"+line+"\n") }) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	c.t.Fatalf("the server is not idle after %s:\n%s", apptest.Patience, text)
}

// kill ends the process as kill -9 does: nothing in it can react.
func (c *child) kill() {
	if c.cmd != nil {
		c.cmd.Process.Kill()
		c.cmd.Wait()
		c.cmd = nil
	}
}

// request is one to GitHub.
type request struct {
	route   string
	nth     int  // of the route, from 1
	applied bool // whether it takes effect
}

func (r request) String() string {
	return fmt.Sprintf("%s %d, applied %v", strings.ReplaceAll(r.route, "/", "-"), r.nth, r.applied)
}

// diesAt does something and kills the server at a request that comes of it. It is
// not started again.
func (c *child) diesAt(gh *ghtest.Server, at request, do func()) {
	c.t.Helper()
	reached := make(chan bool, 1)
	remove := gh.On(at.route, func(x *ghtest.Exchange) {
		if x.N != at.nth {
			return
		}
		if at.applied {
			x.Proceed()
		}
		reached <- true
		<-x.Context().Done()
		x.Drop()
	})
	defer remove()
	do()
	select {
	case <-reached:
	case <-time.After(apptest.Patience):
		c.t.Fatalf("the request never came: %s", at)
	}
	c.kill()
}

// A server that is killed at any point of a review and started again answers
// with one comment and one completed check run, within seconds.
func TestKilledDuringReview(t *testing.T) {
	t.Parallel()
	const (
		createCheck   = "POST /repos/{owner}/{repo}/check-runs"
		updateCheck   = "PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}"
		createComment = "POST /repos/{owner}/{repo}/issues/{issue_number}/comments"
		readFiles     = "GET /repos/{owner}/{repo}/pulls/{pull_number}/files"
		readPull      = "GET /repos/{owner}/{repo}/pulls/{pull_number}"
	)
	for _, at := range sample.Of(t, 3, []request{
		{createCheck, 1, false}, {createCheck, 1, true},
		{createComment, 1, false}, {createComment, 1, true},
		{readFiles, 1, false}, {readPull, 2, false},
		{updateCheck, 1, false}, {updateCheck, 1, true},
	}) {
		t.Run(at.String(), func(t *testing.T) {
			t.Parallel()
			gh := ghtest.Start(t, ghtest.Options{WebhookSecret: apptest.Secret})
			repo := gh.Repo("acme/shop")
			repo.Commit("main", ghtest.Files{"README.md": "# shop\n"}, "start")
			server := newChild(t, gh)
			server.start()
			var pr *ghtest.PullRequest
			server.diesAt(gh, at, func() {
				pr = repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Files: ghtest.Files{"store/client.go": apptest.Insecure}})
			})
			restarted := time.Now()
			server.start()
			ctx, cancel := context.WithTimeout(context.Background(), apptest.Patience)
			defer cancel()
			err := gh.WaitFor(ctx, func() bool {
				runs := pr.CheckRuns()
				return len(runs) > 0 && runs[len(runs)-1].Completed() && len(pr.AppComments()) > 0
			})
			if err != nil {
				t.Fatalf("the pull request is not answered: %v", err)
			}
			server.idle()
			t.Logf("answered %s after the restart", time.Since(restarted).Round(time.Millisecond))
			if runs := pr.CheckRuns(); len(runs) != 1 || runs[0].Conclusion != "action_required" {
				t.Errorf("%d check runs, the first %s", len(runs), runs[0].Conclusion)
			}
			if n := len(pr.AppComments()); n != 1 {
				t.Errorf("%d comments, want 1", n)
			}
		})
	}
}

// A review that takes its process down is begun three times and then given up
// in words, instead of taking it down for ever.
func TestReviewThatKillsTheServer(t *testing.T) {
	t.Parallel()
	gh := ghtest.Start(t, ghtest.Options{WebhookSecret: apptest.Secret})
	repo := gh.Repo("acme/shop")
	repo.Commit("main", ghtest.Files{"README.md": "# shop\n"}, "start")
	server := newChild(t, gh)
	server.start()
	reached := make(chan bool, 1)
	gh.On(apptest.RouteFiles, func(x *ghtest.Exchange) {
		reached <- true
		<-x.Context().Done()
		x.Drop()
	})
	pr := repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Files: ghtest.Files{"store/client.go": apptest.Insecure}})
	for n := range 3 {
		select {
		case <-reached:
		case <-time.After(apptest.Patience):
			t.Fatalf("run %d never came", n+1)
		}
		server.kill()
		server.start()
	}
	ctx, cancel := context.WithTimeout(context.Background(), apptest.Patience)
	defer cancel()
	if err := gh.WaitFor(ctx, func() bool { runs := pr.CheckRuns(); return len(runs) > 0 && runs[0].Completed() }); err != nil {
		t.Fatalf("the check is not completed: %v", err)
	}
	server.idle()
	select {
	case <-reached:
		t.Error("the review was begun a fourth time")
	default:
	}
	runs := pr.CheckRuns()
	if len(runs) != 1 || runs[0].Conclusion != "failure" || !strings.Contains(runs[0].Summary, "died 3 times") {
		t.Errorf("%d check runs, the first %s: %s", len(runs), runs[0].Conclusion, runs[0].Summary)
	}
}

// Reviews that were at work beside the one that takes the server down are not
// given up with it.
func TestBystandersOfACrash(t *testing.T) {
	t.Parallel()
	gh := ghtest.Start(t, ghtest.Options{WebhookSecret: apptest.Secret})
	repo := gh.Repo("acme/shop")
	repo.Commit("main", ghtest.Files{"README.md": "# shop\n"}, "start")
	server := newChild(t, gh)
	server.start()
	poisoned, beside := make(chan bool, 9), make(chan bool, 9)
	gh.On(apptest.RouteFiles, func(x *ghtest.Exchange) {
		switch {
		case x.Params["pull_number"] == "1":
			poisoned <- true
		case len(beside) < 2: // at work when the server goes down, twice
			beside <- true
		default:
			return
		}
		<-x.Context().Done()
		x.Drop()
	})
	poison := repo.OpenPR(ghtest.PR{Title: "feat: poison", Body: apptest.GoodBody, Head: "poison", Files: ghtest.Files{"store/client.go": apptest.Insecure}})
	good := repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Head: "good", Files: ghtest.Files{"store/b.go": apptest.Secure}})
	for n := range 3 {
		// Not by the stand-in's state, which nothing may change after the last call
		// has come.
		for until := time.Now().Add(apptest.Patience); len(poisoned) <= n || len(beside) <= min(n, 1); time.Sleep(time.Millisecond) {
			if time.Now().After(until) {
				t.Fatalf("run %d never came", n+1)
			}
		}
		server.kill()
		server.start()
	}
	server.idle()
	if runs := poison.CheckRuns(); runs[len(runs)-1].Conclusion != "failure" {
		t.Errorf("the check of the one that took it down is %s", runs[len(runs)-1].Conclusion)
	}
	if runs := good.CheckRuns(); runs[len(runs)-1].Conclusion == "failure" {
		t.Errorf("the bystander was given up: %s", runs[len(runs)-1].Summary)
	}
}
