package people

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

const (
	routeReviews = "GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews"
)

// bench are two models, small and big, that judge the quality of every change. A test sets
// their answers.
type bench struct {
	mu      sync.Mutex
	verdict func(model string, facts *pipeline.PRFacts) (pipeline.AgentOutput, error)
}

// says changes what the models answer.
func (b *bench) says(f func(model string, facts *pipeline.PRFacts) (pipeline.AgentOutput, error)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.verdict = f
}

// Review implements dispatch.Agent.
func (b *bench) Review(_ context.Context, task dispatch.Task) (dispatch.Answer, error) {
	b.mu.Lock()
	f := b.verdict
	b.mu.Unlock()
	if f == nil {
		return dispatch.Answer{}, nil
	}
	out, err := f(task.Model, task.Facts)
	return dispatch.Answer{Output: out}, err
}

// dangerous is the finding of a model that calls the change dangerous.
func dangerous() pipeline.AgentOutput {
	return pipeline.AgentOutput{Findings: pipeline.List[pipeline.Finding]{{
		Title: "Stock is read without a lock", Severity: pipeline.SeverityCritical, Message: "Two orders can sell one piece.",
		Confidence: 0.9, Path: "store/client.go", StartLine: 6, EndLine: 6,
	}}}
}

// locked is the client with a change to the line that dangerous is about.
var locked = strings.Replace(apptest.Secure, "&http.Client{}", "new(http.Client)", 1)

// dangerousBy is that finding from an agent that names its model itself.
func dangerousBy(model string) pipeline.AgentOutput {
	out := dangerous()
	out.Model = model
	return out
}

// everybody makes all agents find something critical.
func everybody(string, *pipeline.PRFacts) (pipeline.AgentOutput, error) { return dangerous(), nil }

// bigAlone makes only the stronger model find something critical.
func bigAlone(model string, _ *pipeline.PRFacts) (pipeline.AgentOutput, error) {
	if model == "big" {
		return dangerous(), nil
	}
	return pipeline.AgentOutput{}, nil
}

// modelled starts a world with two models and these model settings.
func modelled(t *testing.T, b *bench, settings string, change ...func(*apptest.World)) *world {
	t.Helper()
	return startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, append([]func(*apptest.World){withBench(b, settings)}, change...)...)
}

// withBench makes the bench judge every change, with these model settings.
func withBench(b *bench, settings string) func(*apptest.World) {
	return func(w *apptest.World) {
		w.Server = apptest.LayerOf(config.LayerServer, `{"model_endpoints": [
			{"name": "small", "api": "openai", "model": "s", "base_url": "http://127.0.0.1:1"},
			{"name": "big", "api": "openai", "model": "b", "base_url": "http://127.0.0.1:1"}], "models": `+settings+`}`)
		w.Server.Files = append(w.Server.Files,
			config.File{Path: config.FileAgents, Text: []byte(`[{"id": "judge", "name": "Judge", "kind": "llm", "description": "Judges.", "llm": {"prompt": "build-reviewer"}}]`)},
			config.File{Path: config.FileComposition, Text: []byte(`[` + apptest.ShippedModelsOff + `{"id": "judged", "description": "Everything is judged.", "priority": 10,
				"trigger": {"type": "always"}, "dispatch": {"agents": ["judge"], "required": true}}]`)},
		)
		w.Agents = map[string]dispatch.Agent{"judge": b}
	}
}

// wantReviews fails unless the App's reviews are in these states, oldest first.
func (w *world) wantReviews(pr *ghtest.PullRequest, states ...string) []ghtest.Review {
	w.Helper()
	var got []string
	all := pr.Reviews.OfApp()
	for _, r := range all {
		got = append(got, r.State)
	}
	if !slices.Equal(got, states) {
		w.Fatalf("the App's reviews are %q, want %q", got, states)
	}
	return all
}

const approving = `{"auto_approve": true}`

