package ghtest_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

// TestETags: a 304 is free, and an ETag is only valid for the token that got it.
func TestETags(t *testing.T) {
	gh, repo, c := shop(t, ghtest.Options{})
	pr := repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a": "1"}})
	first := c.get("/repos/acme/shop/pulls/1")
	tag := first.header.Get("ETag")
	again := c.do("GET", "/repos/acme/shop/pulls/1", nil, "If-None-Match", tag)
	c.want(again, http.StatusNotModified)
	if a, b := first.header.Get("X-RateLimit-Used"), again.header.Get("X-RateLimit-Used"); a != b || a == "" {
		t.Errorf("a 304 used up quota: %s used before, %s after", a, b)
	}
	other := newClient(t, gh).asInstallation("acme")
	other.want(other.do("GET", "/repos/acme/shop/pulls/1", nil, "If-None-Match", tag), http.StatusOK)
	pr.Label("bug")
	c.want(c.do("GET", "/repos/acme/shop/pulls/1", nil, "If-None-Match", tag), http.StatusOK)
}

func TestPrimaryRateLimit(t *testing.T) {
	clock := newClock()
	gh, _, c := shop(t, ghtest.Options{Now: clock.now})
	gh.SetRemaining("acme", 2, clock.now().Add(time.Minute))
	c.get("/repos/acme/shop")
	if r := c.get("/repos/acme/shop"); r.header.Get("X-RateLimit-Remaining") != "0" {
		t.Errorf("remaining is %q", r.header.Get("X-RateLimit-Remaining"))
	}
	r := c.do("GET", "/repos/acme/shop", nil)
	c.refused(r, http.StatusForbidden, "API rate limit exceeded")
	if r.header.Get("X-RateLimit-Remaining") != "0" || r.header.Get("X-RateLimit-Reset") == "" {
		t.Errorf("headers of a refusal: %v", r.header)
	}
	if left := c.get("/rate_limit").field("rate", "remaining"); left != 0.0 {
		t.Errorf("rate_limit returns %v", left)
	}
	clock.move(time.Minute)
	c.get("/repos/acme/shop")
}

func TestSecondaryRateLimits(t *testing.T) {
	clock := newClock()
	limits := ghtest.GitHubLimits()
	limits.PointsPerMinute, limits.CreationsPerMinute = 20, 2
	_, repo, c := shop(t, ghtest.Options{Limits: &limits, Now: clock.now})
	repo.OpenPR(ghtest.PR{Files: ghtest.Files{}})
	comment := func() reply { return c.do("POST", "/repos/acme/shop/issues/1/comments", fields{"body": "x"}) }
	c.want(comment(), http.StatusCreated)
	c.want(comment(), http.StatusCreated)
	r := comment()
	c.refused(r, http.StatusForbidden, "#about-secondary-rate-limits")
	if r.header.Get("Retry-After") != "60" {
		t.Errorf("Retry-After is %q", r.header.Get("Retry-After"))
	}
	clock.move(time.Minute)
	for range 20 {
		c.get("/repos/acme/shop")
	}
	c.refused(c.do("GET", "/repos/acme/shop", nil), http.StatusForbidden, "secondary rate limit")
}

func TestConcurrencyLimit(t *testing.T) {
	limits := ghtest.GitHubLimits()
	limits.Concurrent = 2
	gh, repo, c := shop(t, ghtest.Options{Limits: &limits})
	repo.Commit("main", ghtest.Files{"a": "1"}, "more")
	const route = "GET /repos/{owner}/{repo}/commits/{ref}"
	held, release := make(chan struct{}), make(chan struct{})
	gh.On(route, ghtest.First(2, func(*ghtest.Exchange) {
		held <- struct{}{}
		<-release
	}))
	var slow sync.WaitGroup
	for range 2 {
		slow.Go(func() {
			if r := c.do("GET", "/repos/acme/shop/commits/main", nil); r.status != http.StatusOK {
				t.Errorf("status %d", r.status)
			}
		})
		<-held
	}
	c.refused(c.do("GET", "/repos/acme/shop/commits/main", nil), http.StatusForbidden, "secondary rate limit")
	close(release)
	slow.Wait()
	c.get("/repos/acme/shop/commits/main")
}

