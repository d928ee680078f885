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

// The rates of requests, each with what may come at once.
const (
	eventsPerMinute, eventsAtOnce       = 60, 30   // POST, of a token
	readsPerMinute, readsAtOnce         = 300, 60  // GET, of a token
	strangePerMinute, strangeAtOnce     = 60, 30   // without valid credentials, of an address
	strangersPerMinute, strangersAtOnce = 600, 300 // the same, of all addresses
)

// The numbers of requests at a time.
const (
	maxWork   = 32  // that use the database or GitHub
	maxBodies = 32  // whose bodies are read; of those with a token, and of the others
	maxWaits  = 200 // that wait for a state to settle
	ownWaits  = 20  // the same, of a token
)

// maxKept bounds the tokens, addresses and callers that are remembered, each.
const maxKept = 10_000

func perMinute(n, atOnce int) *rate.Limiter { return rate.NewLimiter(rate.Limit(n)/60, atOnce) }

// until returns when a limiter has room again, rounded up to seconds; 0 if it has room.
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
	return kindMany.problem(http.StatusTooManyRequests, "There may be %d requests of this kind a minute. Send this one again after the time in Retry-After.", most).after(until(l, now))
}

// strangers limits the requests without valid credentials.
type strangers struct {
	all    *rate.Limiter
	byAddr *lru.Cache[netip.Prefix, *rate.Limiter]
}

func newStrangers() strangers {
	return strangers{perMinute(strangersPerMinute, strangersAtOnce), lru.New[netip.Prefix, *rate.Limiter](maxKept, 1)}
}

// addressOf returns the client's address. An IPv6 client has a whole /64.
func addressOf(r *http.Request) netip.Prefix {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return netip.Prefix{} // one limit for all whose address is not known
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

// refuse returns the refusal of a request whose credentials are not known to be valid, or nil. It
// uses up nothing: charge does that when the request turns out to have no valid ones. Requests at
// the same time can exceed the limit by maxWork.
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

// slots lets a number of requests do something at a time.
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
