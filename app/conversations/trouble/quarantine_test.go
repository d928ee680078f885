package trouble

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// quarantined is a server process whose reviews may end it, with a stand-in for GitHub.
type quarantined struct {
	*testing.T
	gh     *ghtest.Server
	repo   *ghtest.Repo
	server *apptest.Child
}

func startQuarantine(t *testing.T, step time.Duration) *quarantined {
	t.Helper()
	q := &quarantined{T: t, gh: ghtest.Start(t, ghtest.Options{WebhookSecret: apptest.Secret})}
	q.repo = q.gh.Repo("acme/shop")
	q.repo.Grant("alice", "write")
	q.repo.Commit("main", ghtest.Files{"README.md": "# shop\n"}, "start")
	q.server = apptest.NewChild(t, q.gh)
	q.server.Quarantine = step
	q.server.Start()
	return q
}

func (q *quarantined) open(title, head string) *ghtest.PullRequest {
	q.Helper()
	return q.repo.OpenPR(ghtest.PR{Title: title, Body: apptest.GoodBody, Head: head, Author: "mallory", Files: ghtest.Files{head + "/b.go": apptest.Secure}})
}

// died waits until the server process has ended by itself, and starts it again.
func (q *quarantined) died() {
	q.Helper()
	if !q.server.Ended(apptest.Patience) {
		q.Fatal("the server did not end")
	}
	q.server.Start()
}

// inQuarantine reports whether the newest check of the head says that its review ended
// its process.
func inQuarantine(pr *ghtest.PullRequest) bool {
	runs := pr.CheckRuns()
	last := len(runs) - 1
	return last >= 0 && runs[last].Completed() && runs[last].Conclusion == "failure" && strings.Contains(runs[last].Title, "ended its process; next try at ")
}

func reviewed(pr *ghtest.PullRequest) bool {
	runs := pr.CheckRuns()
	last := len(runs) - 1
	return last >= 0 && runs[last].Completed() && runs[last].Conclusion != "failure" && runs[last].Conclusion != "cancelled"
}

// A review that ends its process ends the server once, and from then on only a child process.
// Other reviews run before and after it, and pushes don't change that.
func TestCrashingReviewIsQuarantined(t *testing.T) {
	t.Parallel()
	for _, title := range sample.Of(t, 1, []string{apptest.Kills, apptest.EatsMemory}) {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			q := startQuarantine(t, time.Hour)
			var good []*ghtest.PullRequest
			for i := range 3 {
				good = append(good, q.open("feat: stock", fmt.Sprint("good", i)))
			}
			poison := q.open("feat: "+title, "poison")
			q.died()
			until(t, "the check says that it is quarantined", func() bool { return inQuarantine(poison) })
			for n := range 2 {
				poison.Push(ghtest.Files{"poison/c.go": fmt.Sprintf("package c\n\nconst C = %d\n", n)}, "feat: more")
				until(t, "the check of the pushed head says so", func() bool { return inQuarantine(poison) })
			}
			good = append(good, q.open("feat: later", "later"))
			for _, pr := range good {
				until(t, "those beside it are reviewed", func() bool { return reviewed(pr) })
			}
			if q.server.Ended(0) {
				t.Error("the server ended again")
			}
			if n := q.server.Logged("a suspect is reviewed in a child process"); n < 1 || n > 13 { // four at once, each one alone, and the pushes
				t.Errorf("%d child processes", n)
			}
			mended := "feat: mended"
			poison.Edit(ghtest.Edit{Title: &mended})
			poison.Comment("alice", "/review")
			until(t, "a writer's /review tries at once", func() bool { return reviewed(poison) })
			if n := q.server.Logged("a review ended its process and"); n != 1 {
				t.Errorf("quarantined %d times, want 1", n)
			}
		})
	}
}

// Somebody without write permission can't end the wait. The next attempt starts by itself.
func TestQuarantinedReviewIsTriedAgain(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	q := startQuarantine(t, 10*time.Second)
	poison := q.open("feat: "+apptest.Kills, "poison")
	q.died()
	until(t, "the check says that it is quarantined", func() bool { return inQuarantine(poison) })
	tries := q.server.Logged("in a child process")
	poison.Comment("mallory", "/review")
	until(t, "it is tried again", func() bool { return q.server.Logged("a review ended its process and") >= 2 })
	if n := q.server.Logged("in a child process"); n != tries+1 {
		t.Errorf("%d child processes after one attempt and one wait, want %d", n, tries+1)
	}
	title := "feat: mended"
	poison.Edit(ghtest.Edit{Title: &title})
	until(t, "it is reviewed at the next try", func() bool { return reviewed(poison) })
}

// Killing the server puts no review into quarantine, however often it happens. All running
// reviews are done in the end.
func TestKillsCauseNoQuarantine(t *testing.T) {
	t.Parallel()
	gh := ghtest.Start(t, ghtest.Options{WebhookSecret: apptest.Secret})
	repo := gh.Repo("acme/shop")
	repo.Commit("main", ghtest.Files{"README.md": "# shop\n"}, "start")
	server := apptest.NewChild(t, gh)
	server.Start()
	reached := make(chan bool, 100)
	remove := gh.On(apptest.RouteFiles, func(x *ghtest.Exchange) {
		reached <- true
		<-x.Context().Done()
		x.Drop()
	})
	var all []*ghtest.PullRequest
	for i := range 3 {
		head := fmt.Sprint("head", i)
		all = append(all, repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Head: head, Files: ghtest.Files{head + "/b.go": apptest.Secure}}))
	}
	for n := range sample.Size(4, 8) {
		select {
		case <-reached:
		case <-time.After(apptest.Patience):
			t.Fatalf("run %d never started", n+1)
		}
		server.Kill()
		server.Start()
	}
	remove()
	ctx, cancel := context.WithTimeout(t.Context(), apptest.Patience)
	defer cancel()
	for _, pr := range all {
		if err := gh.WaitFor(ctx, func() bool { return reviewed(pr) }); err != nil {
			t.Errorf("not reviewed: %v: %+v", err, pr.CheckRuns())
		}
	}
	server.Idle()
	if n := server.Logged("quarantined"); n != 0 {
		t.Errorf("%d reviews were put into quarantine", n)
	}
}