func TestFaults(t *testing.T) {
	const files = "GET /repos/{o}/{r}/pulls/{n}/files"
	const create = "POST /repos/{o}/{r}/issues/{n}/comments"
	tests := map[string]struct {
		route string
		hook  func(*ghtest.Exchange)
		want  func(t *testing.T, r reply, err error, comments int)
	}{
		"fail before": {create, func(x *ghtest.Exchange) { x.Fail(502, "Server Error") }, func(t *testing.T, r reply, err error, comments int) {
			if err != nil || r.status != 502 || comments != 0 {
				t.Errorf("status %d, error %v, %d comments", r.status, err, comments)
			}
		}},
		"fail after": {create, func(x *ghtest.Exchange) { x.Proceed(); x.Fail(502, "Server Error") }, func(t *testing.T, r reply, err error, comments int) {
			if err != nil || r.status != 502 || comments != 1 {
				t.Errorf("status %d, error %v, %d comments", r.status, err, comments)
			}
		}},
		"drop before": {create, func(x *ghtest.Exchange) { x.Drop() }, func(t *testing.T, _ reply, err error, comments int) {
			if err == nil || comments != 0 {
				t.Errorf("error %v, %d comments", err, comments)
			}
		}},
		"drop after": {create, func(x *ghtest.Exchange) { x.Proceed(); x.Drop() }, func(t *testing.T, _ reply, err error, comments int) {
			if err == nil || comments != 1 {
				t.Errorf("error %v, %d comments", err, comments)
			}
		}},
		"cut": {files, func(x *ghtest.Exchange) { x.Cut(10) }, func(t *testing.T, _ reply, err error, _ int) {
			if !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("error %v", err)
			}
		}},
		"secondary limit": {files, func(x *ghtest.Exchange) { x.Answer(ghtest.SecondaryLimit(429, 0)) }, func(t *testing.T, r reply, _ error, _ int) {
			if r.status != 429 || r.header.Get("Retry-After") != "" {
				t.Errorf("status %d, Retry-After %q", r.status, r.header.Get("Retry-After"))
			}
		}},
		"change the answer": {files, func(x *ghtest.Exchange) { x.Proceed().Header.Set("X-Test", "1") }, func(t *testing.T, r reply, _ error, _ int) {
			if r.status != 200 || r.header.Get("X-Test") != "1" {
				t.Errorf("status %d, header %v", r.status, r.header)
			}
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			gh, repo, c := shop(t, ghtest.Options{})
			pr := repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a": "1"}})
			gh.On(tt.route, ghtest.First(1, tt.hook))
			method, path, body := "GET", "/repos/acme/shop/pulls/1/files", any(nil)
			if tt.route == create {
				method, path, body = "POST", "/repos/acme/shop/issues/1/comments", fields{"body": "x"}
			}
			r, err := c.try(method, path, body)
			tt.want(t, r, err, len(pr.Comments()))
			if again := c.do(method, path, body); again.status >= 300 {
				t.Errorf("the second call has the fault of the first: %d", again.status)
			}
		})
	}
}

// TestHoldRequest: a request can be held while the state changes.
func TestHoldRequest(t *testing.T) {
	gh, repo, c := shop(t, ghtest.Options{})
	pr := repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a": "1"}})
	remove := gh.On("GET /repos/{owner}/{repo}/pulls/{pull_number}", func(x *ghtest.Exchange) {
		pr.Push(ghtest.Files{"a": "2"}, "meanwhile")
		if x.Params["pull_number"] != "1" || x.Method != "GET" {
			t.Errorf("exchange: %+v", x)
		}
	})
	before := pr.HeadSHA()
	if sha := c.get("/repos/acme/shop/pulls/1").field("head", "sha"); sha == before || sha != pr.HeadSHA() {
		t.Errorf("the answer has head %v", sha)
	}
	remove()
	gh.Calls.Reset()
	gh.On("*", ghtest.Delay(20*time.Millisecond))
	c.get("/repos/acme/shop/pulls/1")
	c.want(c.do("POST", "/repos/acme/shop/issues/1/comments", fields{"body": "x"}), http.StatusCreated)
	calls := gh.Calls.All()
	if len(calls) != 2 || calls[0].Took < 20*time.Millisecond || calls[0].Route != "GET /repos/{owner}/{repo}/pulls/{pull_number}" || calls[0].Installation != gh.InstallationID("acme") {
		t.Errorf("calls: %+v", calls)
	}
	if w := gh.Calls.Writes(); len(w) != 1 || w[0].Status != http.StatusCreated || !strings.HasSuffix(w[0].Path, "/comments") {
		t.Errorf("writes: %+v", w)
	}
}
