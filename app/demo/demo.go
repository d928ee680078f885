// Package demo runs the whole App on one machine with nothing set up: a
// GitHub stand-in, the real server on SQLite, and a pull request that is
// opened, pushed to, and commented on.
package demo

import (
	"cmp"
	"context"
	_ "embed" // the shop
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/config"
)

//go:embed shop.txtar
var shop []byte

// Options steer a demo.
type Options struct {
	Out     io.Writer
	Once    bool      // end after printing
	Verbose io.Writer // the server's log, nil for none
	// Database is a file in which the SQLite database is kept. If it is empty, the demo deletes its
	// database in the end.
	Database string
	Config   config.Layer // the repository's config, which may have no files
}

// patience bounds each wait for an answer. A review takes well under a second.
const patience = 30 * time.Second

// Run runs the demo until its story is told and, unless Once is set, until
// ctx ends.
func Run(ctx context.Context, o Options) error {
	d, err := set(ctx, o)
	if err != nil {
		return err
	}
	defer d.close()
	if err := d.story(); err != nil {
		d.unfinished = true
		return err
	}
	if o.Database != "" {
		d.say("", "\nThe reviews are in "+o.Database+". Try: reviewgate replay --all --database sqlite://"+o.Database)
	}
	if o.Once {
		return nil
	}
	d.say("", "The server keeps running at http://"+d.app.Addr()+" (/healthz, /readyz, /metrics). End it with Ctrl-C.")
	<-ctx.Done()
	return nil
}

type demo struct {
	Options
	ctx   context.Context
	dir   string
	gh    *ghtest.Server
	app   *app.App
	stop  context.CancelFunc
	ended chan error
	repo  *ghtest.Repo
	pr    *ghtest.PullRequest

	unfinished bool // the story broke off, so nobody needs its database
}

const webhookSecret = "demo"

// set starts the stand-in and the App.
func set(ctx context.Context, o Options) (*demo, error) {
	d := &demo{Options: o, ctx: ctx, ended: make(chan error, 1)}
	var err error
	if d.dir, err = os.MkdirTemp("", "reviewgate-demo-"); err != nil {
		return nil, fmt.Errorf("make a directory for the database: %w", err)
	}
	database := cmp.Or(o.Database, filepath.Join(d.dir, "reviewgate.db"))
	if d.gh, err = ghtest.New(ghtest.Options{WebhookSecret: webhookSecret}); err != nil {
		d.close()
		return nil, fmt.Errorf("start the GitHub stand-in: %w", err)
	}
	log := zerolog.Nop()
	if o.Verbose != nil {
		log = zerolog.New(o.Verbose).With().Timestamp().Logger()
	}
	d.app, err = app.New(ctx, app.Settings{
		AppID: d.gh.AppID(), PrivateKey: d.gh.AppPrivateKeyPEM(), WebhookSecrets: [][]byte{[]byte(webhookSecret)},
		V3URL: d.gh.URL + "/api/v3/", V4URL: d.gh.URL + "/api/graphql", WebURL: "https://github.example.com",
		Addr: "127.0.0.1:0", DatabaseURL: "sqlite://" + database,
	}, app.Options{Log: log})
	if err != nil {
		d.close()
		return nil, fmt.Errorf("start the App: %w", err)
	}
	var run context.Context
	run, d.stop = context.WithCancel(context.WithoutCancel(ctx))
	go func() { d.ended <- d.app.Run(run) }()
	d.gh.Webhook.Set("http://"+d.app.Addr()+app.HookPath, webhookSecret)
	return d, nil
}

// close ends what set started, in the opposite order.
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
	if d.Database != "" && d.unfinished {
		for _, suffix := range []string{"", "-wal", "-shm", ".lock"} {
			os.Remove(d.Database + suffix)
		}
	}
}

