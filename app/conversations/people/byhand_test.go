package people

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// target is the key under which the App stores a pull request.
func (w *world) target(pr *ghtest.PullRequest) ports.Target {
	w.Helper()
	state, err := w.App.Inside().Store.Target(w.Context(), ports.Target{Kind: ports.TargetPull, RepoID: pr.Repo().ID(), Number: pr.Number}.Key())
	if err != nil {
		w.Fatal(err)
	}
	return state.Target
}

// A dismissed finding stays dismissed wherever its code moves, until it is restored.
func TestDismissedStaysDismissed(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.Open(apptest.Tested(ghtest.Files{"store/client.go": apptest.Insecure}))
	w.Idle()
	f := w.Only(pr)
	w.Wants(pr, "action_required", "`/review dismiss "+f.ID[:8]+" <reason>`")
	w.Dismiss(pr, f)
	dismissed := []string{"Dismissed by carol", "the warehouse's certificate is our own", "id `" + f.ID[:8] + "`"}
	w.Wants(pr, "success", dismissed...)

	moved := strings.Replace(apptest.Insecure, "// Client talks", "// Orders come from it.\n\n// Client talks", 1)
	further := strings.Replace(moved, "package store", "// Package store keeps.\npackage store", 1)
	for i, push := range []struct {
		name string
		do   func()
	}{
		{"lines shift", func() { pr.Push(ghtest.Files{"store/client.go": moved}, "feat: a timeout") }},
		{"lines shift again", func() { pr.Push(ghtest.Files{"store/client.go": further}, "docs: say what it is") }},
		{"other code", func() {
			pr.Push(ghtest.Files{"store/stock.go": "package store\n\nvar Stock int\n", "store/stock_test.go": "package store\n"}, "feat: stock")
		}},
		{"a documentation page", func() { pr.Push(ghtest.Files{"docs/stock.md": "# Stock\n"}, "docs: stock") }},
		{"code is removed", func() {
			pr.Push(ghtest.Files{"store/stock.go": ghtest.Gone, "store/stock_test.go": ghtest.Gone}, "refactor: no stock")
		}},
		{"lines shift back", func() { pr.Push(ghtest.Files{"store/client.go": moved}, "docs: less words") }},
		{"lines shift again with more words", func() { pr.Push(ghtest.Files{"store/client.go": further}, "docs: more words") }},
		{"white space", func() {
			pr.Push(ghtest.Files{"store/client.go": strings.ReplaceAll(further, "\treturn", "\t\t\n\t\treturn ")}, "style: format")
		}},
		{"a rename", func() {
			pr.Push(ghtest.Files{"store/client.go": ghtest.Gone, "store/client_test.go": ghtest.Gone, "store/http.go": further, "store/http_test.go": "package store\n"}, "refactor: rename")
		}},
		{"it is fixed", func() { pr.Push(ghtest.Files{"store/http.go": apptest.Secure}, "fix: verify certificates") }},
		{"it is brought back", func() { pr.Push(ghtest.Files{"store/http.go": further}, "revert: a fix") }},
		{"the base is merged in", func() {
			w.Repo.Commit("main", ghtest.Files{"store/b.go": "package store\n"}, "meanwhile")
			pr.UpdateBranch("alice")
		}},
		{"a rebase onto a base that moved", func() {
			w.Repo.Commit("main", ghtest.Files{"store/c.go": "package store\n"}, "meanwhile again")
			pr.ForcePush(ghtest.Files{"store/http.go": further, "store/http_test.go": "package store\n"}, "feat: read stock from the warehouse")
		}},
		{"a force-push", func() {
			pr.ForcePush(ghtest.Files{"store/http.go": moved, "store/http_test.go": "package store\n"}, "feat: all in one")
		}},
	} {
		push.do()
		w.Idle()
		if push.name == "it is fixed" {
			w.Wants(pr, "success")
			continue
		}
		w.Wants(pr, "success", "Dismissed by carol")
		if got := w.Only(pr); got.State != pipeline.StateDismissed {
			t.Fatalf("push %d, %s: the finding is %s", i+1, push.name, got.State)
		}
	}

	w.Says(pr, "/review restore "+w.Only(pr).ID[:8])
	w.Wants(pr, "action_required", "TLS")
	w.WantsNot(pr, "Dismissed by carol")
}

// A dismissal for one base branch must be confirmed for another, and holds again when the
// first base returns.
func TestDismissalCoversOneBase(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.Repo.Grant("carol", "maintain")
	w.Repo.Commit("scratch", ghtest.Files{}, "chore: a place to try things")
	pr := w.Open(apptest.Tested(ghtest.Files{"store/client.go": "package store\n\nvar c = &tls.Config{InsecureSkipVerify: true}\n"}))
	w.Idle()
	into := func(base string) {
		t.Helper()
		pr.Edit(ghtest.Edit{Base: &base})
		w.Idle()
	}
	into("scratch")
	w.Dismiss(pr, w.Only(pr))
	w.Wants(pr, "success", "Dismissed by carol")
	into("main")
	w.Wants(pr, "action_required", "Not dismissed: the base branch has changed since carol dismissed it", "TLS")
	into("scratch")
	w.Wants(pr, "success", "Dismissed by carol")
}

