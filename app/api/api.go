package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline/lru"
)

// Path is the path of the API, with a trailing slash.
const Path = "/api/v1/"

// The time limits of a request.
const (
	maxReading   = 10 * time.Second // of the body
	maxWorking   = 15 * time.Second // of one use of the database or GitHub
	maxAnswering = time.Minute      // of the whole request, except for a wait
)

// ErrSignature means that an answer has no valid signature.
var ErrSignature = errors.New("the signature is not valid")

// Config is what an API needs. Fields without a default are required.
type Config struct {
	Sessions Sessions
	Tokens   Tokens
	// RequestToken returns the token that an answer to the request with an id may use. It must not
	// begin with "rg_".
	RequestToken func(id string) string
	// Verify checks that a body is signed by the reviewer to whom the request with an id was sent. It
	// returns a key that identifies the signature. The error is ports.ErrNotFound for an unknown
	// request, ErrSignature for a wrong signature, and another one if it could not check.
	Verify func(ctx context.Context, id string, h http.Header, body []byte) (signatureKey string, err error)
	// PublicURL is the URL at which agents reach the server, without a trailing slash. It is the
	// audience of the tokens of GitHub Actions. If it is empty, no such token is accepted.
	PublicURL string
	// Issuer issues the tokens of GitHub Actions. If it is empty, no such token is accepted.
	Issuer string
	// Transport reads the issuer's keys. Default http.DefaultTransport.
	Transport http.RoundTripper
	Log       zerolog.Logger
	// Observe, if set, is called after each request with its route, such as
	// "POST /api/v1/events", or "other".
	Observe func(route string, status int)
	// Now is the clock. Default time.Now.
	Now func() time.Time
}

// API answers the requests below Path.
type API struct {
	Config
	mux       *http.ServeMux
	workflows *workflows
	strangers strangers
	seen      *lru.Cache[tokenHash, seen]
	quotaMu   sync.Mutex // held while a quota is looked up or added
	quotas    *lru.Cache[string, *quota]
	slots     slots
	bodies    slots // for the bodies of requests with a token
	unsigned  slots // for bodies whose sender is known only after they are read
	waits     slots
	drained   chan struct{}
	drain     sync.Once
}

// New returns an API.
func New(c Config) (*API, error) {
	if c.Sessions == nil || c.Tokens == nil || c.RequestToken == nil || c.Verify == nil {
		return nil, errors.New("api: Sessions, Tokens, RequestToken or Verify is missing")
	}
	if c.Transport == nil {
		c.Transport = http.DefaultTransport
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	a := &API{
		Config: c, mux: http.NewServeMux(), workflows: newWorkflows(c.Issuer, c.PublicURL, c.Transport, c.Now),
		strangers: newStrangers(), seen: lru.New[tokenHash, seen](maxKept, 1), quotas: lru.New[string, *quota](maxKept, 1),
		slots: make(slots, maxWork), bodies: make(slots, maxBodies), unsigned: make(slots, maxBodies), waits: make(slots, maxWaits),
		drained: make(chan struct{}),
	}
	for _, e := range a.endpoints() {
		a.mux.HandleFunc(e.path, func(w http.ResponseWriter, r *http.Request) { a.serve(w, r, &e) })
	}
	a.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { a.serve(w, r, nil) })
	return a, nil
}

// Routes lists the routes of the API, as they are passed to Observe.
func Routes() (routes []string) {
	for _, e := range new(API).endpoints() {
		routes = append(routes, e.route())
	}
	return routes
}

// endpoint is a path with its only method. A path with GET also has HEAD.
type endpoint struct {
	method, path string
	handle       func(*exchange) reply
}

func (e *endpoint) route() string { return e.method + " " + e.path }

// endpoints lists all endpoints.
func (a *API) endpoints() []endpoint {
	return []endpoint{
		{http.MethodPost, Path + "events", a.speak},
		{http.MethodGet, Path + "pulls/{owner}/{repo}/{number}", a.state},
		{http.MethodPost, Path + "results/{id}", a.answer},
		{http.MethodGet, Path + "openapi.json", a.document},
	}
}

// Drain ends the requests that wait for a state to settle: they are answered with the state as it
// is. Call it before the server shuts down.
func (a *API) Drain() { a.drain.Do(func() { close(a.drained) }) }

// Waiting returns how many requests wait for a state to settle.
func (a *API) Waiting() int { return len(a.waits) }

// exchange is a request that is being answered.
type exchange struct {
	w             http.ResponseWriter
	r             *http.Request
	who           principal
	quota         *quota // of who
	authenticated bool   // with a token or a signature
	pull          int    // the number of the pull request, for the log
	cause         error  // of a failure, for the log
}

// reply is the answer to a request: a problem, or a body.
type reply struct {
	status  int
	body    []byte // JSON
	etag    string
	public  bool // shared caches may keep it
	problem *Problem
}

// ok returns a reply with a value as JSON.
func ok(status int, v any) reply {
	body, err := json.Marshal(v)
	if err != nil { // never: JSON can express every value of the API
		return reply{problem: failed()}
	}
	return reply{status: status, body: append(body, '\n')}
}

func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.mux.ServeHTTP(w, r) }

// serve answers a request for an endpoint. If e is nil, the path has no endpoint.
func (a *API) serve(w http.ResponseWriter, r *http.Request, e *endpoint) {
	begun := a.Now()
	x := &exchange{w: w, r: r}
	from := addressOf(r)
	route := "other"
	if e != nil {
		route = e.route()
	}
	x.deadline((*http.ResponseController).SetWriteDeadline, maxAnswering)
	var answer reply
	if p := a.strangers.refuse(from, begun); p != nil && !a.isKnown(r) {
		answer.problem = p
	} else {
		answer = a.route(x, e)
		if !x.authenticated {
			a.strangers.charge(from, begun)
		}
	}
	status := answer.write(w, r)
	if a.Observe != nil {
		a.Observe(route, status)
	}
	a.log(x, route, status, a.Now().Sub(begun))
}

