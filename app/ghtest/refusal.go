package ghtest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// Refusal is a rate limit that an installation has reached, for any reason. Until its time is
// over, every request of that installation is refused.
type Refusal struct {
	// Primary is the hourly limit, announced by X-RateLimit-Remaining 0 and
	// X-RateLimit-Reset. Otherwise it is a secondary limit with Retry-After.
	Primary bool
	// Status is 403, the default, or 429: GitHub uses both for both limits.
	Status int
	// For is how long the refusal lasts. Its end is rounded to a whole second, because both
	// headers are in seconds.
	For time.Duration
	// Silent omits Retry-After. GitHub then wants a client to wait for a minute, but this
	// refusal still ends when For is over.
	Silent bool
}

// hold is a refusal in force.
type hold struct {
	Refusal
	until time.Time
}

// impose starts a refusal of a caller, unless one with a later end is in force. The lock must
// be held.
func (l *limiter) impose(c caller, refusal Refusal) {
	if refusal.Status == 0 {
		refusal.Status = http.StatusForbidden
	}
	end := l.s.now().Add(refusal.For)
	if whole := end.Truncate(time.Second); whole.Before(end) {
		end = whole.Add(time.Second)
	}
	r := l.rateOf(c)
	if r.hold == nil || end.After(r.hold.until) {
		r.hold = &hold{Refusal: refusal, until: end}
	}
}

// Refuse starts a refusal of the installation of an account.
func (s *Server) Refuse(account string, r Refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limiter.impose(caller{installation: s.installation(account)}, r)
	s.notify()
}

// Refuse starts a refusal of the request's caller. This request is the first to be refused.
func (x *Exchange) Refuse(r Refusal) {
	s := x.call.s
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limiter.impose(x.call.caller, r)
	x.Answer(s.limiter.held(x.call.caller))
}

// held returns the answer to a caller who is being refused, or nil. The lock must be held.
func (l *limiter) held(c caller) *Response {
	r, now := l.rateOf(c), l.s.now()
	if r.hold == nil || !now.Before(r.hold.until) {
		return nil
	}
	h := *r.hold
	var resp *Response
	if h.Primary {
		resp = refuse(h.Status, fmt.Sprintf("API rate limit exceeded for %s.", c))
		limit := r.limit
		if limit == 0 {
			limit = GitHubLimits().RequestsPerHour
		}
		setRate(resp.Header, limit, limit, h.until)
	} else {
		wait := h.until.Sub(now)
		if h.Silent {
			wait = 0
		}
		resp = SecondaryLimit(h.Status, wait)
	}
	resp.until = h.until
	return resp
}

// told records that a caller has read a refusal, and its end: as the headers say, or as known
// here if they don't.
func (l *limiter) told(c caller, resp *Response) {
	if resp.Status != http.StatusForbidden && resp.Status != http.StatusTooManyRequests {
		return
	}
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	now, until := l.s.now(), resp.until
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); until.IsZero() && err == nil {
		until = now.Add(time.Duration(seconds) * time.Second)
	}
	if reset, err := strconv.ParseInt(resp.Header.Get("X-RateLimit-Reset"), 10, 64); until.IsZero() && err == nil && resp.Header.Get("X-RateLimit-Remaining") == "0" {
		until = time.Unix(reset, 0)
	}
	if until.After(now) {
		r := l.rateOf(c)
		r.told = append(r.told, telling{at: now, until: until})
	}
}

// telling is a refusal that has been read.
type telling struct{ at, until time.Time }

// early returns how long ago the caller of this request read that it should not send one yet.
// It is zero if the caller may.
func (l *limiter) early(c caller) time.Duration {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	r, now := l.rateOf(c), l.s.now()
	r.told = slices.DeleteFunc(r.told, func(t telling) bool { return !now.Before(t.until) })
	if len(r.told) == 0 {
		return 0
	}
	return now.Sub(r.told[0].at)
}