// A decision about a finding is bound to the code around it. When a push changes that code,
// the finding counts until somebody with the right to do so confirms the dismissal. Restoring
// the old code restores the dismissal.
func TestDismissalOfChangedCodeMustBeConfirmed(t *testing.T) {
	t.Parallel()
	const before = `package store

import (
	"crypto/tls"
	"net/http"
)

// sandbox is where tests run.
const sandbox = "localhost:8443"

// Client talks to the sandbox.
func Client() *http.Client {
	if host != sandbox {
		panic("not the sandbox")
	}
	c := &tls.Config{InsecureSkipVerify: true}
	return client(sandbox, c)
}
`
	for name, after := range sample.Map(t, 2, map[string]string{
		"the line above goes":    strings.Replace(before, "\tif host != sandbox {\n\t\tpanic(\"not the sandbox\")\n\t}\n", "", 1),
		"the condition changes":  strings.Replace(before, "host != sandbox", "host == \"\"", 1),
		"the constant changes":   strings.Replace(before, "localhost:8443", "warehouse.example.com", 1),
		"what follows changes":   strings.Replace(before, "client(sandbox, c)", "client(warehouse, c)", 1),
		"a line before it":       strings.Replace(before, "\tc := ", "\thost = warehouse\n\tc := ", 1),
		"a statement in between": strings.Replace(before, "\treturn client", "\tc.ServerName = \"\"\n\treturn client", 1),
		"code behind a comment":  strings.Replace(before, "// Client talks to the sandbox.", "/* Client talks. */ var host = sandbox", 1),
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			w.Repo.Grant("carol", "maintain")
			pr := w.Open(apptest.Tested(ghtest.Files{"store/client.go": before}))
			w.Idle()
			w.Dismiss(pr, w.Only(pr))
			w.Wants(pr, "success", "Dismissed by carol")
			pr.Push(ghtest.Files{"store/client.go": after}, "feat: less")
			w.Idle()
			w.Wants(pr, "action_required", "Not dismissed: the code around it has changed since carol dismissed it", "TLS")
			pr.Push(ghtest.Files{"store/client.go": before}, "revert: less")
			w.Idle()
			w.Wants(pr, "success", "Dismissed by carol")
			pr.Push(ghtest.Files{"store/client.go": after}, "feat: less again")
			w.Idle()
			w.Wants(pr, "action_required", "Not dismissed")
			w.Dismiss(pr, w.Only(pr))
			w.Wants(pr, "success", "Dismissed by carol")
		})
	}
}

// A dismissal of a secret covers one value. Another secret in its place has the same
// placeholder and is not dismissed.
func TestDismissalOfASecretCoversOneValue(t *testing.T) {
	t.Parallel()
	const decoy, another = "ghp_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3x4Y", "ghp_Zq8Lk2Vn5Tx9Rb4Wc7Yd1Ms6Hf3Jp0Gu5Ae2"
	w := start(t)
	file := func(token string) ghtest.Files {
		return apptest.Tested(ghtest.Files{"store/key.go": "package store\n\nconst token = \"" + token + "\"\n"})
	}
	pr := w.Open(file(decoy))
	w.Idle()
	w.Dismiss(pr, w.Only(pr))
	w.Wants(pr, "success", "Dismissed by carol")
	pr.Push(ghtest.Files{"store/other_test.go": "package store\n"}, "test: more")
	w.Idle()
	w.Wants(pr, "success", "Dismissed by carol")
	pr.Push(file(another), "feat: another")
	w.Idle()
	w.Wants(pr, "failure", "Not dismissed")
	pr.Push(file(decoy), "revert: another")
	w.Idle()
	w.Wants(pr, "success", "Dismissed by carol")

	said := w.Repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody + "\n" + decoy, Head: "said", Author: "mallory", Files: ghtest.Files{"store/a_test.go": "package store\n"}})
	w.Idle()
	w.Dismiss(said, w.Only(said))
	w.Wants(said, "success", "Dismissed by carol")
	body := apptest.GoodBody + "\n" + another
	said.Edit(ghtest.Edit{Body: &body})
	w.Idle()
	w.Wants(said, "failure", "Not dismissed")
}

