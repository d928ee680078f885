package harness

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

const (
	secret   = "harness-secret"
	hookPath = "/api/github/hook"
)

// setup holds the options of a trial.
type setup struct {
	database string
	url      string // of PostgreSQL
	replicas int
	seed     uint64
	limits   *ghtest.Limits // GitHub's own if nil
	// weighed tells that the trial measures the servers' memory.
	weighed bool
	// logInterval is the interval between reads of the delivery log. The default is 1 s.
	logInterval time.Duration
	reviewers   []*reviewer // of sessions, if there are any
}

// world is a GitHub with the servers that work for it.
type world struct {
	setup
	t       *testing.T
	dir     string
	gh      *ghtest.Server
	front   string // where the servers are reached
	hook    string // where webhooks go
	servers []*server
	agents  *agents // that work on pull requests; nil in runs without agents
}

// newWorld starts the stand-in and the servers. The servers are ready when it returns.
func newWorld(t *testing.T, s setup) *world {
	t.Helper()
	w := &world{setup: s, t: t, dir: t.TempDir(), gh: ghtest.Start(t, ghtest.Options{WebhookSecret: secret, Limits: s.limits})}
	if *flagKeep != "" {
		w.dir = keepDir(t)
	}
	if w.logInterval == 0 {
		w.logInterval = time.Second
	}
	if w.database == sqlite {
		w.url = "sqlite://" + filepath.Join(w.dir, "reviewgate.db")
	}
	w.writeConfig()
	for n := range w.replicas {
		api := w.gh.URL
		if w.replicas > 1 {
			api = outlet(t, w.gh.URL, n)
		}
		w.servers = append(w.servers, w.newServer(n, api))
	}
	w.front = "http://" + w.servers[0].addr
	if w.replicas > 1 {
		w.front = balance(t, w.servers)
	}
	w.hook = w.front + hookPath
	w.gh.Webhook.Set(w.hook, secret)
	for _, s := range w.servers {
		s.env = append(s.env, "REVIEWGATE_PUBLIC_URL="+w.front)
		if err := s.start(); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if u := w.gh.Calls.Unexpected(); len(u) > 0 {
			t.Errorf("calls that GitHub does not know: %v", u)
		}
	})
	return w
}

// repos creates n repositories, two for each organisation, because GitHub's limits apply to
// an organisation. alice may write there, bob and carol may only read, and dave has the permission
// maintain.
func (w *world) repos(n int) []*ghtest.Repo {
	var all []*ghtest.Repo
	for i := range n {
		r := w.gh.Repo(fmt.Sprintf("org%d/%s", i/2, []string{"shop", "till"}[i%2]))
		r.Grant("alice", "write")
		r.Grant("bob", "read")
		r.Grant("carol", "read")
		r.Grant("dave", "maintain")
		r.Commit("main", ghtest.Files{"README.md": "# shop\n", "store/a.go": "package store\n\nfunc A() int { return 1 }\n"}, "start")
		r.Commit("release", ghtest.Files{"CHANGES.md": "# 1.0\n"}, "release")
		all = append(all, r)
	}
	return all
}

// quiet reports whether no server has work left.
func (w *world) quiet() bool {
	return !slices.ContainsFunc(w.servers, func(s *server) bool { return !s.quiet() })
}

// until waits for a condition, and reports whether it came true.
func until(limit time.Duration, f func() bool) bool {
	const step = 200 * time.Millisecond
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(step) {
		if f() {
			return true
		}
	}
	return f()
}

// metric adds up one metric of all servers.
func (w *world) metric(name string) (sum float64) {
	for _, s := range w.servers {
		sum += s.metrics()[name]
	}
	return sum
}

// logLines counts the log lines of all servers that contain all the texts.
func (w *world) logLines(texts ...string) (n int) {
	for _, s := range w.servers {
		n += s.logLines(texts...)
	}
	return n
}
