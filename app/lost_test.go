package app

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/review"
)

const routeRedeliver = "POST /app/hook/deliveries/{delivery_id}/attempts"

// work does a periodic job now.
func (w *world) work(kind review.JobKind) {
	w.Helper()
	if err := w.app.Inside().Service.Work(w.Context(), review.Job{Kind: kind, Attempt: 1}); err != nil {
		w.Fatalf("%s: %v", kind, err)
	}
	w.idle()
}

// away does something while no webhook gets through.
func (w *world) away(f func()) {
	w.gh.Withhold()
	f()
	w.gh.Resume()
}

func TestLostDeliveriesAreAskedForAgain(t *testing.T) {
	t.Parallel()
	w := start(t)
	seen := w.open(clean())
	w.idle()
	var opened *ghtest.PullRequest
	w.away(func() {
		opened = w.repo.OpenPR(ghtest.PR{Title: "feat: lost", Body: goodBody, Head: "lost", Files: ghtest.Files{"store/client.go": insecure}})
		seen.Push(ghtest.Files{"store/client.go": insecure}, "worse")
		seen.Comment("alice", "/review")
	})
	w.idle()
	if n := len(opened.CheckRuns()); n != 0 {
		t.Fatalf("%d check runs before the log was read", n)
	}
	w.work(review.JobDeliveries)
	w.wants(opened, "action_required")
	w.wants(seen, "action_required")

	// What came through the second time is not asked for a third time.
	w.gh.ResetCalls()
	w.work(review.JobDeliveries)
	if n := len(w.gh.CallsTo(routeRedeliver)); n != 0 {
		t.Errorf("%d deliveries that came through were asked for again", n)
	}
}

// A delivery that fails over and over is asked for a few times, ever more
// seldom, and then no more.
func TestHopelessDeliveriesAreLeft(t *testing.T) {
	t.Parallel()
	w := start(t)
	now := time.Now()
	w.app.Inside().Service.Now = func() time.Time { return now }
	w.gh.Withhold("pull_request")
	w.repo.OpenPR(ghtest.PR{Title: "feat: lost", Body: goodBody, Head: "lost", Files: clean()})
	asked := 0
	for range 40 {
		w.gh.ResetCalls()
		w.work(review.JobDeliveries)
		asked += len(w.gh.CallsTo(routeRedeliver))
		now = now.Add(5 * time.Minute)
	}
	if asked < 3 || asked > 6 {
		t.Errorf("asked for %d times, want 3 to 6", asked)
	}
}

func TestSweepFindsPullRequestsWithoutAnswer(t *testing.T) {
	t.Parallel()
	w := start(t)
	known := w.open(clean())
	w.idle()
	var opened *ghtest.PullRequest
	w.away(func() {
		opened = w.repo.OpenPR(ghtest.PR{Title: "feat: lost", Body: goodBody, Head: "lost", Files: ghtest.Files{"store/client.go": insecure}})
		known.Push(ghtest.Files{"store/client.go": insecure}, "worse")
	})
	w.work(review.JobSweep)
	w.wants(opened, "action_required")
	w.wants(known, "action_required")

	w.gh.ResetCalls()
	w.work(review.JobSweep)
	if writes := w.gh.Writes(); len(writes) != 0 {
		t.Errorf("a second sweep writes %v", writes)
	}
}

// A database that was lost must not lead to second comments and checks.
func TestSweepAfterTheDatabaseWasLost(t *testing.T) {
	t.Parallel()
	empty := database(t)
	w := start(t)
	done := w.open(ghtest.Files{"store/client.go": insecure})
	w.idle()
	// One whose check was opened and not completed before the end.
	var open *ghtest.PullRequest
	held := make(chan bool, 9)
	remove := w.gh.On(routeFiles, func(x *ghtest.Exchange) {
		held <- true
		<-x.Context().Done()
		x.Drop()
	})
	open = w.repo.OpenPR(ghtest.PR{Title: "feat: open", Body: goodBody, Head: "open", Files: ghtest.Files{"store/other.go": insecure}})
	<-held
	w.until("the check is open", func() bool { return len(open.CheckRuns()) == 1 })
	*w.app.Inside().DrainTimeout = 0
	if err := w.stop(); err != nil {
		t.Logf("stop: %v", err)
	}
	remove()
	w.db = empty
	w.run()
	w.idle()
	w.work(review.JobSweep)
	w.wants(open, "action_required")
	if n := len(open.CheckRuns()); n != 1 {
		t.Errorf("%d check runs on the head whose check was open, want the one adopted", n)
	}
	w.wants(done, "action_required")
	if n := len(done.CheckRuns()); n != 1 {
		t.Errorf("%d check runs on the head that was answered, want 1", n)
	}
}

// A check whose head no pull request has any more is completed by the sweep,
// whatever had kept the review from doing so.
func TestSweepFinishesOrphanedChecks(t *testing.T) {
	t.Parallel()
	w := start(t)
	remove := w.gh.On("PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}", func(x *ghtest.Exchange) {
		x.Fail(403, "Resource not accessible by integration")
	})
	pr := w.open(ghtest.Files{"store/client.go": insecure})
	w.idle()
	pr.Close()
	w.idle()
	remove()
	if runs := pr.CheckRuns(); len(runs) != 1 || runs[0].Completed() {
		t.Fatalf("the check is not orphaned: %+v", runs)
	}
	w.work(review.JobSweep)
	if c := w.check(pr); c.Conclusion != "cancelled" {
		t.Errorf("the check is %s (%s), want cancelled", c.Conclusion, c.Title)
	}
}

