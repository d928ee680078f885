package apptest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/pipeline/needs"
)

// Child is a server process.
type Child struct {
	t        *testing.T
	Settings app.Settings
	// Quarantine, unless 0, gives the server an agent that ends its process for some titles
	// (see Kills and EatsMemory). The value is how long such a review then waits.
	Quarantine time.Duration
	// Memory limits the process's memory, in bytes, by RLIMIT_DATA. 0 means no limit.
	Memory int64
	log    *os.File
	cmd    *exec.Cmd
	ended  chan struct{} // closed when it has
}

// NewChild prepares a server process for a stand-in for GitHub, whose webhooks go to it.
// Start starts the process.
func NewChild(t *testing.T, gh *ghtest.Server) *Child {
	t.Helper()
	dir := t.TempDir()
	addr := needs.FreeAddr(t) // stays the same across restarts
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	c := &Child{t: t, log: log, Settings: app.Settings{
		AppID: gh.AppID(), PrivateKey: gh.AppPrivateKeyPEM(), WebhookSecrets: [][]byte{[]byte(Secret)},
		V3URL: gh.URL + "/api/v3/", V4URL: gh.URL + "/api/graphql", WebURL: "https://github.test",
		Addr: addr, DatabaseURL: Database(t),
	}}
	gh.Webhook.Set("http://"+addr+app.HookPath, Secret)
	t.Cleanup(func() {
		c.Kill()
		log.Close()
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("the server's log:\n%s", text)
		}
	})
	return c
}

// Start starts the process and returns once it is ready.
func (c *Child) Start() {
	c.t.Helper()
	text, err := json.Marshal(c.Settings)
	if err != nil {
		c.t.Fatal(err)
	}
	c.cmd = exec.Command(os.Args[0])
	c.cmd.Env = append(os.Environ(), ServerEnv+"="+string(text), "GOGC=400")
	if c.Quarantine > 0 {
		c.cmd.Env = append(c.cmd.Env, stepEnv+"="+c.Quarantine.String())
	}
	if c.Memory > 0 {
		// The process collects garbage like a real server.
		c.cmd.Env = append(c.cmd.Env, memoryEnv+"="+strconv.FormatInt(c.Memory, 10), "GOGC=100")
	}
	c.cmd.Stderr = c.log
	if err := c.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	cmd, ended := c.cmd, make(chan struct{})
	c.ended = ended
	go func() {
		defer close(ended)
		cmd.Wait() // how it ended is of no interest
	}()
	deadline := time.Now().Add(Patience)
	for time.Now().Before(deadline) {
		if resp, err := http.Get("http://" + c.Settings.Addr + "/readyz"); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	c.t.Fatalf("the server is not ready after %s", Patience)
}

// Idle waits until every ask is answered and no job waits or runs.
func (c *Child) Idle() {
	c.t.Helper()
	done := []string{"reviewgate_queue_waiting 0", "reviewgate_queue_running 0", "reviewgate_queue_later 0", "reviewgate_oldest_unanswered_seconds 0"}
	deadline := time.Now().Add(Patience)
	var text string
	for time.Now().Before(deadline) {
		if resp, err := http.Get("http://" + c.Settings.Addr + "/metrics"); err == nil {
			b, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			text = string(b)
		}
		if !slices.ContainsFunc(done, func(line string) bool { return !strings.Contains(text, "\n"+line+"\n") }) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	c.t.Fatalf("the server is not idle after %s:\n%s", Patience, text)
}

// Answers waits until the head has its check, and its comment unless it passes, and no more work is
// under way.
// It fails if the pull request has a fault.
func (c *Child) Answers(gh *ghtest.Server, pr *ghtest.PullRequest) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), Patience)
	defer cancel()
	err := gh.WaitFor(ctx, func() bool {
		runs := pr.CheckRuns()
		if len(runs) == 0 || !runs[len(runs)-1].Completed() {
			return false
		}
		return runs[len(runs)-1].Conclusion == "success" || len(pr.AppComments()) > 0
	})
	if err == nil {
		err = gh.Webhook.Settle(ctx)
	}
	if err != nil {
		c.t.Fatalf("the pull request is not answered: %v", err)
	}
	c.Idle()
	if faults := pr.Faults(); len(faults) > 0 {
		c.t.Errorf("faults: %v", faults)
	}
}

// Takes returns the process's memory in bytes, as Linux counts it: the largest resident size
// so far, and what RLIMIT_DATA counts now. On other systems both are 0.
func (c *Child) Takes() (resident, data int64) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.cmd.Process.Pid))
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		switch name {
		case "VmHWM":
			resident = n << 10
		case "VmData":
			data = n << 10
		}
	}
	return resident, data
}

// Ended reports whether the process has ended by itself, or does so within a time.
func (c *Child) Ended(within time.Duration) bool {
	select {
	case <-c.ended:
		return true
	case <-time.After(within):
		return false
	}
}

// Logged counts the log lines of all starts that contain a text.
func (c *Child) Logged(text string) int {
	c.t.Helper()
	log, err := os.ReadFile(c.log.Name())
	if err != nil {
		c.t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(log)) {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// Kill ends the process like kill -9: it can't react.
func (c *Child) Kill() {
	if c.cmd != nil {
		c.cmd.Process.Kill()
		<-c.ended
		c.cmd = nil
	}
}

// Request is a request to GitHub.
type Request struct {
	Route   string
	Nth     int  // of the route, from 1
	Applied bool // whether it takes effect
}

func (r Request) String() string {
	return fmt.Sprintf("%s %d, applied %v", strings.ReplaceAll(r.Route, "/", "-"), r.Nth, r.Applied)
}

// DiesAt runs a function and kills the server at a request that the function causes. The
// server is not started again.
func (c *Child) DiesAt(gh *ghtest.Server, at Request, do func()) {
	c.t.Helper()
	reached := make(chan bool, 1)
	remove := gh.On(at.Route, func(x *ghtest.Exchange) {
		if x.N != at.Nth {
			return
		}
		if at.Applied {
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
	case <-time.After(Patience):
		c.t.Fatalf("the request never came: %s", at)
	}
	c.Kill()
}

// At is a request by its route, its number among those of the route, from 1, and whether it
// takes effect.
func At(route string, nth int, applied bool) Request { return Request{route, nth, applied} }
