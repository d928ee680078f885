package people

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// The severities of faulty's findings, with what each finding is about.
const (
	major    = "major"    // certificates that aren't verified
	critical = "critical" // a token
)

func faulty() ghtest.Files {
	return ghtest.Files{"store/client.go": apptest.Insecure, "store/token.go": "package store\n\nconst token = \"" + apptest.Token + "\"\n"}
}

// finding returns the id of the finding with this severity, whether or not it was dismissed
// or accepted.
func (w *world) finding(pr *ghtest.PullRequest, severity string) string {
	w.Helper()
	report := w.Latest(pr).Review.Report
	all := slices.Clone(report.Findings)
	for _, s := range report.Suppressed {
		all = append(all, s.Finding)
	}
	for _, f := range all {
		if string(f.Severity) == severity {
			return f.ID
		}
	}
	w.Fatalf("no %s finding among %d", severity, len(all))
	return ""
}

// taught returns what people decided about a pull request's findings and head.
func (w *world) taught(pr *ghtest.PullRequest) pipeline.Memory {
	w.Helper()
	m, err := w.App.Inside().Store.Taught(w.Context(), w.Key(pr), pr.HeadSHA(), "main")
	if err != nil {
		w.Fatal(err)
	}
	return m
}

// rights tell who may give a command.
type rights int

const (
	nobody rights = iota // the command is refused for every sender
	authors
	writers
	maintainers
)

// conversation is one command and its effects.
type conversation struct {
	say   func(w *world, pr *ghtest.PullRequest) string
	takes rights
	own   bool   // only maintainers may give it on their own pull request
	fails string // what the comment answers a permitted sender; empty if the command is obeyed
	says  string // in the comment, once the command was obeyed
	calls int    // calls to GitHub for a permitted sender, including the one for the permission
	after bool   // a permitted sender gives it only if the command before it was obeyed
	again bool   // its refusal is already in the comment
	holds func(w *world, pr *ghtest.PullRequest) string
}

func line(text string) func(*world, *ghtest.PullRequest) string {
	return func(*world, *ghtest.PullRequest) string { return text }
}

func about(text, severity string) func(*world, *ghtest.PullRequest) string {
	return func(w *world, pr *ghtest.PullRequest) string {
		return fmt.Sprintf(text, w.finding(pr, severity)[:8])
	}
}

func concludes(conclusion string) func(*world, *ghtest.PullRequest) string {
	return func(w *world, pr *ghtest.PullRequest) string {
		if c := w.Check(pr); c.Conclusion != conclusion {
			return fmt.Sprintf("the check is %s (%s), want %s", c.Conclusion, c.Title, conclusion)
		}
		return ""
	}
}

func teaches(dismissed, accepted int) func(*world, *ghtest.PullRequest) string {
	return func(w *world, pr *ghtest.PullRequest) string {
		if m := w.taught(pr); len(m.Dismissed) != dismissed || len(m.Accepted) != accepted {
			return fmt.Sprintf("%d dismissed and %d accepted, want %d and %d", len(m.Dismissed), len(m.Accepted), dismissed, accepted)
		}
		return ""
	}
}

// The calls of a command: 1 for the permission, 2 for the reactions, and then 1 to write the
// comment, or the 8 of a review.
const (
	answer = 1 + 2 + 1
	rerun  = 1 + 2 + 8
)

// everyCommand lists the commands in the order in which they are given on one pull request.
var everyCommand = []conversation{
	{say: line("/review help"), takes: authors, says: "`/review forget <M-id>`", calls: answer},
	{say: line("/review status"), takes: authors, says: "Where this pull request stands", calls: answer},
	{say: line("/review explain"), takes: authors, says: "Of this review's agents", calls: answer},
	{say: line("/review explain store/client.go"), takes: authors, says: "Of this review, about `store/client.go`", calls: answer, again: true},
	{say: line("/review"), takes: authors, calls: rerun, holds: concludes("failure")},
	{say: line("/review agent security-reviewer"), takes: writers, calls: rerun, holds: concludes("failure")},
	{say: line("/review full"), takes: writers, calls: rerun + 2, holds: concludes("failure")},
	{say: about("/review dismiss %s not in our code", major), takes: writers, own: true, calls: rerun, holds: teaches(1, 0)},
	{say: about("/review restore %s", major), takes: writers, after: true, calls: rerun, holds: teaches(0, 0)},
	{say: about("/review accept %s", major), takes: writers, own: true, calls: rerun, holds: teaches(0, 1)},
	{say: about("/review dismiss %s revoked", critical), takes: maintainers, calls: rerun, holds: teaches(1, 1)},
	{say: line("/review reject wait for legal"), takes: maintainers, calls: rerun + 1, holds: concludes("failure")},
	{say: line("/review override hotfix"), takes: maintainers, calls: rerun + 1, holds: concludes("success")},
	{say: line("/review resume"), takes: writers, fails: "Nothing is paused on this pull request."},
	{say: line("/review frobnicate"), fails: "There is no command `frobnicate`"},
	{say: line("/review fix"), fails: "There is no command `fix`"},
	{say: line("/review dismiss 0123 x\n/review help"), takes: writers, own: true, fails: "begins with `0123`"},
}