// Periodic jobs run at the start and on their own.
func TestSweepsRunByThemselves(t *testing.T) {
	t.Parallel()
	w := startWith(t, ghtest.Options{WebhookSecret: secret}, func(w *world) { w.intervals = time.Second })
	var pr *ghtest.PullRequest
	w.away(func() {
		pr = w.repo.OpenPR(ghtest.PR{Title: "feat: lost", Body: goodBody, Head: "lost", Files: clean()})
	})
	w.until("the pull request is answered", func() bool {
		runs := pr.CheckRuns()
		return len(runs) == 1 && runs[0].Completed() && len(pr.AppComments()) == 1
	})
}

func TestSuspendedAndUnsuspended(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.gh.Suspend("acme")
	pr := w.open(clean()) // GitHub sends no webhook
	w.idle()
	w.gh.Unsuspend("acme")
	w.idle()
	w.wants(pr, "success")
}

// The App is suspended while a review runs: nothing can be written, the reason
// is kept, and the review is done when it is unsuspended.
func TestSuspendedDuringReview(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.gh.On(routeFiles, func(x *ghtest.Exchange) {
		if x.N == 1 {
			w.gh.Suspend("acme")
			w.gh.ExpireTokens()
		}
	})
	pr := w.open(ghtest.Files{"store/client.go": insecure})
	w.idle()
	if result := w.result(pr); !strings.Contains(result, "suspended") {
		t.Errorf("the result is %q", result)
	}
	w.gh.Unsuspend("acme")
	w.idle()
	w.wants(pr, "action_required")
	if runs := pr.CheckRuns(); len(runs) != 1 {
		t.Errorf("%d check runs, want 1", len(runs))
	}
	if result := w.result(pr); result != "" {
		t.Errorf("the result is still %q", result)
	}
}

// result is what the store keeps of how a review that could not be answered
// ended.
func (w *world) result(pr *ghtest.PullRequest) string {
	w.Helper()
	st, err := w.app.Inside().Store.Target(w.Context(), review.Target{Kind: review.TargetPull, RepoID: w.repo.ID(), Number: pr.Number}.Key())
	if err != nil {
		w.Fatal(err)
	}
	return st.Result
}

func TestPermissionsTakenAndGiven(t *testing.T) {
	t.Parallel()
	w := start(t)
	all := ghtest.DefaultPermissions()
	few := ghtest.DefaultPermissions()
	delete(few, "pull_requests")
	w.gh.SetPermissions("acme", few)
	w.gh.ExpireTokens()
	pr := w.open(clean())
	w.idle()
	c := w.check(pr)
	if c.Conclusion != "failure" || !strings.Contains(c.Summary, "pull_requests") {
		t.Errorf("the check is %s: %s", c.Conclusion, c.Summary)
	}
	w.gh.SetPermissions("acme", all)
	w.gh.ExpireTokens()
	w.idle()
	w.wants(pr, "success")
}

func TestUninstalledDuringReview(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.gh.On(routeFiles, func(x *ghtest.Exchange) {
		if x.N == 1 {
			w.gh.Uninstall("acme")
		}
	})
	pr := w.open(clean())
	w.idle()
	w.forgotten(pr)
}

// forgotten fails if anything passed that was not looked at whole, or the store
// still knows the pull request.
func (w *world) forgotten(pr *ghtest.PullRequest) {
	w.Helper()
	for _, c := range pr.CheckRuns() {
		if c.Conclusion == "success" || c.Conclusion == "neutral" {
			w.Errorf("the check is %s", c.Conclusion)
		}
	}
	key := review.Target{Kind: review.TargetPull, RepoID: w.repo.ID(), Number: pr.Number}.Key()
	if _, err := w.app.Inside().Store.Target(w.Context(), key); !errors.Is(err, review.ErrNotFound) {
		w.Errorf("%s: %v, want that nothing is known of it", key, err)
	}
}

func TestRenamedDuringReview(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.gh.On(routeFiles, func(x *ghtest.Exchange) {
		if x.N == 1 {
			w.repo.Rename("store")
		}
	})
	pr := w.open(ghtest.Files{"store/client.go": insecure})
	w.idle()
	w.wants(pr, "action_required")
}

// News of a close that comes after the pull request was opened again is not
// believed.
func TestLateCloseIsNotBelieved(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.open(ghtest.Files{"store/client.go": insecure})
	w.idle()
	w.away(func() { pr.Close() })
	pr.Reopen()
	w.idle()
	came, letGo := w.held(routeFiles, "pull_number", "1")
	pr.Push(clean(), "fix")
	<-came
	if err := w.app.Inside().Service.Work(w.Context(), review.Job{Kind: review.JobDeliveries, Attempt: 1}); err != nil {
		t.Fatal(err)
	}
	<-came // the close stopped the run, and the next one has begun
	letGo()
	w.idle()
	w.wants(pr, "success")
	w.allDone(pr.HeadSHA())
}

// A head that was pushed over before its check came to be gets none.
func TestCheckThatNeverCameIsNotCreatedToBeCancelled(t *testing.T) {
	t.Parallel()
	w := start(t)
	came := make(chan bool, 9)
	remove := w.gh.On("POST /repos/{owner}/{repo}/check-runs", func(x *ghtest.Exchange) {
		came <- true
		<-x.Context().Done()
		x.Drop()
	})
	pr := w.open(clean())
	<-came
	old := pr.HeadSHA()
	remove()
	pr.Push(ghtest.Files{"store/client.go": insecure}, "more")
	w.idle()
	w.wants(pr, "action_required")
	if runs := w.repo.CheckRuns(old); len(runs) != 0 {
		t.Errorf("the old head has %d check runs, %s", len(runs), runs[0].Conclusion)
	}
}