// An override or a rejection holds for the head and the base, and ends with the next push.
func TestOverrideEndsWithTheNextPush(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.Open(apptest.Tested(ghtest.Files{"store/client.go": apptest.Insecure}))
	w.Idle()
	head := pr.HeadSHA()
	w.Says(pr, "/review override the warehouse is down")
	told := []string{"the review says: needs fixes, 1 major", "carol passed this head by hand", "the warehouse is down", "until the next push"}
	w.Wants(pr, "success", append(told, "Critical and major")...)
	w.WantsCheck(pr, "success", told...)
	if c := w.Check(pr); !strings.HasPrefix(c.Title, "Passed by hand by carol") {
		t.Errorf("the check's title is %q", c.Title)
	}

	// Another review of the same head shows the same.
	w.Says(pr, "/review")
	w.Wants(pr, "success", told...)

	pr.Push(ghtest.Files{"store/client.go": apptest.Moved}, "feat: a timeout")
	w.Idle()
	w.Wants(pr, "action_required", "Needs fixes: 1 major")
	w.WantsNot(pr, "Passed by hand")

	// When the head goes back to that commit, the override applies again.
	pr.ForcePushTo(head)
	w.Idle()
	w.Wants(pr, "success", told...)

	// With another base it is another change.
	w.Repo.Commit("release", ghtest.Files{"RELEASE": "1.0\n"}, "branch off")
	release := "release"
	pr.Edit(ghtest.Edit{Base: &release})
	w.Idle()
	w.Wants(pr, "action_required", "Needs fixes: 1 major")
	w.WantsNot(pr, "Passed by hand")
}

func TestRejectedByHand(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.Open(apptest.Clean())
	w.Idle()
	w.Wants(pr, "success")
	w.Says(pr, "/review reject @team/data has to see it first")
	w.Wants(pr, "failure", "Rejected by hand by carol; the review says: passed", "has to see it first")
	w.WantsNot(pr, "@team/data")
	pr.Push(ghtest.Files{"store/stock.go": "package store\n\nvar Stock int\n", "store/stock_test.go": "package store\n"}, "feat: stock")
	w.Idle()
	w.Wants(pr, "success")
	w.WantsNot(pr, "by hand")
}

// team are agents that replace the config's agents and count their runs.
type team struct {
	mu   sync.Mutex
	runs map[string][]string // heads by agent
	say  func(agent string) (pipeline.AgentOutput, error)
}

func (m *team) agent(id string) dispatch.Agent { return teamAgent{m, id} }

type teamAgent struct {
	team *team
	id   string
}

func (a teamAgent) Review(_ context.Context, task dispatch.Task) (dispatch.Answer, error) {
	a.team.mu.Lock()
	defer a.team.mu.Unlock()
	a.team.runs[a.id] = append(a.team.runs[a.id], task.Facts.Head.SHA)
	if a.team.say == nil {
		return dispatch.Answer{}, nil
	}
	out, err := a.team.say(a.id)
	return dispatch.Answer{Output: out}, err
}

// ran returns how often each agent ran since the last call.
func (m *team) ran() map[string]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := map[string]int{}
	for id, heads := range m.runs {
		n[id] = len(heads)
	}
	m.runs = map[string][]string{}
	return n
}

// withTeam starts a world in which two agents replace the config's agents.
func withTeam(t *testing.T, m *team) *world {
	t.Helper()
	m.runs = map[string][]string{}
	return startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, func(w *apptest.World) {
		w.Agents = map[string]dispatch.Agent{"security-reviewer": m.agent("security-reviewer"), "build-reviewer": m.agent("build-reviewer")}
	})
}

func wantRan(t *testing.T, m *team, when string, want map[string]int) {
	t.Helper()
	if diff := cmp.Diff(want, m.ran()); diff != "" {
		t.Errorf("%s, agents ran (-want +got):\n%s", when, diff)
	}
}

// A critical finding of one model alone waits for a person, and counts once somebody accepts
// it.
func TestAcceptedFindingCounts(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	m := &team{say: func(agent string) (pipeline.AgentOutput, error) {
		if agent != "security-reviewer" {
			return pipeline.AgentOutput{}, nil
		}
		return dangerousBy("model-a"), nil
	}}
	w := withTeam(t, m)
	pr := w.Open(apptest.Clean())
	w.Idle()
	w.Wants(pr, "action_required", "A person must decide: 1 critical by one model only")
	f := w.Only(pr)
	m.ran()
	w.Says(pr, "/review accept "+f.ID[:8])
	w.Wants(pr, "failure", "Failed: 1 critical", "accepted by carol")
	wantRan(t, m, "after it was accepted", map[string]int{})

	// Somebody who may not dismiss it may not withdraw the acceptance either.
	w.Repo.Grant("wes", "write")
	pr.Comment("wes", "/review restore "+f.ID[:8])
	w.Idle()
	w.Wants(pr, "failure", "accepted by carol", "wes asked for `/review restore`, but for a critical finding only people with the permission maintain")
	w.Says(pr, "/review restore "+f.ID[:8])
	w.Wants(pr, "action_required", "A person must decide")

	// Nor may the author, where the settings let nobody judge their own pull request.
	w.Says(pr, "/review accept "+f.ID[:8])
	w.Repo.Commit("main", ghtest.Files{".github/reviewgate/review-settings.json": `{"commands": {"self_judgement": "never"}}`}, "config")
	w.Repo.Grant("alice", "admin")
	w.Idle()
	pr.Comment("alice", "/review restore "+f.ID[:8])
	w.Idle()
	w.Wants(pr, "failure", "accepted by carol", "alice asked for `/review restore`, but under the settings, only somebody who neither opened the pull request")
}

