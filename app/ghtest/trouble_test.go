package ghtest_test

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

// plainClient returns a client that does not compare answers with the description, which
// lacks HTML pages.
func plainClient(t *testing.T, gh *ghtest.Server) *client {
	t.Helper()
	transport := &http.Transport{DisableKeepAlives: true}
	c := &client{T: t, gh: gh, http: &http.Client{Transport: transport}}
	return c.withAuth(gh.Token("acme"))
}

// outcome is what a client notices of a call.
func (c *client) outcome(method, path string, body any) string {
	c.Helper()
	r, err := c.try(method, path, body)
	if err != nil {
		return "broken"
	}
	kind := "json"
	if bytes.HasPrefix(r.raw, []byte("<!DOCTYPE html>")) {
		kind = "html"
	}
	return fmt.Sprintf("%d %s", r.status, kind)
}

// TestTroubleOfEachKind: each kind of trouble has the effect of its name, and is counted.
func TestTroubleOfEachKind(t *testing.T) {
	tests := map[ghtest.TroubleKind]struct {
		opts     ghtest.TroubleOptions
		outcomes []string
		effect   bool
	}{
		ghtest.TroubleError:     {ghtest.TroubleOptions{Errors: 1}, []string{"500 json", "502 json", "503 json", "500 html", "502 html", "503 html"}, false},
		ghtest.TroubleReset:     {ghtest.TroubleOptions{Resets: 1}, []string{"broken"}, false},
		ghtest.TroubleLost:      {ghtest.TroubleOptions{Lost: 1}, []string{"broken", "502 html"}, true},
		ghtest.TroubleTruncated: {ghtest.TroubleOptions{Truncated: 1}, []string{"broken"}, true},
	}
	for kind, tt := range tests {
		t.Run(string(kind), func(t *testing.T) {
			gh, repo, _ := shop(t, ghtest.Options{Limits: &ghtest.Limits{}})
			pr := repo.OpenPR(ghtest.PR{Files: ghtest.Files{}})
			trouble := ghtest.NewTrouble(1, tt.opts)
			gh.On("*", trouble.Hook)
			c := plainClient(t, gh)
			const n = 60
			seen := map[string]bool{}
			for range n {
				seen[c.outcome("POST", "/repos/acme/shop/issues/1/comments", fields{"body": "x"})] = true
			}
			for _, o := range tt.outcomes {
				if !seen[o] {
					t.Errorf("%s never happened", o)
				}
				delete(seen, o)
			}
			if len(seen) > 0 {
				t.Errorf("these outcomes were not expected: %v", seen)
			}
			if got := len(pr.Comments()); tt.effect && got != n || !tt.effect && got != 0 {
				t.Errorf("%d comments after %d requests", got, n)
			}
			if d := cmp.Diff(map[ghtest.TroubleKind]int{kind: n}, trouble.Counts()); d != "" {
				t.Errorf("counts (-want +got):\n%s", d)
			}
			trouble.Stop()
			if o := c.outcome("GET", "/repos/acme/shop", nil); o != "200 json" {
				t.Errorf("after the end: %s", o)
			}
			trouble.Start()
			if o := c.outcome("GET", "/repos/acme/shop", nil); o == "200 json" {
				t.Error("the trouble did not start again")
			}
		})
	}
}

// TestTroubleWithLimits: a limit lasts as long as it says, and meanwhile there is no other
// trouble.
func TestTroubleWithLimits(t *testing.T) {
	for kind, opts := range map[ghtest.TroubleKind]ghtest.TroubleOptions{
		ghtest.TroubleSecondary: {Secondary: 1, MinRefusal: time.Second, MaxRefusal: 3 * time.Second, Silent: 0.5},
		ghtest.TroublePrimary:   {Primary: 1, MinRefusal: time.Second, MaxRefusal: 3 * time.Second},
	} {
		t.Run(string(kind), func(t *testing.T) {
			clock := newClock()
			gh, _, _ := shop(t, ghtest.Options{Limits: &ghtest.Limits{}, Now: clock.now})
			trouble := ghtest.NewTrouble(7, opts)
			gh.On("*", trouble.Hook)
			c := plainClient(t, gh)
			shapes := map[string]int{}
			for range 40 {
				r := c.do("GET", "/repos/acme/shop", nil)
				shapes[fmt.Sprintf("%d %t", r.status, r.header.Get("Retry-After") != "")]++
				if again := c.do("GET", "/repos/acme/shop/pulls", nil); again.status != r.status {
					t.Fatalf("status %d, and %d during the limit", r.status, again.status)
				}
				clock.move(4 * time.Second)
			}
			want := 2
			if kind == ghtest.TroubleSecondary {
				want = 4
			}
			if len(shapes) != want || trouble.Counts()[kind] != 40 {
				t.Errorf("refusals by status and Retry-After: %v; counts: %v", shapes, trouble.Counts())
			}
			if early := gh.Calls.EarlyRetries(); len(early) != 0 {
				t.Errorf("early calls: %+v", early)
			}
			stranger := c.withAuth("ghs_guess")
			stranger.refused(stranger.do("GET", "/repos/acme/shop", nil), http.StatusUnauthorized, "Bad credentials")
		})
	}
}

// TestTroubleIsRepeatable: only the seed decides, and not the other events.
func TestTroubleIsRepeatable(t *testing.T) {
	play := func(seed uint64, others bool) []string {
		gh, repo, _ := shop(t, ghtest.Options{Limits: &ghtest.Limits{}})
		repo.OpenPR(ghtest.PR{Files: ghtest.Files{}})
		gh.On("*", ghtest.NewTrouble(seed, ghtest.TroubleOptions{Errors: 0.2, Resets: 0.1, Truncated: 0.1}).Hook)
		c := plainClient(t, gh)
		var outcomes []string
		for range 60 {
			if others {
				c.outcome("GET", "/repos/acme/shop/pulls", nil)
			}
			outcomes = append(outcomes, c.outcome("GET", "/repos/acme/shop/pulls/1", nil))
		}
		return outcomes
	}
	first := play(3, false)
	if d := cmp.Diff(first, play(3, true)); d != "" {
		t.Errorf("the same seed, played again (-first +again):\n%s", d)
	}
	if slices.Equal(first, play(4, false)) {
		t.Error("another seed causes the same trouble")
	}
	if n := len(slices.DeleteFunc(slices.Clone(first), func(o string) bool { return o == "200 json" })); n < 12 || n > 36 {
		t.Errorf("trouble with %d of 60 requests, at a rate of 0.4", n)
	}
}

func TestTroubleWithLatency(t *testing.T) {
	gh, _, _ := shop(t, ghtest.Options{})
	gh.On("*", ghtest.NewTrouble(1, ghtest.TroubleOptions{MinLatency: 20 * time.Millisecond, MaxLatency: 30 * time.Millisecond}).Hook)
	c := plainClient(t, gh)
	gh.Calls.Reset()
	c.get("/repos/acme/shop")
	if calls := gh.Calls.All(); calls[0].Took < 20*time.Millisecond || calls[0].End.Sub(calls[0].Start) != calls[0].Took {
		t.Errorf("calls: %+v", calls)
	}
}