func (a *API) route(x *exchange, e *endpoint) reply {
	if e == nil {
		return reply{problem: plain(http.StatusNotFound, "The API has no such path. %sopenapi.json lists all paths.", Path)}
	}
	allow := e.method
	if e.method == http.MethodGet {
		allow = "GET, HEAD"
	}
	if x.r.Method != e.method && (e.method != http.MethodGet || x.r.Method != http.MethodHead) {
		p := plain(http.StatusMethodNotAllowed, "This path accepts only %s.", allow)
		p.allow = allow
		return reply{problem: p}
	}
	return e.handle(x)
}

// write sends the answer, and returns its status.
func (a reply) write(w http.ResponseWriter, r *http.Request) int {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", "application/json")
	if p := a.problem; p != nil {
		h.Set("Content-Type", "application/problem+json")
		if p.retryAfter > 0 {
			h.Set("Retry-After", strconv.Itoa(int((p.retryAfter+time.Second-1)/time.Second)))
		}
		if p.allow != "" {
			h.Set("Allow", p.allow)
		}
		if p.challenge != "" {
			h.Set("WWW-Authenticate", p.challenge)
		}
		a = ok(p.Status, p)
	}
	if a.etag != "" {
		h.Set("ETag", a.etag)
		h.Set("Cache-Control", "private, no-cache")
		if a.public {
			h.Set("Cache-Control", "public, max-age=300")
		}
		if matches(r.Header.Values("If-None-Match"), a.etag) {
			h.Del("Content-Type")
			w.WriteHeader(http.StatusNotModified)
			return http.StatusNotModified
		}
	}
	w.WriteHeader(a.status)
	// The status has been sent. If the client is gone, there is nothing left to do.
	_, _ = w.Write(a.body)
	return a.status
}

// matches reports whether lists of entity tags contain one; see RFC 9110, section 13.1.2. Our tags
// contain no commas.
func matches(headers []string, etag string) bool {
	for tag := range strings.SplitSeq(strings.Join(headers, ","), ",") {
		if tag = strings.TrimSpace(tag); tag == "*" || strings.TrimPrefix(tag, "W/") == etag {
			return true
		}
	}
	return false
}

// body reads the body of a request, in one of the slots.
func (x *exchange) body(s slots) ([]byte, *Problem) {
	const form = "Send the body as application/json, without a Content-Encoding."
	t, _, err := mime.ParseMediaType(x.r.Header.Get("Content-Type"))
	if err != nil || t != "application/json" || x.r.Header.Get("Content-Encoding") != "" {
		return nil, plain(http.StatusUnsupportedMediaType, form)
	}
	tooLarge := plain(http.StatusRequestEntityTooLarge, "The body has more than %d bytes. Shorten it.", MaxBody)
	if x.r.ContentLength > MaxBody {
		return nil, tooLarge
	}
	if !s.take() {
		return nil, busy()
	}
	defer s.give()
	x.deadline((*http.ResponseController).SetReadDeadline, maxReading)
	text, err := io.ReadAll(http.MaxBytesReader(x.w, x.r.Body, MaxBody))
	// The server still reads, to notice the end of the connection.
	x.deadline((*http.ResponseController).SetReadDeadline, maxAnswering)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, tooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, plain(http.StatusRequestTimeout, "The body did not arrive within %d seconds. Send it again.", int(maxReading.Seconds()))
	case err != nil:
		return nil, plain(http.StatusBadRequest, "The body ended early. Send it again.")
	case len(bytes.TrimSpace(text)) == 0:
		return nil, plain(http.StatusBadRequest, "The body is empty. Send JSON.")
	}
	return text, nil
}

// deadline sets a deadline of the connection. It does nothing if the writer does not support deadlines, as in tests.
func (x *exchange) deadline(set func(*http.ResponseController, time.Time) error, d time.Duration) {
	_ = set(http.NewResponseController(x.w), time.Now().Add(d)) //nolint:errcheck // see above
}

// document answers with the OpenAPI document.
func (a *API) document(*exchange) reply {
	text := config.OpenAPI()
	return reply{status: http.StatusOK, body: text, etag: etagOf(text), public: true}
}

// log writes the request's line. It contains no token, and no text of the request except names.
func (a *API) log(x *exchange, route string, status int, took time.Duration) {
	level := zerolog.InfoLevel
	switch {
	case status >= http.StatusInternalServerError:
		level = zerolog.ErrorLevel
	case status >= http.StatusBadRequest:
		level = zerolog.WarnLevel
	}
	t := x.who.repo
	t.Number = x.pull
	line := a.Log.WithLevel(level).Str("method", methodOf(x.r)).Str("route", route).Int("status", status).Dur("took_ms", took).EmbedObject(t)
	if x.who.agent != "" {
		line.Str("agent", x.who.agent)
	}
	if x.who.token != 0 {
		line.Int64("token_id", x.who.token)
	}
	line.Err(x.cause).Msg("API request")
}

// methodOf returns the method for the log. Clients can send any method, so only known ones are logged.
func methodOf(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return r.Method
	}
	return "other"
}

// statusURL returns the URL of the state of a pull request.
func (a *API) statusURL(t ports.Target) string {
	return fmt.Sprintf("%s%spulls/%s/%s/%d", a.PublicURL, Path, t.Owner, t.Name, t.Number)
}
