package people

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/review"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

const (
	routePostCheck = "POST /repos/{owner}/{repo}/check-runs"
)

// insecureMain puts a finding into main that release lacks.
func (w *world) insecureMain() {
	w.Release()
	w.Repo.Commit("main", ghtest.Files{"store/tls.go": apptest.Insecure}, "main knows it")
}

func (w *world) state(pr *ghtest.PullRequest) ports.TargetState {
	w.Helper()
	st, err := w.App.Inside().Store.Target(w.Context(), ports.Target{Kind: ports.TargetPull, RepoID: w.Repo.ID(), Number: pr.Number}.Key())
	if err != nil {
		w.Fatal(err)
	}
	return st
}

// Two pull requests share a head. The check of the reviewed one does not count as an answer
// for the other one, which was never reviewed.
func TestSweepFindsPullRequestWithLostOpening(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	w.insecureMain()
	w.Open(ghtest.Files{"store/b.go": "package store\n"})
	w.Idle()
	var two *ghtest.PullRequest
	w.Away(func() { two = w.Twin("feat: backport") })
	w.Work(ports.JobSweep)
	c := w.Check(two)
	t.Logf("check of #2: %s %s; comments %d", c.Conclusion, c.Title, len(two.AppComments()))
	if c.Conclusion == "success" || c.Conclusion == "neutral" || len(two.AppComments()) == 0 {
		t.Errorf("#2 into release has a finding and was never reviewed, but its check is %s", c.Conclusion)
	}
}

// A check from before the base changed does not count as an answer either.
func TestSweepFindsALostRetarget(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	w.insecureMain()
	pr := w.Open(ghtest.Files{"store/b.go": "package store\n"})
	w.Idle()
	base := "release"
	w.Away(func() { pr.Edit(ghtest.Edit{Base: &base}) })
	w.Work(ports.JobSweep)
	if c := w.Check(pr); c.Conclusion != "action_required" {
		t.Errorf("%s (%s) after a lost retarget and a sweep", c.Conclusion, c.Title)
	}
}

// Nor does a check that was cancelled when the pull request was closed.
func TestSweepFindsALostReopening(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	reading, letGo := w.Held(apptest.RouteFiles, "pull_number", "1")
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	<-reading
	pr.Close()
	letGo()
	w.Idle()
	w.Away(func() { pr.Reopen() })
	w.Work(ports.JobSweep)
	if c := w.Check(pr); c.Conclusion != "action_required" {
		t.Errorf("%s (%s) after a lost reopen and a sweep", c.Conclusion, c.Title)
	}
}

// While nothing can be written, sweeps do not repeat the review.
func TestSweepSkipsReviewsThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	w := start(t)
	few := ghtest.DefaultPermissions()
	delete(few, "checks")
	w.GH.SetPermissions("acme", few)
	w.GH.ExpireTokens()
	w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	w.Idle()
	w.GH.Calls.Reset()
	for range 3 {
		w.Work(ports.JobSweep)
	}
	if n := len(w.GH.Calls.To(apptest.RouteFiles)); n != 0 {
		t.Errorf("three sweeps ran the review %d more times, though nothing can be written", n)
	}
}

// An old check that can't be completed does not delay other pull requests.
func TestOldCheckDoesNotHoldUpOthers(t *testing.T) {
	t.Parallel()
	w := start(t)
	reading, letGo := w.Held(apptest.RouteFiles, "pull_number", "1")
	one := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	<-reading
	w.Until("the check is open", func() bool { return len(one.CheckRuns()) == 1 })
	old := one.CheckRuns()[0].ID
	w.GH.On(apptest.RoutePatchCheck, func(x *ghtest.Exchange) {
		if x.Params["check_run_id"] == fmt.Sprint(old) {
			x.Fail(502, "bad gateway")
		}
	})
	one.Push(ghtest.Files{"store/x.go": "package store\n"}, "more")
	letGo()
	two := w.Repo.OpenPR(ghtest.PR{Title: "feat: other", Body: apptest.GoodBody, Head: "other", Files: apptest.Clean()})
	ctx, cancel := context.WithTimeout(w.Context(), time.Minute)
	defer cancel()
	if err := w.GH.WaitFor(ctx, func() bool { r := two.CheckRuns(); return len(r) > 0 && r[0].Completed() }); err != nil {
		st := w.state(two)
		t.Errorf("#2 has no answer because #1's old check can't be completed: attempts %d", st.Attempts)
	}
}