// A change that every model and the gate pass is approved once, at its head. That takes three
// more calls, and the comment says so.
func TestApprovalWithoutAPerson(t *testing.T) {
	t.Parallel()
	w := modelled(t, &bench{}, approving)
	pr := w.Open(apptest.Clean())
	w.Idle()
	r := w.wantReviews(pr, "approved")[0]
	if _, text, _ := strings.Cut(r.Body, "\n"); r.CommitID != pr.HeadSHA() || !strings.HasPrefix(text, "Approved without a person: every model passes `"+r.CommitID[:7]) {
		t.Errorf("review of %s:\n%s", r.CommitID, r.Body)
	}
	w.Wants(pr, "success", "very high confidence (1.00), could be approved without a person · approved on GitHub", "It ends with the next push")
	if n := w.CallsTo(routeReviews, 0) + w.CallsTo(apptest.RouteDismiss, 0) + w.CallsTo(apptest.RouteRequests, 0); n != 0 {
		t.Errorf("%d unnecessary calls", n)
	}

	// A redelivery is the same review, and no question is asked again.
	before := len(w.GH.Calls.All())
	if _, err := w.GH.Webhook.Redeliver(w.GH.Webhook.LastDelivery("pull_request").GUID); err != nil {
		t.Fatal(err)
	}
	w.Idle()
	if n := len(w.GH.Calls.All()) - before; n != 0 {
		t.Errorf("a redelivery costs %d calls", n)
	}
	pr.Comment("alice", "/review full")
	w.Idle()
	w.wantReviews(pr, "approved")
	w.Wants(pr, "success", "· approved on GitHub")
}

// Without the setting, models add no call to GitHub.
func TestModelsAloneDecideNothing(t *testing.T) {
	t.Parallel()
	for _, b := range []*bench{{}, {verdict: everybody}} {
		w := modelled(t, b, `{"auto_approve": false}`)
		pr := w.Open(apptest.Clean())
		w.Idle()
		w.wantReviews(pr)
		for _, route := range []string{apptest.RouteReview, routeReviews, apptest.RouteDismiss, apptest.RouteRequests} {
			if n := w.CallsTo(route, 0); n != 0 {
				t.Errorf("%d calls of %s", n, route)
			}
		}
		if n := w.CallsTo(apptest.RoutePull, 0); n != 2 { // once for the facts and once before publishing
			t.Errorf("the pull request is read %d times, want twice", n)
		}
	}
}

// By default the App only writes its answer, whatever the models find and however often a
// pull request fails.
func TestOffByDefault(t *testing.T) {
	t.Parallel()
	b := &bench{verdict: everybody}
	w := modelled(t, b, `{}`)
	pr := w.Open(apptest.Clean())
	w.Idle()
	for n := range 3 {
		pr.Push(ghtest.Files{"store/client.go": apptest.Secure + strings.Repeat("\n// More.\n", n+1)}, fmt.Sprintf("fix: try %d", n))
		w.Idle()
	}
	w.loop(pr, "escalated")
	b.says(bigAlone)
	w.Says(pr, "/review full")
	b.says(nil)
	w.Says(pr, "/review full") // another review does not change that
	w.loop(pr, "escalated")
	pr.Push(ghtest.Files{"store/client.go": locked}, "fix: lock it")
	w.Idle()
	w.loop(pr, "complete")
	for _, route := range []string{apptest.RouteReview, routeReviews, apptest.RouteDismiss, apptest.RouteRequests, apptest.RouteAddLabel, apptest.RouteRemoveLabel} {
		if n := w.CallsTo(route, 0); n != 0 {
			t.Errorf("%d calls of %s", n, route)
		}
	}
}

