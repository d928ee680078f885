package ghtest

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// Call is one request in the log.
type Call struct {
	Method string
	Route  string // "METHOD template", empty for an unknown route
	Path   string
	Query  string
	Status int // 0 if the connection was dropped
	// At is the time of the answer, by the Server's clock.
	At   time.Time
	Took time.Duration
	// Start is when the request was read, and End is when its answer was ready. Both are by
	// this machine's clock, whatever the Server's clock says.
	Start, End time.Time
	// Installation is the installation that made the call; 0 for the App itself and for
	// unknown callers.
	Installation int64
	// Early is how long before the request its caller had read that a rate limit still held;
	// 0 if no limit held.
	Early time.Duration
}

// CallLog is the log of the requests that the stand-in has answered. The Server's lock guards
// its fields.
type CallLog struct {
	s       *Server
	all     []Call
	unknown []Call // those for routes that the stand-in doesn't know
}

// All lists the answered requests, in the order of their answers.
func (l *CallLog) All() []Call {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	return slices.Clone(l.all)
}

// where lists the answered requests that match.
func (l *CallLog) where(match func(*Call) bool) []Call {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	var list []Call
	for i := range l.all {
		if match(&l.all[i]) {
			list = append(list, l.all[i])
		}
	}
	return list
}

// To lists the requests of one route, given as for Server.On.
func (l *CallLog) To(route string) []Call {
	wanted := shape(route)
	return l.where(func(c *Call) bool { return shape(c.Route) == wanted })
}

// Writes lists the requests that were not reads, without those for tokens and
// redeliveries.
func (l *CallLog) Writes() []Call {
	return l.where(func(c *Call) bool { return c.Method != http.MethodGet && !strings.HasPrefix(c.Path, "/app/") })
}

// Unexpected lists the requests for routes that the stand-in doesn't know.
func (l *CallLog) Unexpected() []Call {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	return slices.Clone(l.unknown)
}

// Reset empties the log. Unexpected keeps its requests.
func (l *CallLog) Reset() {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	l.all = nil
}

// earlyAfter is how long after reading a refusal a client may still send requests that were
// on their way, on a busy machine.
const earlyAfter = time.Second

// EarlyRetries lists the requests since Reset that came more than a second after their caller
// had read that a rate limit held. The limit may be the stand-in's own or an imposed one.
// Requests for the rate limit itself are free and not listed.
func (l *CallLog) EarlyRetries() []Call {
	return l.where(func(c *Call) bool { return c.Early > earlyAfter })
}
