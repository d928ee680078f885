package app

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

	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

const (
	routeReview   = "POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews"
	routeReviews  = "GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews"
	routeDismiss  = "PUT /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}/dismissals"
	routeRequests = "POST /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers"
)

// bench are two models, small and big, that judge the quality of every change by
// what is said of them.
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
func (b *bench) Review(_ context.Context, task dispatch.Task) (pipeline.AgentOutput, error) {
	b.mu.Lock()
	f := b.verdict
	b.mu.Unlock()
	if f == nil {
		return pipeline.AgentOutput{}, nil
	}
	return f(task.Model, task.Facts)
}

// dangerous is what a model finds that holds the change to be dangerous.
func dangerous() pipeline.AgentOutput {
	return pipeline.AgentOutput{Findings: pipeline.List[pipeline.Finding]{{
		Title: "Stock is read without a lock", Severity: pipeline.SeverityCritical, Message: "Two orders can sell one piece.",
		Confidence: 0.9, Path: "store/client.go", StartLine: 6, EndLine: 6,
	}}}
}

// dangerousBy is that of an agent that names its model itself.
func dangerousBy(model string) pipeline.AgentOutput {
	out := dangerous()
	out.Model = model
	return out
}

// everybody finds something critical.
func everybody(string, *pipeline.PRFacts) (pipeline.AgentOutput, error) { return dangerous(), nil }

// bigAlone is what the stronger model alone holds to be critical.
func bigAlone(model string, _ *pipeline.PRFacts) (pipeline.AgentOutput, error) {
	if model == "big" {
		return dangerous(), nil
	}
	return pipeline.AgentOutput{}, nil
}

// modelled starts a world with two models, under the given settings of models.
func modelled(t *testing.T, b *bench, settings string, change ...func(*world)) *world {
	t.Helper()
	return startWith(t, ghtest.Options{WebhookSecret: secret}, append([]func(*world){func(w *world) { w.models(b, settings) }}, change...)...)
}

func (w *world) models(b *bench, settings string) {
	w.server = layerOf(config.LayerServer, `{"model_endpoints": [
		{"name": "small", "api": "openai", "model": "s", "base_url": "http://127.0.0.1:1"},
		{"name": "big", "api": "openai", "model": "b", "base_url": "http://127.0.0.1:1"}], "models": `+settings+`}`)
	w.server.Files = append(w.server.Files,
		config.File{Path: config.FileAgents, Text: []byte(`[{"id": "judge", "name": "Judge", "kind": "llm", "description": "Judges.", "llm": {"prompt": "build-reviewer"}}]`)},
		config.File{Path: config.FileComposition, Text: []byte(`[` + shippedModelsOff + `{"id": "judged", "description": "Everything is judged.", "priority": 10,
			"trigger": {"type": "always"}, "dispatch": {"agents": ["judge"], "required": true}}]`)},
	)
	w.agents = map[string]dispatch.Agent{"judge": b}
}

// wantReviews fails unless the App's reviews are in these states, oldest first.
func (w *world) wantReviews(pr *ghtest.PullRequest, states ...string) []ghtest.Review {
	w.Helper()
	var got []string
	all := pr.AppReviews()
	for _, r := range all {
		got = append(got, r.State)
	}
	if !slices.Equal(got, states) {
		w.Fatalf("the App's reviews are %q, want %q", got, states)
	}
	return all
}

const approving = `{"auto_approve": true}`