// An escalated pull request that passes is not approved automatically until a person resumes
// it.
func TestEscalatedIsNotApprovedUntilResumed(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	b := &bench{verdict: everybody}
	w := modelled(t, b, approving)
	pr := w.Open(apptest.Clean())
	w.Idle()
	for n := range 2 {
		pr.Push(ghtest.Files{"store/client.go": apptest.Secure + strings.Repeat("\n// More.\n", n+1)}, fmt.Sprintf("fix: try %d", n))
		w.Idle()
	}
	w.Wants(pr, "failure", "Escalated after 2 fix attempts")
	b.says(nil)
	pr.Push(ghtest.Files{"store/client.go": locked}, "fix: less")
	w.Idle()
	w.loop(pr, "complete")
	w.wantReviews(pr)
	w.Wants(pr, "success", "until somebody comments `/review resume`, nothing is decided without a person")
	w.Says(pr, "/review resume")
	w.wantReviews(pr, "approved")
	w.Wants(pr, "success", "· approved on GitHub")
	w.WantsNot(pr, "/review resume")
}

// The App does not approve a change that the gate holds, a draft, a change that was not
// reviewed in full, or one from a branch where anybody can write. What the models find does
// not matter.
func TestNotApproved(t *testing.T) {
	t.Parallel()
	w := modelled(t, &bench{}, `{"auto_approve": true, "auto_reject": true}`)
	for name, open := range map[string]func() *ghtest.PullRequest{
		"an agent that is not a model fails it": func() *ghtest.PullRequest {
			return w.Another("insecure", apptest.Tested(ghtest.Files{"store/tls.go": apptest.Insecure}))
		},
		"a draft": func() *ghtest.PullRequest {
			return w.Repo.OpenPR(ghtest.PR{Title: "feat: draft", Body: apptest.GoodBody, Head: "draft", Draft: true, Files: apptest.Clean()})
		},
		"a fork's": func() *ghtest.PullRequest {
			return w.Repo.OpenPR(ghtest.PR{Title: "feat: fork", Body: apptest.GoodBody, Head: "fork", Author: "mallory", Fork: "mallory", Files: apptest.Clean()})
		},
		"locked": func() *ghtest.PullRequest {
			w.GH.Webhook.Withhold()
			pr := w.Another("locked", apptest.Clean())
			pr.Lock()
			w.GH.Webhook.Resume()
			if _, err := w.GH.Webhook.Redeliver(w.GH.Webhook.LastDelivery("pull_request").GUID); err != nil {
				t.Fatal(err)
			}
			return pr
		},
	} {
		pr := open()
		w.Idle()
		if len(pr.Reviews.OfApp()) != 0 {
			t.Errorf("%s: %+v", name, pr.Reviews.OfApp())
		}
	}
}

// Advisory mode does nothing that would have to be withdrawn later.
func TestAdvisoryModeDecidesNothing(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	b := &bench{}
	w := modelled(t, b, `{"auto_approve": true, "auto_reject": true, "people": ["bob"]}`)
	w.Repo.Commit("main", ghtest.Files{apptest.SettingsPath: `{"mode": "advisory"}`}, "try")
	w.Idle()
	good := w.Open(apptest.Clean())
	w.Idle()
	b.says(everybody)
	bad := w.Another("bad", apptest.Clean())
	w.Idle()
	b.says(bigAlone)
	unclear := w.Another("unclear", apptest.Clean())
	w.Idle()
	for _, pr := range []*ghtest.PullRequest{good, bad, unclear} {
		if all, asked := pr.Reviews.OfApp(), pr.Reviews.Requested(); len(all)+len(asked) != 0 {
			t.Errorf("reviews %+v, asked %v", all, asked)
		}
	}
}

