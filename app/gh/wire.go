package gh

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/internal/jobcontext"
	"github.com/reviewgate/reviewgate/app/ports"
)

// maxResponse bounds the uncompressed size of an answer. The largest answer is a
// page of 100 changed files with their patches. GitHub leaves out patches long
// before a page reaches this size.
const maxResponse = 64 << 20

var errTooLarge = errors.New("the answer is larger than any that GitHub sends")

// call is stored in a request's context, so that every layer knows the purpose of
// the request.
type call struct {
	route  string
	try    int
	target ports.Target
	scope  scope
	inst   *installation // the call counts against its limits
	app    *installation // the App; token requests count against its limits
	budget *budget       // may be nil
	hold   bool          // send only the request for a token
}

type callKey struct{}

func withCall(ctx context.Context, c *call) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

func callOf(ctx context.Context) (*call, error) {
	c, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		return nil, errors.New("a request that belongs to no call")
	}
	return c, nil
}

// wire is the innermost transport.
type wire struct {
	next   http.RoundTripper
	api    *url.URL
	log    zerolog.Logger
	onCall func(context.Context, CallInfo)
	tokens tokens
}

func newWire(c Config, api *url.URL) *wire {
	next := c.Transport
	if next == nil {
		own := http.DefaultTransport.(*http.Transport).Clone()
		// All requests go to one host; the default keeps two connections.
		own.MaxIdleConnsPerHost = maxInFlight
		next = own
	}
	return &wire{next: next, api: api, log: c.Log, onCall: c.OnCall, tokens: newTokens()}
}

// RoundTrip sends a request whose context holds a call, if the rate limits and
// the review's budget allow.
func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	c, err := callOf(req.Context())
	if err != nil {
		closeBody(req)
		return nil, err
	}
	info := CallInfo{Route: c.route, Installation: accountOf(c.scope, c.target), RateRemaining: -1, Try: c.try}
	limits := &c.inst.limits
	token := isTokenRequest(req)
	if token {
		info.Route, info.Installation = "POST /app/installations/{installation_id}/access_tokens", 0
		limits = &c.app.limits
		if t, ok := w.tokens.take(clientKey(c.scope, c.target), time.Now()); ok {
			closeBody(req)
			return tokenOf(req, t), nil
		}
	} else if c.hold {
		closeBody(req)
		return nil, errHeld
	}
	if err := w.allow(req, c, limits); err != nil {
		closeBody(req)
		return nil, err
	}
	if token {
		req = narrowToken(req, c)
	}
	sent := time.Now()
	resp, err := w.next.RoundTrip(req)
	if err != nil {
		if errors.Is(req.Context().Err(), context.Canceled) {
			return nil, err // the caller cancelled: this is not GitHub's fault
		}
		w.record(req.Context(), c, info, sent, err)
		return nil, err
	}
	w.watch(req.Context(), c, info, sent, resp)
	if err := limits.note(resp, sent); err != nil {
		return nil, err
	}
	if token && resp.StatusCode < 300 {
		return w.checkToken(c, resp)
	}
	mustValidate(resp.Header)
	return resp, nil
}

// allow refuses a request that must not be sent.
func (w *wire) allow(req *http.Request, c *call, l *limits) error {
	if req.URL.Host != w.api.Host || req.URL.Scheme != w.api.Scheme {
		return fmt.Errorf("a request to another host, %s", req.URL.Host)
	}
	if err := l.check(time.Now()); err != nil {
		return err
	}
	return c.budget.take()
}

// watch records the call when the answer has been read, and bounds its size.
func (w *wire) watch(ctx context.Context, c *call, info CallInfo, sent time.Time, resp *http.Response) {
	info.Status = resp.StatusCode
	if t, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		info.Date = t
	}
	core := isCore(resp.Header)
	if n, err := strconv.Atoi(resp.Header.Get("X-RateLimit-Remaining")); err == nil && n >= 0 && core {
		info.RateRemaining = n
	}
	if n, err := strconv.Atoi(resp.Header.Get("X-RateLimit-Limit")); err == nil && n >= 0 && core {
		info.RateLimit = n
	}
	if s, err := strconv.ParseInt(resp.Header.Get("X-RateLimit-Reset"), 10, 64); err == nil && s >= 0 {
		now := time.Now()
		info.RateReset = now.Add(min(time.Unix(s, 0).Sub(answered(resp.Header, now)), maxWindow))
	}
	done := sync.OnceFunc(func() { w.record(ctx, c, info, sent, nil) })
	switch {
	case resp.StatusCode == http.StatusNotModified: // the HTTP cache never closes these bodies
		resp.Body.Close()
		resp.Body = http.NoBody
		fallthrough
	case resp.Body == http.NoBody:
		done()
	}
	resp.Body = &body{ReadCloser: resp.Body, left: maxResponse, done: done}
}