// What every model and the gate pass is approved once, at its head, for three calls
// more, and the comment says so.
func TestApprovedWithoutAPerson(t *testing.T) {
	t.Parallel()
	w := modelled(t, &bench{}, approving)
	pr := w.open(clean())
	w.idle()
	r := w.wantReviews(pr, "approved")[0]
	if _, text, _ := strings.Cut(r.Body, "\n"); r.CommitID != pr.HeadSHA() || !strings.HasPrefix(text, "Approved without a person: every model passes `"+r.CommitID[:7]) {
		t.Errorf("review of %s:\n%s", r.CommitID, r.Body)
	}
	w.wants(pr, "success", "very high confidence (1.00), could be approved without a person · approved on GitHub", "The next push ends it")
	if n := w.callsTo(routeReviews, 0) + w.callsTo(routeDismiss, 0) + w.callsTo(routeRequests, 0); n != 0 {
		t.Errorf("%d needless calls", n)
	}

	// The same again is the same review: what is answered is not asked again.
	before := len(w.gh.Calls())
	if _, err := w.gh.Redeliver(w.gh.LastDelivery("pull_request").GUID); err != nil {
		t.Fatal(err)
	}
	w.idle()
	if n := len(w.gh.Calls()) - before; n != 0 {
		t.Errorf("a redelivery costs %d calls", n)
	}
	pr.Comment("alice", "/review full")
	w.idle()
	w.wantReviews(pr, "approved")
	w.wants(pr, "success", "· approved on GitHub")
}

// Without the setting, models cost no call to GitHub more than a review does.
func TestModelsAloneDecideNothing(t *testing.T) {
	t.Parallel()
	for _, b := range []*bench{{}, {verdict: everybody}} {
		w := modelled(t, b, `{"auto_approve": false}`)
		pr := w.open(clean())
		w.idle()
		w.wantReviews(pr)
		for _, route := range []string{routeReview, routeReviews, routeDismiss, routeRequests} {
			if n := w.callsTo(route, 0); n != 0 {
				t.Errorf("%d calls of %s", n, route)
			}
		}
		if n := w.callsTo(routePull, 0); n != 2 { // for the facts, and before it is published
			t.Errorf("the pull request is read %d times, want twice", n)
		}
	}
}

// By default nothing is done but what is said, whatever models come to and however
// often a pull request fails.
func TestOffByDefault(t *testing.T) {
	t.Parallel()
	b := &bench{verdict: everybody}
	w := modelled(t, b, `{}`)
	pr := w.open(clean())
	w.idle()
	for n := range 3 {
		pr.Push(ghtest.Files{"store/client.go": secure + strings.Repeat("\n// More.\n", n+1)}, fmt.Sprintf("fix: try %d", n))
		w.idle()
	}
	w.loop(pr, "escalated")
	b.says(bigAlone)
	w.says(pr, "/review full")
	b.says(nil)
	w.says(pr, "/review full")
	w.loop(pr, "complete")
	for _, route := range []string{routeReview, routeReviews, routeDismiss, routeRequests, routeAddLabel, routeRemoveLabel} {
		if n := w.callsTo(route, 0); n != 0 {
			t.Errorf("%d calls of %s", n, route)
		}
	}
}

// What was escalated is not approved without a person, though it passes, until one
// has it go on.
func TestEscalatedIsNotApprovedUntilResumed(t *testing.T) {
	t.Parallel()
	b := &bench{verdict: everybody}
	w := modelled(t, b, approving)
	pr := w.open(clean())
	w.idle()
	for n := range 2 {
		pr.Push(ghtest.Files{"store/client.go": secure + strings.Repeat("\n// More.\n", n+1)}, fmt.Sprintf("fix: try %d", n))
		w.idle()
	}
	w.wants(pr, "failure", "Escalated after 2 fix attempts")
	b.says(nil)
	pr.Push(ghtest.Files{"store/client.go": secure}, "fix: less")
	w.idle()
	w.loop(pr, "complete")
	w.wantReviews(pr)
	w.wants(pr, "success", "until somebody comments `/review resume`, nothing is decided without a person")
	w.says(pr, "/review resume")
	w.wantReviews(pr, "approved")
	w.wants(pr, "success", "· approved on GitHub")
	w.wantsNot(pr, "/review resume")
}

