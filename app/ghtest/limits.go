package ghtest

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Limits are the limits that the stand-in enforces. A zero field means no limit.
type Limits struct {
	// Primary rate limit: requests per hour and installation.
	RequestsPerHour int

	// Secondary limits: requests at once, points per minute (a read costs
	// one, a write five), comments and reactions per minute and hour.
	Concurrent         int
	PointsPerMinute    int
	CreationsPerMinute int
	CreationsPerHour   int

	// These limits apply to pull request data.
	PullFiles    int // files listed of a pull request
	PullCommits  int // commits listed of a pull request
	CompareFiles int // files listed of a comparison, all on its first page
	PatchLines   int // lines of one file's diff above which its patch is left out
	PatchBytes   int // likewise bytes
	AnswerLines  int // lines of one answer's patches after which files have neither lines nor counts
	DiffFiles    int // files above which the diff media type is refused
	DiffLines    int // likewise lines

	// These limits apply to contents.
	ContentBytes   int // size above which contents come only raw
	DirectoryFiles int // entries of a directory listed
	TreeEntries    int // entries of a recursive tree after which it is truncated
	TreeBytes      int // likewise bytes of its list

	// Text: CommentChars in characters, CheckBytes (summary and text of a
	// check run) and AnnotationBytes (message and raw details) in bytes.
	CommentChars    int
	CheckBytes      int
	AnnotationBytes int
}

// GitHubLimits returns the limits that GitHub documents for pull requests, contents, checks
// and rates. The limits of patches are from its "Limits for viewing content and diffs in a
// repository". The limits of one whole answer are from observation:
// https://github.com/orgs/community/discussions/213491
func GitHubLimits() Limits {
	return Limits{
		RequestsPerHour: 5000,

		Concurrent: 100, PointsPerMinute: 900, CreationsPerMinute: 80, CreationsPerHour: 500,

		PullFiles: 3000, PullCommits: 250, CompareFiles: 300,
		PatchLines: 20000, PatchBytes: 1 << 20, AnswerLines: 20000,
		DiffFiles: 300, DiffLines: 20000,

		ContentBytes: 1 << 20, DirectoryFiles: 1000, TreeEntries: 100000, TreeBytes: 7 << 20,

		CommentChars: 65536, CheckBytes: 65535, AnnotationBytes: 64 << 10,
	}
}

// over reports whether n exceeds a limit.
func over(n, limit int) bool { return limit > 0 && n > limit }

// rate counts one caller's use of the API.
type rate struct {
	limit, used int
	reset       time.Time

	now       int // requests in progress
	points    window
	creations window
	perHour   window

	hold *hold
	told []telling // oldest first
}

// window counts events since its start.
type window struct {
	start time.Time
	n     int
}

// add counts n more events in windows of the given length. It reports whether the limit is
// exceeded and, if so, how long the window still lasts.
func (w *window) add(n, limit int, length time.Duration, now time.Time) (time.Duration, bool) {
	if now.Sub(w.start) >= length {
		*w = window{start: now}
	}
	if over(w.n+n, limit) {
		return length - now.Sub(w.start), true
	}
	w.n += n
	return 0, false
}

// limiter holds callers to the rate limits. The Server's lock guards its fields.
type limiter struct {
	s     *Server
	rates map[string]*rate // by the callers' keys
}

// rateOf returns the counter of a caller. The lock must be held.
func (l *limiter) rateOf(c caller) *rate {
	key := c.key()
	r := l.rates[key]
	if r == nil {
		r = &rate{limit: l.s.limits.RequestsPerHour}
		l.rates[key] = r
	}
	if now := l.s.now(); !now.Before(r.reset) {
		r.used, r.reset = 0, now.Add(time.Hour).Truncate(time.Second)
	}
	return r
}

// arrive counts a request as in progress until the returned function is called. A held
// request counts, because for its client it is only slow.
func (l *limiter) arrive(c caller) (leave func()) {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	l.rateOf(c).now++
	return func() {
		l.s.mu.Lock()
		defer l.s.mu.Unlock()
		l.rateOf(c).now--
	}
}

// enter counts a request against the limits, or refuses it.
func (l *limiter) enter(rt *route, c caller) *Response {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	r := l.rateOf(c)
	if rt.free {
		return nil
	}
	return l.overLimit(r, rt, c)
}

// overLimit checks every limit in turn. The lock must be held.
func (l *limiter) overLimit(r *rate, rt *route, c caller) *Response {
	if held := l.held(c); held != nil {
		return held
	}
	if r.limit > 0 && r.used >= r.limit {
		return refuse(http.StatusForbidden, fmt.Sprintf("API rate limit exceeded for %s.", c))
	}
	if over(r.now, l.s.limits.Concurrent) {
		return SecondaryLimit(http.StatusForbidden, time.Minute)
	}
	cost := 1
	if rt.method != http.MethodGet {
		cost = 5
	}
	now := l.s.now()
	if left, full := r.points.add(cost, l.s.limits.PointsPerMinute, time.Minute, now); full {
		return SecondaryLimit(http.StatusForbidden, left)
	}
	if rt.creates {
		if left, full := r.creations.add(1, l.s.limits.CreationsPerMinute, time.Minute, now); full {
			return SecondaryLimit(http.StatusForbidden, left)
		}
		if left, full := r.perHour.add(1, l.s.limits.CreationsPerHour, time.Hour, now); full {
			return SecondaryLimit(http.StatusForbidden, left)
		}
	}
	return nil
}

// charge counts an answer against the primary limit, unless it is free, and
// writes the rate headers.
func (l *limiter) charge(rt *route, c caller, resp *Response) {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	r := l.rateOf(c)
	if rt.graphql { // its limit of 5,000 points an hour is not counted here
		setRate(resp.Header, 5000, 1, r.reset)
		resp.Header.Set("X-RateLimit-Resource", "graphql")
		return
	}
	free := resp.Status == http.StatusNotModified || rt.free
	if !free && (r.limit == 0 || r.used < r.limit) {
		r.used++
	}
	if r.limit > 0 && resp.Header.Get("X-RateLimit-Remaining") == "" {
		setRate(resp.Header, r.limit, r.used, r.reset)
	}
}

// setRate writes the rate headers.
func setRate(h http.Header, limit, used int, reset time.Time) {
	h.Set("X-RateLimit-Limit", strconv.Itoa(limit))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(limit-used))
	h.Set("X-RateLimit-Used", strconv.Itoa(used))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(reset.Unix(), 10))
	h.Set("X-RateLimit-Resource", "core")
}

// SecondaryLimit is GitHub's answer to a client that is too fast, with status 403 or 429. If
// retryAfter is below a second, the client must guess how long to wait, as GitHub sometimes
// requires.
func SecondaryLimit(status int, retryAfter time.Duration) *Response {
	// Clients recognise this refusal by the address of its explanation.
	resp := answer(status, object{
		"message":           "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
		"documentation_url": "https://docs.github.com/free-pro-team@latest/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits", "status": strconv.Itoa(status),
	})
	if seconds := int((retryAfter + time.Second - 1) / time.Second); seconds > 0 {
		resp.Header.Set("Retry-After", strconv.Itoa(seconds))
	}
	return resp
}

// SetRemaining leaves the installation of an account n requests until reset, which is cut to
// a whole second, as in the header.
func (s *Server) SetRemaining(account string, n int, reset time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	inst := s.installation(account)
	r := s.limiter.rateOf(caller{installation: inst})
	if r.limit < n {
		r.limit = n
	}
	r.used, r.reset = r.limit-n, reset.Truncate(time.Second)
	s.notify()
}