// A push ends an approval before any agent looks at the new head.
func TestPushEndsApproval(t *testing.T) {
	t.Parallel()
	b := &bench{}
	w := modelled(t, b, approving)
	pr := w.Open(apptest.Clean())
	w.Idle()
	var mu sync.Mutex // models run in parallel
	var when []string
	b.says(func(string, *pipeline.PRFacts) (pipeline.AgentOutput, error) {
		mu.Lock()
		defer mu.Unlock()
		when = append(when, pr.Reviews.OfApp()[0].State)
		return dangerous(), nil
	})
	pr.Push(ghtest.Files{"store/client.go": apptest.Secure + "\n// More.\n"}, "feat: more")
	w.Idle()
	if r := w.wantReviews(pr, "dismissed")[0]; !strings.Contains(r.Dismissal, "the head is another commit now") {
		t.Errorf("dismissed with %q", r.Dismissal)
	}
	if len(when) == 0 || slices.Contains(when, "approved") {
		t.Errorf("while the models look, the approval is %q", when)
	}
	w.Wants(pr, "failure", "could be rejected without a person")
	w.WantsNot(pr, "on GitHub")

	b.says(nil)
	pr.Push(ghtest.Files{"store/client.go": locked}, "fix: less")
	w.Idle()
	if r := w.wantReviews(pr, "dismissed", "approved")[1]; r.CommitID != pr.HeadSHA() {
		t.Errorf("approved %s, want the head", r.CommitID)
	}
}

// A push comes between the last read of the head and the approval, and no event reports it.
// The new head does not inherit the approval.
func TestPushDuringApproval(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := modelled(t, &bench{}, approving)
	var pr *ghtest.PullRequest
	remove := w.GH.On(apptest.RouteReview, ghtest.First(1, func(*ghtest.Exchange) {
		w.Away(func() { pr.Push(apptest.Tested(ghtest.Files{"store/tls.go": apptest.Insecure}), "feat: insecure") })
	}))
	defer remove()
	w.GH.Webhook.Withhold()
	pr = w.Open(apptest.Clean())
	w.GH.Webhook.Resume()
	if _, err := w.GH.Webhook.Redeliver(w.GH.Webhook.LastDelivery("pull_request").GUID); err != nil {
		t.Fatal(err)
	}
	w.Idle()
	w.wantReviews(pr, "dismissed")
	w.Wants(pr, "action_required")
}

// An approval covers one base.
func TestAnotherBaseEndsApproval(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	b := &bench{}
	w := modelled(t, b, approving)
	w.Release()
	pr := w.Open(apptest.Clean())
	w.Idle()
	b.says(everybody)
	base := "release"
	pr.Edit(ghtest.Edit{Base: &base})
	w.Idle()
	if r := w.wantReviews(pr, "dismissed")[0]; !strings.Contains(r.Dismissal, "another base branch") {
		t.Errorf("dismissed with %q", r.Dismissal)
	}
}

// An approval ends when the next review does not lead to one, for any reason.
func TestApprovalEndsWithItsReview(t *testing.T) {
	t.Parallel()
	for name, tt := range sample.Map(t, 3, map[string]struct {
		do     func(w *world, b *bench, pr *ghtest.PullRequest)
		reason string
	}{
		"the models change their minds": {func(_ *world, b *bench, pr *ghtest.PullRequest) {
			b.says(bigAlone)
			pr.Comment("alice", "/review full")
		}, "no longer supports this"},
		"a model is down": {func(_ *world, b *bench, pr *ghtest.PullRequest) {
			b.says(func(string, *pipeline.PRFacts) (pipeline.AgentOutput, error) {
				return pipeline.AgentOutput{}, errors.New("down")
			})
			pr.Comment("alice", "/review full")
		}, "no longer supports this"},
		"the setting is switched off": {func(w *world, _ *bench, _ *ghtest.PullRequest) {
			w.Repo.Commit("main", ghtest.Files{apptest.SettingsPath: `{"models": {"auto_approve": false}}`}, "no more")
		}, "no longer supports this"},
		"a person decides": {func(w *world, _ *bench, pr *ghtest.PullRequest) {
			w.Says(pr, "/review reject not like this")
		}, "A person decided"},
		"it is a draft": {func(_ *world, _ *bench, pr *ghtest.PullRequest) { pr.ConvertToDraft() }, "no longer supports this"},
		"reviews are switched off": {func(w *world, _ *bench, _ *ghtest.PullRequest) {
			w.Repo.Commit("main", ghtest.Files{apptest.SettingsPath: `{"mode": "off"}`}, "no more")
			w.Idle()
		}, "switched off"},
		"it can't be reviewed": {func(w *world, _ *bench, pr *ghtest.PullRequest) {
			w.GH.On("GET /repos/{owner}/{repo}/pulls/{pull_number}/files", func(x *ghtest.Exchange) { x.Fail(http.StatusUnprocessableEntity, "Too much.") })
			pr.Comment("alice", "/review full")
		}, "could not be completed"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &bench{}
			w := modelled(t, b, approving)
			pr := w.Open(apptest.Clean())
			w.Idle()
			w.wantReviews(pr, "approved")
			tt.do(w, b, pr)
			w.Idle()
			if name == "reviews are switched off" {
				pr.Comment("alice", "/review")
				w.Idle()
			}
			if r := w.wantReviews(pr, "dismissed")[0]; !strings.Contains(r.Dismissal, tt.reason) {
				t.Errorf("dismissed with %q, want %q", r.Dismissal, tt.reason)
			}
		})
	}
}

