package app

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/app/internal/store/pgtest"
	"github.com/reviewgate/reviewgate/app/internal/store/sqlitetest"
	"github.com/reviewgate/reviewgate/app/internal/telemetry"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

const secret = "conversation-secret"

// patience bounds every wait, so that a test fails in words and not by the
// test binary's own timeout. It is long: on a busy machine six tests wait for
// one another, and GitHub for the App.
const patience = 2 * time.Minute

// world is a GitHub with the App running against it.
type world struct {
	*testing.T
	gh   *ghtest.Server
	repo *ghtest.Repo
	app  *App
	db   string // URL

	leaseTTL  time.Duration // 0 for the default
	intervals time.Duration // of the periodic jobs; 0 for an hour
	workers   int           // 0 for the default
	scans     time.Duration // between reviews for others' checks; 0 for the default
	server    config.Layer  // the server's config, if it has one
	keys      map[string]string
	agents    map[string]dispatch.Agent
	log       io.Writer // takes the log at debug level; nil for the test's own, at info
	traces    telemetry.Tracing
	stop      func() error
}

// start runs the App against a GitHub that has one repository, acme/shop,
// with a base to branch off. alice may write, bob may only read.
func start(t *testing.T) *world {
	t.Helper()
	return startWith(t, ghtest.Options{WebhookSecret: secret})
}

func startWith(t *testing.T, o ghtest.Options, change ...func(*world)) *world {
	t.Helper()
	if o.WebhookTimeout == 0 {
		o.WebhookTimeout = patience
	}
	w := &world{T: t, gh: ghtest.Start(t, o), db: database(t)}
	for _, f := range change {
		f(w)
	}
	w.repo = w.gh.Repo("acme/shop")
	w.repo.Grant("alice", "write")
	w.repo.Grant("bob", "read")
	w.repo.Commit("main", ghtest.Files{
		"README.md":  "# shop\n",
		"store/a.go": "package store\n\nfunc A() int { return 1 }\n",
	}, "start")
	w.run()
	t.Cleanup(func() {
		if err := w.stop(); err != nil {
			t.Errorf("the App did not end cleanly: %v", err)
		}
		if u := w.gh.Unexpected(); len(u) > 0 {
			t.Errorf("calls that GitHub does not know: %v", u)
		}
	})
	return w
}

// database returns the URL of a database without a row, whose tables are there:
// a SQLite file, or where REVIEWGATE_TEST_DATABASE is "postgres" a database on a
// server of the tests' own.
func database(t *testing.T) string {
	t.Helper()
	if onPostgreSQL(t) {
		return pgtest.CopyURL(t, createTables)
	}
	return sqlitetest.CopyURL(t, createTables)
}

// emptyDatabase is database without tables.
func emptyDatabase(t *testing.T) string {
	t.Helper()
	if onPostgreSQL(t) {
		return pgtest.URL(t)
	}
	return sqlitetest.URL(t)
}

func onPostgreSQL(t *testing.T) bool {
	t.Helper()
	switch which := os.Getenv("REVIEWGATE_TEST_DATABASE"); which {
	case "", "sqlite":
		return false
	case "postgres":
		return true
	default:
		t.Fatalf("REVIEWGATE_TEST_DATABASE is %q, want sqlite or postgres", which)
		return false
	}
}

func createTables(url string) error {
	s, err := store.Open(context.Background(), url, store.Options{Unsynced: true})
	if err != nil {
		return err
	}
	return s.Close()
}

// engines keeps the configs that any test had compiled: most of what a review
// takes is to compile the shipped rules.
var engines run.Engines

// run starts the App on the world's database.
func (w *world) run() {
	w.Helper()
	log := zerolog.New(zerolog.NewTestWriter(w.T)).Level(zerolog.InfoLevel)
	if w.log != nil {
		log = zerolog.New(w.log).Level(zerolog.DebugLevel)
	}
	a, err := New(context.Background(), w.settings(), Options{
		Log: log, Version: "test",
		RetryBase: 50 * time.Millisecond, DrainTimeout: 10 * time.Second, LeaseTTL: w.leaseTTL, ScanInterval: w.scans,
		Workers: w.workers, Agents: w.agents, Engines: &engines, Unsynced: true,
	})
	if err != nil {
		w.Fatalf("start the App: %v", err)
	}
	a.Inside().KeepMemory() // the memory is that of all tests
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	w.app = a
	w.gh.SetWebhook("http://"+a.Addr()+HookPath, secret)
	stopped := false
	w.stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		err := <-ended
		if cerr := a.Close(); err == nil {
			err = cerr
		}
		return err
	}
}