// story opens a pull request, fixes it, and asks for another review.
func (d *demo) story() error {
	base, change, fix := scene("base"), scene("change"), scene("fix")
	d.repo = d.gh.Repo("acme/shop")
	d.repo.Grant("alice", "write")
	for _, f := range d.Config.Files {
		base[config.RepositoryDir+"/"+filepath.Base(f.Path)] = string(f.Text)
	}
	d.repo.Commit("main", base, "Start the shop")

	d.say("1 · alice opens a pull request", "acme/shop: feat: vouchers and refunds")
	d.pr = d.repo.OpenPR(ghtest.PR{
		Title: "feat: vouchers and refunds", Author: "alice", Head: "vouchers", Files: change,
		Body: "Customers can redeem a voucher at the checkout, and support can pay an order back.",
	})
	if err := d.answered(1); err != nil {
		return err
	}
	d.showCheck()
	d.showComment()

	d.say("2 · alice pushes a fix", "fix: decimal money, certificates, and no token in the code")
	d.pr.Push(fix, "fix: decimal money, certificates, and no token in the code")
	if err := d.answered(1); err != nil {
		return err
	}
	d.showCheck()
	d.showComment()

	d.say("3 · alice comments /review", "The same head is reviewed again.")
	edits := d.comment().Edits
	asked := d.pr.Comment("alice", "/review")
	if err := d.answered(2); err != nil {
		return err
	}
	if err := d.reacted(asked.ID); err != nil {
		return err
	}
	d.showCheck()
	if d.comment().Edits == edits {
		d.say("", "The comment says the same as before, so it was not written again; the command got 👀 and 🚀.")
	}
	return nil
}

// scene is the files of one folder of the shop.
func scene(name string) ghtest.Files {
	// A token that looks real is put together here, so that it stands nowhere
	// in this repository.
	token := "ghp_" + strings.Join([]string{"x7Kq2mVb9Z", "tR4sWc8YhJ", "1nDf6LgP3a", "EuT5oQ"}, "")
	files := ghtest.Files{}
	for _, f := range txtar.Parse(shop).Files {
		if path, ok := strings.CutPrefix(f.Name, name+"/"); ok {
			files[path] = strings.ReplaceAll(string(f.Data), "TOKEN", token)
		}
	}
	return files
}

// answered waits until the head has n check runs, the newest is completed, and
// the comment is there.
func (d *demo) answered(n int) error {
	return d.wait("the review", func() bool {
		runs := d.pr.CheckRuns()
		return len(runs) == n && runs[n-1].Completed() && len(d.pr.AppComments()) == 1 &&
			(n > 1 || strings.Contains(d.comment().Body, d.pr.HeadSHA()[:7]))
	})
}

// reacted waits until the command was answered.
func (d *demo) reacted(comment int64) error {
	return d.wait("the answer to the command", func() bool {
		return slices.ContainsFunc(d.pr.Comments(), func(c ghtest.Comment) bool { return c.ID == comment && len(c.Reactions) == 2 })
	})
}

func (d *demo) wait(what string, cond func() bool) error {
	ctx, cancel := context.WithTimeout(d.ctx, patience)
	defer cancel()
	err := d.gh.WaitFor(ctx, cond)
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s did not come within %s", what, patience)
	}
	if err != nil {
		return fmt.Errorf("wait for %s: %w", what, err)
	}
	return nil
}

func (d *demo) comment() ghtest.Comment { return d.pr.AppComments()[0] }

const rule = "────────────────────────────────────────────────────────────────────────"

func (d *demo) say(headline, text string) {
	if headline != "" {
		fmt.Fprintf(d.Out, "\n%s\n%s\n%s\n", rule, headline, rule)
	}
	fmt.Fprintln(d.Out, text)
}

func (d *demo) showCheck() {
	runs := d.pr.CheckRuns()
	c := runs[len(runs)-1]
	fmt.Fprintf(d.Out, "\nCheck run %d on %.7s, number %d on this head: %s\n  %s\n  annotations: %d\n",
		c.ID, c.HeadSHA, len(runs), c.Conclusion, c.Title, len(c.Annotations))
}

func (d *demo) showComment() {
	c := d.comment()
	fmt.Fprintf(d.Out, "\nComment %d by %s, edits: %d\n\n", c.ID, c.Author, c.Edits)
	for line := range strings.Lines(c.Body) {
		fmt.Fprint(d.Out, "  │ ", line)
	}
	fmt.Fprintln(d.Out)
}