// When several models agree on a critical finding, the App requests changes once at each
// head, until it is fixed.
func TestRejectedUntilFixed(t *testing.T) {
	t.Parallel()
	b := &bench{verdict: everybody}
	w := modelled(t, b, `{"auto_approve": true, "auto_reject": true}`)
	pr := w.Open(apptest.Clean())
	w.Idle()
	if r := w.wantReviews(pr, "changes_requested")[0]; !strings.Contains(r.Body, "Changes requested without a person") || r.CommitID != pr.HeadSHA() {
		t.Errorf("review of %s:\n%s", r.CommitID, r.Body)
	}
	w.Wants(pr, "failure", "· changes requested on GitHub")

	pr.Push(ghtest.Files{"store/client.go": apptest.Secure + "\n// Locked, nearly.\n"}, "fix: lock")
	w.Idle()
	w.wantReviews(pr, "dismissed", "changes_requested")
	b.says(nil)
	pr.Push(ghtest.Files{"store/client.go": locked}, "fix: lock it all")
	w.Idle()
	w.wantReviews(pr, "dismissed", "dismissed", "approved")
	w.Wants(pr, "success", "· approved on GitHub")
}

// A critical finding of one model alone is left to people, who are asked once. The App
// decides as soon as they accept or dismiss it.
func TestPeopleAreAskedAboutOneModelsFinding(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	for command, want := range map[string]struct {
		conclusion string
		states     []string
	}{"accept": {"failure", nil}, "dismiss": {"success", []string{"approved"}}} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			w := modelled(t, &bench{verdict: bigAlone}, `{"auto_approve": true, "auto_reject": true, "people": ["alice", "wes", "nobody-here", "Carol", "acme/owners"]}`, func(w *apptest.World) {
				w.GH.Repo("acme/shop").Grant("wes", "write")
				w.GH.Repo("acme/shop").Grant("carol", "maintain")
				w.GH.Team("acme", "owners", "carol")
			})
			pr := w.Open(apptest.Clean()) // by alice
			w.Idle()
			w.wantReviews(pr)
			if diff := cmp.Diff([]string{"wes", "carol", "acme/owners"}, pr.Reviews.Requested()); diff != "" {
				t.Fatalf("asked (-want +got):\n%s", diff)
			}
			w.Wants(pr, "action_required", "A person must decide", "Asked to review: wes, Carol, acme/owners.")

			calls := w.CallsTo(apptest.RouteRequests, 0)
			pr.Reviews.Submit("wes", "commented", "Let me see.")
			pr.Comment("alice", "/review full")
			pr.Push(ghtest.Files{"store/client.go": apptest.Secure + "\n// More.\n"}, "feat: more")
			w.Idle()
			// Only people who could not be asked are asked again, once for each head.
			if n := w.CallsTo(apptest.RouteRequests, 0); n > calls+1 || slices.Contains(pr.Reviews.Requested(), "wes") {
				t.Errorf("%d more requests: %v", n-calls, pr.Reviews.Requested())
			}
			f := w.Only(pr)
			w.Says(pr, "/review "+command+" "+f.ID[:8]+map[string]string{"dismiss": " the shop sells one piece"}[command])
			w.Wants(pr, want.conclusion)
			w.wantReviews(pr, want.states...)
		})
	}
}

