package trouble

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/review"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

func TestLostDeliveriesAreAccepted(t *testing.T) {
	t.Parallel()
	w := start(t)
	seen := w.Open(apptest.Clean())
	w.Idle()
	var opened *ghtest.PullRequest
	w.Away(func() {
		opened = w.Repo.OpenPR(ghtest.PR{Title: "feat: lost", Body: apptest.GoodBody, Head: "lost", Files: ghtest.Files{"store/client.go": apptest.Insecure}})
		seen.Push(ghtest.Files{"store/client.go": apptest.Insecure}, "worse")
		seen.Comment("alice", "/review")
	})
	w.Idle()
	if n := len(opened.CheckRuns()); n != 0 {
		t.Fatalf("%d check runs before the log was read", n)
	}
	w.Work(ports.JobDeliveries)
	w.Wants(opened, "action_required")
	w.Wants(seen, "action_required")

	// GitHub need not redeliver anything, and accepted deliveries are not read again.
	if n := len(w.GH.Calls.To(apptest.RouteRedeliver)); n != 0 {
		t.Errorf("%d redeliveries were requested", n)
	}
	w.GH.Calls.Reset()
	w.Work(ports.JobDeliveries)
	if n := len(w.GH.Calls.To(apptest.RoutePayload)); n != 0 {
		t.Errorf("%d accepted deliveries were read again", n)
	}
}

// A delivery that GitHub can't show doesn't delay the others.
func TestLostDeliveryCannotBeRead(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.Work(ports.JobDeliveries)
	first := ""
	w.GH.On(apptest.RoutePayload, func(x *ghtest.Exchange) {
		if id := x.Params["delivery_id"]; first == "" || first == id {
			first = id
			x.Fail(http.StatusBadGateway, "Server Error")
		}
	})
	var opened []*ghtest.PullRequest
	w.Away(func() {
		for _, head := range []string{"one", "two", "three"} {
			opened = append(opened, w.Repo.OpenPR(ghtest.PR{Title: "feat: lost", Body: apptest.GoodBody, Head: head, Files: ghtest.Files{head + "/client.go": apptest.Insecure}}))
		}
	})
	w.Work(ports.JobDeliveries)
	w.Idle()
	answered := 0
	for _, pr := range opened {
		answered += len(pr.CheckRuns())
	}
	if answered < 2 {
		t.Errorf("%d of 3 pull requests have an answer", answered)
	}
}

// If the log lacks the payload, the App asks GitHub to send the delivery again.
func TestLostDeliveriesWithoutPayload(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.Work(ports.JobDeliveries)
	w.withoutPayloads()
	var opened *ghtest.PullRequest
	w.Away(func() {
		opened = w.Repo.OpenPR(ghtest.PR{Title: "feat: lost", Body: apptest.GoodBody, Head: "lost", Files: ghtest.Files{"store/client.go": apptest.Insecure}})
	})
	w.Work(ports.JobDeliveries)
	w.Idle()
	w.Wants(opened, "action_required")
}

// A delivery that the webhook would refuse is read once, and not requested again.
func TestRefusedDeliveriesAreNotRequestedAgain(t *testing.T) {
	t.Parallel()
	w := start(t)
	now := time.Now()
	w.App.Inside().Service.Change(func(o *review.Options) { o.Now = func() time.Time { return now } })
	w.Work(ports.JobDeliveries)
	w.GH.On(apptest.RoutePayload, func(x *ghtest.Exchange) {
		if r := x.Proceed(); r.Status == http.StatusOK {
			r.Body = []byte(`{"id":5,"request":{"headers":{},"payload":{"action":"opened","pull_request":7}}}`)
		}
	})
	w.Away(func() {
		w.Repo.OpenPR(ghtest.PR{Title: "feat: lost", Body: apptest.GoodBody, Head: "lost", Files: apptest.Clean()})
	})
	w.Work(ports.JobDeliveries)
	read := len(w.GH.Calls.To(apptest.RoutePayload))
	for range 5 {
		now = now.Add(time.Hour)
		w.Work(ports.JobDeliveries)
	}
	if again := len(w.GH.Calls.To(apptest.RoutePayload)) - read; read == 0 || again != 0 || len(w.GH.Calls.To(apptest.RouteRedeliver)) != 0 {
		t.Errorf("read %d times, then %d times more, and requested again: %v", read, again, w.GH.Calls.To(apptest.RouteRedeliver))
	}
}

