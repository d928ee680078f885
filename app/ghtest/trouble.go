package ghtest

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// TroubleOptions say what trouble requests meet and how often. A rate is the chance of a
// request, from 0 to 1. Together the rates are at most 1.
type TroubleOptions struct {
	// MinLatency and MaxLatency limit how long every request takes.
	MinLatency, MaxLatency time.Duration

	Errors    float64 // 500, 502 or 503 without an effect; half of them are pages of HTML
	Resets    float64 // connection closed without an effect
	Lost      float64 // the request takes effect, and its answer is lost: connection closed, or 502
	Truncated float64 // the request takes effect, and half of the answer's body arrives

	Secondary float64 // a secondary rate limit begins: 403 or 429
	Primary   float64 // the primary rate limit is used up
	// MinRefusal and MaxRefusal limit how long the rate limits last, before rounding to a
	// whole second.
	MinRefusal, MaxRefusal time.Duration
	// Silent is the share of secondary limits without Retry-After, from 0 to 1.
	Silent float64
}

// TroubleKind names a kind of trouble.
type TroubleKind string

// The kinds of trouble.
const (
	TroubleError     TroubleKind = "error"
	TroubleReset     TroubleKind = "reset"
	TroubleLost      TroubleKind = "lost answer"
	TroubleTruncated TroubleKind = "truncated answer"
	TroubleSecondary TroubleKind = "secondary limit"
	TroublePrimary   TroubleKind = "primary limit"
)

// Trouble causes trouble at random. With the same seed, the n-th request of the same kind
// always meets the same trouble, whatever runs in parallel. A run can therefore be repeated.
// It is a hook for every route:
//
//	trouble := ghtest.NewTrouble(seed, ghtest.TroubleOptions{Errors: 0.02, Lost: 0.01})
//	gh.On("*", trouble.Hook)
type Trouble struct {
	seed uint64
	opts TroubleOptions

	mu    sync.Mutex
	off   bool
	seen  map[string]int // number of equal requests, by their key
	count map[TroubleKind]int
}

// NewTrouble returns Trouble that is switched on.
func NewTrouble(seed uint64, opts TroubleOptions) *Trouble {
	return &Trouble{seed: seed, opts: opts, seen: map[string]int{}, count: map[TroubleKind]int{}}
}

// Stop ends new trouble, including latency. Rate limits in force last until they end.
func (t *Trouble) Stop() { t.set(true) }

// Start switches it on again.
func (t *Trouble) Start() { t.set(false) }

func (t *Trouble) set(off bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.off = off
}

// Counts returns how often each kind occurred.
func (t *Trouble) Counts() map[TroubleKind]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.count)
}

// Hook is the hook for Server.On.
func (t *Trouble) Hook(x *Exchange) {
	dice, on := t.dice(x)
	if !on {
		return
	}
	kind := t.kind(dice.Float64())
	Delay(between(dice, t.opts.MinLatency, t.opts.MaxLatency))(x)
	if kind == "" || x.held() {
		return
	}
	switch kind {
	case TroubleError:
		x.Answer(serverError(dice))
	case TroubleReset:
		x.Drop()
	case TroubleLost:
		x.Proceed()
		if dice.IntN(2) == 0 {
			x.Drop()
		} else {
			x.Answer(page502())
		}
	case TroubleTruncated:
		resp := x.Proceed()
		resp.cut = len(resp.Body) / 2
	case TroubleSecondary, TroublePrimary:
		if !x.call.known {
			return // an unknown caller has no limits
		}
		status := []int{http.StatusForbidden, http.StatusTooManyRequests}[dice.IntN(2)]
		lasts := between(dice, t.opts.MinRefusal, t.opts.MaxRefusal)
		x.Refuse(Refusal{Primary: kind == TroublePrimary, Status: status, For: lasts, Silent: dice.Float64() < t.opts.Silent})
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count[kind]++
}

// dice returns the random number for a request. on is false while trouble is off.
func (t *Trouble) dice(x *Exchange) (dice *rand.Rand, on bool) {
	var key strings.Builder
	key.WriteString(x.Route)
	for _, name := range slices.Sorted(maps.Keys(x.Params)) {
		fmt.Fprintf(&key, " %s=%s", name, x.Params[name])
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.off {
		return nil, false
	}
	t.seen[key.String()]++
	fmt.Fprintf(&key, " %d", t.seen[key.String()])
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(key.String())) // never fails
	return rand.New(rand.NewPCG(t.seed, sum.Sum64())), true
}

// kind returns the kind of trouble for a number from 0 to 1.
func (t *Trouble) kind(at float64) TroubleKind {
	for _, k := range []struct {
		kind TroubleKind
		rate float64
	}{
		{TroubleError, t.opts.Errors}, {TroubleReset, t.opts.Resets}, {TroubleLost, t.opts.Lost}, {TroubleTruncated, t.opts.Truncated},
		{TroubleSecondary, t.opts.Secondary}, {TroublePrimary, t.opts.Primary},
	} {
		if at -= k.rate; at < 0 {
			return k.kind
		}
	}
	return ""
}

// between returns a time from a range.
func between(dice *rand.Rand, least, most time.Duration) time.Duration {
	if most <= least {
		return least
	}
	return least + time.Duration(dice.Int64N(int64(most-least)+1))
}

// held reports whether a rate limit already refuses the request.
func (x *Exchange) held() bool {
	s := x.call.s
	s.mu.Lock()
	defer s.mu.Unlock()
	return !x.call.route.free && s.limiter.held(x.call.caller) != nil
}

// serverError is a 5xx, as JSON or as a page.
func serverError(dice *rand.Rand) *Response {
	status := []int{http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable}[dice.IntN(3)]
	if dice.IntN(2) == 0 {
		return refuse(status, "Server Error")
	}
	resp := page502()
	resp.Status = status
	return resp
}

// page502 is the page that GitHub's front end shows when the API behind it doesn't answer.
func page502() *Response {
	const page = "<!DOCTYPE html>\n<html>\n<head><title>Unicorn! &middot; GitHub</title></head>\n" +
		"<body><p>We had issues producing the response to your request.</p></body>\n</html>\n"
	return &Response{Status: http.StatusBadGateway, Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}, Body: []byte(page), cut: -1}
}