// settings are those of the App.
func (w *world) settings() Settings {
	return Settings{
		AppID: w.gh.AppID(), PrivateKey: w.gh.AppPrivateKeyPEM(), WebhookSecrets: [][]byte{[]byte(secret)},
		V3URL: w.gh.URL + "/api/v3/", V4URL: w.gh.URL + "/api/graphql", WebURL: "https://github.test",
		Addr: "127.0.0.1:0", DatabaseURL: w.db, Config: w.server, ModelKeys: w.keys,
		DeliveryLogInterval: w.intervals, SweepInterval: w.intervals, Traces: w.traces,
	}
}

// idle waits until no job waits or runs, and the webhooks that the App's own
// writes caused have been delivered.
func (w *world) idle() {
	w.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		if err := w.gh.Settle(ctx); err != nil {
			w.Fatalf("wait for GitHub: %v", err)
		}
		// The database is only asked once the App has nothing in hand: the queue
		// takes up to 250 ms more to record that.
		var d store.Depth
		if !w.app.Inside().Busy() {
			var err error
			if d, err = w.app.Inside().Queue.Depth(ctx); err != nil {
				w.Fatalf("ask for the queue's depth: %v", err)
			}
			if d.Available == 0 && d.Running == 0 && d.Later == 0 {
				return
			}
		}
		select {
		case <-ctx.Done():
			w.Fatalf("the queue is not empty after %s: %+v", patience, d)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// until waits for something to become true of GitHub's state.
func (w *world) until(what string, f func() bool) {
	w.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := w.gh.WaitFor(ctx, f); err != nil {
		w.Fatalf("wait until %s: %v", what, err)
	}
}

// check returns the newest check run on the pull request's head, which must
// be completed.
func (w *world) check(pr *ghtest.PullRequest) ghtest.CheckRun {
	w.Helper()
	return w.newest(pr.CheckRuns())
}

func (w *world) newest(runs []ghtest.CheckRun) ghtest.CheckRun {
	w.Helper()
	if len(runs) == 0 {
		w.Fatal("there is no check run")
	}
	c := runs[len(runs)-1]
	if !c.Completed() {
		w.Fatalf("check run %d is still %s: %s", c.ID, c.Status, c.Title)
	}
	return c
}

// comment returns the one comment of the App on the pull request.
func (w *world) comment(pr *ghtest.PullRequest) ghtest.Comment {
	w.Helper()
	all := pr.AppComments()
	if len(all) != 1 {
		w.Fatalf("the App has %d comments on the pull request, want 1", len(all))
	}
	return all[0]
}

// wants fails unless the check has the conclusion and the comment all texts.
func (w *world) wants(pr *ghtest.PullRequest, conclusion string, texts ...string) {
	w.Helper()
	c := w.check(pr)
	if c.Conclusion != conclusion {
		w.Errorf("the check is %s (%s), want %s", c.Conclusion, c.Title, conclusion)
	}
	body := w.comment(pr).Body
	for _, t := range texts {
		if !strings.Contains(body, t) {
			w.Errorf("the comment lacks %q:\n%s", t, body)
		}
	}
}

// reactions lists what the App put under a comment.
func (w *world) reactions(pr *ghtest.PullRequest, id int64) []string {
	w.Helper()
	var all []string
	for _, c := range pr.Comments() {
		if c.ID != id {
			continue
		}
		for _, r := range c.Reactions {
			all = append(all, r.Content)
		}
	}
	return all
}

// insecure is a Go file with a certain major finding.
const insecure = `package store

import (
	"crypto/tls"
	"net/http"
)

// Client talks to the warehouse.
func Client() *http.Client {
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
}
`

// secure is the same file without it.
const secure = `package store

import "net/http"

// Client talks to the warehouse.
func Client() *http.Client { return &http.Client{} }
`

const goodBody = "Orders are read from the warehouse, so that stock is never stale."