// After the database was lost, the first event takes over the open check.
func TestEventAfterTheDatabaseWasLost(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	empty := apptest.Database(t)
	w := start(t)
	held := make(chan bool, 9)
	remove := w.GH.On(apptest.RouteFiles, func(x *ghtest.Exchange) {
		held <- true
		<-x.Context().Done()
		x.Drop()
	})
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	<-held
	w.Until("the check is open", func() bool { return len(pr.CheckRuns()) == 1 })
	*w.App.Inside().DrainTimeout = 0
	_ = w.Stop()
	remove()
	w.DB = empty
	w.StartApp()
	title := "feat: edited"
	pr.Edit(ghtest.Edit{Title: &title})
	w.Idle()
	w.Work(ports.JobSweep)
	w.AllDone(pr.HeadSHA())
	if n := len(pr.CheckRuns()); n != 1 {
		t.Errorf("%d check runs", n)
	}
}

// A review against a base that changed meanwhile is not published.
func TestOldBaseIsNotPublished(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	w.insecureMain()
	base := "release"
	var pr *ghtest.PullRequest
	opened := make(chan bool)
	w.GH.On(apptest.RoutePull, func(x *ghtest.Exchange) {
		if x.N == 2 { // the look before publishing
			<-opened
			pr.Edit(ghtest.Edit{Base: &base})
			for w.state(pr).Wanted < 2 {
				time.Sleep(time.Millisecond)
			}
		}
	})
	pr = w.Open(ghtest.Files{"store/b.go": "package store\n"})
	close(opened)
	w.Idle()
	for _, c := range pr.CheckRuns() {
		t.Logf("%d %s %s", c.ID, c.Conclusion, c.Title)
		if c.Conclusion == "success" {
			t.Errorf("check run %d passed for the old base, although generation 2 was stored and GET pull showed the new base", c.ID)
		}
	}
}

// Stopping the server does not count as a failed attempt.
func TestShutdownIsNotAFailedAttempt(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	reading, _ := w.Held(apptest.RouteFiles, "pull_number", "1")
	pr := w.Open(apptest.Clean())
	<-reading
	*w.App.Inside().DrainTimeout = 0
	if err := w.Stop(); err != nil {
		t.Logf("stop: %v", err)
	}
	w.StartApp()
	<-reading // it runs again, and is held
	if st := w.state(pr); st.Attempts != 0 {
		t.Errorf("a clean stop counted as %d failed attempts", st.Attempts)
	}
}

// The App gives up a review that always takes longer than a job may, and explains why.
func TestTimeoutsAreGivenUp(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.Open(apptest.Clean())
	w.Idle()
	w.Held(apptest.RouteFiles, "pull_number", "1")
	if err := w.App.Inside().Queue.Stop(w.Context()); err != nil {
		t.Fatal(err)
	}
	pr.Push(ghtest.Files{"store/x.go": "package store\n"}, "more")
	_ = w.GH.Webhook.Settle(w.Context())
	now := time.Now()
	w.App.Inside().Service.Change(func(o *review.Options) { o.Now = func() time.Time { return now } })
	key := w.state(pr).Key()
	for range 8 {
		ctx, cancel := context.WithTimeout(w.Context(), 200*time.Millisecond)
		err := w.App.Inside().Service.Work(ctx, ports.NewJob(ports.JobReview, ports.TargetJob{Key: key}))
		cancel()
		t.Logf("%v", err)
		now = now.Add(31 * time.Minute)
	}
	st := w.state(pr)
	if st.Wanted > st.Done {
		t.Errorf("the review timed out %d times over 4 h and was not given up", st.Attempts)
	}
}