// An author with write permission can't weaken a finding that somebody else accepted, but may
// withdraw what makes it milder.
func TestAuthorDoesNotWithdrawAnAcceptance(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	pr := w.Open(apptest.Tested(ghtest.Files{"store/client.go": apptest.Insecure}))
	w.Idle()
	f := w.Only(pr)
	w.Says(pr, "/review accept "+f.ID[:8])
	pr.Comment("alice", "/review restore "+f.ID[:8])
	w.Idle()
	w.Wants(pr, "action_required", "accepted by carol", "alice asked for `/review restore`, but on one's own pull request only")

	w.Dismiss(pr, f)
	w.Wants(pr, "success", "Dismissed by carol")
	pr.Comment("alice", "/review restore "+f.ID[:8])
	w.Idle()
	w.Wants(pr, "action_required")
}

// ignoring is a change with a comment that asks to ignore its own finding.
func ignoring(reason string) ghtest.Files {
	return apptest.Tested(ghtest.Files{"store/client.go": strings.Replace(apptest.Insecure, "\treturn", "\t// reviewgate:ignore sec-tls-verify-01 "+reason+"\n\treturn", 1)})
}

// A change adds a comment that ignores its own finding. The comment counts once somebody else
// accepts it, and only with the reason that was accepted.
func TestIgnoreOfTheChangeWaitsForAnotherPerson(t *testing.T) {
	t.Parallel()
	const waits = "an ignore comment that this change adds waits for acceptance; its reason: \""
	w := start(t)
	w.Repo.Grant("alice", "write")
	w.Repo.Grant("wes", "write")
	pr := w.Open(ignoring("a sandbox"))
	w.Idle()
	w.Wants(pr, "action_required", waits+"a sandbox")
	f := w.Only(pr)
	pr.Comment("alice", "/review accept "+f.ID[:8])
	pr.Comment("otto", "/review accept "+f.ID[:8])
	w.Idle()
	w.Wants(pr, "action_required", waits, "alice asked for `/review accept`, but on one's own pull request only")

	pr.Comment("wes", "/review accept "+f.ID[:8])
	w.Idle()
	w.Wants(pr, "success")

	pr.Push(ignoring("whatever"), "give another reason")
	w.Idle()
	w.Wants(pr, "action_required", waits+"whatever")
	pr.Push(ignoring("a sandbox"), "give the reason that was accepted")
	w.Idle()
	w.Wants(pr, "success")
	pr.Comment("wes", "/review restore "+f.ID[:8])
	w.Idle()
	w.Wants(pr, "action_required", waits+"a sandbox")
}

// Everybody who pushes to a pull request is one of its authors, whatever its commits say.
// If it is not known who pushed, it may have been anybody.
func TestPushersMayNotJudge(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.Repo.Grant("octocat", "write")
	w.Repo.Grant("wes", "write")
	pr := w.Repo.OpenPR(ghtest.PR{Head: "stock", Title: "feat: read stock", Body: apptest.GoodBody, Files: apptest.Tested(ghtest.Files{"store/client.go": apptest.Insecure})})
	w.Idle()
	f := w.Only(pr)
	pr.Comment("octocat", "/review dismiss "+f.ID[:8]+" fine")
	w.Idle()
	w.Wants(pr, "success", "Dismissed by octocat")
	pr.Comment("octocat", "/review restore "+f.ID[:8])
	w.Idle()

	w.Repo.Commit("stock", ghtest.Files{"store/more.go": "package store\n"}, "push to another's pull request")
	w.Idle()
	pr.Comment("octocat", "/review dismiss "+f.ID[:8]+" fine")
	w.Idle()
	w.Wants(pr, "action_required", "octocat asked for `/review dismiss`, but on one's own pull request only")
	pr.Comment("octocat", "/review accept "+f.ID[:8])
	w.Idle()
	w.Wants(pr, "action_required", "octocat asked for `/review accept`, but on one's own pull request only")
	pr.Comment("wes", "/review dismiss "+f.ID[:8]+" fine")
	w.Idle()
	w.Wants(pr, "success", "Dismissed by wes")
	pr.Comment("wes", "/review restore "+f.ID[:8])
	w.Idle()

	hook := "http://" + w.App.Addr() + app.HookPath
	w.GH.Webhook.Set("http://127.0.0.1:1/hook", apptest.Secret)
	w.Repo.Commit("stock", ghtest.Files{"store/most.go": "package store\n"}, "push what nobody sees")
	w.GH.Webhook.Set(hook, apptest.Secret)
	pr.Push(ghtest.Files{"store/last.go": "package store\n"}, "push over it")
	w.Idle()
	pr.Comment("wes", "/review dismiss "+f.ID[:8]+" fine")
	w.Idle()
	w.Wants(pr, "action_required", "wes asked for `/review dismiss`, but where it is not known who sent every push only")
	w.Dismiss(pr, f)
	w.Wants(pr, "success", "Dismissed by carol")
}

