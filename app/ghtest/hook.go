package ghtest

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// Response is an answer before it is written.
type Response struct {
	Status int
	Header http.Header
	Body   []byte

	drop  bool      // drop the connection instead of answering
	cut   int       // number of the body's bytes that are sent; -1 for all
	until time.Time // end of the rate limit that the answer reports, if the stand-in decided it
}

// Exchange is a request on its way through the hooks that Server.On put around its route. If
// a hook does nothing with it, the request proceeds.
type Exchange struct {
	Method string
	Route  string // "METHOD template"
	Params map[string]string
	Query  url.Values
	Header http.Header
	Body   []byte
	// N counts the requests that reached the hook, from 1.
	N int

	call *call
	next func() *Response
	resp *Response
}

// Context ends when the client hangs up or the Server is closed. A hook that holds a request
// must watch it.
func (x *Exchange) Context() context.Context { return x.call.ctx }

// Proceed makes the request take effect, once, and returns the answer, which the hook may
// change.
func (x *Exchange) Proceed() *Response {
	if x.resp == nil {
		x.resp = x.next()
	}
	return x.resp
}

// Answer answers instead of GitHub. Before Proceed the request has no effect. After Proceed
// the effect stays and the true answer is lost.
func (x *Exchange) Answer(resp *Response) { x.resp = resp }

// Fail answers with an error in GitHub's form.
func (x *Exchange) Fail(status int, message string) { x.Answer(refuse(status, message)) }

// Drop closes the connection without an answer. After Proceed the client can't know that the
// request took effect.
func (x *Exchange) Drop() { x.Answer(&Response{Header: http.Header{}, drop: true}) }

// Cut sends only the first n bytes of the answer's body and then closes the
// connection.
func (x *Exchange) Cut(n int) { x.Proceed().cut = n }

// hook is a function around a route.
type hook struct {
	route string // "*" for every route
	f     func(*Exchange)
	n     int
}

// On puts f around every request of a route, or of every route for "*". A route is given as
// "METHOD template", in which the names of parameters don't matter. Hooks nest, and the
// newest is outermost. They run in parallel for parallel requests. The returned function
// removes the hook.
func (s *Server) On(route string, f func(*Exchange)) (remove func()) {
	if route != "*" && !isRoute(route) {
		s.opts.Fail("put a hook on %q: there is no such route", route)
	}
	h := &hook{route: route, f: f}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.hooks = append(s.state.hooks, h)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.state.hooks = slices.DeleteFunc(s.state.hooks, func(other *hook) bool { return other == h })
	}
}

// hooked runs serve inside the hooks of the route.
func (s *Server) hooked(c *call, serve func() *Response) *Response {
	for _, wrap := range s.hooksOf(c) {
		serve = wrap(serve)
	}
	return serve()
}

// hooksOf returns the hooks of a call's route, oldest first, each as a function that wraps
// the next step.
func (s *Server) hooksOf(c *call) []func(func() *Response) func() *Response {
	s.mu.Lock()
	defer s.mu.Unlock()
	var wraps []func(func() *Response) func() *Response
	for _, h := range s.state.hooks {
		if h.route != "*" && !sameRoute(h.route, c.route.name()) {
			continue
		}
		h.n++
		n := h.n
		wraps = append(wraps, func(next func() *Response) func() *Response {
			x := &Exchange{Method: c.route.method, Route: c.route.name(), Params: c.params, Query: c.req.URL.Query(), Header: c.req.Header, Body: c.body, N: n, call: c, next: next}
			return func() *Response {
				h.f(x)
				return x.Proceed()
			}
		})
	}
	return wraps
}

// Delay is a hook that holds requests for a while.
func Delay(d time.Duration) func(*Exchange) {
	return func(x *Exchange) {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-x.Context().Done():
		}
	}
}

// First limits a hook to the first n requests.
func First(n int, f func(*Exchange)) func(*Exchange) {
	return func(x *Exchange) {
		if x.N <= n {
			f(x)
		}
	}
}
