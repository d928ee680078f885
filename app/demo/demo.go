// Package demo runs the whole App on one machine with nothing set up: a
// GitHub stand-in, the real server on SQLite, and a page that shows a pull
// request as GitHub would. People press buttons on the page, or Enter in the
// terminal, to open the pull request, push to it and comment on it.
package demo

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/config"
)

// Options steer a demo.
type Options struct {
	Out     io.Writer
	In      io.Reader // each line takes the next step, nil for none
	Colours bool      // whether Out takes colours
	Once    bool      // take all steps, then end
	Verbose io.Writer // the server's log, nil for none
	// Database is a file in which the SQLite database is kept. If it is empty, the demo deletes its
	// database in the end.
	Database string
	Config   config.Layer // the repository's config, which may have no files
	// Serving is called with the address of the page once the page answers. It may be nil.
	Serving func(url string)
}

// Run serves the demo's page until ctx ends or, if Once is set, until all steps are taken.
func Run(ctx context.Context, o Options) error {
	d, err := start(ctx, o)
	if err != nil {
		return err
	}
	defer d.close()
	if o.Serving != nil {
		o.Serving(d.url())
	}
	if err := d.tell(ctx); err != nil {
		d.unfinished = true
		return err
	}
	return nil
}

type demo struct {
	Options
	dir      string
	unlock   func() // lets another demo remove dir
	gh       *ghtest.Server
	app      *app.App
	stop     context.CancelFunc
	ended    chan error
	repo     *ghtest.Repo
	timeline *timeline
	files    fileCache

	turn    chan struct{} // holds a token while somebody takes a step
	out     sync.Mutex    // guards Out and unsaid
	unsaid  error         // why something could not be written to Out
	mu      sync.Mutex    // guards the fields below
	pr      *ghtest.PullRequest
	pushed  bool
	taken   map[string]bool // by the step's name
	last    *step           // the newest step
	trouble error           // why the newest step has no result
	// answered waits for the answer to the newest step.
	answered func(context.Context) error

	unfinished bool // a step failed under Once, so nobody needs its database
}

// start starts the stand-in, the App and its page.
func start(ctx context.Context, o Options) (*demo, error) {
	d := &demo{Options: o, ended: make(chan error, 1), turn: make(chan struct{}, 1), taken: map[string]bool{}}
	d.timeline = newTimeline(o.Verbose)
	removeStale(os.TempDir())
	var err error
	if d.dir, d.unlock, err = makeDir(os.TempDir()); err != nil {
		return nil, fmt.Errorf("make a directory for the database: %w", err)
	}
	database := cmp.Or(o.Database, filepath.Join(d.dir, "reviewgate.db"))
	// A web page can't send webhooks to the demo, since it doesn't know the secret.
	secret := rand.Text()
	if d.gh, err = ghtest.New(ghtest.Options{WebhookSecret: secret}); err != nil {
		d.close()
		return nil, fmt.Errorf("start the GitHub stand-in: %w", err)
	}
	d.app, err = app.New(ctx, app.Settings{
		AppID: d.gh.AppID(), PrivateKey: d.gh.AppPrivateKeyPEM(), WebhookSecrets: [][]byte{[]byte(secret)},
		V3URL: d.gh.URL + "/api/v3/", V4URL: d.gh.URL + "/api/graphql", WebURL: webURL,
		Addr: "127.0.0.1:0", DatabaseURL: "sqlite://" + database,
	}, app.Options{
		Log:   zerolog.New(d.timeline).With().Timestamp().Logger(),
		Pages: map[string]http.Handler{pagePath: d.page(), pagePath + "/": d.page()},
	})
	if err != nil {
		d.close()
		return nil, fmt.Errorf("start the App: %w", err)
	}
	var run context.Context
	run, d.stop = context.WithCancel(context.WithoutCancel(ctx))
	go func() { d.ended <- d.app.Run(run) }()
	d.gh.Webhook.Set("http://"+d.app.Addr()+app.HookPath, secret)
	d.prepare()
	return d, nil
}

// url is the address of the page.
func (d *demo) url() string { return "http://" + d.app.Addr() + pagePath }

// close ends what start started, in the opposite order.
func (d *demo) close() {
	if d.stop != nil {
		d.gh.Webhook.HangUp()
		d.stop()
		<-d.ended
	}
	if d.app != nil {
		d.app.Close()
	}
	if d.gh != nil {
		d.gh.Close()
	}
	os.RemoveAll(d.dir)
	d.unlock()
	if d.Database != "" && d.unfinished {
		for _, suffix := range []string{"", "-wal", "-shm", ".lock"} {
			os.Remove(d.Database + suffix)
		}
	}
}