// Whatever models say, what the gate holds is not approved, nor what is not ready,
// was not looked at in full, or comes from where anybody can write.
func TestNotApproved(t *testing.T) {
	t.Parallel()
	w := modelled(t, &bench{}, `{"auto_approve": true, "auto_reject": true}`)
	for name, open := range map[string]func() *ghtest.PullRequest{
		"an agent that is no model fails it": func() *ghtest.PullRequest {
			return w.another("insecure", tested(ghtest.Files{"store/tls.go": insecure}))
		},
		"a draft": func() *ghtest.PullRequest {
			return w.repo.OpenPR(ghtest.PR{Title: "feat: draft", Body: goodBody, Head: "draft", Draft: true, Files: clean()})
		},
		"a fork's": func() *ghtest.PullRequest {
			return w.repo.OpenPR(ghtest.PR{Title: "feat: fork", Body: goodBody, Head: "fork", Author: "mallory", Fork: "mallory", Files: clean()})
		},
		"locked": func() *ghtest.PullRequest {
			w.gh.Withhold()
			pr := w.another("locked", clean())
			pr.Lock()
			w.gh.Resume()
			if _, err := w.gh.Redeliver(w.gh.LastDelivery("pull_request").GUID); err != nil {
				t.Fatal(err)
			}
			return pr
		},
	} {
		pr := open()
		w.idle()
		if len(pr.AppReviews()) != 0 {
			t.Errorf("%s: %+v", name, pr.AppReviews())
		}
	}
}

// Advisory mode does nothing that would have to be taken back.
func TestAdvisoryModeDecidesNothing(t *testing.T) {
	t.Parallel()
	b := &bench{}
	w := modelled(t, b, `{"auto_approve": true, "auto_reject": true, "people": ["bob"]}`)
	w.repo.Commit("main", ghtest.Files{settingsPath: `{"mode": "advisory"}`}, "try")
	w.idle()
	good := w.open(clean())
	w.idle()
	b.says(everybody)
	bad := w.another("bad", clean())
	w.idle()
	b.says(bigAlone)
	unclear := w.another("unclear", clean())
	w.idle()
	for _, pr := range []*ghtest.PullRequest{good, bad, unclear} {
		if all, asked := pr.AppReviews(), pr.Requested(); len(all)+len(asked) != 0 {
			t.Errorf("reviews %+v, asked %v", all, asked)
		}
	}
}

// An approval ends with the push, before anything looks at what was pushed.
func TestPushEndsApproval(t *testing.T) {
	t.Parallel()
	b := &bench{}
	w := modelled(t, b, approving)
	pr := w.open(clean())
	w.idle()
	var mu sync.Mutex // models look side by side
	var when []string
	b.says(func(string, *pipeline.PRFacts) (pipeline.AgentOutput, error) {
		mu.Lock()
		defer mu.Unlock()
		when = append(when, pr.AppReviews()[0].State)
		return dangerous(), nil
	})
	pr.Push(ghtest.Files{"store/client.go": secure + "\n// More.\n"}, "feat: more")
	w.idle()
	if r := w.wantReviews(pr, "dismissed")[0]; !strings.Contains(r.Dismissal, "the head is another commit now") {
		t.Errorf("dismissed with %q", r.Dismissal)
	}
	if len(when) == 0 || slices.Contains(when, "approved") {
		t.Errorf("while the models look, the approval is %q", when)
	}
	w.wants(pr, "failure", "could be rejected without a person")
	w.wantsNot(pr, "on GitHub")

	b.says(nil)
	pr.Push(ghtest.Files{"store/client.go": secure}, "fix: less")
	w.idle()
	if r := w.wantReviews(pr, "dismissed", "approved")[1]; r.CommitID != pr.HeadSHA() {
		t.Errorf("approved %s, want the head", r.CommitID)
	}
}

// A push that comes between the last look at the head and its approval, and of
// which no event tells, does not inherit it.
func TestPushBesideApproval(t *testing.T) {
	t.Parallel()
	w := modelled(t, &bench{}, approving)
	var pr *ghtest.PullRequest
	remove := w.gh.On(routeReview, ghtest.First(1, func(*ghtest.Exchange) {
		w.away(func() { pr.Push(tested(ghtest.Files{"store/tls.go": insecure}), "feat: insecure") })
	}))
	defer remove()
	w.gh.Withhold()
	pr = w.open(clean())
	w.gh.Resume()
	if _, err := w.gh.Redeliver(w.gh.LastDelivery("pull_request").GUID); err != nil {
		t.Fatal(err)
	}
	w.idle()
	w.wantReviews(pr, "dismissed")
	w.wants(pr, "action_required")
}

