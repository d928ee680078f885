package gh

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// These constants implement
// https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api.
const (
	// unexplainedWait is how long to wait after a refusal that does not say how long
	// to wait. It doubles with each further refusal, up to maxUnexplained.
	unexplainedWait = time.Minute
	maxUnexplained  = time.Hour
	// maxWindow is the length of the primary rate limit's window. A reset later than
	// that comes from a wrong clock.
	maxWindow = time.Hour
	// maxRetryAfter is longer than GitHub ever asks to wait. Without a bound,
	// one wrong header would stop an installation for good.
	maxRetryAfter = 24 * time.Hour
	// minWait is the unit of GitHub's times.
	minWait = time.Second
	// maxRefusal bounds how much of a refusal is read, in bytes.
	maxRefusal = 64 << 10
)

// limitError is a refusal because of a rate limit.
type limitError struct {
	status  int // 0 if GitHub wasn't asked
	after   time.Duration
	message string
}

func (e *limitError) Error() string {
	return fmt.Sprintf("GitHub's rate limit is reached; it may be asked again in %s: %s", e.after.Round(time.Second), e.message)
}

// limits remembers until when GitHub would refuse an installation's calls. Further
// calls would only make GitHub refuse for longer.
type limits struct {
	tell func(until time.Time) // called when an answer moves until later; may be nil

	mu          sync.Mutex
	until       time.Time
	unexplained int       // consecutive refusals that did not say how long to wait
	lastOne     time.Time // when the last of them arrived
}

// check returns an error while an earlier refusal holds.
func (l *limits) check(now time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if wait := l.until.Sub(now); wait > 0 {
		return &limitError{after: wait, message: "not asked, since an earlier refusal still holds"}
	}
	return nil
}

// refuse notes a refusal that another process received.
func (l *limits) refuse(until, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if latest := now.Add(maxRetryAfter); until.After(latest) {
		until = latest
	}
	if until.After(l.until) {
		l.until = until
	}
}

// note evaluates the answer to a request that was sent at that time. If the answer
// is a refusal because of a rate limit, note closes it and returns an error. A
// successful answer may also say that no further calls are allowed for now.
func (l *limits) note(resp *http.Response, sent time.Time) error {
	if resp.StatusCode == http.StatusUnauthorized {
		return nil // its headers are about the limits of our IP address
	}
	refused := refusal(resp)
	now := time.Now()
	wait := resetWait(resp.Header, now)
	if refused != nil {
		resp.Body.Close()
		if after, ok := retryAfter(resp.Header, now); ok {
			wait = max(wait, after)
		}
	}
	grown, until := l.add(refused, wait, resp.StatusCode, sent, now)
	if grown && l.tell != nil {
		l.tell(until)
	}
	if refused == nil {
		return nil
	}
	refused.after = max(until.Sub(now), minWait)
	return refused
}

// add applies a wait from now on.
func (l *limits) add(refused *limitError, wait time.Duration, status int, sent, now time.Time) (grown bool, until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	// Requests that were in flight together are all refused for the same reason.
	// Only a refusal of a later request counts as a further one.
	fresh := sent.After(l.lastOne) || !l.until.After(now)
	switch {
	case refused != nil && wait == 0 && fresh:
		wait = min(unexplainedWait<<min(l.unexplained, 6), maxUnexplained)
		l.unexplained++
		l.lastOne = now
	case refused == nil && status < 400 && fresh:
		l.unexplained = 0
	}
	if wait > 0 && now.Add(wait).After(l.until) {
		l.until = now.Add(wait)
		grown = true
	}
	return grown, l.until
}

// refusal recognises a refusal because of a rate limit. The answer's body can be
// read again afterwards.
func refusal(resp *http.Response) *limitError {
	if resp.StatusCode != http.StatusForbidden && resp.StatusCode != http.StatusTooManyRequests {
		return nil
	}
	// An unreadable body counts as empty: the headers matter more.
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(text))

	var body struct {
		Message string `json:"message"`
		URL     string `json:"documentation_url"`
	}
	_ = json.Unmarshal(text, &body) // a proxy's page is not JSON, and leaves it empty
	words := strings.ToLower(body.Message)
	_, asksToWait := retryAfter(resp.Header, time.Now())
	if resp.StatusCode == http.StatusTooManyRequests || asksToWait || resp.Header.Get("X-RateLimit-Remaining") == "0" ||
		strings.Contains(words, "rate limit") || strings.Contains(words, "abuse detection") || strings.Contains(body.URL, "rate-limits") {
		return &limitError{status: resp.StatusCode, message: clean(body.Message)}
	}
	return nil
}

// retryAfter reads how long GitHub asks to wait, from now. It accepts both of
// HTTP's forms.
func retryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseInt(v, 10, 64); err == nil && s >= 0 {
		return bounded(time.Duration(min(s, int64(maxRetryAfter/time.Second)))*time.Second, maxRetryAfter), true
	}
	if t, err := http.ParseTime(v); err == nil {
		return bounded(t.Sub(answered(h, now)), maxRetryAfter), true
	}
	return 0, false
}

// resetWait reads how long to wait because the primary limit is used up. It returns
// 0 if calls are left or if the answer doesn't say.
func resetWait(h http.Header, now time.Time) time.Duration {
	if h.Get("X-RateLimit-Remaining") != "0" || !isCore(h) {
		return 0
	}
	s, err := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64)
	if err != nil || s < 0 {
		return 0
	}
	wait := time.Unix(s, 0).Sub(answered(h, now))
	if wait <= 0 {
		return 0 // the window is over
	}
	return bounded(wait, maxWindow)
}

// isCore reports whether an answer's rate limit is the one of almost all calls. GraphQL and
// search have limits of their own.
func isCore(h http.Header) bool {
	resource := h.Get("X-RateLimit-Resource")
	return resource == "" || resource == "core"
}

// answered returns when GitHub answered, by GitHub's clock if the answer has a
// date: our clock may differ.
func answered(h http.Header, now time.Time) time.Time {
	if t, err := http.ParseTime(h.Get("Date")); err == nil {
		return t
	}
	return now
}

func bounded(d, most time.Duration) time.Duration { return min(max(d, minWait), most) }

// budget counts the requests of one review, and bounds them. A nil budget has
// no bound.
type budget struct {
	most int64
	used atomic.Int64
}

// budgetError says that a review may make no more calls.
type budgetError struct{ most int64 }

func (e *budgetError) Error() string {
	return fmt.Sprintf("all %d calls that one review may make are used up", e.most)
}

// left returns how many more requests may be made.
func (b *budget) left() int { return int(b.most - b.used.Load()) }

// take counts one more request, or refuses it.
func (b *budget) take() error {
	if b == nil {
		return nil
	}
	if b.used.Add(1) > b.most {
		b.used.Add(-1)
		return &budgetError{b.most}
	}
	return nil
}