// Nobody judges a change that they made, under any name and by any way of pushing.
func TestAuthorsAreKnownFromGitHub(t *testing.T) {
	const refused = "asked for `/review dismiss`, but on one's own pull request only"
	for name, tt := range sample.Map(t, 3, map[string]struct {
		act  func(w *world, pr *ghtest.PullRequest)
		want []string // after wes, who has write permission, dismisses the finding
	}{
		"nobody else did anything": {func(*world, *ghtest.PullRequest) {}, []string{"success", "Dismissed by wes"}},
		"brought up to date with the base": {func(w *world, pr *ghtest.PullRequest) {
			w.Repo.Commit("main", ghtest.Files{"docs/a.md": "# A\n"}, "meanwhile")
			pr.UpdateBranch("wes")
		}, []string{"success", "Dismissed by wes"}},
		"up to date with a base that has the change's file": {func(w *world, pr *ghtest.PullRequest) {
			w.Repo.Commit("main", ghtest.Files{"store/client_test.go": "package store\n"}, "meanwhile")
			pr.UpdateBranch("wes")
		}, []string{"action_required", refused}},
		"pushed a file": {func(w *world, pr *ghtest.PullRequest) {
			w.Repo.CommitAs("wes", "stock", ghtest.Files{"store/wes.go": "package store\n"}, "feat: more")
		}, []string{"action_required", refused}},
		"pushed other line ends": {func(w *world, pr *ghtest.PullRequest) {
			w.Repo.CommitAs("wes", "stock", ghtest.Files{"store/client.go": strings.ReplaceAll(apptest.Insecure, "\n", "\r\n")}, "fix: line ends")
		}, []string{"action_required", refused}},
		"pushed, and somebody else pushed over it": {func(w *world, pr *ghtest.PullRequest) {
			w.Repo.CommitAs("wes", "stock", ghtest.Files{"store/wes.go": "package store\n"}, "feat: more")
			w.Idle()
			w.Repo.CommitAs("alice", "stock", ghtest.Files{"store/wes.go": ghtest.Gone}, "feat: less")
		}, []string{"action_required", refused}},
		"opened it under another login": {func(w *world, pr *ghtest.PullRequest) {
			w.GH.RenameAccount("alice", "wes")
		}, []string{"action_required", refused}},
		"pushed to it under another login": {func(w *world, pr *ghtest.PullRequest) {
			w.Repo.CommitAs("wanda", "stock", ghtest.Files{"store/wes.go": "package store\n"}, "feat: more")
			w.Idle()
			w.GH.RenameAccount("wanda", "wes")
		}, []string{"action_required", refused}},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			pr := w.Repo.OpenPR(ghtest.PR{Head: "stock", Author: "alice", Title: "feat: read stock", Body: apptest.GoodBody, Files: apptest.Tested(ghtest.Files{"store/client.go": apptest.Insecure})})
			w.Idle()
			tt.act(w, pr)
			w.Idle()
			w.Repo.Grant("wes", "write")
			pr.Comment("wes", "/review dismiss "+w.Only(pr).ID[:8]+" fine")
			w.Idle()
			w.Wants(pr, tt.want[0], tt.want[1])
		})
	}
}