// An approval is of one base.
func TestAnotherBaseEndsApproval(t *testing.T) {
	t.Parallel()
	b := &bench{}
	w := modelled(t, b, approving)
	w.release()
	pr := w.open(clean())
	w.idle()
	b.says(everybody)
	base := "release"
	pr.Edit(ghtest.Edit{Base: &base})
	w.idle()
	if r := w.wantReviews(pr, "dismissed")[0]; !strings.Contains(r.Dismissal, "another base branch") {
		t.Errorf("dismissed with %q", r.Dismissal)
	}
}

// An approval ends with the review that no longer comes to it, whatever it comes to.
func TestApprovalEndsWithItsReview(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		do     func(w *world, b *bench, pr *ghtest.PullRequest)
		reason string
	}{
		"the models change their minds": {func(_ *world, b *bench, pr *ghtest.PullRequest) {
			b.says(bigAlone)
			pr.Comment("alice", "/review full")
		}, "comes to something else"},
		"a model is down": {func(_ *world, b *bench, pr *ghtest.PullRequest) {
			b.says(func(string, *pipeline.PRFacts) (pipeline.AgentOutput, error) {
				return pipeline.AgentOutput{}, errors.New("down")
			})
			pr.Comment("alice", "/review full")
		}, "comes to something else"},
		"the setting is switched off": {func(w *world, _ *bench, _ *ghtest.PullRequest) {
			w.repo.Commit("main", ghtest.Files{settingsPath: `{"models": {"auto_approve": false}}`}, "no more")
		}, "comes to something else"},
		"a person decides": {func(w *world, _ *bench, pr *ghtest.PullRequest) {
			w.says(pr, "/review reject not like this")
		}, "A person decided"},
		"it is a draft": {func(_ *world, _ *bench, pr *ghtest.PullRequest) { pr.ConvertToDraft() }, "comes to something else"},
		"reviews are switched off": {func(w *world, _ *bench, _ *ghtest.PullRequest) {
			w.repo.Commit("main", ghtest.Files{settingsPath: `{"mode": "off"}`}, "no more")
			w.idle()
		}, "switched off"},
		"it can't be reviewed": {func(w *world, _ *bench, pr *ghtest.PullRequest) {
			w.gh.On("GET /repos/{owner}/{repo}/pulls/{pull_number}/files", func(x *ghtest.Exchange) { x.Fail(http.StatusUnprocessableEntity, "Too much.") })
			pr.Comment("alice", "/review full")
		}, "could not be completed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &bench{}
			w := modelled(t, b, approving)
			pr := w.open(clean())
			w.idle()
			w.wantReviews(pr, "approved")
			tt.do(w, b, pr)
			w.idle()
			if name == "reviews are switched off" {
				pr.Comment("alice", "/review")
				w.idle()
			}
			if r := w.wantReviews(pr, "dismissed")[0]; !strings.Contains(r.Dismissal, tt.reason) {
				t.Errorf("dismissed with %q, want %q", r.Dismissal, tt.reason)
			}
		})
	}
}

