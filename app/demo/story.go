package demo

import (
	"cmp"
	"context"
	_ "embed" // the shop
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/config"
)

//go:embed shop.txtar
var shop []byte

// step is what a person does to the pull request.
type step struct {
	name   string // the end of the address to which its button posts
	button string
	does   string // who does what
	look   string // what to look at afterwards
	// refused says why the step makes no sense now. It is empty if it makes sense.
	refused func(*demo) string
	// take takes the step. What it returns waits until the App has answered.
	take func(*demo) (answered func(context.Context) error)
}

// story lists the steps in the order in which they make the best story.
var story = []*step{
	{
		name: "open", button: "Open", does: "alice opens a pull request",
		look:    "Each finding in the comment has its place, the evidence and a fix. The check blocks the merge.",
		refused: func(d *demo) string { return when(d.pr != nil, "The pull request is open.") },
		take:    (*demo).open,
	},
	{
		name: "push", button: "Push", does: "alice pushes a fix for some findings",
		look: "The comment is edited in place. It counts what the push resolved and keeps what is left.",
		refused: func(d *demo) string {
			return cmp.Or(d.unopened(), when(d.pushed, "alice has pushed her fix."))
		},
		take: (*demo).push,
	},
	{
		name: "review", button: "/review", does: "alice comments /review",
		look:    "The same head has a new check run. The comment says the same, so nobody is notified. 👀 and 🚀 answer alice.",
		refused: (*demo).unopened,
		take:    func(d *demo) func(context.Context) error { return d.command("alice", "/review") },
	},
	{
		name: "dismiss", button: "Dismiss", does: "bob dismisses a finding and says why",
		look: "The finding no longer counts. The comment still lists it, with bob's name and reason.",
		refused: func(d *demo) string {
			return cmp.Or(d.unopened(), when(d.taken["dismiss"], "bob has dismissed a finding."), when(d.dismissable() == "", "No finding can be dismissed."))
		},
		take: func(d *demo) func(context.Context) error {
			return d.command("bob", "/review dismiss "+d.dismissable()+" wont_fix this code goes offline before the release")
		},
	},
	{
		name: "override", button: "Override", does: "carol, a maintainer, overrides the decision",
		look: "The check passes and names carol and her reason. The next push ends the override.",
		refused: func(d *demo) string {
			if why := d.unopened(); why != "" {
				return why
			}
			ok, _ := d.pr.Mergeable()
			return when(ok, "Nothing blocks the merge.")
		},
		take: func(d *demo) func(context.Context) error {
			return d.command("carol", "/review override refunds must work tonight, and the query is fixed tomorrow")
		},
	},
}

// when returns the reason if the condition holds, and "" otherwise.
func when(is bool, why string) string {
	if is {
		return why
	}
	return ""
}

func (d *demo) unopened() string { return when(d.pr == nil, "First open the pull request.") }

// refusal says why a step makes no sense now.
func (d *demo) refusal(s *step) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return s.refused(d)
}

// next returns the first step of the story that was not taken and makes sense, or nil.
func (d *demo) next() *step {
	for _, s := range story {
		d.mu.Lock()
		taken := d.taken[s.name]
		d.mu.Unlock()
		if !taken && d.refusal(s) == "" {
			return s
		}
	}
	return nil
}

// play takes a step, unless it makes no sense now, waits for the App's answer, and tells the result
// on the terminal. The error says that the answer did not come in time.
func (d *demo) play(ctx context.Context, s *step, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case d.turn <- struct{}{}:
		defer func() { <-d.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if d.refusal(s) != "" {
		return nil
	}
	d.timeline.begin(s.does)
	answered := s.take(d)
	d.mu.Lock()
	d.taken[s.name], d.last, d.trouble, d.answered = true, s, nil, answered
	d.mu.Unlock()
	if err := answered(ctx); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("%s: the answer did not come within %s", s.does, patience)
		}
		d.mu.Lock()
		d.trouble = err
		d.mu.Unlock()
		return err
	}
	d.sayStep(s)
	return nil
}

