package app_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline/needs"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// backfill runs a backfill and returns its reports, each in the form "acme/shop#1 asked".
func (w *world) backfill(change ...func(*app.Backfill)) ([]string, error) {
	w.Helper()
	var told []string
	b := app.Backfill{
		Globs: []string{"acme/*"}, Pause: time.Millisecond, Status: func(string) {}, Log: zerolog.New(zerolog.NewTestWriter(w.T)),
		Tell: func(e app.BackfillEvent) {
			what := e.Repository
			if e.Number > 0 {
				what += fmt.Sprintf("#%d", e.Number)
			}
			told = append(told, strings.TrimSpace(what+" "+e.Outcome+" "+e.Why))
		},
	}
	for _, f := range change {
		f(&b)
	}
	err := app.RunBackfill(w.Context(), w.Settings(), b)
	return told, err
}

func (w *world) backfills(want []string, change ...func(*app.Backfill)) {
	w.Helper()
	told, err := w.backfill(change...)
	if err != nil || !slices.Equal(told, want) {
		w.Errorf("reported %q, want %q (%v)", told, want, err)
	}
}

func onlyTell(b *app.Backfill) { b.Dry = true }

// missed opens pull requests whose events never reach the App.
func (w *world) missed(heads ...string) []*ghtest.PullRequest {
	var all []*ghtest.PullRequest
	w.Away(func() {
		for _, h := range heads {
			all = append(all, w.Repo.OpenPR(ghtest.PR{Title: "feat: " + h, Body: apptest.GoodBody, Head: h, Files: ghtest.Files{"store/" + h + ".go": apptest.Insecure}}))
		}
	})
	return all
}

// Beside a running server, a backfill has pull requests without an answer reviewed, and none
// twice.
func TestBackfillBesideTheServer(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.Open(apptest.Clean())
	w.Idle()
	pulls := w.missed("one", "two")
	closed := w.missed("closed")[0]
	w.Away(closed.Close)

	w.backfills([]string{"acme/shop#1 answered", "acme/shop#2 asked", "acme/shop#3 asked"}, onlyTell)
	w.Idle()
	for _, pr := range pulls {
		if n := len(pr.CheckRuns()); n != 0 {
			t.Errorf("%d check runs after a dry run", n)
		}
	}
	w.backfills([]string{"acme/shop#1 answered", "acme/shop#2 asked", "acme/shop#3 asked"})
	w.Idle()
	for _, pr := range pulls {
		w.Wants(pr, "action_required")
	}
	w.GH.Calls.Reset()
	w.backfills([]string{"acme/shop#1 answered", "acme/shop#2 answered", "acme/shop#3 answered"})
	w.Idle()
	if writes := w.GH.Calls.Writes(); len(writes) != 0 {
		t.Errorf("a second backfill writes %v", writes)
	}
}

// A database path that is too long for a socket's address does not stop the backfill.
func TestBackfillWithALongDatabasePath(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		needs.Lacks(t, "this system reaches no socket by a path so long: it has no /proc")
	}
	dir := filepath.Join(t.TempDir(), strings.Repeat("d", 100), strings.Repeat("e", 100))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, func(w *apptest.World) { w.DB = "sqlite://" + filepath.Join(dir, "reviewgate.db") })
	pr := w.missed("one")[0]
	w.backfills([]string{"acme/shop#1 asked"})
	w.Idle()
	w.Wants(pr, "action_required")
}

// Without a running server, the requested reviews are done once a server starts.
func TestBackfillBeforeTheServerStarts(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	w.Open(apptest.Clean()) // the answer shows that the App runs
	w.Idle()
	if err := w.Stop(); err != nil {
		t.Fatal(err)
	}
	pr := w.missed("one")[0]
	w.backfills([]string{"acme/shop#1 answered", "acme/shop#2 asked"})
	w.backfills([]string{"acme/shop#1 answered", "acme/shop#2 answered"}) // the review is on its way
	w.StartApp()
	w.Idle()
	w.Wants(pr, "action_required")
}