// Code on the old base becomes part of the change when the base changes, and nobody saw who
// pushed that code. A base change that adds no code makes nobody an unknown author.
func TestCodeOfAnotherBaseHasUnknownAuthors(t *testing.T) {
	for name, tt := range sample.Map(t, 2, map[string]struct {
		scratch ghtest.Files
		hurry   bool // the base changes before the first review
		want    []string
	}{
		"code of the old base": {apptest.Tested(ghtest.Files{"store/client.go": apptest.Insecure}), false,
			[]string{"action_required", "wes asked for `/review dismiss`, but where it is not known who sent every push only"}},
		"code of the old base, in a hurry": {apptest.Tested(ghtest.Files{"store/client.go": apptest.Insecure}), true,
			[]string{"action_required", "wes asked for `/review dismiss`, but where it is not known who sent every push only"}},
		"nothing": {nil, false, []string{"success", "Dismissed by wes"}},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			w.Repo.Grant("wes", "write")
			own := apptest.Tested(ghtest.Files{"store/stock.go": "package store\n"})
			if tt.scratch == nil {
				own = apptest.Tested(ghtest.Files{"store/client.go": apptest.Insecure})
			}
			w.Repo.CommitAs("wes", "scratch", tt.scratch, "feat: try things")
			pr := w.Repo.OpenPR(ghtest.PR{Head: "stock", Base: "scratch", Author: "alice", Title: "feat: read stock", Body: apptest.GoodBody, Files: own})
			if !tt.hurry {
				w.Idle()
			}
			main := "main"
			pr.Edit(ghtest.Edit{Base: &main})
			w.Idle()
			pr.Comment("wes", "/review dismiss "+w.Only(pr).ID[:8]+" fine")
			w.Idle()
			w.Wants(pr, tt.want[0], tt.want[1])
			if tt.scratch != nil {
				w.Dismiss(pr, w.Only(pr))
				w.Wants(pr, "success", "Dismissed by carol")
			}
		})
	}
}

// If the settings let nobody judge their own pull request, admin permission is not enough.
// Another person may judge it.
func TestNobodyJudgesTheirOwnWhereSettingsSaySo(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.Repo.Commit("main", ghtest.Files{".github/reviewgate/review-settings.json": `{"commands": {"self_judgement": "never"}}`}, "config")
	pr := w.Repo.OpenPR(ghtest.PR{Head: "stock", Author: "alice", Title: "feat: read stock", Body: apptest.GoodBody, Files: apptest.Tested(ghtest.Files{"store/client.go": apptest.Insecure})})
	w.Repo.Grant("alice", "admin")
	w.Idle()
	id := w.Only(pr).ID[:8]
	for _, command := range []string{"dismiss " + id + " fine", "accept " + id, "override it is late"} {
		pr.Comment("alice", "/review "+command)
		w.Idle()
		name, _, _ := strings.Cut(command, " ")
		w.Wants(pr, "action_required", "alice asked for `/review "+name+"`, but under the settings, only somebody who neither opened the pull request nor pushed to it can")
	}
	pr.Comment("alice", "/review reject not yet")
	w.Idle()
	w.Wants(pr, "failure", "Rejected by hand by alice")
	w.Dismiss(pr, w.Only(pr))
	w.Wants(pr, "failure", "Dismissed by carol")
}

// Content that could not be read holds the gate until a person who may judge the change
// accepts it. That holds for the head that they saw.
func TestUnreadContentIsAcceptedForOneHead(t *testing.T) {
	t.Parallel()
	w := start(t)
	for who, what := range map[string]string{"alice": "write", "rita": "read", "wes": "write"} {
		w.Repo.Grant(who, what)
	}
	bytes := "\x01\x02\x03" + strings.Repeat("\xfe\x9c\x00\x81", 500)
	pr := w.Repo.OpenPR(ghtest.PR{Head: "stock", Author: "alice", Title: "feat: read stock", Body: apptest.GoodBody, Files: ghtest.Files{"tool.sh": bytes}})
	w.Idle()
	says := func(who, command string) {
		pr.Comment(who, "/review "+command)
		w.Idle()
	}
	const can = "/review accept unread"
	w.Wants(pr, "action_required", "Review incomplete", "tool.sh", can)
	for who, why := range map[string]string{
		"alice": "alice asked for `/review accept`, but on one's own pull request only",
		"rita":  "rita asked for `/review accept`, but only people with write permission",
	} {
		says(who, "accept unread")
		w.Wants(pr, "action_required", why)
	}
	says("wes", "accept unread")
	w.WantsCheck(pr, "success", "accepted unread by wes")
	says("wes", "accept unread")
	w.Wants(pr, "success", "No file of the newest review waits to be accepted unread")
	says("wes", "restore unread")
	w.Wants(pr, "action_required", can)
	says("wes", "accept unread")
	w.WantsCheck(pr, "success", "accepted unread by wes")
	pr.Push(ghtest.Files{"docs/a.md": "# A\n"}, "docs: more")
	w.Idle()
	w.Wants(pr, "action_required", can)
	says("wes", "dismiss unread it is fine")
	w.Wants(pr, "action_required", "was not understood")
}