// A delivery that always fails is requested again a few times, with growing pauses, and then
// no more.
func TestFailingDeliveriesAreRequestedAFewTimes(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	now := time.Now()
	w.App.Inside().Service.Change(func(o *review.Options) { o.Now = func() time.Time { return now } })
	w.Work(ports.JobDeliveries) // deliveries from before the App ran
	w.Idle()
	w.withoutPayloads()
	w.GH.Webhook.Withhold("pull_request")
	w.Repo.OpenPR(ghtest.PR{Title: "feat: lost", Body: apptest.GoodBody, Head: "lost", Files: apptest.Clean()})
	w.Idle()
	var asked []time.Duration
	const step = 5 * time.Minute
	for after := time.Duration(0); after < 40*time.Hour; after += step {
		w.GH.Calls.Reset()
		w.Work(ports.JobDeliveries)
		for range w.GH.Calls.To(apptest.RouteRedeliver) {
			asked = append(asked, after)
		}
		now = now.Add(step)
	}
	if n := len(asked); n != 13 || asked[n-1]-asked[n-2] < 17*time.Hour {
		t.Errorf("requested %d times in 40 hours, want 13, and the last one 17 hours after the one before: %v", n, asked)
	}
}

func TestSweepFindsPullRequestsWithoutAnswer(t *testing.T) {
	t.Parallel()
	w := start(t)
	known := w.Open(apptest.Clean())
	w.Idle()
	var opened *ghtest.PullRequest
	w.Away(func() {
		opened = w.Repo.OpenPR(ghtest.PR{Title: "feat: lost", Body: apptest.GoodBody, Head: "lost", Files: ghtest.Files{"store/client.go": apptest.Insecure}})
		known.Push(ghtest.Files{"store/client.go": apptest.Insecure}, "worse")
	})
	w.Work(ports.JobSweep)
	w.Wants(opened, "action_required")
	w.Wants(known, "action_required")

	w.GH.Calls.Reset()
	w.Work(ports.JobSweep)
	if writes := w.GH.Calls.Writes(); len(writes) != 0 {
		t.Errorf("a second sweep writes %v", writes)
	}
}

// A lost database must not lead to second comments and checks.
func TestSweepAfterTheDatabaseWasLost(t *testing.T) {
	t.Parallel()
	empty := apptest.Database(t)
	w := start(t)
	done := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	w.Idle()
	// The check of this pull request is open when the App ends.
	var open *ghtest.PullRequest
	held := make(chan bool, 9)
	remove := w.GH.On(apptest.RouteFiles, func(x *ghtest.Exchange) {
		held <- true
		<-x.Context().Done()
		x.Drop()
	})
	open = w.Repo.OpenPR(ghtest.PR{Title: "feat: open", Body: apptest.GoodBody, Head: "open", Files: ghtest.Files{"store/other.go": apptest.Insecure}})
	<-held
	w.Until("the check is open", func() bool { return len(open.CheckRuns()) == 1 })
	*w.App.Inside().DrainTimeout = 0
	if err := w.Stop(); err != nil {
		t.Logf("stop: %v", err)
	}
	remove()
	w.DB = empty
	w.StartApp()
	w.Idle()
	w.Work(ports.JobSweep)
	w.Wants(open, "action_required")
	if n := len(open.CheckRuns()); n != 1 {
		t.Errorf("%d check runs on the head whose check was open, want only the adopted one", n)
	}
	w.Wants(done, "action_required")
	if n := len(done.CheckRuns()); n != 1 {
		t.Errorf("%d check runs on the head that was answered, want 1", n)
	}
}

// A comment about findings turns green after the push that fixes them, even if the database with that
// comment is lost.
func TestFixedAfterTheDatabaseWasLost(t *testing.T) {
	t.Parallel()
	empty := apptest.Database(t)
	w := start(t)
	pr := w.Open(apptest.Tested(ghtest.Files{"store/client.go": apptest.Insecure}))
	w.Idle()
	w.Wants(pr, "action_required", "store/client.go")
	if err := w.Stop(); err != nil {
		t.Fatal(err)
	}
	w.DB = empty
	w.StartApp()
	pr.Push(apptest.Clean(), "fix: verify certificates")
	w.Idle()
	w.WantsCheck(pr, "success")
	if body := w.Comment(pr).Body; !strings.Contains(body, "No findings") {
		t.Errorf("the comment still says\n%s", body)
	}
}

// When no pull request has a check's head any more, the sweep completes that check, whatever
// kept the review from doing so.
func TestSweepFinishesOrphanedChecks(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	remove := w.GH.On("PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}", func(x *ghtest.Exchange) {
		x.Fail(403, "Resource not accessible by integration")
	})
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	w.Idle()
	pr.Close()
	w.Idle()
	remove()
	if runs := pr.CheckRuns(); len(runs) != 1 || runs[0].Completed() {
		t.Fatalf("the check is not orphaned: %+v", runs)
	}
	w.Work(ports.JobSweep)
	if c := w.Check(pr); c.Conclusion != "cancelled" {
		t.Errorf("the check is %s (%s), want cancelled", c.Conclusion, c.Title)
	}
}

