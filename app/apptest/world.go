package apptest

import (
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/gh"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/app/internal/store/pgtest"
	"github.com/reviewgate/reviewgate/app/internal/store/sqlitetest"
	"github.com/reviewgate/reviewgate/app/internal/telemetry"
	"github.com/reviewgate/reviewgate/app/review"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// PublicURL is the App's public URL, unless World.Addr is set. Nothing listens there: tests call
// App.Addr.
const PublicURL = "https://reviewgate.test"

// Secret is the secret of the App's webhook.
const Secret = "conversation-secret"

// Patience limits every wait, so that a test fails with a message and not by the test
// binary's timeout. It is long, because on a busy machine many tests wait for one another,
// and GitHub for the App.
const Patience = 5 * time.Minute

// World is a GitHub with the App running against it.
type World struct {
	*testing.T
	GH   *ghtest.Server
	Repo *ghtest.Repo
	App  *app.App
	DB   string // URL

	LeaseTTL  time.Duration // 0 means the default
	Intervals time.Duration // of the periodic jobs; 0 means an hour
	Workers   int           // 0 means the default
	Memory    int64         // that the App may take, in bytes; 0 means what the machine has
	TellWait  time.Duration // after which a check says that its review waits for memory; 0 means the default
	Scans     time.Duration // between reviews for others' checks; 0 means the default
	Server    config.Layer  // the server's config, if it has one
	Shadow    config.Layer  // the server's shadow config, if it has one
	Keys      map[string]string
	Secrets   map[string]string // of remote reviewers, by the agent's id
	Issuer    string            // of workflows' tokens; empty if they are not accepted
	Join      time.Duration     // how long an event of a session waits for others; 0 means the default
	Minute    time.Duration     // the unit of the settings of sessions; 0 means a minute
	Addr      string            // where the App listens, also in its public URL; "" means a free port and PublicURL
	Agents    map[string]dispatch.Agent
	LogTo     io.Writer // takes the log at debug level; nil means the test's own log, at info with -v and at warn without
	Traces    telemetry.Tracing
	Stop      func() error

	doneBefore int    // jobs completed before the App started
	end        func() // ends the App and checks what it did, once
}

// Start runs the App against a GitHub with one repository, acme/shop, which has a base
// branch. alice may write, and bob may only read.
func Start(t *testing.T) *World {
	t.Helper()
	return StartWith(t, ghtest.Options{WebhookSecret: Secret})
}

// StartWith is Start with other options for GitHub, and with changes to the world before the
// App runs.
func StartWith(t *testing.T, o ghtest.Options, change ...func(*World)) *World {
	t.Helper()
	if o.WebhookTimeout == 0 {
		o.WebhookTimeout = Patience
	}
	w := &World{T: t, GH: ghtest.Start(t, o), DB: Database(t)}
	for _, f := range change {
		f(w)
	}
	w.Repo = w.GH.Repo("acme/shop")
	w.Repo.Grant("alice", "write")
	w.Repo.Grant("bob", "read")
	w.Repo.Commit("main", ghtest.Files{
		"README.md":  "# shop\n",
		"store/a.go": "package store\n\nfunc A() int { return 1 }\n",
	}, "start")
	w.StartApp()
	w.end = sync.OnceFunc(func() {
		if err := w.Stop(); err != nil {
			t.Errorf("the App did not end cleanly: %v", err)
		}
		Replays(t, w.DB, w.Agents)
		if u := w.GH.Calls.Unexpected(); len(u) > 0 {
			t.Errorf("calls that GitHub does not know: %v", u)
		}
	})
	t.Cleanup(w.end)
	return w
}

// UseDatabase gives the App another database from its next start on. The test ends the App, and
// replays its reviews, before that database is dropped.
func (w *World) UseDatabase(url string) {
	w.DB = url
	w.Cleanup(w.end)
}

// In returns the world for a sub-test, so that the sub-test fails by itself.
func (w *World) In(t *testing.T) *World {
	inner := *w
	inner.T = t
	return &inner
}

// Database returns the URL of a database with empty tables. It is a SQLite file or, if
// REVIEWGATE_TEST_DATABASE is "postgres", a database on the tests' own server.
func Database(t *testing.T) string {
	t.Helper()
	if onPostgreSQL(t) {
		return pgtest.CopyURL(t, CreateTables)
	}
	return sqlitetest.CopyURL(t, CreateTables)
}

// EmptyDatabase is Database without tables.
func EmptyDatabase(t *testing.T) string {
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

// CreateTables creates the tables in an empty database.
func CreateTables(url string) error {
	s, err := store.Open(context.Background(), url, store.Options{Unsynced: true})
	if err != nil {
		return err
	}
	return s.Close()
}

// engines caches the compiled configs of all tests, because compiling the shipped rules takes
// most of a review's time.
var engines = run.NewEngines()

// StartApp starts the App on the world's database.
func (w *World) StartApp() {
	w.Helper()
	level := zerolog.WarnLevel // thousands of lines would hide what failed
	if testing.Verbose() {
		level = zerolog.InfoLevel
	}
	log := zerolog.New(zerolog.NewTestWriter(w.T)).Level(level)
	if w.LogTo != nil {
		log = zerolog.New(w.LogTo).Level(zerolog.DebugLevel)
	}
	a, err := app.New(context.Background(), w.Settings(), app.Options{
		Log: log, Version: "test",
		RetryBase: 50 * time.Millisecond, DrainTimeout: 10 * time.Second, LeaseTTL: w.LeaseTTL, ScanInterval: w.Scans,
		Workers: w.Workers, Agents: w.Agents, Engines: engines, Unsynced: true,
		Memory: w.Memory, TellWait: w.TellWait, MaxStoring: time.Minute, SessionJoin: w.Join, SessionMinute: w.Minute,
	})
	if err != nil {
		w.Fatalf("start the App: %v", err)
	}
	a.Inside().KeepMemory() // the memory is that of all tests
	depth, err := a.Inside().Queue.Depth(context.Background())
	if err != nil {
		w.Fatalf("ask for the queue's depth: %v", err)
	}
	w.doneBefore = depth.Done
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	w.App = a
	w.GH.Webhook.Set("http://"+a.Addr()+app.HookPath, Secret)
	stopped := false
	w.Stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		w.GH.Webhook.HangUp()
		cancel()
		err := <-ended
		if cerr := a.Close(); err == nil {
			err = cerr
		}
		return err
	}
}

// Settings are the App's settings.
func (w *World) Settings() app.Settings {
	addr, public := "127.0.0.1:0", PublicURL
	if w.Addr != "" {
		addr, public = w.Addr, "http://"+w.Addr
	}
	return app.Settings{
		AppID: w.GH.AppID(), PrivateKey: w.GH.AppPrivateKeyPEM(), WebhookSecrets: [][]byte{[]byte(Secret)},
		V3URL: w.GH.URL + "/api/v3/", V4URL: w.GH.URL + "/api/graphql", WebURL: "https://github.test",
		Addr: addr, DatabaseURL: w.DB, Config: w.Server, Shadow: w.Shadow, ModelKeys: w.Keys, Dial: Dial,
		ReviewerSecrets: w.Secrets, PublicURL: public, OIDCIssuer: w.Issuer,
		DeliveryLogInterval: w.Intervals, SweepInterval: w.Intervals, Traces: w.Traces,
	}
}

// Idle waits until no job waits or runs, and until the webhooks of the App's own writes are
// delivered.
func (w *World) Idle() {
	w.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	// By the second look, the webhooks of the last jobs' writes are delivered. They may have
	// caused more jobs.
	for looks := 0; looks < 2; {
		if err := w.GH.Webhook.Settle(ctx); err != nil {
			w.Fatalf("wait for GitHub: %v", err)
		}
		if w.noJobs(ctx) {
			looks++
			continue
		}
		looks = 0
		select {
		case <-ctx.Done():
			d, _ := w.App.Inside().Queue.Depth(context.Background()) // zero where it can't be read
			w.Fatalf("the queue is not empty after %s: %+v", Patience, d)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// noJobs reports whether no job waits or runs. The queue records up to 250 ms late that a job
// is completed. If the number of running and completed jobs equals the number that the App
// has done, the jobs still marked as running are done too.
func (w *World) noJobs(ctx context.Context) bool {
	w.Helper()
	inside := w.App.Inside()
	done := w.doneBefore + int(inside.Done()) // counted first: a job that ends later is one more in the queue
	if inside.Busy() {
		return false
	}
	d, err := inside.Queue.Depth(ctx)
	if err != nil {
		w.Fatalf("ask for the queue's depth: %v", err)
	}
	return d.Available == 0 && d.Later == 0 && (d.Running == 0 || d.Running+d.Done == done)
}

// Until waits until a condition on GitHub's state is true.
func (w *World) Until(what string, f func() bool) {
	w.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	if err := w.GH.WaitFor(ctx, f); err != nil {
		w.Fatalf("wait until %s: %v", what, err)
	}
}

// Do sends a request to the App, whose address takes the place of the request's own, and returns the status
// and the body of the response.
func (w *World) Do(r *http.Request) (status int, body string) {
	w.Helper()
	r.URL.Scheme, r.URL.Host = "http", w.App.Addr()
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		w.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // it was read
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		w.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// Metrics returns the App's metrics.
func (w *World) Metrics() string {
	w.Helper()
	r, err := http.NewRequestWithContext(w.Context(), http.MethodGet, "/metrics", http.NoBody)
	if err != nil {
		w.Fatal(err)
	}
	status, text := w.Do(r)
	if status != http.StatusOK {
		w.Fatalf("/metrics: %d %s", status, text)
	}
	return text
}

// Check returns the newest check run on the pull request's head. It must be completed.
func (w *World) Check(pr *ghtest.PullRequest) ghtest.CheckRun {
	w.Helper()
	return w.Newest(pr.CheckRuns())
}

// Newest returns the last of these check runs. It must be completed.
func (w *World) Newest(runs []ghtest.CheckRun) ghtest.CheckRun {
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

// Comment returns the App's only comment on the pull request.
func (w *World) Comment(pr *ghtest.PullRequest) ghtest.Comment {
	w.Helper()
	all := pr.AppComments()
	if len(all) != 1 {
		w.Fatalf("the App has %d comments on the pull request, want 1", len(all))
	}
	return all[0]
}

// Wants fails unless the check has the conclusion and the comment contains all texts. A pull
// request that was clean from the start has no comment; then the check must contain them.
func (w *World) Wants(pr *ghtest.PullRequest, conclusion string, texts ...string) {
	w.Helper()
	if conclusion == "success" && len(pr.AppComments()) == 0 {
		w.WantsCheck(pr, conclusion, texts...)
		return
	}
	w.WantsCheck(pr, conclusion)
	body := w.Comment(pr).Body
	for _, t := range texts {
		if !strings.Contains(body, t) {
			w.Errorf("the comment lacks %q:\n%s", t, body)
		}
	}
}

// Reactions lists the App's reactions to a comment.
func (w *World) Reactions(pr *ghtest.PullRequest, id int64) []string {
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

// Insecure is a Go file with a major finding.
const Insecure = `package store

import (
	"crypto/tls"
	"net/http"
)

// Client talks to the warehouse.
func Client() *http.Client {
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
}
`

// Secure is the same file without the finding.
const Secure = `package store

import "net/http"

// Client talks to the warehouse.
func Client() *http.Client { return &http.Client{} }
`

// GoodBody is a description without findings.
const GoodBody = "Orders are read from the warehouse, so that stock is never stale."

// Reconnect gives the App another client for GitHub. The client waits for an answer no longer
// than timeout, or as long as usual if timeout is 0. It caches an organisation's config for
// an hour, so that the number of calls does not depend on the duration of the test.
func (w *World) Reconnect(timeout time.Duration) {
	w.Helper()
	c, err := gh.New(gh.Config{
		AppID: w.GH.AppID(), PrivateKey: w.GH.AppPrivateKeyPEM(), V3URL: w.GH.URL + "/api/v3/",
		UserAgent: "reviewgate/test", Log: w.App.Inside().Log, Timeout: timeout, OrganisationAge: time.Hour,
	})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(c.Close)
	w.App.Inside().Service.Change(func(o *review.Options) { o.GitHub = c.Host })
}