// A person's decision against the automatic one is in the audit log, and the App's review on
// GitHub is dismissed.
func TestHumanOverride(t *testing.T) {
	t.Parallel()
	b := &bench{verdict: everybody}
	w := modelled(t, b, `{"auto_reject": true}`)
	pr := w.Open(apptest.Clean())
	w.Idle()
	w.wantReviews(pr, "changes_requested")
	w.Says(pr, "/review override the warehouse is down")
	w.Wants(pr, "success", "Passed by hand by carol")
	w.wantReviews(pr, "dismissed")
	log, err := w.App.Inside().Store.Audit(t.Context(), w.target(pr).Key(), 10)
	if err != nil || len(log) != 1 || log[0].Action != "override" || log[0].AutoDecision != pipeline.AutoReject {
		t.Errorf("log %+v, %v", log, err)
	}
}

// A review whose answer was lost is found, and no process submits it twice. A review that is
// outdated by then is dismissed.
func TestReviewWhoseAnswerIsLost(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	for _, pushed := range []bool{false, true} {
		w := modelled(t, &bench{}, approving)
		remove := w.GH.On(apptest.RouteReview, ghtest.First(1, func(x *ghtest.Exchange) { x.Proceed(); x.Drop() }))
		down := w.GH.On(routeReviews, func(x *ghtest.Exchange) { x.Fail(http.StatusBadGateway, "Later.") })
		pr := w.Open(apptest.Clean())
		w.Until("it was looked for", func() bool { return len(pr.Reviews.OfApp()) == 1 && len(w.GH.Calls.To(routeReviews)) > 0 })
		if err := w.Stop(); err != nil {
			t.Fatal(err)
		}
		remove()
		down()
		if pushed {
			w.GH.Webhook.Set("http://127.0.0.1:1/hook", apptest.Secret)
			pr.Push(ghtest.Files{"store/client.go": apptest.Secure + "\n// More.\n"}, "feat: more")
		}
		w.StartApp()
		w.Until("it is reviewed", func() bool { c := pr.CheckRuns(); return len(c) > 0 && c[len(c)-1].Completed() })
		w.Idle()
		if pushed {
			w.wantReviews(pr, "dismissed", "approved")
		} else {
			w.wantReviews(pr, "approved")
			w.Wants(pr, "success", "· approved on GitHub")
		}
	}
}

// A review appears late, after the App looked for it in vain and submitted it again. Both
// reviews are dismissed.
func TestReviewThatAppearsLate(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := modelled(t, &bench{}, approving)
	w.GH.On(apptest.RouteReview, ghtest.First(1, func(x *ghtest.Exchange) { x.Proceed(); x.Drop() }))
	w.GH.On(routeReviews, ghtest.First(2, func(x *ghtest.Exchange) { x.Proceed().Body = []byte("[]") }))
	pr := w.Open(apptest.Clean())
	w.Idle()
	w.wantReviews(pr, "approved", "approved")
	pr.Push(ghtest.Files{"store/client.go": apptest.Secure + "\n// More.\n"}, "feat: more")
	w.Idle()
	w.wantReviews(pr, "dismissed", "dismissed", "approved")
}

