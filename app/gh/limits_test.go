package gh

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// said is one possible part of a refusal.
type said struct {
	name   string
	header func(github time.Time) []string
	wait   time.Duration // the wait that it names, 0 for none
}

// TestEveryRefusal combines every status, Retry-After, remaining quota, message and clock. It
// asks without a pause while the refusal holds. No request may leave before the time.
func TestEveryRefusal(t *testing.T) {
	retry := []said{
		{"no Retry-After", func(time.Time) []string { return nil }, 0},
		{"Retry-After 90", func(time.Time) []string { return []string{"Retry-After", "90"} }, 90 * time.Second},
		{"Retry-After 0", func(time.Time) []string { return []string{"Retry-After", "0"} }, time.Second},
		{"Retry-After 2 hours", func(time.Time) []string { return []string{"Retry-After", "7200"} }, 2 * time.Hour},
		{"Retry-After as a date", func(now time.Time) []string {
			return []string{"Retry-After", now.Add(40 * time.Second).UTC().Format(http.TimeFormat)}
		}, 40 * time.Second},
		{"Retry-After garbage", func(time.Time) []string { return []string{"Retry-After", "soon"} }, 0},
	}
	primary := []said{
		{"no rate", func(time.Time) []string { return nil }, 0},
		{"quota left", func(now time.Time) []string {
			return []string{"X-RateLimit-Remaining", "4000", "X-RateLimit-Reset", unix(now.Add(50 * time.Minute))}
		}, 0},
		{"nothing left", func(now time.Time) []string {
			return []string{"X-RateLimit-Remaining", "0", "X-RateLimit-Reset", unix(now.Add(10 * time.Minute))}
		}, 10 * time.Minute},
		{"nothing left, window over", func(now time.Time) []string {
			return []string{"X-RateLimit-Remaining", "0", "X-RateLimit-Reset", unix(now.Add(-time.Second))}
		}, 0},
		{"nothing left, no reset", func(time.Time) []string { return []string{"X-RateLimit-Remaining", "0"} }, 0},
	}
	words := map[string]bool{ // whether the message alone marks a 403 as a rate limit
		`{"message":"API rate limit exceeded for installation ID 7."}`:                                                            true,
		`{"message":"You have triggered an abuse detection mechanism."}`:                                                          true,
		`{"message":"Zu schnell","documentation_url":"https://docs.github.com/rest/overview/rate-limits-for-the-rest-api#about"}`: true,
		`{"message":"Resource not accessible by integration","documentation_url":"https://docs.github.com/rest/issues/comments"}`: false,
		`<html>`: false,
	}
	skews := []time.Duration{0, -25 * time.Minute, 25 * time.Minute}
	for _, status := range []int{403, 429} {
		for i, r := range retry {
			for j, p := range primary {
				for text, telling := range words {
					// By default each combination is tested with one clock.
					first := (i + j + len(text)) % len(skews)
					for _, skew := range slices.Concat(skews[first:], skews[:first])[:sample.Size(1, len(skews))] {
						name := fmt.Sprintf("%d, %s, %s, %.30s, clock off by %s", status, r.name, p.name, text, skew)
						wait := max(r.wait, p.wait)
						left := p.header(time.Time{})
						limited := status == 429 || telling || r.wait > 0 || len(left) > 1 && left[1] == "0"
						if limited && wait == 0 {
							wait = time.Minute // GitHub's word for the unexplained
						}
						synctest.Test(t, func(t *testing.T) {
							oneRefusal(t, name, refusalCase{status, text, skew, func(now time.Time) []string {
								return append(append([]string{"Date", now.UTC().Format(http.TimeFormat)}, r.header(now)...), p.header(now)...)
							}, limited, wait})
						})
					}
				}
			}
		}
	}
}

type refusalCase struct {
	status  int
	text    string
	skew    time.Duration // of GitHub's clock
	header  func(now time.Time) []string
	limited bool
	wait    time.Duration
}