// After a sweep could not read a repository, the next sweep starts from the same place.
func TestRefusedRepositoryIsSweptLater(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	remove := w.GH.On("GET /repos/{owner}/{repo}/pulls", func(x *ghtest.Exchange) { x.Fail(403, "blocked by an IP allow list") })
	var pr *ghtest.PullRequest
	w.Away(func() {
		pr = w.Repo.OpenPR(ghtest.PR{Title: "feat: lost", Body: apptest.GoodBody, Head: "lost", Files: apptest.Clean()})
	})
	later := time.Now().Add(3 * time.Hour)
	w.App.Inside().Service.Change(func(o *review.Options) { o.Now = func() time.Time { return later } })
	w.Work(ports.JobSweep) // 403
	remove()
	w.Work(ports.JobSweep)
	if len(pr.CheckRuns()) == 0 {
		t.Error("a pull request opened while the repository could not be read was never found")
	}
}

// Checks that GitHub refused to complete are completed once it allows that again.
func TestRefusedChecksAreCompletedLater(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	reading, letGo := w.Held(apptest.RouteFiles, "pull_number", "1")
	one := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	<-reading
	w.Until("the check is open", func() bool { return len(one.CheckRuns()) == 1 })
	old := one.HeadSHA()
	remove := w.GH.On(apptest.RoutePatchCheck, func(x *ghtest.Exchange) { x.Fail(403, "Resource not accessible by integration") })
	one.Push(ghtest.Files{"store/x.go": "package store\n"}, "more")
	letGo()
	w.Idle()
	remove()
	w.Work(ports.JobSweep)
	w.AllDone(old)
	w.AllDone(one.HeadSHA())
}

// The reason of a refusal is removed when the refusal ends.
func TestRefusalReasonEndsWithTheRefusal(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	few := ghtest.DefaultPermissions()
	delete(few, "pull_requests")
	w.GH.SetPermissions("acme", few)
	w.GH.ExpireTokens()
	pr := w.Open(apptest.Clean())
	w.Idle()
	w.GH.On(apptest.RouteFiles, func(x *ghtest.Exchange) { x.Fail(422, "the diff is too large") })
	w.GH.SetPermissions("acme", ghtest.DefaultPermissions())
	w.GH.ExpireTokens()
	w.Idle()
	t.Logf("result %q, check %s", w.state(pr).Result, w.Check(pr).Summary)
	before := w.state(pr).Wanted
	for range 3 {
		w.Work(ports.JobSweep)
	}
	if n := w.state(pr).Wanted - before; n != 0 {
		t.Errorf("three sweeps asked for %d more reviews, though access is fine", n)
	}
}

// A review that finished late does not count as given up.
func TestLateReviewDoesNotCountAsGivenUp(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	var gaveUp atomic.Int64
	w.App.Inside().Service.Change(func(o *review.Options) { o.Observe.GaveUp = func(string) { gaveUp.Add(1) } })
	w.App.Inside().Service.Change(func(o *review.Options) { o.RetryWindow = time.Nanosecond })
	var heal []func()
	for _, r := range []string{apptest.RoutePatchCheck, routePostCheck, apptest.RouteFiles} {
		heal = append(heal, w.GH.On(r, func(x *ghtest.Exchange) { x.Fail(502, "bad gateway") }))
	}
	pr := w.Open(apptest.Clean())
	for w.state(pr).Overdue == (ports.Overdue{}) {
		time.Sleep(time.Millisecond)
	}
	for _, f := range heal {
		f()
	}
	w.Idle()
	if c := w.Check(pr); gaveUp.Load() != 0 && c.Conclusion == "success" {
		t.Errorf("the check is %s, and %d reviews were counted as given up", c.Conclusion, gaveUp.Load())
	}
}