// Each form of the review command repeats as much of the review as it asks for.
func TestReviewRepeatsWhatTheCommandAsks(t *testing.T) {
	t.Parallel()
	m := &team{}
	w := withTeam(t, m)
	pr := w.Open(apptest.Clean())
	w.Idle()
	both := map[string]int{"security-reviewer": 1, "build-reviewer": 1}
	wantRan(t, m, "opened", both)

	w.GH.Calls.Reset()
	w.Says(pr, "/review reject not yet")
	wantRan(t, m, "rejected by hand", map[string]int{})
	// The command's permission and reaction, the review, and the answer in a new comment.
	if calls := w.GH.Calls.All(); len(calls) > 13 {
		t.Errorf("a decision by a person costs %d calls:", len(calls))
		for _, c := range calls {
			t.Logf("%s %d", c.Route, c.Status)
		}
	}
	w.WantsCheck(pr, "failure", "its last result on this head stands")

	w.Says(pr, "/review agent security-reviewer")
	wantRan(t, m, "one agent", map[string]int{"security-reviewer": 1})
	w.Says(pr, "/review full")
	wantRan(t, m, "all of it", both)
	w.Says(pr, "/review")
	wantRan(t, m, "a review", both)

	// The change is equal except for a commit that an agent may read.
	w.Repo.Commit("main", ghtest.Files{"docs/a.md": "# A\n"}, "meanwhile")
	pr.UpdateBranch("alice")
	w.Idle()
	wantRan(t, m, "brought up to date", both)
	var carried []string
	for _, r := range w.Stored(pr).Review.Results {
		if r.CarriedFrom != "" {
			carried = append(carried, r.Agent)
		}
	}
	if !slices.Contains(carried, "secrets") {
		t.Errorf("carried over: %q", carried)
	}

	// The change is equal in every byte.
	rebased := w.open2(t, "rebased")
	wantRan(t, m, "another one opened", both)
	w.Repo.Commit("main", ghtest.Files{"docs/b.md": "# B\n"}, "meanwhile")
	old := rebased.HeadSHA()
	rebased.ForcePush(ghtest.Files{"store/stock.go": "package store\n\nvar Stock int\n", "store/stock_test.go": "package store\n"}, "feat: rebased")
	w.Idle()
	wantRan(t, m, "rebased", map[string]int{})
	w.WantsCheck(rebased, "success", "carried over from `"+old[:7]+"`, whose change is equal")
}

// The result of an agent that failed is never carried over.
func TestFailedAgentIsNotCarried(t *testing.T) {
	t.Parallel()
	m := &team{say: func(agent string) (pipeline.AgentOutput, error) {
		if agent == "security-reviewer" {
			return pipeline.AgentOutput{}, errors.New("out of order")
		}
		return pipeline.AgentOutput{}, nil
	}}
	w := withTeam(t, m)
	pr := w.Open(apptest.Clean())
	w.Idle()
	m.ran()
	w.Says(pr, "/review reject not yet")
	wantRan(t, m, "only to decide", map[string]int{"security-reviewer": 1})
}

// open2 opens another pull request and waits for its review.
func (w *world) open2(t *testing.T, name string) *ghtest.PullRequest {
	t.Helper()
	pr := w.Repo.OpenPR(ghtest.PR{Title: "feat: " + name, Body: apptest.GoodBody, Head: name, Files: ghtest.Files{"store/stock.go": "package store\n\nvar Stock int\n", "store/stock_test.go": "package store\n"}})
	w.Idle()
	return pr
}

// Two pull requests share a head. The check shows the worse decision, and an override of one
// does not change the other.
func TestOverrideOfOneOfTwoPullRequestsOnAHead(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	w.Release()
	one := w.Open(apptest.Tested(ghtest.Files{"store/client.go": apptest.Insecure}))
	w.Idle()
	other := w.Twin("feat: the same for the release")
	w.Idle()
	w.Says(one, "/review override on fire")
	w.WantsCheck(one, "action_required", fmt.Sprintf("Pull request %d on the same head needs fixes", other.Number))
	w.Wants(one, "action_required", "Passed by hand by carol", "on fire")
	w.WantsNot(other, "by hand")
	w.Says(other, "/review override there too")
	w.WantsCheck(one, "success", "Passed by hand by carol")
}

// A merge group takes over the decisions by people about its pull requests.
func TestMergeGroupByHand(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	good := w.Open(apptest.Clean())
	bad := w.Another("bad", ghtest.Files{"store/tls.go": apptest.Insecure, "store/tls_test.go": "package store\n"})
	worse := w.Another("worse", ghtest.Files{"store/more.go": strings.Replace(apptest.Insecure, "Client", "More", 2), "store/more_test.go": "package store\n"})
	w.Idle()
	group := func(pulls ...*ghtest.PullRequest) ghtest.CheckRun {
		t.Helper()
		g := w.Repo.MergeGroup(pulls...)
		w.Idle()
		return w.Newest(g.CheckRuns())
	}
	want := func(c ghtest.CheckRun, conclusion, told string) {
		t.Helper()
		if c.Conclusion != conclusion || !strings.Contains(c.Title+c.Summary, told) {
			t.Errorf("the group's check is %s (%s), want %s with %q:\n%s", c.Conclusion, c.Title, conclusion, told, c.Summary)
		}
	}
	want(group(bad), "action_required", "1 major")
	w.Says(bad, "/review override on fire")
	overridden := fmt.Sprintf("Passed by hand by carol: pull request %d: on fire", bad.Number)
	want(group(bad), "success", overridden)
	want(group(bad, good), "success", overridden)
	want(group(bad, worse), "action_required", "2 major")
	want(group(worse, bad), "action_required", "2 major")

	// A dismissal counts in the merge group too.
	w.Dismiss(worse, w.Only(worse))
	want(group(worse), "success", "")
	want(group(bad, worse), "success", overridden)
	w.Says(good, "/review reject not today")
	want(group(good, bad), "failure", "Rejected by hand by carol: ")
}