func oneRefusal(t *testing.T, name string, tt refusalCase) {
	hub := &fake{}
	hub.answer = func(*http.Request) *http.Response {
		if hub.asked() > 1 {
			return reply(200, openPullJSON)
		}
		return reply(tt.status, tt.text, tt.header(time.Now().Add(tt.skew))...)
	}
	c := hub.client(t, nil)
	start := time.Now()
	_, err := c.Pull(t.Context(), pullTarget)
	var he *ports.HostError
	if !errors.As(err, &he) {
		t.Fatalf("%s: %v", name, err)
	}
	if !tt.limited {
		if he.Kind != ports.HostForbidden {
			t.Errorf("%s: %v is %s", name, err, he.Kind)
		}
		return
	}
	if he.Kind != ports.HostLimited || he.RetryAfter != tt.wait || he.Status != tt.status {
		t.Fatalf("%s: %v, kind %s, status %d, wait %v, want %v", name, err, he.Kind, he.Status, he.RetryAfter, tt.wait)
	}
	step := tt.wait / 7
	for range 7 { // the last pause ends slightly too early
		time.Sleep(step - time.Nanosecond)
		_, err = c.Pull(t.Context(), pullTarget)
		if he := wantHostError(t, err, ports.HostLimited); he.RetryAfter != time.Until(start.Add(tt.wait)) {
			t.Errorf("%s: %v left, want %v", name, he.RetryAfter, time.Until(start.Add(tt.wait)))
		}
	}
	if hub.asked() != 1 {
		t.Errorf("%s: %d requests", name, hub.asked())
	}
	time.Sleep(time.Until(start.Add(tt.wait)))
	if _, err := c.Pull(t.Context(), pullTarget); err != nil || hub.asked() != 2 {
		t.Errorf("%s: %v after the wait, %d requests", name, err, hub.asked())
	}
}

func unix(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }

func TestWaitsHaveBounds(t *testing.T) {
	for name, tt := range map[string]struct {
		header []string
		want   time.Duration
	}{
		"absurd Retry-After":        {[]string{"Retry-After", "99999999999999"}, 24 * time.Hour},
		"Retry-After beyond int64":  {[]string{"Retry-After", "99999999999999999999"}, time.Minute},
		"negative Retry-After":      {[]string{"Retry-After", "-5"}, time.Minute},
		"Retry-After date long ago": {[]string{"Retry-After", "Mon, 02 Jan 1995 15:04:05 GMT"}, time.Second},
		// Without a Date there is only our own clock, which may be wrong.
		"reset far off": {[]string{"X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "99999999999"}, time.Hour},
		"reset garbage": {[]string{"X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "never"}, time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			hub := &fake{answer: always(429, `{}`, tt.header...)}
			_, err := hub.client(t, nil).Pull(t.Context(), pullTarget)
			if he := wantHostError(t, err, ports.HostLimited); he.RetryAfter != tt.want {
				t.Errorf("%s: wait %v, want %v", name, he.RetryAfter, tt.want)
			}
		})
	}
}

// A success may have used up the limit.
func TestSuccessMayUseUpTheLimit(t *testing.T) {
	for _, status := range []int{200, 304, 404, 422, 500} {
		synctest.Test(t, func(t *testing.T) {
			reset := time.Now().Add(20 * time.Minute)
			hub := &fake{answer: always(status, openPullJSON, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", unix(reset))}
			c := hub.client(t, nil)
			_, err := c.Pull(t.Context(), pullTarget)
			if status == 200 && err != nil {
				t.Errorf("the success itself: %v", err)
			}
			for time.Now().Before(reset.Add(-time.Second)) {
				_, err := c.Pull(t.Context(), pullTarget)
				wantHostError(t, err, ports.HostLimited)
				time.Sleep(time.Second)
			}
			if hub.asked() != 1 {
				t.Errorf("after %d: asked %d times before the reset", status, hub.asked())
			}
			time.Sleep(time.Until(reset))
			_, _ = c.Pull(t.Context(), pullTarget)
			if hub.asked() == 1 {
				t.Errorf("after %d: not asked after the reset", status)
			}
		})
	}
}

// The limits in an answer to an unauthenticated request belong to our address.
func TestLimitsOfAnUnknownCallerAreNotOurs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub := &fake{answer: always(401, `{}`, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", unix(time.Now().Add(time.Hour)))}
		_, err := hub.client(t, nil).Pull(t.Context(), pullTarget)
		wantHostError(t, err, ports.HostForbidden)
		if hub.asked() != 2 {
			t.Errorf("asked %d times, want once more with a new token", hub.asked())
		}
	})
}

func TestUnexplainedRefusalsDouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refuse := true
		hub := &fake{}
		hub.answer = func(*http.Request) *http.Response {
			if refuse {
				return reply(429, `{}`)
			}
			return reply(200, openPullJSON)
		}
		c := hub.client(t, nil)
		for _, want := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
			_, err := c.Pull(t.Context(), pullTarget)
			if he := wantHostError(t, err, ports.HostLimited); he.RetryAfter != want*time.Minute {
				t.Errorf("wait %v, want %v minutes", he.RetryAfter, want)
			}
			time.Sleep(want * time.Minute)
		}
		refuse = false
		if _, err := c.Pull(t.Context(), pullTarget); err != nil {
			t.Fatal(err)
		}
		refuse = true
		_, err := c.Pull(t.Context(), pullTarget)
		if he := wantHostError(t, err, ports.HostLimited); he.RetryAfter != time.Minute {
			t.Errorf("after a success the wait is %v", he.RetryAfter)
		}
	})
}