// A command whose review was given up is not answered as if it had succeeded.
func TestGivenUpReviewGetsNoRocket(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	pr := w.Open(apptest.Clean())
	w.Idle()
	w.GH.On(apptest.RouteFiles, func(x *ghtest.Exchange) { x.Fail(422, "no") })
	c := pr.Comment("alice", "/review")
	w.Idle()
	if r := w.Reactions(pr, c.ID); strings.Contains(strings.Join(r, " "), "rocket") {
		t.Errorf("the check is %s, and the reactions to the command are %v", w.Check(pr).Conclusion, r)
	}
}

// A comment that can't be written does not change the check.
func TestFailedCommentDoesNotChangeTheCheck(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.App.Inside().Service.Change(func(o *review.Options) { o.RetryWindow = time.Nanosecond })
	w.GH.On(apptest.RouteComment, func(x *ghtest.Exchange) { x.Fail(502, "bad gateway") })
	pr := w.Open(apptest.Clean())
	w.Idle()
	for _, c := range pr.CheckRuns() {
		t.Logf("%s %s", c.Conclusion, c.Title)
	}
	if n := len(pr.CheckRuns()); n != 1 {
		t.Errorf("%d check runs", n)
	}
}

// Sweeps find nothing in a repository where reviews are switched off.
func TestSweepsSkipSwitchedOffRepositories(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	var found atomic.Int64
	w.App.Inside().Service.Change(func(o *review.Options) { o.Observe.Found = func(string) { found.Add(1) } })
	w.Repo.Commit("main", ghtest.Files{".github/reviewgate/review-settings.json": `{"mode": "off"}`}, "off")
	w.Idle()
	pr := w.Open(apptest.Clean())
	w.Idle()
	pr.Push(ghtest.Files{"store/x.go": "package store\n"}, "more")
	w.Idle()
	for _, c := range pr.CheckRuns() {
		t.Logf("%s", c.Conclusion)
	}
	w.Work(ports.JobSweep)
	w.Work(ports.JobSweep)
	if found.Load() != 0 {
		t.Errorf("sweeps found %d lost reviews in a repository that is switched off", found.Load())
	}
}

// A command is still run after an outage of more than half an hour.
func TestCommandSurvivesAnOutage(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	pr := w.Open(apptest.Clean())
	w.Idle()
	heal := w.GH.On("POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions", func(x *ghtest.Exchange) { x.Fail(502, "bad gateway") })
	id := pr.Comment("alice", "/review").ID
	job := ports.NewJob(ports.JobCommand, ports.CommandJob{Place: ports.PlaceConversation, CommentID: id})
	job.Attempt = 19
	err := w.App.Inside().Service.Work(w.Context(), job)
	for err == nil || errors.Is(err, ports.ErrNotFound) {
		time.Sleep(10 * time.Millisecond)
		err = w.App.Inside().Service.Work(w.Context(), job)
	}
	var retry *ports.RetryError
	if !errors.As(err, &retry) {
		t.Error("an accepted command was given up")
	}
	heal()
}

// The reaction to an obeyed command is written, even if it takes a second attempt.
func TestAnswerToACommandSurvivesADroppedConnection(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.Open(apptest.Clean())
	w.Idle()
	w.GH.On(apptest.RouteReact, func(x *ghtest.Exchange) {
		if x.N == 2 { // 1 is eyes
			x.Drop()
		}
	})
	said := pr.Comment("alice", "/review")
	w.Idle()
	w.Work(ports.JobSweep)
	w.Work(ports.JobDeliveries)
	if got := w.Reactions(pr, said.ID); len(got) != 2 {
		t.Errorf("reactions %v, want eyes and rocket", got)
	}
}

