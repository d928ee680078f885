package people

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/llm/llmtest"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

const (
	routeEditComment = "PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}"
	routeRocket      = "POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions"
)

// killable starts a server process with a config layer and keys for the models.
func killable(t *testing.T, layer config.Layer, keys map[string]string) (*ghtest.Server, *ghtest.Repo, *apptest.Child) {
	t.Helper()
	gh := ghtest.Start(t, ghtest.Options{WebhookSecret: apptest.Secret})
	gh.Team("acme", "owners", "carol")
	repo := gh.Repo("acme/shop")
	repo.Grant("carol", "maintain")
	repo.Grant("wes", "write")
	repo.Commit("main", ghtest.Files{"README.md": "# shop\n"}, "start")
	server := apptest.NewChild(t, gh)
	server.Settings.Config, server.Settings.ModelKeys = layer, keys
	server.Start()
	return gh, repo, server
}

// death is when a server dies in a test.
type death struct {
	at     apptest.Request
	pushed bool // after a push, and not before it
	late   bool // before a push that comes while the server is down
}

func (d death) String() string {
	return fmt.Sprintf("%s, after the push %v, pushed meanwhile %v", d.at, d.pushed, d.late)
}

// survived has the server die while it works on a pull request, starts it again, and waits for the
// answer to what was opened and pushed.
func (d death) survived(gh *ghtest.Server, server *apptest.Child, open func() *ghtest.PullRequest, push func(*ghtest.PullRequest)) (pr *ghtest.PullRequest) {
	if d.pushed {
		pr = open()
		server.Answers(gh, pr)
		server.DiesAt(gh, d.at, func() { push(pr) })
	} else {
		server.DiesAt(gh, d.at, func() { pr = open() })
	}
	if d.late {
		push(pr)
	}
	server.Start()
	server.Answers(gh, pr)
	return pr
}

// judged answers for two models. Both find nothing in a small change and something critical
// in a change with "More". Only one of them finds something critical in a change with "Odd".
func judged(r *llmtest.Request) llmtest.Reply {
	switch {
	case apptest.IsSpec(r):
	case strings.Contains(r.Text, "More"):
		return apptest.Found("critical", "The request can't be cancelled")
	case strings.Contains(r.Text, "Odd") && r.Model == "big-1":
		return apptest.Found("critical", "The request can't be cancelled")
	}
	return llmtest.Text(`{"findings": []}`)
}

// A server dies at any point of an automatic decision and is started again. It has then
// decided once: at most one review stands, and that one is for the head.
func TestKilledWhileItDecides(t *testing.T) {
	t.Parallel()
	more := ghtest.Files{"store/more.go": "package store\n\nfunc More() int { return 2 }\n"}
	for _, tc := range sample.Of(t, 1, []struct {
		death
		states []string // states of the App's reviews at the end
	}{
		{death{apptest.At(apptest.RouteReview, 1, true), true, false}, []string{"dismissed", "changes_requested"}},
		{death{apptest.At(apptest.RouteReview, 1, false), false, false}, []string{"approved"}},
		{death{apptest.At(apptest.RouteReview, 1, true), false, false}, []string{"approved"}},
		{death{apptest.At(apptest.RouteComment, 1, false), false, false}, []string{"approved"}},
		{death{apptest.At(apptest.RouteComment, 1, true), false, false}, []string{"approved"}},
		{death{apptest.At(apptest.RouteReview, 1, false), false, true}, []string{"changes_requested"}},
		{death{apptest.At(apptest.RouteReview, 1, true), false, true}, []string{"dismissed", "changes_requested"}},
		{death{apptest.At(apptest.RouteComment, 1, true), false, true}, []string{"dismissed", "changes_requested"}},
		{death{apptest.At(apptest.RouteDismiss, 1, false), true, false}, []string{"dismissed", "changes_requested"}},
		{death{apptest.At(apptest.RouteDismiss, 1, true), true, false}, []string{"dismissed", "changes_requested"}},
		{death{apptest.At(apptest.RoutePatchCheck, 1, true), true, false}, []string{"dismissed", "changes_requested"}},
		{death{apptest.At(apptest.RouteReview, 1, false), true, false}, []string{"dismissed", "changes_requested"}},
		{death{apptest.At(routeEditComment, 1, false), true, false}, []string{"dismissed", "changes_requested"}},
	}) {
		t.Run(tc.String(), func(t *testing.T) {
			t.Parallel()
			_, change := apptest.WithModels(t, `{"models": {"auto_approve": true, "auto_reject": true}}`, judged)
			var w apptest.World
			change(&w)
			gh, repo, server := killable(t, w.Server, w.Keys)
			pr := tc.survived(gh, server, func() *ghtest.PullRequest {
				return repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Files: ghtest.Files{"store/client.go": apptest.Unbounded, "store/client_test.go": "package store\n"}})
			}, func(pr *ghtest.PullRequest) { pr.Push(more, "feat: more") })
			var got []string
			for _, r := range pr.Reviews.OfApp() {
				got = append(got, r.State)
			}
			if !slices.Equal(got, tc.states) {
				t.Errorf("the App's reviews are %q, want %q", got, tc.states)
			}
			want := "· approved on GitHub"
			if tc.pushed || tc.late {
				want = "· changes requested on GitHub"
			}
			if all := pr.AppComments(); len(all) != 1 || !strings.Contains(all[0].Body, want) {
				t.Errorf("%d comments, none contains %q", len(all), want)
			}
		})
	}
}