// When GitHub refuses the review, the check and the comment stay, and the comment says so.
func TestReviewRefusedByGitHub(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := modelled(t, &bench{}, approving)
	own := w.Repo.OpenPR(ghtest.PR{Title: "feat: own", Body: apptest.GoodBody, Author: w.GH.AppLogin(), Files: apptest.Clean()})
	w.Idle()
	w.wantReviews(own)
	w.Wants(own, "success", "GitHub did not accept the review")
	edits := w.Comment(own).Edits
	body := apptest.GoodBody + " More."
	own.Edit(ghtest.Edit{Body: &body})
	w.Idle()
	if c := w.Comment(own); c.Edits != edits || strings.Count(c.Body, "did not accept") != 1 {
		t.Errorf("%d edits:\n%s", c.Edits-edits, c.Body)
	}

	// The comment reports a review that can't be dismissed, as long as it is in force.
	pr := w.Another("stuck", apptest.Clean())
	w.Idle()
	refuse := w.GH.On(apptest.RouteDismiss, func(x *ghtest.Exchange) { x.Fail(http.StatusForbidden, "Not you.") })
	w.Repo.Commit("main", ghtest.Files{apptest.SettingsPath: `{"models": {"auto_approve": false}}`}, "no more")
	w.Idle()
	w.wantReviews(pr, "approved")
	w.Wants(pr, "success", "no longer applies, and GitHub does not let reviewgate dismiss it")
	refuse()
	pr.Push(ghtest.Files{"store/client.go": apptest.Secure + "\n// More.\n"}, "feat: more")
	w.Idle()
	w.wantReviews(pr, "dismissed")
	w.WantsNot(pr, "no longer applies")
}

// While a review can't be dismissed, the App submits no other one, because it can keep track
// of one only. A review that is only invisible does not count as gone.
func TestNoSecondReviewWhileOneStays(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	for status, message := range map[int]string{http.StatusForbidden: "Not you.", http.StatusNotFound: "Not Found"} {
		w := modelled(t, &bench{}, approving)
		pr := w.Open(apptest.Clean())
		w.Idle()
		refuse := w.GH.On(apptest.RouteDismiss, func(x *ghtest.Exchange) { x.Fail(status, message) })
		for n := range 2 {
			pr.Push(ghtest.Files{"store/client.go": apptest.Secure + strings.Repeat("\n// More.\n", n+1)}, "feat: more")
			w.Idle()
			w.wantReviews(pr, "approved")
			w.Wants(pr, "success", "no longer applies, and GitHub does not let reviewgate dismiss it")
			w.WantsNot(pr, "· approved on GitHub")
		}
		refuse()
		pr.Comment("alice", "/review full")
		w.Idle()
		w.wantReviews(pr, "dismissed", "approved")
		w.Wants(pr, "success", "· approved on GitHub")
	}
}

// Somebody who was asked and then removed is not asked again, even if a later request is cut
// short.
func TestNobodyIsAskedTwice(t *testing.T) {
	t.Parallel()
	w := modelled(t, &bench{verdict: bigAlone}, `{"people": ["wes"]}`, func(w *apptest.World) {
		w.GH.Repo("acme/shop").Grant("wes", "write")
		w.GH.Repo("acme/shop").Grant("carol", "maintain")
	})
	pr := w.Open(apptest.Clean())
	w.Idle()
	pr.Reviews.Unrequest("wes")
	w.Repo.Commit("main", ghtest.Files{apptest.SettingsPath: `{"models": {"people": ["wes", "carol"]}}`}, "more people")
	w.GH.On(apptest.RouteRequests, ghtest.First(2, func(x *ghtest.Exchange) { x.Fail(http.StatusBadGateway, "Later.") }))
	pr.Push(ghtest.Files{"store/client.go": apptest.Secure + "\n// More.\n"}, "feat: more")
	w.Idle()
	if got := pr.Reviews.Requested(); !slices.Equal(got, []string{"carol"}) {
		t.Errorf("asked %v, want carol alone", got)
	}
	w.Wants(pr, "action_required", "Asked to review: wes, carol.")
}