// A re-run whose job runs twice is obeyed once.
func TestRerequestIsObeyedOnce(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.Open(apptest.Clean())
	w.Idle()
	job := ports.Rerequest{
		Installation: w.GH.InstallationID("acme"), RepoID: w.Repo.ID(), Owner: "acme", Name: "shop", HeadSHA: pr.HeadSHA(), Numbers: []int{pr.Number},
	}.Job("a delivery")
	for range 2 {
		if err := w.App.Inside().Service.Work(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		w.Idle()
	}
	if n := len(pr.CheckRuns()); n != 2 {
		t.Errorf("%d check runs, want 2", n)
	}
}

// A late "edited" event does not move the head back.
func TestLateEventDoesNotMoveTheHead(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	pr := w.Open(apptest.Clean())
	w.Idle()
	title := "feat: another"
	w.Away(func() { pr.Edit(ghtest.Edit{Title: &title}) })
	guid := w.GH.Webhook.LastDelivery("pull_request").GUID
	came, letGo := w.Held(apptest.RouteFiles, "pull_number", "1")
	pr.Push(ghtest.Files{"store/b.go": "package store\n\nfunc B() {}\n"}, "b")
	<-came
	w.Until("open", func() bool { return len(pr.CheckRuns()) == 1 })
	if _, err := w.GH.Webhook.Redeliver(guid); err != nil {
		t.Fatal(err)
	}
	letGo()
	w.Idle()
	for _, c := range pr.CheckRuns() {
		t.Logf("head: %s %s (%s)", c.Status, c.Conclusion, c.Title)
	}
	if n := len(pr.CheckRuns()); n != 1 {
		t.Errorf("%d check runs on the head, want 1", n)
	}
}

// After a rename, another repository may take the old name.
func TestAnotherRepositoryTakesTheOldName(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	w.GH.Webhook.Withhold()
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	w.Repo.Settings.Rename("store")
	other := w.GH.Repo("acme/shop")
	other.Commit("main", ghtest.Files{".github/reviewgate/review-settings.json": `{"mode":"off"}`}, "off")
	other.OpenPR(ghtest.PR{Title: "feat: theirs", Body: apptest.GoodBody, Files: apptest.Clean()})
	w.GH.Webhook.Resume()
	for _, d := range w.GH.Webhook.Deliveries() {
		if d.Event == "pull_request" && d.RepositoryID == w.Repo.ID() {
			if _, err := w.GH.Webhook.Redeliver(d.GUID); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.Idle()
	w.Wants(pr, "action_required", "store/client.go")
}

// A single 404 for the comment does not make the App write a second one.
func TestFalseNotFoundMakesNoSecondComment(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	w.Idle()
	w.GH.On("PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}", ghtest.First(1, func(x *ghtest.Exchange) { x.Fail(404, "Not Found") }))
	pr.Push(apptest.Clean(), "fix")
	w.Idle()
	if n := len(pr.AppComments()); n != 1 {
		t.Errorf("%d comments", n)
	}
}

// The App notices a push before it publishes, even if the event of the push is late.
func TestPushWithLateEventIsNoticed(t *testing.T) {
	t.Parallel()
	w := start(t)
	var pr *ghtest.PullRequest
	opened := make(chan bool)
	old := ""
	w.At(apptest.RoutePull, 2, func() {
		<-opened
		w.GH.Webhook.Withhold("pull_request")
		old = pr.HeadSHA()
		pr.Push(apptest.Clean(), "fix")
		w.GH.Webhook.Resume()
	})
	pr = w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	close(opened)
	w.Idle()
	w.Wants(pr, "success")
	for _, c := range w.Repo.Checks.On(old) {
		if c.Conclusion != "cancelled" {
			t.Errorf("the old head's check is %s", c.Conclusion)
		}
	}
}

// A list may not yet contain what was just created.
func TestLaggingList(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	w.GH.On(apptest.RouteComment, ghtest.First(1, func(x *ghtest.Exchange) { x.Proceed(); x.Drop() }))
	w.GH.On("GET /repos/{owner}/{repo}/issues/{issue_number}/comments", ghtest.First(1, func(x *ghtest.Exchange) { apptest.Says(x, 200, "application/json", "[]") }))
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	w.Idle()
	if n := len(pr.AppComments()); n != 1 {
		t.Errorf("%d comments", n)
	}
}
