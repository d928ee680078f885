package gh

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// unexplainedWait is how long GitHub asks to wait after a refusal that
	// doesn't say; it doubles with each further one.
	unexplainedWait = time.Minute
	// maxWait is the length of GitHub's primary rate limit window: no refusal
	// lasts longer.
	maxWait = time.Hour
	// maxRefusal bounds what is read of a refusal, in bytes.
	maxRefusal = 64 << 10
)

// limitError is a refusal for a rate limit.
type limitError struct {
	status  int
	after   time.Duration
	message string
}

func (e *limitError) Error() string {
	return fmt.Sprintf("GitHub's rate limit is reached; it may be asked again in %s: %s", e.after.Round(time.Second), e.message)
}

// limits remembers until when an installation's calls would be refused. Asking
// on would only make GitHub refuse for longer.
type limits struct {
	mu          sync.Mutex
	until       time.Time
	unexplained int // refusals in a row that didn't say how long
}

// obeyLimits turns refusals for a rate limit into errors before go-github sees
// them: it would not recognise a 429, and after some refusals it stays silent
// until the primary limit's reset, which has nothing to do with them.
func obeyLimits(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		c, err := callOf(req.Context())
		if err != nil {
			closeBody(req)
			return nil, err
		}
		if wait := c.inst.limits.wait(time.Now()); wait > 0 {
			closeBody(req)
			return nil, &limitError{after: wait, message: "not asked, since an earlier refusal still holds"}
		}
		resp, err := next.RoundTrip(req)
		if err != nil {
			return nil, err
		}
		if limited := c.inst.limits.read(resp); limited != nil {
			return nil, limited
		}
		return resp, nil
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func (l *limits) wait(now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.until.Sub(now)
}

// read takes note of an answer. It returns an error, and has closed the
// answer, if that is a refusal for a rate limit.
func (l *limits) read(resp *http.Response) error {
	refused, told := refusal(resp)
	l.mu.Lock()
	defer l.mu.Unlock()
	if refused == nil {
		if resp.StatusCode < 400 {
			l.unexplained = 0
		}
		return nil
	}
	resp.Body.Close()
	if !told {
		refused.after = min(unexplainedWait<<min(l.unexplained, 6), maxWait)
		l.unexplained++
	}
	if until := time.Now().Add(refused.after); until.After(l.until) {
		l.until = until
	}
	return refused
}

// refusal recognises a refusal for a rate limit, and reports whether it told
// how long to wait. The answer's body can be read again after.
func refusal(resp *http.Response) (refused *limitError, told bool) {
	if resp.StatusCode != http.StatusForbidden && resp.StatusCode != http.StatusTooManyRequests {
		return nil, false
	}
	// What can't be read counts as empty: the headers tell more.
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(text))

	refused = &limitError{status: resp.StatusCode, message: messageOf(text)}
	if after, ok := waitFrom(resp.Header, time.Now()); ok {
		refused.after = after
		return refused, true
	}
	said := strings.ToLower(refused.message)
	if resp.StatusCode == http.StatusTooManyRequests ||
		strings.Contains(said, "rate limit") || strings.Contains(said, "abuse detection") {
		refused.after = unexplainedWait
		return refused, false
	}
	return nil, false
}

// waitFrom reads how long to wait: Retry-After, else the reset time if nothing
// remains.
func waitFrom(h http.Header, now time.Time) (time.Duration, bool) {
	if v := h.Get("Retry-After"); v != "" {
		if s, err := strconv.ParseInt(v, 10, 64); err == nil {
			return clampWait(time.Duration(min(max(s, 0), int64(maxWait/time.Second))) * time.Second), true
		}
		if t, err := http.ParseTime(v); err == nil {
			return clampWait(t.Sub(now)), true
		}
	}
	if h.Get("X-RateLimit-Remaining") == "0" {
		if s, err := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64); err == nil {
			return clampWait(time.Unix(s, 0).Sub(now)), true
		}
	}
	return 0, false
}

// clampWait keeps a wait between a second, for clocks that differ, and
// maxWait.
func clampWait(d time.Duration) time.Duration {
	return min(max(d, time.Second), maxWait)
}