// Periodic jobs run at the start and by themselves.
func TestSweepsRunByThemselves(t *testing.T) {
	t.Parallel()
	w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, func(w *apptest.World) { w.Intervals = time.Second })
	var pr *ghtest.PullRequest
	w.Away(func() {
		pr = w.Repo.OpenPR(ghtest.PR{Title: "feat: lost", Body: apptest.GoodBody, Head: "lost", Files: apptest.Clean()})
	})
	w.Until("the pull request is answered", func() bool {
		runs := pr.CheckRuns()
		return len(runs) == 1 && runs[0].Completed()
	})
}

func TestSuspendedAndUnsuspended(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.GH.Suspend("acme")
	pr := w.Open(apptest.Clean()) // GitHub sends no webhook
	w.Idle()
	w.GH.Unsuspend("acme")
	w.Idle()
	w.Wants(pr, "success")
}

// The App is suspended while a review runs. It can't write anything, stores the reason, and
// does the review after the suspension.
func TestSuspendedDuringReview(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	w.GH.On(apptest.RouteFiles, func(x *ghtest.Exchange) {
		if x.N == 1 {
			w.GH.Suspend("acme")
			w.GH.ExpireTokens()
		}
	})
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	w.Idle()
	if result := w.Result(pr); !strings.Contains(result, "suspended") {
		t.Errorf("the result is %q", result)
	}
	w.GH.Unsuspend("acme")
	w.Idle()
	w.Wants(pr, "action_required")
	if runs := pr.CheckRuns(); len(runs) != 1 {
		t.Errorf("%d check runs, want 1", len(runs))
	}
	if result := w.Result(pr); result != "" {
		t.Errorf("the result is still %q", result)
	}
}

func TestPermissionsTakenAndGiven(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	all := ghtest.DefaultPermissions()
	few := ghtest.DefaultPermissions()
	delete(few, "pull_requests")
	w.GH.SetPermissions("acme", few)
	w.GH.ExpireTokens()
	pr := w.Open(apptest.Clean())
	w.Idle()
	c := w.Check(pr)
	if c.Conclusion != "failure" || !strings.Contains(c.Summary, "pull_requests") {
		t.Errorf("the check is %s: %s", c.Conclusion, c.Summary)
	}
	w.GH.SetPermissions("acme", all)
	w.GH.ExpireTokens()
	w.Idle()
	w.Wants(pr, "success")
}

func TestUninstalledDuringReview(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.GH.On(apptest.RouteFiles, func(x *ghtest.Exchange) {
		if x.N == 1 {
			w.GH.Uninstall("acme")
		}
	})
	pr := w.Open(apptest.Clean())
	w.Idle()
	w.Forgotten(pr)
}

func TestRenamedDuringReview(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	w.GH.On(apptest.RouteFiles, func(x *ghtest.Exchange) {
		if x.N == 1 {
			w.Repo.Settings.Rename("store")
		}
	})
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	w.Idle()
	w.Wants(pr, "action_required")
}

// A close event that comes after the pull request was reopened has no effect.
func TestLateCloseEventIsIgnored(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	w.Idle()
	w.Away(func() { pr.Close() })
	pr.Reopen()
	w.Idle()
	came, letGo := w.Held(apptest.RouteFiles, "pull_number", "1")
	pr.Push(apptest.Clean(), "fix")
	<-came
	if err := w.App.Inside().Service.Work(w.Context(), ports.Job{Kind: ports.JobDeliveries, Attempt: 1}); err != nil {
		t.Fatal(err)
	}
	<-came // the close stopped the run, and the next run has begun
	letGo()
	w.Idle()
	w.Wants(pr, "success")
	w.AllDone(pr.HeadSHA())
}

// A head that is pushed over before its check is created gets no check.
func TestNoCheckIsCreatedOnlyToBeCancelled(t *testing.T) {
	t.Parallel()
	w := start(t)
	came := make(chan bool, 9)
	remove := w.GH.On("POST /repos/{owner}/{repo}/check-runs", func(x *ghtest.Exchange) {
		came <- true
		<-x.Context().Done()
		x.Drop()
	})
	pr := w.Open(apptest.Clean())
	<-came
	old := pr.HeadSHA()
	remove()
	pr.Push(ghtest.Files{"store/client.go": apptest.Insecure}, "more")
	w.Idle()
	w.Wants(pr, "action_required")
	if runs := w.Repo.Checks.On(old); len(runs) != 0 {
		t.Errorf("the old head has %d check runs, %s", len(runs), runs[0].Conclusion)
	}
}

// withoutPayloads makes the delivery log contain no readable payload.
func (w *world) withoutPayloads() {
	w.GH.On(apptest.RoutePayload, func(x *ghtest.Exchange) {
		if r := x.Proceed(); r.Status == http.StatusOK {
			r.Body = []byte(`{"id":5,"request":{"headers":{},"payload":null}}`)
		}
	})
}