// What several models agree is critical has changes requested at each head once,
// until it is fixed.
func TestRejectedUntilFixed(t *testing.T) {
	t.Parallel()
	b := &bench{verdict: everybody}
	w := modelled(t, b, `{"auto_approve": true, "auto_reject": true}`)
	pr := w.open(clean())
	w.idle()
	if r := w.wantReviews(pr, "changes_requested")[0]; !strings.Contains(r.Body, "Changes requested without a person") || r.CommitID != pr.HeadSHA() {
		t.Errorf("review of %s:\n%s", r.CommitID, r.Body)
	}
	w.wants(pr, "failure", "· changes requested on GitHub")

	pr.Push(ghtest.Files{"store/client.go": secure + "\n// Locked, nearly.\n"}, "fix: lock")
	w.idle()
	w.wantReviews(pr, "dismissed", "changes_requested")
	b.says(nil)
	pr.Push(ghtest.Files{"store/client.go": secure + "\n// Locked.\n"}, "fix: lock it all")
	w.idle()
	w.wantReviews(pr, "dismissed", "dismissed", "approved")
	w.wants(pr, "success", "· approved on GitHub")
}

// What one model alone holds to be critical is left to people, who are asked once.
// Whether they accept or dismiss it, it is decided then.
func TestPeopleAreAskedWhereOneModelHolds(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]struct {
		conclusion string
		states     []string
	}{"accept": {"failure", nil}, "dismiss": {"success", []string{"approved"}}} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			w := modelled(t, &bench{verdict: bigAlone}, `{"auto_approve": true, "auto_reject": true, "people": ["alice", "wes", "nobody-here", "Carol", "acme/owners"]}`, func(w *world) {
				w.gh.Repo("acme/shop").Grant("wes", "write")
				w.gh.Repo("acme/shop").Grant("carol", "maintain")
				w.gh.Team("acme", "owners", "carol")
			})
			pr := w.open(clean()) // by alice
			w.idle()
			w.wantReviews(pr)
			if diff := cmp.Diff([]string{"wes", "carol", "acme/owners"}, pr.Requested()); diff != "" {
				t.Fatalf("asked (-want +got):\n%s", diff)
			}
			w.wants(pr, "action_required", "A person must decide", "Asked to review: wes, Carol, acme/owners.")

			calls := w.callsTo(routeRequests, 0)
			pr.Review("wes", "commented", "Let me see.")
			pr.Comment("alice", "/review full")
			pr.Push(ghtest.Files{"store/client.go": secure + "\n// More.\n"}, "feat: more")
			w.idle()
			// Only who could not be asked is tried again, once for each head.
			if n := w.callsTo(routeRequests, 0); n > calls+1 || slices.Contains(pr.Requested(), "wes") {
				t.Errorf("asked %d times more: %v", n-calls, pr.Requested())
			}
			f := w.only(pr)
			w.says(pr, "/review "+command+" "+f.ID[:8]+map[string]string{"dismiss": " the shop sells one piece"}[command])
			w.wants(pr, want.conclusion)
			w.wantReviews(pr, want.states...)
		})
	}
}

// Who decided by hand against what would have been decided without a person is in
// the audit log, and the review on GitHub gives way.
func TestHumanOverride(t *testing.T) {
	t.Parallel()
	b := &bench{verdict: everybody}
	w := modelled(t, b, `{"auto_reject": true}`)
	pr := w.open(clean())
	w.idle()
	w.wantReviews(pr, "changes_requested")
	w.says(pr, "/review override the warehouse is down")
	w.wants(pr, "success", "Passed by hand by carol")
	w.wantReviews(pr, "dismissed")
	log, err := w.app.Inside().Store.Audit(t.Context(), w.target(pr).Key(), 10)
	if err != nil || len(log) != 1 || log[0].Action != "override" || log[0].AutoDecision != pipeline.AutoReject {
		t.Errorf("log %+v, %v", log, err)
	}
}