// mustValidate makes the HTTP cache ask GitHub before it uses an answer again.
// GitHub's own headers allow the use of private answers for 60 s.
func mustValidate(h http.Header) {
	if !strings.Contains(h.Get("Cache-Control"), "no-store") {
		h.Set("Cache-Control", "no-cache")
	}
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		req.Body.Close()
	}
}

func isTokenRequest(req *http.Request) bool {
	return req.Method == http.MethodPost && strings.HasSuffix(req.URL.Path, "/access_tokens")
}

// narrowToken limits a request for a token to the call's scope. go-githubapp has no
// option for this.
func narrowToken(req *http.Request, c *call) *http.Request {
	closeBody(req)
	ask := map[string]any{"repository_ids": []int64{c.target.RepoID}}
	switch c.scope {
	case asInstallation:
		ask = map[string]any{"permissions": map[string]string{"metadata": "read", "pull_requests": "read"}}
	case asApp: // for git
		ask["permissions"] = map[string]string{"metadata": "read", "contents": "read"}
	case asOrganisation:
		ask = map[string]any{"repositories": []string{organisationRepo}, "permissions": map[string]string{"metadata": "read", "contents": "read"}}
	}
	text, _ := json.Marshal(ask) // plain values: this can't fail
	req = req.Clone(req.Context())
	req.Header.Set("Content-Type", "application/json")
	req.Body = io.NopCloser(bytes.NewReader(text))
	req.GetBody = nil
	req.ContentLength = int64(len(text))
	return req
}

type tokenAnswer struct {
	Token     string    `json:"token"`
	ExpiresAt time.Time `json:"expires_at"`
}

// checkToken stores the token of an answer. It refuses an answer without a token, which
// ghinstallation would accept. The error contains no part of the answer.
func (w *wire) checkToken(c *call, resp *http.Response) (*http.Response, error) {
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("read the token: %w", err)
	}
	var t tokenAnswer
	if json.Unmarshal(text, &t) != nil || t.Token == "" || t.ExpiresAt.IsZero() {
		return nil, errors.New("the answer to the request for a token holds none")
	}
	if key := clientKey(c.scope, c.target); c.scope != asApp { // tokens for git have fewer permissions
		w.tokens.own.Add(key, Token{key, t.Token, t.ExpiresAt}, 1)
	}
	resp.Body = io.NopCloser(bytes.NewReader(text))
	return resp, nil
}

func (w *wire) record(ctx context.Context, c *call, info CallInfo, sent time.Time, err error) {
	info.Duration = time.Since(sent)
	level := zerolog.DebugLevel
	if err != nil || info.Status >= 400 && !isUsual(c, info.Status) {
		level = zerolog.WarnLevel
	}
	event := w.log.WithLevel(level).Err(err).
		Str("route", info.Route).Int("status", info.Status).
		Float64("took_ms", float64(info.Duration.Microseconds())/1000).
		Int64("installation", info.Installation).Int("rate_remaining", info.RateRemaining).Int("try", info.Try)
	if c.target.RepoID != 0 {
		event.EmbedObject(c.target)
	}
	event.EmbedObject(jobcontext.Of(ctx)).Msg("GitHub call")
	if w.onCall != nil {
		w.onCall(ctx, info)
	}
}

// isUsual reports whether an error status is expected: the object does not exist, or
// the App is not installed on an account's .github.
func isUsual(c *call, status int) bool {
	return status == http.StatusNotFound || c.scope == asOrganisation && status == http.StatusUnprocessableEntity
}

// body bounds an answer's size, and calls done when all of it has been read.
type body struct {
	io.ReadCloser
	left int64
	done func()
}

func (b *body) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		n, err = 0, errTooLarge
	}
	if err != nil {
		b.done()
	}
	return n, err
}

func (b *body) Close() error {
	b.done()
	return b.ReadCloser.Close()
}