// unanswered returns why the newest step has no result, unless it has one by now.
func (d *demo) unanswered() error {
	d.mu.Lock()
	trouble, answered := d.trouble, d.answered
	d.mu.Unlock()
	if trouble == nil {
		return nil
	}
	now, cancel := context.WithCancel(context.Background())
	cancel()
	if answered(now) != nil {
		return trouble
	}
	return nil
}

// webURL is the web address of the stand-in. The page turns links to it into links on the page.
const webURL = "https://github.example.com"

const (
	repository = "acme/shop"
	checkName  = "reviewgate"
)

// prepare creates the repository with its config and people.
func (d *demo) prepare() {
	base := scene("base")
	d.repo = d.gh.Repo(repository)
	d.repo.Grant("alice", "write")
	d.repo.Grant("bob", "write")
	d.repo.Grant("carol", "maintain")
	d.repo.Settings.Protect("main", ghtest.RequiredCheck{Name: checkName, App: d.gh.AppID()})
	for _, f := range d.Config.Files {
		base[config.RepositoryDir+"/"+filepath.Base(f.Path)] = string(f.Text)
	}
	d.repo.Commit("main", base, "Start the shop")
}

func (d *demo) open() func(context.Context) error {
	pr := d.repo.OpenPR(ghtest.PR{
		Title: "feat: vouchers and refunds", Author: "alice", Head: "vouchers", Files: scene("change"),
		Body: "Customers can redeem a voucher at the checkout, and support can pay an order back.",
	})
	d.mu.Lock()
	d.pr = pr
	d.mu.Unlock()
	return d.reviewed(pr.HeadSHA())
}

func (d *demo) push() func(context.Context) error {
	head := d.pr.Push(scene("fix"), "fix: decimal money, certificates, and no token in the code")
	d.mu.Lock()
	d.pushed = true
	d.mu.Unlock()
	return d.reviewed(head)
}

// reviewed returns a function that waits until a review of the head is on GitHub.
func (d *demo) reviewed(head string) func(context.Context) error {
	return func(ctx context.Context) error { return d.timeline.waitReviewed(ctx, head) }
}

// command comments on the pull request. What it returns waits until the App has reacted and the
// newest check is completed.
func (d *demo) command(login, body string) func(context.Context) error {
	asked := d.pr.Comment(login, body)
	return func(ctx context.Context) error {
		return d.gh.WaitFor(ctx, func() bool {
			done := slices.ContainsFunc(d.pr.Comments(), func(c ghtest.Comment) bool {
				return c.ID == asked.ID && slices.ContainsFunc(c.Reactions, func(r ghtest.Reaction) bool { return r.Content != "eyes" })
			})
			check, ok := d.check()
			return done && ok && check.Completed()
		})
	}
}

// check returns the newest check run on the head.
func (d *demo) check() (c ghtest.CheckRun, ok bool) {
	runs := d.pr.CheckRuns()
	if len(runs) == 0 {
		return c, false
	}
	return runs[len(runs)-1], true
}

// dismissal finds the commands that the comment offers, for findings that bob may dismiss.
var dismissal = regexp.MustCompile("<sub>(?:major|warning|info) [^\n]*`/review dismiss ([0-9a-f]+) <reason>`")

// dismissable returns the id of the finding that bob dismisses: the one about the page, or else
// the last one. It is empty if the comment offers none.
func (d *demo) dismissable() string {
	id := ""
	if d.pr == nil {
		return ""
	}
	for _, c := range d.pr.AppComments() {
		for _, m := range dismissal.FindAllStringSubmatch(c.Body, -1) {
			if id = m[1]; strings.Contains(m[0], "`sec-dom-xss-01`") {
				return id
			}
		}
	}
	return id
}

// scene returns the files of one folder of the shop.
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
