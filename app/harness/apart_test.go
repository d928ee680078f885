package harness

import (
	"bytes"
	"sync/atomic"
	"testing"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

// A server that was killed during a review repeats that review in a child process of the same
// program with the same settings. The child answers through the same database and App.
func TestSuspectIsReviewedByTheSameProgram(t *testing.T) {
	seed := begin(t)
	w := newWorld(t, setup{database: sqlite, replicas: 1, seed: seed})
	repo, s := w.repos(1)[0], w.servers[0]
	reached := make(chan struct{}, 1)
	remove := w.gh.On("GET /repos/{owner}/{repo}/pulls/{pull_number}/files", func(x *ghtest.Exchange) {
		select {
		case reached <- struct{}{}:
		default:
		}
		<-x.Context().Done()
		x.Drop()
	})
	pr := repo.OpenPR(ghtest.PR{Title: "feat: totals", Author: "alice", Files: largeFiles(3)})
	if !until(*flagPatience, func() bool { return len(reached) > 0 }) {
		t.Fatal("the review does not start")
	}
	s.kill()
	remove()
	var tokens atomic.Int64
	w.gh.On("POST /app/installations/{installation_id}/access_tokens", func(x *ghtest.Exchange) {
		if bytes.Contains(x.Body, []byte("repository_ids")) {
			tokens.Add(1)
		}
	})
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	if !until(*flagPatience, func() bool {
		runs := pr.CheckRuns()
		return len(runs) > 0 && runs[len(runs)-1].Completed() && w.quiet()
	}) {
		t.Fatalf("no answer: %+v", pr.CheckRuns())
	}
	if n := s.logLines("a suspect is reviewed in a child process"); n == 0 {
		t.Error("no child process was started")
	}
	if n := tokens.Load(); n != 1 {
		t.Errorf("%d tokens for the repository were requested, want 1 for the server and its child", n)
	}
	if n := s.logLines("could not begin"); n > 0 {
		t.Errorf("%d child processes could not start", n)
	}
	s.kill()
}
