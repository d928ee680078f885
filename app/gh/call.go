package gh

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/reviewgate/reviewgate/app/review"
)

const (
	// readTries is how often a read is tried that failed in passing. What
	// lasts longer is the queue's to wait for.
	readTries = 2
	// retryDelay, and as much again at random, lies between tries.
	retryDelay = 200 * time.Millisecond
)

// request is a call as the methods write it.
type request struct {
	op     string // for errors, such as "read the changed files"
	method string
	path   string // template; each {name} takes one of args
	args   []any
	query  url.Values
	body   any
	accept string // default: GitHub's JSON
	count  *atomic.Int64
}

func (r request) isRead() bool { return r.method == http.MethodGet }

// url fills the template in. Every argument is escaped, so that none can
// become a further part of the path.
func (r request) url() string {
	var b strings.Builder
	rest, args := strings.TrimPrefix(r.path, "/"), r.args
	for {
		before, after, found := strings.Cut(rest, "{")
		b.WriteString(before)
		if !found {
			break
		}
		b.WriteString(url.PathEscape(fmt.Sprint(args[0])))
		_, rest, _ = strings.Cut(after, "}")
		args = args[1:]
	}
	if len(r.query) > 0 {
		b.WriteString("?" + r.query.Encode())
	}
	return b.String()
}

// reader takes a successful answer's body.
type reader func(io.Reader) error

// asJSON reads the whole body, so that the HTTP cache sees its end, and knows
// a truncated one for what it is.
func asJSON(into any) reader {
	return func(r io.Reader) error {
		text, err := io.ReadAll(r)
		if err != nil {
			return fmt.Errorf("read the answer: %w", err)
		}
		if err := json.Unmarshal(text, into); err != nil {
			return fmt.Errorf("read the answer's JSON: %w", err)
		}
		return nil
	}
}

func ignored(r io.Reader) error {
	_, err := io.Copy(io.Discard, r)
	return err
}

// do makes a call, and hands the answer's body to read. Errors are
// *review.HostError.
func (c *Client) do(ctx context.Context, t review.Target, r request, read reader) (*github.Response, error) {
	inst := c.installation(t.Installation)
	if !r.isRead() {
		// GitHub asks for one write at a time.
		if err := acquire(ctx, inst.writes); err != nil {
			return nil, hostError(r.op, err)
		}
		defer func() { <-inst.writes }()
	}
	ctx = withCall(ctx, &call{route: r.method + " " + r.path, target: t, inst: inst, count: r.count})
	for try := 1; ; try++ {
		resp, err := c.once(ctx, t, r, read)
		if err = hostError(r.op, err); err == nil {
			return resp, nil
		}
		if !c.again(ctx, t, r, err, try) {
			return resp, err
		}
	}
}

// again decides on another try, and waits for it. Reads get one when trouble
// may pass. A token that GitHub no longer takes is replaced once, for writes
// as well: it refused before it did anything.
func (c *Client) again(ctx context.Context, t review.Target, r request, err error, try int) bool {
	var host *review.HostError
	if try >= readTries || ctx.Err() != nil || !errors.As(err, &host) {
		return false
	}
	if host.Status == http.StatusUnauthorized {
		c.clients.remove(clientKey(t))
		return true
	}
	if !r.isRead() || host.Kind != review.HostTransient || errors.Is(err, errTooLarge) {
		return false
	}
	select {
	case <-time.After(retryDelay + rand.N(retryDelay)):
		return true
	case <-ctx.Done():
		return false
	}
}

// once makes a single request. The bound on its time is the context's, not
// http.Client's, whose timer go-github leaves running after every refusal.
func (c *Client) once(ctx context.Context, t review.Target, r request, read reader) (*github.Response, error) {
	if err := acquire(ctx, c.inFlight); err != nil {
		return nil, err
	}
	defer func() { <-c.inFlight }()
	bounded, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	resp, err := c.send(bounded, t, r, read)
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		// Not the caller's deadline: it must not look like one.
		err = fmt.Errorf("no answer within %s", c.timeout)
	}
	return resp, err
}

func (c *Client) send(ctx context.Context, t review.Target, r request, read reader) (*github.Response, error) {
	gc, err := c.client(t)
	if err != nil {
		return nil, err
	}
	req, err := gc.NewRequest(r.method, r.url(), r.body)
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	if r.accept != "" {
		req.Header.Set("Accept", r.accept)
	}
	resp, err := gc.BareDo(ctx, req)
	if err != nil {
		return resp, err
	}
	defer resp.Body.Close()
	return resp, read(resp.Body)
}
