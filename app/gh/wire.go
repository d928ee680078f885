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
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/review"
)

// maxResponse bounds the size of an answer, unpacked. A page of 100 changed
// files with their patches is the largest there is, and GitHub leaves out
// patches long before it comes to this.
const maxResponse = 64 << 20

var errTooLarge = errors.New("the answer is larger than any that GitHub sends")

// call travels in a request's context, so that every layer knows what the
// request is for.
type call struct {
	route  string
	target review.Target
	inst   *installation
	count  *atomic.Int64 // of requests sent, may be nil
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
	onCall func(CallInfo)
}

func newWire(c Config, api *url.URL) *wire {
	next := c.Transport
	if next == nil {
		own := http.DefaultTransport.(*http.Transport).Clone()
		// All requests go to one host; the default keeps two connections.
		own.MaxIdleConnsPerHost = maxInFlight
		next = own
	}
	return &wire{next: next, api: api, log: c.Log, onCall: c.OnCall}
}

// RoundTrip sends a request whose context holds a call.
func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	c, err := callOf(req.Context())
	if err == nil && (req.URL.Host != w.api.Host || req.URL.Scheme != w.api.Scheme) {
		// A redirect must not carry the token elsewhere.
		err = fmt.Errorf("redirected to another host, %s", req.URL.Host)
	}
	if err != nil {
		closeBody(req)
		return nil, err
	}
	info := CallInfo{Route: c.route, Installation: c.target.Installation, RateRemaining: -1}
	if isTokenRequest(req) {
		info.Route = "POST /app/installations/{installation_id}/access_tokens"
		req = narrowToken(req, c.target.RepoID)
	}
	if c.count != nil {
		c.count.Add(1)
	}
	start := time.Now()
	resp, err := w.next.RoundTrip(req)
	if err != nil {
		w.record(c, info, start, err)
		return nil, err
	}
	info.Status = resp.StatusCode
	if n, err := strconv.Atoi(resp.Header.Get("X-RateLimit-Remaining")); err == nil {
		info.RateRemaining = n
	}
	done := sync.OnceFunc(func() { w.record(c, info, start, nil) })
	if resp.Body == http.NoBody || resp.StatusCode == http.StatusNotModified {
		done()
	}
	resp.Body = &body{ReadCloser: resp.Body, left: maxResponse, done: done}
	return resp, nil
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		req.Body.Close()
	}
}

func isTokenRequest(req *http.Request) bool {
	return req.Method == http.MethodPost && strings.HasSuffix(req.URL.Path, "/access_tokens")
}

// narrowToken asks for a token that is good for one repository only.
// go-githubapp has no option for it.
func narrowToken(req *http.Request, repoID int64) *http.Request {
	closeBody(req)
	// Two plain fields: this can't fail.
	text, _ := json.Marshal(map[string][]int64{"repository_ids": {repoID}})
	req = req.Clone(req.Context())
	req.Body = io.NopCloser(bytes.NewReader(text))
	req.GetBody = nil
	req.ContentLength = int64(len(text))
	return req
}

func (w *wire) record(c *call, info CallInfo, start time.Time, err error) {
	info.Duration = time.Since(start)
	level := zerolog.DebugLevel
	if err != nil || info.Status >= 400 && info.Status != http.StatusNotFound {
		level = zerolog.WarnLevel
	}
	w.log.WithLevel(level).Err(err).
		Str("route", info.Route).Int("status", info.Status).Dur("took", info.Duration).
		Str("target", c.target.Key()).Int64("installation", info.Installation).
		Int("rate_remaining", info.RateRemaining).Msg("GitHub call")
	if w.onCall != nil {
		w.onCall(info)
	}
}

// body bounds an answer, and tells when all of it has been read.
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
