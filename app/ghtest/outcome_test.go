package ghtest_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

func TestDepth(t *testing.T) {
	at := func(start, end int) ghtest.Call {
		base := time.Unix(0, 0)
		return ghtest.Call{Start: base.Add(time.Duration(start)), End: base.Add(time.Duration(end))}
	}
	for name, tt := range map[string]struct {
		calls []ghtest.Call
		want  int
	}{
		"none":                       {nil, 0},
		"one":                        {[]ghtest.Call{at(0, 10)}, 1},
		"one after the other":        {[]ghtest.Call{at(0, 10), at(10, 20), at(25, 30)}, 3},
		"at once":                    {[]ghtest.Call{at(0, 10), at(1, 11), at(9, 20)}, 1},
		"a long one beside two":      {[]ghtest.Call{at(0, 100), at(0, 10), at(10, 20)}, 2},
		"logged in any order":        {[]ghtest.Call{at(25, 30), at(0, 10), at(10, 20)}, 3},
		"two rounds in parallel":     {[]ghtest.Call{at(0, 10), at(0, 12), at(12, 20), at(13, 21)}, 2},
		"a short one inside another": {[]ghtest.Call{at(0, 30), at(5, 6), at(30, 40)}, 2},
	} {
		if got := ghtest.Depth(tt.calls); got != tt.want {
			t.Errorf("%s: depth %d, want %d", name, got, tt.want)
		}
	}
}

// TestDepthOfRealCalls: two rounds of parallel calls are two round trips.
func TestDepthOfRealCalls(t *testing.T) {
	gh, _, c := shop(t, ghtest.Options{})
	gh.Calls.Reset()
	for range 2 {
		const calls = 3
		var wg, begun sync.WaitGroup
		begun.Add(calls)
		remove := gh.On("*", func(*ghtest.Exchange) { // none ends before all have started
			begun.Done()
			begun.Wait()
		})
		for range calls {
			wg.Go(func() { c.get("/repos/acme/shop") })
		}
		wg.Wait()
		remove()
	}
	if got := ghtest.Depth(gh.Calls.All()); got != 2 {
		t.Errorf("depth %d, want 2: %+v", got, gh.Calls.All())
	}
}

func TestFaultsOfAPullRequest(t *testing.T) {
	_, repo, c := shop(t, ghtest.Options{})
	pr := repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a": "1"}})
	check := func(change fields) string {
		body := fields{"name": "reviewgate", "head_sha": pr.HeadSHA(), "status": "in_progress"}
		for k, v := range change {
			body[k] = v
		}
		r := c.do("POST", "/repos/acme/shop/check-runs", body)
		c.want(r, http.StatusCreated)
		return fmt.Sprintf("/repos/acme/shop/check-runs/%.0f", r.field("id"))
	}
	complete := func(path string) {
		c.want(c.do("PATCH", path, fields{"conclusion": "success"}), http.StatusOK)
	}
	comment := func() {
		c.want(c.do("POST", "/repos/acme/shop/issues/1/comments", fields{"body": "x"}), http.StatusCreated)
	}
	wants := func(want ...string) {
		t.Helper()
		if d := cmp.Diff(want, pr.Faults()); d != "" {
			t.Errorf("faults (-want +got):\n%s", d)
		}
	}
	head := func() string { return pr.HeadSHA()[:7] }

	repo.Checks.OtherCheck("another-app", "ci", pr.HeadSHA(), "success")
	pr.Comment("alice", "hello")
	wants("#1 has no check run on its head, " + head())
	first := check(nil)
	wants("#1 has an open check run on its head, " + head())
	second := check(nil)
	wants("#1 has 2 open check runs on its head, " + head())
	complete(first)
	complete(second)
	comment()
	wants()
	comment()
	wants("#1 has 2 comments of the App")
	third := check(nil)
	old := head()
	pr.Push(ghtest.Files{"a": "2"}, "more")
	check(fields{"conclusion": "neutral"})
	wants("#1 has 2 comments of the App", "#1 has an open check run on an old head, "+old)
	complete(third)
	review := func() string {
		r := c.do("POST", "/repos/acme/shop/pulls/1/reviews", fields{"event": "APPROVE", "commit_id": pr.HeadSHA()})
		c.want(r, http.StatusOK)
		return fmt.Sprintf("/repos/acme/shop/pulls/1/reviews/%.0f/dismissals", r.field("id"))
	}
	once, approved := review(), head()
	pr.Reviews.Submit("bob", "approved", "Fine.")
	wants("#1 has 2 comments of the App")
	twice := review()
	wants("#1 has 2 comments of the App", "#1 has 2 reviews of the App that stand")
	c.want(c.do("PUT", twice, fields{"message": "One is enough."}), http.StatusOK)
	pr.Push(ghtest.Files{"a": "3"}, "more")
	complete(check(nil))
	wants("#1 has 2 comments of the App", "#1 is approved at "+approved+", which is an old head")
	c.want(c.do("PUT", once, fields{"message": "Pushed to."}), http.StatusOK)
	pr.Push(ghtest.Files{"a": "4"}, "more")
	pr.Close()
	wants("#1 has 2 comments of the App")
}
