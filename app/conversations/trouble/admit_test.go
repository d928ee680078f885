package trouble

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// slowly is an agent that blocks on a change whose title contains "slow" until it is
// released.
type slowly struct{ began, let chan struct{} }

func (s slowly) Review(ctx context.Context, task dispatch.Task) (dispatch.Answer, error) {
	if strings.Contains(task.Facts.Title, "slow") {
		select {
		case s.began <- struct{}{}:
		default:
		}
		select {
		case <-s.let:
		case <-ctx.Done():
			return dispatch.Answer{}, ctx.Err()
		}
	}
	return dispatch.Answer{}, nil
}

// crowded is a server with two workers and memory for one change of a hundred files at a
// time. Such a change is being reviewed.
type crowdedServer struct {
	*apptest.World
	slow  slowly
	first *ghtest.PullRequest
}

func startCrowded(t *testing.T) *crowdedServer {
	t.Helper()
	c := &crowdedServer{slow: slowly{make(chan struct{}, 1), make(chan struct{})}}
	c.World = apptest.StartWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, func(w *apptest.World) {
		w.Memory, w.TellWait, w.Workers = 2<<20, time.Millisecond, 2
		w.Agents = map[string]dispatch.Agent{"security-reviewer": c.slow}
	})
	c.first = c.large("slow", "mallory")
	c.begun()
	return c
}

func (c *crowdedServer) large(name, author string) *ghtest.PullRequest {
	c.Helper()
	files := ghtest.Files{}
	for i := range 100 {
		files[fmt.Sprintf("%s/%d.go", name, i)] = apptest.Secure
	}
	return c.Repo.OpenPR(ghtest.PR{Title: "feat: " + name, Body: apptest.GoodBody, Head: name, Author: author, Files: files})
}

func (c *crowdedServer) begun() {
	c.Helper()
	select {
	case <-c.slow.began:
	case <-time.After(apptest.Patience):
		c.Fatal("the first review does not begin")
	}
}

// waitsForMemory reports whether the newest check of the head says that its review waits for
// memory.
func waitsForMemory(pr *ghtest.PullRequest) bool {
	runs := pr.CheckRuns()
	return len(runs) > 0 && !runs[len(runs)-1].Completed() && strings.HasPrefix(runs[len(runs)-1].Title, "Waits for memory: ")
}

// Large changes wait for one another, say so, and hold no worker. A small change overtakes
// them. Waiting reviews make no calls.
func TestLargeChangesWaitForMemory(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	c := startCrowded(t)
	var large []*ghtest.PullRequest
	for i := range 4 {
		large = append(large, c.large(fmt.Sprint("large", i), "mallory"))
	}
	for _, pr := range large {
		until(t, "its check says that it waits", func() bool { return waitsForMemory(pr) })
	}
	small := c.Repo.OpenPR(ghtest.PR{Title: "feat: small", Body: apptest.GoodBody, Head: "small", Author: "bob", Files: apptest.Clean()})
	until(t, "the small one is answered", func() bool { return reviewed(small) })
	before := len(c.GH.Calls.All())
	time.Sleep(2 * time.Second)
	if n := len(c.GH.Calls.All()) - before; n > len(large) {
		t.Errorf("%d calls while all wait", n)
	}
	close(c.slow.let)
	for _, pr := range append(large, c.first) {
		until(t, "it is answered", func() bool { return reviewed(pr) })
	}
}

// Reviews that wait for memory survive a push, the close of another pull request and a
// restart of the server.
func TestWaitForMemorySurvivesARestart(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	c := startCrowded(t)
	pushed, closed, left := c.large("pushed", "mallory"), c.large("closed", "mallory"), c.large("left", "carol")
	for _, pr := range []*ghtest.PullRequest{pushed, closed, left} {
		until(t, "its check says that it waits", func() bool { return waitsForMemory(pr) })
	}
	closed.Close()
	pushed.Push(ghtest.Files{"pushed/more.go": apptest.Secure}, "feat: more")
	until(t, "the check of the pushed head says that it waits", func() bool { return waitsForMemory(pushed) })
	if err := c.Stop(); err != nil {
		t.Fatal(err)
	}
	c.StartApp()
	c.begun()
	close(c.slow.let)
	for _, pr := range []*ghtest.PullRequest{pushed, left, c.first} {
		until(t, "it is answered", func() bool { return reviewed(pr) })
	}
	for _, run := range closed.CheckRuns() {
		if !run.Completed() {
			t.Errorf("a check of the closed pull request is open: %s", run.Title)
		}
	}
}
