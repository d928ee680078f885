package ghtest_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

// TestRefusalsHold: all requests of the installation are refused until the time that the
// first refusal named. Other callers are not refused.
func TestRefusalsHold(t *testing.T) {
	for name, tt := range map[string]struct {
		refusal ghtest.Refusal
		status  int
		wait    func(reply, time.Time) time.Duration
	}{
		"secondary": {ghtest.Refusal{For: 1500 * time.Millisecond}, 403, func(r reply, _ time.Time) time.Duration {
			n, _ := strconv.Atoi(r.header.Get("Retry-After"))
			return time.Duration(n) * time.Second
		}},
		"429": {ghtest.Refusal{For: 2 * time.Second, Status: 429}, 429, func(r reply, _ time.Time) time.Duration {
			n, _ := strconv.Atoi(r.header.Get("Retry-After"))
			return time.Duration(n) * time.Second
		}},
		"primary": {ghtest.Refusal{For: 1500 * time.Millisecond, Primary: true}, 403, func(r reply, now time.Time) time.Duration {
			n, _ := strconv.ParseInt(r.header.Get("X-RateLimit-Reset"), 10, 64)
			if r.header.Get("X-RateLimit-Remaining") != "0" {
				return 0
			}
			return time.Unix(n, 0).Sub(now)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			clock := newClock()
			gh, repo, c := shop(t, ghtest.Options{Now: clock.now})
			repo.OpenPR(ghtest.PR{Files: ghtest.Files{}})
			other := gh.Repo("widgets/tools")
			w := newClient(t, gh).asInstallation("widgets")
			gh.On("GET /repos/{owner}/{repo}/pulls", ghtest.First(1, func(x *ghtest.Exchange) { x.Refuse(tt.refusal) }))

			r := c.do("GET", "/repos/acme/shop/pulls", nil)
			c.refused(r, tt.status, "rate limit")
			wait := tt.wait(r, clock.now())
			if wait != 2*time.Second {
				t.Fatalf("told to wait for %s, want 2 s: %v", wait, r.header)
			}
			if n := len(gh.Calls.EarlyRetries()); n != 0 {
				t.Errorf("the refused call itself counts as early")
			}
			clock.move(200 * time.Millisecond) // sent before the refusal was read
			c.refused(c.do("GET", "/repos/acme/shop", nil), tt.status, "rate limit")
			if n := len(gh.Calls.EarlyRetries()); n != 0 {
				t.Errorf("a call sent before the refusal was read counts as early")
			}
			clock.move(time.Second)
			c.refused(c.do("POST", "/repos/acme/shop/issues/1/comments", fields{"body": "x"}), tt.status, "rate limit")
			c.get("/rate_limit")
			w.get("/repos/" + other.FullName())
			clock.move(wait - 1200*time.Millisecond - time.Nanosecond)
			c.refused(c.do("GET", "/repos/acme/shop", nil), tt.status, "rate limit")
			early := gh.Calls.EarlyRetries()
			if len(early) != 2 || early[0].Method != http.MethodPost || early[0].Early != 1200*time.Millisecond {
				t.Errorf("early calls: %+v", early)
			}
			clock.move(time.Nanosecond)
			c.get("/repos/acme/shop")
			if n := len(gh.Calls.EarlyRetries()); n != 2 {
				t.Errorf("%d early calls after the end", n)
			}
		})
	}
}

func TestSilentRefusal(t *testing.T) {
	clock := newClock()
	gh, _, c := shop(t, ghtest.Options{Now: clock.now})
	gh.Refuse("acme", ghtest.Refusal{For: 3 * time.Second, Silent: true})
	r := c.do("GET", "/repos/acme/shop", nil)
	c.refused(r, http.StatusForbidden, "secondary rate limit")
	if after := r.header.Get("Retry-After"); after != "" {
		t.Errorf("Retry-After is %s", after)
	}
	gh.Refuse("acme", ghtest.Refusal{For: time.Second}) // this refusal ends sooner and changes nothing
	clock.move(2 * time.Second)
	c.refused(c.do("GET", "/repos/acme/shop", nil), http.StatusForbidden, "secondary rate limit")
	if n := len(gh.Calls.EarlyRetries()); n != 1 {
		t.Errorf("%d early calls, want 1", n)
	}
	clock.move(time.Second)
	c.get("/repos/acme/shop")
}

// TestEarlyRetriesOfOwnLimits: GitHub announces its own limits in the same headers. A client
// that ignores them is noticed.
func TestEarlyRetriesOfOwnLimits(t *testing.T) {
	clock := newClock()
	limits := ghtest.GitHubLimits()
	limits.PointsPerMinute = 5
	gh, _, c := shop(t, ghtest.Options{Limits: &limits, Now: clock.now})
	for range 5 {
		c.get("/repos/acme/shop")
	}
	clock.move(20 * time.Second)
	for i := range 2 {
		c.refused(c.do("GET", "/repos/acme/shop", nil), http.StatusForbidden, "secondary rate limit")
		if n := len(gh.Calls.EarlyRetries()); n != i {
			t.Errorf("%d early calls, want %d", n, i)
		}
		clock.move(30 * time.Second)
	}
	clock.move(10 * time.Second)
	c.get("/repos/acme/shop")

	gh.SetRemaining("acme", 0, clock.now().Add(time.Minute))
	c.refused(c.do("GET", "/repos/acme/shop", nil), http.StatusForbidden, "API rate limit exceeded")
	clock.move(59 * time.Second)
	c.refused(c.do("GET", "/repos/acme/shop", nil), http.StatusForbidden, "API rate limit exceeded")
	clock.move(time.Second)
	c.get("/repos/acme/shop")
	if n := len(gh.Calls.EarlyRetries()); n != 2 {
		t.Errorf("%d early calls, want 2", n)
	}
}

// TestLostRefusal: a client can't obey a refusal that did not arrive.
func TestLostRefusal(t *testing.T) {
	clock := newClock()
	gh, _, c := shop(t, ghtest.Options{Now: clock.now})
	gh.Refuse("acme", ghtest.Refusal{For: 10 * time.Second})
	remove := gh.On("GET /repos/{owner}/{repo}", func(x *ghtest.Exchange) { x.Proceed(); x.Drop() })
	if _, err := c.try("GET", "/repos/acme/shop", nil); err == nil {
		t.Fatal("the answer arrived")
	}
	remove()
	clock.move(5 * time.Second)
	c.refused(c.do("GET", "/repos/acme/shop", nil), http.StatusForbidden, "secondary rate limit")
	if early := gh.Calls.EarlyRetries(); len(early) != 0 {
		t.Errorf("early calls: %+v", early)
	}
}