// An override covers the head that the person saw. A push ends it in the merge group as well,
// even if the event of the push is lost or comes after the merge group's.
func TestMergeGroupOfAHeadWithoutOverride(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	pr := w.Another("bad", ghtest.Files{"store/tls.go": apptest.Insecure, "store/tls_test.go": "package store\n"})
	w.Idle()
	w.Says(pr, "/review override on fire")
	w.WantsCheck(pr, "success", "Passed by hand")
	w.Away(func() {
		pr.Push(ghtest.Files{"store/more.go": strings.Replace(apptest.Insecure, "Client", "More", 2)}, "worse")
	})
	g := w.Repo.MergeGroup(pr)
	w.Idle()
	if c := w.Newest(g.CheckRuns()); c.Conclusion != "action_required" || strings.Contains(c.Title+c.Summary, "by hand") {
		t.Errorf("the group's check is %s (%s):\n%s", c.Conclusion, c.Title, c.Summary)
	}
}

// Every decision by a person is in the audit log.
func TestAuditLog(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.Open(apptest.Tested(ghtest.Files{"store/client.go": apptest.Insecure}))
	w.Idle()
	f := w.Only(pr)
	w.Dismiss(pr, f)
	w.Says(pr, "/review reject not yet")
	log, err := w.App.Inside().Store.Audit(t.Context(), w.target(pr).Key(), 10)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range log {
		got = append(got, strings.TrimSpace(a.Actor+" "+a.Action+" "+a.Subject)+": "+a.Reason)
	}
	if diff := cmp.Diff([]string{"carol reject: not yet", "carol dismiss " + f.ID + ": the warehouse's certificate is our own"}, got); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

// A full review reads the organisation's config again. Otherwise it is cached for a minute.
func TestFullReviewReadsConfigAgain(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.GH.Repo("acme/.github").Commit("main", apptest.WordRule("own-word"), "rules")
	w.Idle()
	pr := w.Another("word", apptest.AWord("word"))
	w.Idle()
	for command, want := range map[string]bool{"/review": false, "/review full": true} {
		w.GH.Calls.Reset()
		w.Says(pr, command)
		read := slices.ContainsFunc(w.GH.Calls.All(), func(c ghtest.Call) bool { return strings.Contains(c.Path, "/acme/.github/") })
		if read != want {
			t.Errorf("%s reads the organisation's config: %t", command, read)
		}
	}
}

// A decision that waits for GitHub does not apply to a head that came meanwhile, even if the
// review of that head was given up.
func TestOverrideDoesNotApplyToALaterHead(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.Repo.Grant("mia", "maintain")
	pr := w.Open(faulty())
	w.Idle()
	asked, resume := make(chan bool, 10), make(chan bool)
	w.GH.On("GET /repos/{owner}/{repo}/collaborators/{username}/permission", ghtest.First(1, func(x *ghtest.Exchange) {
		asked <- true
		select {
		case <-resume:
		case <-x.Context().Done():
		}
	}))
	pr.Comment("mia", "/review override hotfix")
	<-asked
	readable := w.GH.On(apptest.RouteFiles, func(x *ghtest.Exchange) { x.Fail(422, "this diff is not available") })
	pr.Push(ghtest.Files{"store/more.go": apptest.Insecure}, "more")
	w.Until("the review of the later head is given up", func() bool {
		st, err := w.App.Inside().Store.Target(t.Context(), w.Key(pr))
		return err == nil && st.GaveUp && st.HeadSHA == pr.HeadSHA()
	})
	close(resume)
	w.Idle()
	readable()
	pr.Comment("mia", "/review")
	w.Idle()
	w.Wants(pr, "failure")

	// A decision does apply to a head whose review had been given up before.
	readable = w.GH.On(apptest.RouteFiles, func(x *ghtest.Exchange) { x.Fail(422, "this diff is not available") })
	pr.Push(ghtest.Files{"store/last.go": apptest.Insecure}, "last")
	w.Idle()
	pr.Comment("mia", "/review override hotfix")
	w.Idle()
	readable()
	pr.Comment("mia", "/review")
	w.Idle()
	w.Wants(pr, "success", "Passed by hand by mia")
}