func TestBackfillChooses(t *testing.T) {
	t.Parallel()
	w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, func(w *apptest.World) {
		w.Server = apptest.LayerOf(config.LayerServer, `{"repositories": [{"globs": ["acme/quiet"], "mode": "off"}]}`)
	})
	pulls := w.missed("one")
	for _, name := range []string{"acme/quiet", "acme/Garden", "acme/old", "umbrella/shop", "globex/shop"} {
		r := w.GH.Repo(name)
		r.Commit("main", ghtest.Files{"README.md": "#\n"}, "start")
		w.Away(func() { r.OpenPR(ghtest.PR{Files: ghtest.Files{"a.go": apptest.Insecure}}) })
	}
	w.GH.Repo("acme/old").Settings.SetArchived(true)
	w.GH.Suspend("umbrella")
	w.backfills([]string{"acme/Garden#1 asked", "acme/quiet left out its mode is off", "acme/shop#1 asked"}, onlyTell)
	w.backfills([]string{"acme/Garden#1 asked", "globex/shop#1 asked"}, onlyTell, func(b *app.Backfill) { b.Globs = []string{"ACME/garden", "{globex,umbrella}/*"} })
	w.backfills(nil, onlyTell, func(b *app.Backfill) { b.Globs, b.Since = []string{"acme/shop"}, time.Now().Add(time.Hour) })

	// Two pull requests on one head need an answer each.
	w.Away(func() { w.Repo.OpenPR(ghtest.PR{Title: "feat: same", Head: "one", Base: "main"}) })
	w.backfills([]string{"acme/shop#1 asked", "acme/shop#2 asked"}, func(b *app.Backfill) { b.Globs = []string{"acme/shop"} })
	w.Idle()
	w.Wants(pulls[0], "action_required")

	var input *app.InputError
	for _, glob := range []string{"acme/none", "acme/old", "umbrella/*", "acme/[", "acme"} {
		if told, err := w.backfill(func(b *app.Backfill) { b.Globs = []string{glob} }); !errors.As(err, &input) || len(told) > 0 {
			t.Errorf("%s: %v, %v", glob, told, err)
		}
	}
}

// While a repository's newest config is broken, the last good one decides its mode. The
// server knows it, and without a server the database does.
func TestBackfillUsesTheLastGoodConfig(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, func(w *apptest.World) {
		w.Server = apptest.LayerOf(config.LayerServer, `{"mode": "off"}`)
	})
	w.Repo.Commit("main", ghtest.Files{apptest.SettingsPath: `{"mode": "enforce"}`}, "take part")
	first := w.Open(apptest.Clean())
	w.Idle()
	w.Wants(first, "success")
	w.Repo.Commit("main", ghtest.Files{apptest.SettingsPath: `{"mode": "loud"}`}, "break it")
	w.Idle()
	pr := w.missed("one")[0]
	want := []string{"acme/shop#1 answered", "acme/shop#2 asked"}
	w.backfills(want, onlyTell)
	if err := w.Stop(); err != nil {
		t.Fatal(err)
	}
	w.backfills(want)
	w.StartApp()
	w.Idle()
	w.Wants(pr, "action_required")
}

// A repository or account that refuses is reported, and the others are done.
func TestBackfillGoesOnAfterARefusal(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	w.GH.Repo("acme/broken").Commit("main", ghtest.Files{"README.md": "#\n"}, "start")
	w.GH.Repo("globex/shop")
	w.GH.SetPermissions("globex", map[string]string{"metadata": "read"})
	w.missed("one")
	remove := w.GH.On("GET /repos/{owner}/{repo}/git/trees/{tree_sha}", func(x *ghtest.Exchange) {
		if x.Params["repo"] == "broken" {
			x.Fail(http.StatusForbidden, "Resource not accessible by integration")
		}
	})
	told, err := w.backfill(func(b *app.Backfill) { b.Globs = []string{"*/*"} })
	remove()
	if err != nil || len(told) != 3 || !strings.HasPrefix(told[0], "globex/* failed ") || !strings.HasPrefix(told[1], "acme/broken failed ") || told[2] != "acme/shop#1 asked" {
		t.Errorf("reported %q, %v", told, err)
	}
	w.Idle()
}