// Every kind of sender gives every command. The test compares the reactions, the effects and
// the number of calls.
func TestEveryCommandByEverySender(t *testing.T) {
	t.Parallel()
	senders := map[string]struct {
		login, role string
		may         rights
		author      bool
		silent      bool // its comments are never commands
	}{
		"admin":                {login: "ada", role: "admin", may: maintainers},
		"maintain":             {login: "mia", role: "maintain", may: maintainers},
		"write":                {login: "wes", role: "write", may: writers},
		"triage":               {login: "tia", role: "triage", may: nobody},
		"read":                 {login: "bob", role: "read", may: nobody},
		"outsider":             {login: "otto", role: "none", may: nobody},
		"author from a fork":   {login: "carol", role: "read", may: authors, author: true},
		"author who may write": {login: "alice", role: "write", may: writers, author: true},
		"author who maintains": {login: "alice", role: "maintain", may: maintainers, author: true},
		"bot":                  {login: "renovate[bot]", role: "admin", silent: true},
		"itself":               {login: "reviewgate[bot]", role: "admin", silent: true},
	}
	names := slices.Sorted(maps.Keys(senders))
	if !sample.Full() {
		names = []string{"author from a fork", "bot", "outsider", "write"}
	}
	for _, name := range names {
		sender := senders[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			w.Repo.Grant(sender.login, sender.role)
			open := ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Files: faulty()}
			if sender.login == "carol" {
				open.Author, open.Fork = "carol", "carol"
			}
			pr := w.Repo.OpenPR(open)
			w.Idle()
			obeyed := false
			for _, c := range everyCommand {
				if c.after && sender.may >= c.takes && !obeyed {
					continue
				}
				text := c.say(w, pr)
				before := w.Ours(pr).Edits
				w.GH.Calls.Reset()
				said := pr.Comment(sender.login, text)
				w.Idle()
				calls := w.GH.Calls.All()
				got := strings.Join(w.Reactions(pr, said.ID), "+")
				want, cost := "eyes+rocket", c.calls
				needs := c.takes
				if c.own && sender.author {
					needs = maintainers
				}
				asked := 1
				if needs == authors && sender.author || needs == nobody {
					asked = 0 // the event names the author, and nobody may give a command that does not exist
					cost--
				}
				allowed := sender.may >= needs
				switch {
				case sender.silent:
					want, cost = "", 0
				case !allowed || c.fails != "":
					want, cost = "confused", asked+2
					if c.again {
						cost--
					}
				}
				obeyed = want == "eyes+rocket"
				if got != want {
					t.Errorf("%s: reactions %q, want %q", text, got, want)
				}
				if len(calls) != cost {
					t.Errorf("%s: %d calls, want %d: %s", text, len(calls), cost, routes(calls))
				}
				body := w.Ours(pr).Body
				switch {
				case sender.silent:
					if w.Ours(pr).Edits != before {
						t.Errorf("%s: the comment was written", text)
					}
				case !allowed && !strings.Contains(body, sender.login+" asked for"):
					t.Errorf("%s: the comment does not say why the command was refused:\n%s", text, body)
				case allowed && !strings.Contains(body, c.fails+c.says):
					t.Errorf("%s: the comment lacks %q:\n%s", text, c.fails+c.says, body)
				case allowed && c.holds != nil:
					if wrong := c.holds(w, pr); wrong != "" {
						t.Errorf("%s: %s", text, wrong)
					}
				}
				if wrong := teaches(0, 0)(w, pr); sender.may < writers && wrong != "" {
					t.Errorf("%s: %s", text, wrong)
				}
				if n := w.Ours(pr).Edits - before; n > 1 {
					t.Errorf("%s: the comment was written %d times", text, n)
				}
			}
			if runs := len(pr.CheckRuns()); sender.silent && runs != 1 {
				t.Errorf("%d check runs", runs)
			}
		})
	}
}

func routes(calls []ghtest.Call) string {
	var all []string
	for _, c := range calls {
		all = append(all, c.Route)
	}
	return strings.Join(all, "\n\t")
}

// The audit log holds what people decide, who decided it and why. The server's log holds the
// decision without their text.
func TestDecisionsAreAudited(t *testing.T) {
	t.Parallel()
	book := &apptest.LogBook{}
	w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, func(w *apptest.World) { w.LogTo = book })
	w.Repo.Grant("mia", "maintain")
	pr := w.Repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Files: faulty()})
	w.Idle()
	id := w.finding(pr, major)
	for _, text := range []string{"/review", "/review dismiss " + strings.ToUpper(id[:6]) + " not ours", "/review restore " + id, "/review override hotfix, see INC-7"} {
		pr.Comment("mia", text)
		w.Idle()
	}
	log, err := w.App.Inside().Store.Audit(t.Context(), w.Key(pr), 10)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range log {
		got = append(got, fmt.Sprintf("%s %s %s %s %t", e.Actor, e.Action, e.Subject, e.Reason, e.HeadSHA == pr.HeadSHA()))
	}
	want := []string{"mia override  hotfix, see INC-7 true", "mia restore " + id + "  true", "mia dismiss " + id + " not ours true"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("audit log, newest first (-want +got):\n%s", diff)
	}
	if n := strings.Count(book.String(), `"message":"command obeyed"`); n != 4 {
		t.Errorf("the server's log has %d obeyed commands, want 4", n)
	}
	if strings.Contains(book.String(), "INC-7") {
		t.Error("the server's log contains a person's text")
	}
}