// Calls that are in flight when the limit is reached are all refused for the same reason.
// They count as one refusal.
func TestRefusalsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		hub := &fake{}
		hub.answer = func(*http.Request) *http.Response { <-release; return reply(403, `{"message":"secondary rate limit"}`) }
		c := hub.client(t, nil)
		errs := sideBySide(10, func() error { _, err := c.Pull(t.Context(), pullTarget); return err })
		synctest.Wait()
		inFlight := hub.asked()
		close(release)
		for err := range errs {
			if he := wantHostError(t, err, ports.HostLimited); he.RetryAfter != time.Minute {
				t.Errorf("wait %v", he.RetryAfter)
			}
		}
		if inFlight != 10 || hub.asked() != 10 {
			t.Fatalf("%d of %d in flight", inFlight, hub.asked())
		}
		time.Sleep(time.Minute)
		_, err := c.Pull(t.Context(), pullTarget)
		if he := wantHostError(t, err, ports.HostLimited); he.RetryAfter != 2*time.Minute {
			t.Errorf("the next refusal lasts %v, want 2 minutes", he.RetryAfter)
		}
	})
}

// A call that was sent before the refusal and succeeded after it does not end the refusal.
func TestSuccessInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		hub := &fake{}
		hub.answer = func(*http.Request) *http.Response {
			if hub.asked() == 1 {
				<-release
				return reply(200, openPullJSON)
			}
			return reply(429, `{}`)
		}
		c := hub.client(t, nil)
		errs := sideBySide(1, func() error { _, err := c.Pull(t.Context(), pullTarget); return err })
		synctest.Wait()
		_, err := c.Pull(t.Context(), pullTarget)
		wantHostError(t, err, ports.HostLimited)
		close(release)
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		_, err = c.Pull(t.Context(), pullTarget)
		if he := wantHostError(t, err, ports.HostLimited); he.RetryAfter != 2*time.Minute {
			t.Errorf("the next refusal lasts %v, want 2 minutes", he.RetryAfter)
		}
	})
}

// sideBySide runs f n times in parallel. The channel that it returns delivers their errors,
// and is closed after the last.
func sideBySide(n int, f func() error) <-chan error {
	errs := make(chan error, n)
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() { errs <- f() })
	}
	go func() { wg.Wait(); close(errs) }()
	return errs
}

// Calls that wait for their turn or for a token when a refusal comes must not leave
// afterwards.
func TestRefusalReachesWaitingCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		hub := &fake{}
		hub.answer = func(*http.Request) *http.Response { <-release; return reply(403, `{}`, "Retry-After", "60") }
		c := hub.client(t, nil)
		errs := sideBySide(5, func() error { _, err := c.CreateComment(t.Context(), pullTarget, "hello"); return err })
		synctest.Wait()
		close(release)
		for err := range errs {
			wantHostError(t, err, ports.HostLimited)
		}
		if hub.asked() != 1 {
			t.Errorf("%d writes were sent", hub.asked())
		}
	})
}

// The App itself asks for tokens. A refusal holds for all installations that need a token,
// and for none that has one.
func TestRefusedTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub := &fake{answer: always(200, openPullJSON)}
		var told []string
		c := hub.client(t, func(c *Config) {
			c.OnRefused = func(id int64, until time.Time) { told = append(told, fmt.Sprint(id, " ", time.Until(until))) }
		})
		if _, err := c.Pull(t.Context(), pullTarget); err != nil {
			t.Fatal(err)
		}
		hub.token = always(403, `{"message":"secondary"}`, "Retry-After", "300")
		other := pullTarget
		other.Installation = 8
		_, err := c.Pull(t.Context(), other)
		wantHostError(t, err, ports.HostLimited)
		n := len(hub.sent)
		for id := range int64(3) {
			other.Installation, other.RepoID = 8+id, 2000+id
			_, err := c.Pull(t.Context(), other)
			if he := wantHostError(t, err, ports.HostLimited); he.RetryAfter != 5*time.Minute {
				t.Errorf("installation %d waits %v", other.Installation, he.RetryAfter)
			}
		}
		if _, err := c.Installations(t.Context()); err == nil {
			t.Error("another call of the App was sent meanwhile")
		}
		if len(hub.sent) != n {
			t.Errorf("sent %v", hub.sent[n:])
		}
		if _, err := c.Pull(t.Context(), pullTarget); err != nil {
			t.Errorf("an installation with a token: %v", err)
		}
		if want := []string{"0 5m0s"}; !slices.Equal(told, want) {
			t.Errorf("reported %q, want %q", told, want)
		}
	})
}

func TestRefusalsAreSharedBetweenClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		known := map[int64]time.Time{}
		hub := &fake{answer: always(429, `{}`, "Retry-After", "60")}
		first := hub.client(t, func(c *Config) {
			c.OnRefused = func(id int64, until time.Time) { known[id] = until }
		})
		_, err := first.Pull(t.Context(), pullTarget)
		wantHostError(t, err, ports.HostLimited)
		if got := time.Until(known[7]); got != time.Minute || len(known) != 1 {
			t.Fatalf("reported %v", known)
		}

		second := hub.client(t, nil)
		for id, until := range known {
			second.Refuse(id, until)
			second.Refuse(id, until.Add(-30*time.Second)) // an older refusal changes nothing
		}
		for range 60 {
			_, err := second.Pull(t.Context(), pullTarget)
			wantHostError(t, err, ports.HostLimited)
			time.Sleep(time.Second)
		}
		if hub.asked() != 1 {
			t.Errorf("asked %d times", hub.asked())
		}
		hub.answer = always(200, openPullJSON)
		if _, err := second.Pull(t.Context(), pullTarget); err != nil {
			t.Errorf("after the wait: %v", err)
		}

		second.Refuse(0, time.Now().Add(1000*time.Hour)) // a broken record
		time.Sleep(24 * time.Hour)
		hub.answer = always(200, `[]`)
		if _, err := second.Installations(t.Context()); err != nil {
			t.Errorf("after a day: %v", err)
		}
	})
}

// The App's own calls and each installation's calls have separate limits.
func TestLimitsAreSeparate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub := &fake{answer: always(200, `[]`)}
		c := hub.client(t, nil)
		c.Refuse(7, time.Now().Add(time.Minute))
		if _, err := c.Installations(t.Context()); err != nil {
			t.Errorf("the App: %v", err)
		}
		other := pullTarget
		other.Installation = 8
		if _, err := c.OpenPulls(t.Context(), other, time.Time{}); err != nil {
			t.Errorf("another installation: %v", err)
		}
		_, err := c.OpenPulls(t.Context(), pullTarget, time.Time{})
		wantHostError(t, err, ports.HostLimited)
		c.Refuse(0, time.Now().Add(time.Minute))
		_, err = c.Installations(t.Context())
		wantHostError(t, err, ports.HostLimited)
		if _, err := c.OpenPulls(t.Context(), other, time.Time{}); err != nil {
			t.Errorf("an installation whose token is known: %v", err)
		}
	})
}

// FuzzWait checks the limits of the headers' parsers.
func FuzzWait(f *testing.F) {
	f.Add("60", "0", "1700000000", "Tue, 14 Nov 2023 22:00:00 GMT")
	f.Add("-1", "00", "99999999999999999999", "now")
	f.Add("Tue, 14 Nov 2023 22:00:00 GMT", "0", "-9223372036854775808", "")
	f.Add("9223372036854775807", "0", "9223372036854775807", "Mon, 01 Jan 0001 00:00:00 GMT")
	f.Fuzz(func(t *testing.T, retry, remaining, reset, date string) {
		h := http.Header{"Retry-After": {retry}, "X-Ratelimit-Remaining": {remaining}, "X-Ratelimit-Reset": {reset}, "Date": {date}}
		now := time.Unix(1700000000, 0)
		if d, ok := retryAfter(h, now); ok && (d < minWait || d > maxRetryAfter) || !ok && d != 0 {
			t.Errorf("Retry-After %q: %v, %v", retry, d, ok)
		}
		if d := resetWait(h, now); d != 0 && (d < minWait || d > maxWindow || remaining != "0") {
			t.Errorf("%q left until %q: %v", remaining, reset, d)
		}
	})
}