// A backfill keeps its pace, and a cancelled one may be run again.
func TestBackfillKeepsItsPace(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.missed("one", "two")
	ctx, cancel := context.WithCancel(t.Context())
	var told []string
	err := app.RunBackfill(ctx, w.Settings(), app.Backfill{
		Globs: []string{"acme/shop"}, Pause: time.Hour, Status: func(string) {}, Log: zerolog.Nop(),
		Tell: func(e app.BackfillEvent) { told = append(told, e.Outcome); cancel() },
	})
	if !errors.Is(err, context.Canceled) || !slices.Equal(told, []string{app.BackfillAsked}) {
		t.Errorf("reported %v, %v", told, err)
	}
	w.Idle()
	w.backfills([]string{"acme/shop#1 answered", "acme/shop#2 asked"})
	w.Idle()
}

// A rate limit ends the backfill with an explanation.
func TestBackfillEndsAtARateLimit(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.missed("one")
	w.GH.On("GET /repos/{owner}/{repo}/commits/{ref}/check-runs", func(x *ghtest.Exchange) {
		resp := x.Proceed()
		x.Fail(http.StatusForbidden, "You have exceeded a secondary rate limit")
		x.Proceed().Header.Set("Retry-After", "60")
		_ = resp
	})
	told, err := w.backfill()
	var host *ports.HostError
	if !errors.As(err, &host) || host.Kind != ports.HostLimited || len(told) != 0 {
		t.Errorf("reported %v, %v", told, err)
	}
}

func TestBackfillNeedsTheServersTables(t *testing.T) {
	t.Parallel()
	w := &world{&apptest.World{T: t, GH: ghtest.Start(t, ghtest.Options{}), DB: apptest.EmptyDatabase(t)}}
	w.GH.Repo("acme/shop").Commit("main", ghtest.Files{"README.md": "#\n"}, "start")
	if _, err := w.backfill(); err == nil || !strings.Contains(err.Error(), "start the server once") {
		t.Errorf("error %v", err)
	}
}

// Only its owner can use the socket. It replaces a socket that a killed server left, and is
// removed with the server. An invalid request is refused with an explanation. The socket
// exists only beside a SQLite file, so the test uses SQLite even where other tests use
// another database.
func TestControlSocket(t *testing.T) {
	t.Parallel()
	w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, func(w *apptest.World) {
		w.DB = "sqlite://" + filepath.Join(t.TempDir(), "reviewgate.db")
	})
	pr := w.Open(apptest.Clean())
	w.Idle()
	path, ok := app.SocketOf(w.DB)
	if !ok {
		t.Fatal("no socket beside the SQLite file")
	}
	mode := func() os.FileMode {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode()
	}
	if m := mode(); m.Perm() != 0o600 || m.Type() != os.ModeSocket {
		t.Errorf("the socket is %s", m)
	}
	c, runs, err := app.DialControl(t.Context(), path)
	if err != nil || !runs {
		t.Fatal(runs, err)
	}
	defer c.Close()
	good := ports.OpenPull{Target: ports.Target{Kind: ports.TargetPull, Installation: 1, RepoID: 1, Owner: "acme", Name: "shop", Number: 1, HeadSHA: strings.Repeat("a", 40)}}
	for name, spoil := range map[string]func(*ports.OpenPull){
		"no number":   func(p *ports.OpenPull) { p.Number = 0 },
		"no head":     func(p *ports.OpenPull) { p.HeadSHA = "main" },
		"a group":     func(p *ports.OpenPull) { p.Kind = ports.TargetGroup },
		"no owner":    func(p *ports.OpenPull) { p.Owner = "" },
		"a long name": func(p *ports.OpenPull) { p.Name = strings.Repeat("x", app.MaxControl) },
	} {
		p := good
		spoil(&p)
		if asked, err := c.Backfill(t.Context(), p, false, false); asked || err == nil {
			t.Errorf("%s: asked %t, %v", name, asked, err)
		}
	}
	resp, err := c.HTTP().Get("http://server/metrics")
	if err != nil || resp.StatusCode != http.StatusNotFound {
		t.Errorf("another path: %v, %v", resp, err)
	}
	resp.Body.Close()
	if err := w.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket still exists: %v", err)
	}
	if err := os.WriteFile(path, nil, 0o644); err != nil { // left by a killed server
		t.Fatal(err)
	}
	w.StartApp()
	pr.Push(apptest.Clean(), "again")
	w.Idle()
	if m := mode(); m.Perm() != 0o600 || m.Type() != os.ModeSocket {
		t.Errorf("the old file is now %s", m)
	}
}