// The App asks people once, whenever the server dies.
func TestKilledWhileItAsksPeople(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	for _, at := range []apptest.Request{apptest.At(apptest.RouteRequests, 1, false), apptest.At(apptest.RouteComment, 1, false), apptest.At(apptest.RouteRequests, 1, true)} {
		t.Run(at.String(), func(t *testing.T) {
			t.Parallel()
			_, change := apptest.WithModels(t, `{"models": {"people": ["wes", "acme/owners"]}}`, judged)
			var w apptest.World
			change(&w)
			gh, repo, server := killable(t, w.Server, w.Keys)
			var pr *ghtest.PullRequest
			server.DiesAt(gh, at, func() {
				pr = repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Files: ghtest.Files{"store/client.go": apptest.Unbounded + "\n// Odd.\n", "store/client_test.go": "package store\n"}})
			})
			server.Start()
			server.Answers(gh, pr)
			if got := pr.Reviews.Requested(); !slices.Equal(got, []string{"wes", "acme/owners"}) {
				t.Errorf("asked %v", got)
			}
			if all := pr.AppComments(); len(all) != 1 || !strings.Contains(all[0].Body, "Asked to review: wes, acme/owners.") {
				t.Errorf("the comment does not name who was asked:\n%s", all[0].Body)
			}
			asked := len(gh.Calls.To(apptest.RouteRequests))
			pr.Reviews.Submit("wes", "commented", "Let me see.")
			pr.Push(ghtest.Files{"store/odd.go": "package store\n"}, "feat: odd")
			server.Answers(gh, pr)
			if n := len(gh.Calls.To(apptest.RouteRequests)) - asked; n != 0 || slices.Contains(pr.Reviews.Requested(), "wes") {
				t.Errorf("%d more requests for reviewers, now %v", n, pr.Reviews.Requested())
			}
		})
	}
}

// A server dies at any point of an escalation or of its end. It still reports it once, and no
// attempt is lost or counted twice.
func TestKilledInTheFixLoop(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	layer := apptest.LayerOf(config.LayerServer, `{"fix_loop": {"when": "always", "team": "acme/owners", "max_fix_iterations": 1}, "labels": {"escalated": true}}`)
	const first, second, resume = 0, 1, 2
	for _, tc := range []struct {
		at apptest.Request
		in int // step
	}{
		{apptest.At(apptest.RoutePatchCheck, 1, true), first}, {apptest.At(apptest.RouteComment, 1, true), first},
		{apptest.At(apptest.RoutePatchCheck, 1, false), second}, {apptest.At(routeEditComment, 1, true), second},
		{apptest.At(apptest.RouteAddLabel, 1, false), second}, {apptest.At(apptest.RouteAddLabel, 1, true), second},
		{apptest.At(apptest.RouteRequests, 1, true), second}, {apptest.At(apptest.RouteRequests, 1, false), second},
		{apptest.At(routeEditComment, 1, true), resume}, {apptest.At(apptest.RouteRemoveLabel, 1, false), resume}, {apptest.At(apptest.RouteRemoveLabel, 1, true), resume},
		{apptest.At(routeRocket, 1, true), resume}, {apptest.At(routeRocket, 2, false), resume},
	} {
		t.Run(fmt.Sprintf("%s, in step %d", tc.at, tc.in), func(t *testing.T) {
			t.Parallel()
			gh, repo, server := killable(t, layer, nil)
			var pr *ghtest.PullRequest
			for i, step := range []struct {
				do    func()
				says  string
				label bool
			}{
				first: {func() {
					pr = repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Files: apptest.Failing(1)})
				}, "**Fix attempt 1 of 1**", false},
				second: {func() { pr.Push(apptest.Failing(2), "fix: try") }, "Escalated after 1 fix attempt: 1 major", true},
				resume: {func() { pr.Comment("carol", "/review resume") }, "**Fix attempt 1 of 1**", false},
			} {
				if i == tc.in {
					server.DiesAt(gh, tc.at, step.do)
					server.Start()
				} else {
					step.do()
				}
				server.Answers(gh, pr)
				if body := pr.AppComments()[0].Body; !strings.Contains(body, step.says) {
					t.Fatalf("step %d: the comment lacks %q:\n%s", i, step.says, body)
				}
				if got := slices.Contains(pr.Labels(), "review-escalated"); got != step.label {
					t.Errorf("step %d: labelled %v, want %v", i, got, step.label)
				}
			}
			if got := pr.Reviews.Requested(); !slices.Equal(got, []string{"acme/owners"}) {
				t.Errorf("asked to review: %q", got)
			}
		})
	}
}
