package api

import (
	"math"
	"net"
	"net/http"
	"net/netip"
	"time"

	"golang.org/x/time/rate"

	"github.com/reviewgate/reviewgate/pipeline/lru"
)

// The rates of requests, each with the number that may arrive at once.
const (
	eventsPerMinute, eventsAtOnce       = 60, 30   // POST, per token
	readsPerMinute, readsAtOnce         = 300, 60  // GET, per token
	strangePerMinute, strangeAtOnce     = 60, 30   // without valid credentials, per address
	strangersPerMinute, strangersAtOnce = 600, 300 // the same, for all addresses
)

// The numbers of concurrent requests.
const (
	maxWork   = 32  // that use the database or GitHub
	maxBodies = 32  // whose bodies are read, with a token; and as many without
	maxWaits  = 200 // that wait for a state to settle
	ownWaits  = 20  // the same, per token
)

// maxKept is how many tokens, addresses and callers are remembered, each.
const maxKept = 10_000

func perMinute(n, atOnce int) *rate.Limiter { return rate.NewLimiter(rate.Limit(n)/60, atOnce) }

// until returns how long it takes until a limiter has room, rounded up to seconds; 0 if it has room now.
func until(l *rate.Limiter, now time.Time) time.Duration {
	missing := 1 - l.TokensAt(now)
	if missing <= 0 {
		return 0
	}
	return time.Duration(math.Ceil(missing/float64(l.Limit()))) * time.Second
}

// quota is what a caller may do. Callers with the same subject share it.
type quota struct {
	events, reads *rate.Limiter
	waits         chan struct{}
}

func newQuota() *quota {
	return &quota{
		events: perMinute(eventsPerMinute, eventsAtOnce), reads: perMinute(readsPerMinute, readsAtOnce),
		waits: make(chan struct{}, ownWaits),
	}
}

// take uses up one request, or returns the refusal.
func (q *quota) take(method string, now time.Time) *Problem {
	l, most := q.events, eventsPerMinute
	if method == http.MethodGet || method == http.MethodHead {
		l, most = q.reads, readsPerMinute
	}
	if l.AllowN(now, 1) {
		return nil
	}
	return kindMany.problem(http.StatusTooManyRequests, "At most %d requests of this kind a minute are allowed. Send this one again after the time in Retry-After.", most).after(until(l, now))
}

// strangers limits the requests without valid credentials.
type strangers struct {
	all    *rate.Limiter
	byAddr *lru.Cache[netip.Prefix, *rate.Limiter]
}

func newStrangers() strangers {
	return strangers{perMinute(strangersPerMinute, strangersAtOnce), lru.New[netip.Prefix, *rate.Limiter](maxKept, 1)}
}

// addressOf returns the client's address. For IPv6, that is the whole /64 network.
func addressOf(r *http.Request) netip.Prefix {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return netip.Prefix{} // one limit for all clients with an unknown address
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return netip.Prefix{}
	}
	addr = addr.Unmap().WithZone("")
	bits := addr.BitLen()
	if addr.Is6() {
		bits = 64
	}
	prefix, err := addr.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return prefix
}

// refuse returns the refusal of a request if there were too many without valid credentials, or nil. It
// does not count the request: charge does that once the credentials turn out to be wrong. Concurrent
// requests can exceed the limit by maxWork.
func (s strangers) refuse(from netip.Prefix, now time.Time) *Problem {
	wait := until(s.all, now)
	if l, ok := s.byAddr.Get(from); ok {
		wait = max(wait, until(l, now))
	}
	if wait == 0 {
		return nil
	}
	return kindMany.problem(http.StatusTooManyRequests, "There were too many requests without a valid token. Check the token, and send the request again after the time in Retry-After.").after(wait)
}

// charge counts a request without valid credentials.
func (s strangers) charge(from netip.Prefix, now time.Time) {
	l, ok := s.byAddr.Get(from)
	if !ok {
		l = perMinute(strangePerMinute, strangeAtOnce)
		s.byAddr.Add(from, l, 1)
	}
	l.AllowN(now, 1)
	s.all.AllowN(now, 1)
}

// slots limits how many requests do something at the same time.
type slots chan struct{}

// take takes a slot if one is free.
func (s slots) take() bool {
	select {
	case s <- struct{}{}:
		return true
	default:
		return false
	}
}

func (s slots) give() { <-s }