// A review whose answer was lost is found, and not submitted twice, by whichever
// process goes on; one that is outdated by then is dismissed.
func TestReviewWhoseAnswerIsLost(t *testing.T) {
	t.Parallel()
	for _, pushed := range []bool{false, true} {
		w := modelled(t, &bench{}, approving)
		remove := w.gh.On(routeReview, ghtest.First(1, func(x *ghtest.Exchange) { x.Proceed(); x.Drop() }))
		down := w.gh.On(routeReviews, func(x *ghtest.Exchange) { x.Fail(http.StatusBadGateway, "Later.") })
		pr := w.open(clean())
		w.until("it was looked for", func() bool { return len(pr.AppReviews()) == 1 && len(w.gh.CallsTo(routeReviews)) > 0 })
		if err := w.stop(); err != nil {
			t.Fatal(err)
		}
		remove()
		down()
		if pushed {
			w.gh.SetWebhook("http://127.0.0.1:1/hook", secret)
			pr.Push(ghtest.Files{"store/client.go": secure + "\n// More.\n"}, "feat: more")
		}
		w.run()
		w.until("it is reviewed", func() bool { c := pr.CheckRuns(); return len(c) > 0 && c[len(c)-1].Completed() })
		w.idle()
		if pushed {
			w.wantReviews(pr, "dismissed", "approved")
		} else {
			w.wantReviews(pr, "approved")
			w.wants(pr, "success", "· approved on GitHub")
		}
	}
}

// A review that comes late, when it was looked for in vain and submitted again, is
// dismissed with the other one.
func TestReviewThatComesLate(t *testing.T) {
	t.Parallel()
	w := modelled(t, &bench{}, approving)
	w.gh.On(routeReview, ghtest.First(1, func(x *ghtest.Exchange) { x.Proceed(); x.Drop() }))
	w.gh.On(routeReviews, ghtest.First(2, func(x *ghtest.Exchange) { x.Proceed().Body = []byte("[]") }))
	pr := w.open(clean())
	w.idle()
	w.wantReviews(pr, "approved", "approved")
	pr.Push(ghtest.Files{"store/client.go": secure + "\n// More.\n"}, "feat: more")
	w.idle()
	w.wantReviews(pr, "dismissed", "dismissed", "approved")
}

// Where GitHub takes no review the check and the comment stand, and say so.
func TestReviewThatGitHubRefuses(t *testing.T) {
	t.Parallel()
	w := modelled(t, &bench{}, approving)
	own := w.repo.OpenPR(ghtest.PR{Title: "feat: own", Body: goodBody, Author: w.gh.AppLogin(), Files: clean()})
	w.idle()
	w.wantReviews(own)
	w.wants(own, "success", "GitHub did not take the review")
	edits := w.comment(own).Edits
	body := goodBody + " More."
	own.Edit(ghtest.Edit{Body: &body})
	w.idle()
	if c := w.comment(own); c.Edits != edits || strings.Count(c.Body, "did not take") != 1 {
		t.Errorf("%d edits:\n%s", c.Edits-edits, c.Body)
	}

	// One that can't be dismissed is told of as long as it stands.
	pr := w.another("stuck", clean())
	w.idle()
	refuse := w.gh.On(routeDismiss, func(x *ghtest.Exchange) { x.Fail(http.StatusForbidden, "Not you.") })
	w.repo.Commit("main", ghtest.Files{settingsPath: `{"models": {"auto_approve": false}}`}, "no more")
	w.idle()
	w.wantReviews(pr, "approved")
	w.wants(pr, "success", "does not hold any more, and GitHub does not let reviewgate dismiss it")
	refuse()
	pr.Push(ghtest.Files{"store/client.go": secure + "\n// More.\n"}, "feat: more")
	w.idle()
	w.wantReviews(pr, "dismissed")
	w.wantsNot(pr, "does not hold any more")
}

// Beside a review that can't be dismissed no other is submitted, which would be all
// that is known of; nor is one taken for gone that only can't be seen.
func TestNothingBesideAReviewThatStays(t *testing.T) {
	t.Parallel()
	for status, message := range map[int]string{http.StatusForbidden: "Not you.", http.StatusNotFound: "Not Found"} {
		w := modelled(t, &bench{}, approving)
		pr := w.open(clean())
		w.idle()
		refuse := w.gh.On(routeDismiss, func(x *ghtest.Exchange) { x.Fail(status, message) })
		for n := range 2 {
			pr.Push(ghtest.Files{"store/client.go": secure + strings.Repeat("\n// More.\n", n+1)}, "feat: more")
			w.idle()
			w.wantReviews(pr, "approved")
			w.wants(pr, "success", "does not hold any more, and GitHub does not let reviewgate dismiss it")
			w.wantsNot(pr, "· approved on GitHub")
		}
		refuse()
		pr.Comment("alice", "/review full")
		w.idle()
		w.wantReviews(pr, "dismissed", "approved")
		w.wants(pr, "success", "· approved on GitHub")
	}
}