// After the database was lost, no approval remains that does not cover the head.
func TestApprovalFromBeforeTheDatabaseWasLost(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	b := &bench{}
	w := modelled(t, b, approving)
	pr := w.Open(apptest.Clean())
	w.Idle()
	pr.Reviews.Submit("bob", "approved", "<!-- reviewgate:review abc -->")
	pr.Reviews.SubmitAsApp("reviewgate-staging", "approved", "<!-- reviewgate:review abc -->")
	if err := w.Stop(); err != nil {
		t.Fatal(err)
	}
	w.UseDatabase(apptest.Database(t))
	w.StartApp()
	b.says(everybody)
	pr.Push(ghtest.Files{"store/client.go": apptest.Secure + "\n// More.\n"}, "feat: more")
	w.Idle()
	w.wantReviews(pr, "dismissed")
	for _, r := range pr.Reviews.All()[1:] {
		if r.State != "approved" {
			t.Errorf("the review of %s is %s", r.Author, r.State)
		}
	}
}

// GitHub fails in many ways while pushes and changed answers come in any order. In the end at
// most one review is in force, and that one is for the head.
func TestReviewsInTrouble(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	b := &bench{}
	w := modelled(t, b, `{"auto_approve": true, "auto_reject": true}`)
	pr := w.Open(apptest.Clean())
	w.Idle()
	for seed := range uint64(3) {
		trouble := ghtest.NewTrouble(seed, ghtest.TroubleOptions{Errors: 0.05, Resets: 0.03, Lost: 0.12, Truncated: 0.05})
		remove := w.GH.On("*", trouble.Hook)
		for i := range 4 {
			// A finding stays open until its line changes, whatever the models answer next.
			verdict, code := everybody, apptest.Secure
			if i%2 == 1 {
				verdict, code = nil, locked
			}
			b.says(verdict)
			pr.Push(ghtest.Files{"store/client.go": code + strings.Repeat("\n// More.\n", 1+i+4*int(seed))}, "feat: more")
			if i%2 == int(seed)%2 {
				w.Idle()
			}
		}
		remove()
		w.Idle()
		if faults := pr.Faults(); len(faults) > 0 {
			t.Fatalf("seed %d: %v", seed, faults)
		}
		all := pr.Reviews.OfApp()
		if last := all[len(all)-1]; last.State != "approved" || last.CommitID != pr.HeadSHA() {
			t.Errorf("seed %d: the last review is %s of %.7s, want the head approved", seed, last.State, last.CommitID)
		}
	}
}

// A person's review on GitHub that contradicts the App's decision is in the audit log once,
// and has no other effect.
func TestReviewByAPersonContradictsTheDecision(t *testing.T) {
	t.Parallel()
	b := &bench{verdict: everybody}
	w := modelled(t, b, `{}`)
	w.Repo.Grant("carol", "write")
	pr := w.Open(apptest.Clean())
	w.Idle()
	w.Wants(pr, "failure")
	comments := len(pr.Comments())
	pr.Reviews.Submit("carol", "approved", "Fine by me.")
	pr.Reviews.Submit("carol", "changes_requested", "It races.") // the same as the App's decision
	pr.Reviews.Submit("stranger", "approved", "Nice!")           // has no write permission
	pr.Reviews.Submit("carol", "commented", "Hm.")
	w.Idle()
	b.says(nil)
	pr.Push(ghtest.Files{"store/client.go": locked}, "fix: lock")
	w.Idle()
	w.Wants(pr, "success")
	pr.Reviews.Submit("carol", "changes_requested", "Not yet.")
	w.Idle()
	log, err := w.App.Inside().Store.Audit(t.Context(), w.target(pr).Key(), 10)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range log {
		got = append(got, fmt.Sprintf("%s %s %s", a.Actor, a.Action, a.AutoDecision))
	}
	slices.Sort(got)
	if want := []string{"carol github:approved auto_reject", "carol github:changes_requested auto_approve"}; !slices.Equal(got, want) {
		t.Errorf("the log has %q, want %q", got, want)
	}
	if n := len(pr.Comments()); n != comments {
		t.Errorf("%d comments, want %d", n, comments)
	}
	w.Wants(pr, "success")
}
