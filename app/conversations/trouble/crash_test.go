package trouble

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// A server that is killed at any point of a review and started again answers
// with one comment and one completed check run, within seconds.
func TestKilledDuringReview(t *testing.T) {
	t.Parallel()
	const (
		createCheck   = "POST /repos/{owner}/{repo}/check-runs"
		updateCheck   = "PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}"
		createComment = "POST /repos/{owner}/{repo}/issues/{issue_number}/comments"
		readFiles     = "GET /repos/{owner}/{repo}/pulls/{pull_number}/files"
		readPull      = "GET /repos/{owner}/{repo}/pulls/{pull_number}"
	)
	for _, at := range sample.Of(t, 2, []apptest.Request{
		apptest.At(createCheck, 1, false), apptest.At(createCheck, 1, true),
		apptest.At(createComment, 1, false), apptest.At(createComment, 1, true),
		apptest.At(readFiles, 1, false), apptest.At(readPull, 2, false),
		apptest.At(updateCheck, 1, false), apptest.At(updateCheck, 1, true),
	}) {
		t.Run(at.String(), func(t *testing.T) {
			t.Parallel()
			gh := ghtest.Start(t, ghtest.Options{WebhookSecret: apptest.Secret})
			repo := gh.Repo("acme/shop")
			repo.Commit("main", ghtest.Files{"README.md": "# shop\n"}, "start")
			server := apptest.NewChild(t, gh)
			server.Start()
			var pr *ghtest.PullRequest
			server.DiesAt(gh, at, func() {
				pr = repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Files: ghtest.Files{"store/client.go": apptest.Insecure}})
			})
			restarted := time.Now()
			server.Start()
			server.Answers(gh, pr)
			t.Logf("answered and idle %s after the restart", time.Since(restarted).Round(time.Millisecond))
			if runs := pr.CheckRuns(); len(runs) != 1 || runs[0].Conclusion != "action_required" {
				t.Errorf("%d check runs, the first %s", len(runs), runs[0].Conclusion)
			}
			if n := len(pr.AppComments()); n != 1 {
				t.Errorf("%d comments, want 1", n)
			}
		})
	}
}

// A review that takes its process down is begun three times and then given up
// in words, instead of taking it down for ever.
func TestReviewThatKillsTheServer(t *testing.T) {
	t.Parallel()
	gh := ghtest.Start(t, ghtest.Options{WebhookSecret: apptest.Secret})
	repo := gh.Repo("acme/shop")
	repo.Commit("main", ghtest.Files{"README.md": "# shop\n"}, "start")
	server := apptest.NewChild(t, gh)
	server.Start()
	reached := make(chan bool, 1)
	gh.On(apptest.RouteFiles, func(x *ghtest.Exchange) {
		reached <- true
		<-x.Context().Done()
		x.Drop()
	})
	pr := repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Files: ghtest.Files{"store/client.go": apptest.Insecure}})
	for n := range 3 {
		select {
		case <-reached:
		case <-time.After(apptest.Patience):
			t.Fatalf("run %d never came", n+1)
		}
		server.Kill()
		server.Start()
	}
	ctx, cancel := context.WithTimeout(context.Background(), apptest.Patience)
	defer cancel()
	if err := gh.WaitFor(ctx, func() bool { runs := pr.CheckRuns(); return len(runs) > 0 && runs[0].Completed() }); err != nil {
		t.Fatalf("the check is not completed: %v", err)
	}
	server.Idle()
	select {
	case <-reached:
		t.Error("the review was begun a fourth time")
	default:
	}
	runs := pr.CheckRuns()
	if len(runs) != 1 || runs[0].Conclusion != "failure" || !strings.Contains(runs[0].Summary, "died 3 times") {
		t.Errorf("%d check runs, the first %s: %s", len(runs), runs[0].Conclusion, runs[0].Summary)
	}
}

// Reviews that were at work beside the one that takes the server down are not
// given up with it.
func TestBystandersOfACrash(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	gh := ghtest.Start(t, ghtest.Options{WebhookSecret: apptest.Secret})
	repo := gh.Repo("acme/shop")
	repo.Commit("main", ghtest.Files{"README.md": "# shop\n"}, "start")
	server := apptest.NewChild(t, gh)
	server.Start()
	poisoned, beside := make(chan bool, 9), make(chan bool, 9)
	gh.On(apptest.RouteFiles, func(x *ghtest.Exchange) {
		switch {
		case x.Params["pull_number"] == "1":
			poisoned <- true
		case len(beside) < 2: // at work when the server goes down, twice
			beside <- true
		default:
			return
		}
		<-x.Context().Done()
		x.Drop()
	})
	poison := repo.OpenPR(ghtest.PR{Title: "feat: poison", Body: apptest.GoodBody, Head: "poison", Files: ghtest.Files{"store/client.go": apptest.Insecure}})
	good := repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Head: "good", Files: ghtest.Files{"store/b.go": apptest.Secure}})
	for n := range 3 {
		// Not by the stand-in's state, which nothing may change after the last call
		// has come.
		for until := time.Now().Add(apptest.Patience); len(poisoned) <= n || len(beside) <= min(n, 1); time.Sleep(time.Millisecond) {
			if time.Now().After(until) {
				t.Fatalf("run %d never came", n+1)
			}
		}
		server.Kill()
		server.Start()
	}
	server.Idle()
	if runs := poison.CheckRuns(); runs[len(runs)-1].Conclusion != "failure" {
		t.Errorf("the check of the one that took it down is %s", runs[len(runs)-1].Conclusion)
	}
	if runs := good.CheckRuns(); runs[len(runs)-1].Conclusion == "failure" {
		t.Errorf("the bystander was given up: %s", runs[len(runs)-1].Summary)
	}
}