// Who was asked and let off is not asked again, though a later request is cut short.
func TestNobodyIsAskedTwice(t *testing.T) {
	t.Parallel()
	w := modelled(t, &bench{verdict: bigAlone}, `{"people": ["wes"]}`, func(w *world) {
		w.gh.Repo("acme/shop").Grant("wes", "write")
		w.gh.Repo("acme/shop").Grant("carol", "maintain")
	})
	pr := w.open(clean())
	w.idle()
	pr.Unrequest("wes")
	w.repo.Commit("main", ghtest.Files{settingsPath: `{"models": {"people": ["wes", "carol"]}}`}, "more people")
	w.gh.On(routeRequests, ghtest.First(2, func(x *ghtest.Exchange) { x.Fail(http.StatusBadGateway, "Later.") }))
	pr.Push(ghtest.Files{"store/client.go": secure + "\n// More.\n"}, "feat: more")
	w.idle()
	if got := pr.Requested(); !slices.Equal(got, []string{"carol"}) {
		t.Errorf("asked %v, want carol alone", got)
	}
	w.wants(pr, "action_required", "Asked to review: wes, carol.")
}

// A database that was lost leaves no approval behind of what it does not cover.
func TestApprovalOfBeforeTheDatabaseWasLost(t *testing.T) {
	t.Parallel()
	b := &bench{}
	w := modelled(t, b, approving)
	pr := w.open(clean())
	w.idle()
	pr.Review("bob", "approved", "<!-- reviewgate:review abc -->")
	pr.OtherReview("reviewgate-staging", "approved", "<!-- reviewgate:review abc -->")
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	w.db = database(t)
	w.run()
	b.says(everybody)
	pr.Push(ghtest.Files{"store/client.go": secure + "\n// More.\n"}, "feat: more")
	w.idle()
	w.wantReviews(pr, "dismissed")
	for _, r := range pr.Reviews()[1:] {
		if r.State != "approved" {
			t.Errorf("the review of %s is %s", r.Author, r.State)
		}
	}
	if err := w.stop(); err != nil { // before its database is gone
		t.Error(err)
	}
}

// Whatever GitHub does meanwhile, and however pushes and changes of mind fall, in
// the end at most one review stands, and that is of the head.
func TestReviewsInTrouble(t *testing.T) {
	t.Parallel()
	b := &bench{}
	w := modelled(t, b, `{"auto_approve": true, "auto_reject": true}`)
	pr := w.open(clean())
	w.idle()
	for seed := range uint64(sample.Size(1, 3)) {
		trouble := ghtest.NewTrouble(seed, ghtest.TroubleOptions{Errors: 0.05, Resets: 0.03, Lost: 0.12, Truncated: 0.05})
		remove := w.gh.On("*", trouble.Hook)
		for i := range 4 {
			b.says(map[bool]func(string, *pipeline.PRFacts) (pipeline.AgentOutput, error){true: everybody}[i%2 == 0])
			pr.Push(ghtest.Files{"store/client.go": secure + strings.Repeat("\n// More.\n", 1+i+4*int(seed))}, "feat: more")
			if i%2 == int(seed)%2 {
				w.idle()
			}
		}
		remove()
		w.idle()
		if faults := pr.Faults(); len(faults) > 0 {
			t.Fatalf("seed %d: %v", seed, faults)
		}
		all := pr.AppReviews()
		if last := all[len(all)-1]; last.State != "approved" || last.CommitID != pr.HeadSHA() {
			t.Errorf("seed %d: the last review is %s of %.7s, want the head approved", seed, last.State, last.CommitID)
		}
	}
}
