package gh

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/reviewgate/reviewgate/app/ports"
)

const (
	// readTries is the number of tries of a read that fails for a temporary
	// reason. If the reason lasts longer, the queue retries the job.
	readTries = 2
	// retryDelay is the minimum delay between tries. A random delay of up to the
	// same length is added.
	retryDelay = 200 * time.Millisecond
	// maxRedirects is more than GitHub needs: a single redirect leads from a
	// repository's old name to its id.
	maxRedirects = 3
)

// request describes a call.
type request struct {
	op     string // for errors, such as "read the changed files"
	scope  scope
	method string
	path   string // template; each {name} takes one of args
	route  string // for metrics, if it differs from path
	args   []any
	query  url.Values
	body   any
	accept string  // default: GitHub's JSON
	budget *budget // counts the requests, may be nil
	// pinned says that SHAs in the path determine the answer, so that it never
	// changes. Once read, the answer comes from memory. It must not be a list with
	// pages.
	pinned bool
	// first bounds how much of a pinned answer is read, in bytes; 0 reads all.
	first int64
	// accepted says that 202 is a success: GitHub does the work later.
	accepted bool
	// stays says that no redirect may lead out of the target's repository. If one
	// does, the answer counts as not found.
	stays bool
}

func (r request) isRead() bool { return r.method == http.MethodGet }

// succeeded reports whether a status means success. Partial answers, and answers
// that GitHub is still preparing, do not.
func (r request) succeeded(status int) bool {
	switch status {
	case http.StatusOK:
		return true
	case http.StatusCreated, http.StatusNoContent:
		return !r.isRead()
	case http.StatusAccepted:
		return r.accepted
	}
	return false
}

// url fills in the template. It escapes every argument, so that no argument can
// add a part to the path or lead out of it.
func (r request) url() (string, error) {
	var b strings.Builder
	rest, args := strings.TrimPrefix(r.path, "/"), r.args
	for {
		before, after, found := strings.Cut(rest, "{")
		b.WriteString(before)
		if !found {
			break
		}
		arg := fmt.Sprint(args[0])
		if arg == "" || arg == "." || arg == ".." {
			return "", fmt.Errorf("%q can't be a part of %s", arg, r.path)
		}
		b.WriteString(url.PathEscape(arg))
		_, rest, _ = strings.Cut(after, "}")
		args = args[1:]
	}
	if len(r.query) > 0 {
		b.WriteString("?" + r.query.Encode())
	}
	return b.String(), nil
}

// check refuses a request whose target lacks the installation or the repository.
func (r request) check(t ports.Target) error {
	if r.scope != asApp && t.Installation <= 0 || r.scope == asRepository && t.RepoID <= 0 {
		return fmt.Errorf("GitHub can't be asked for repository %d of installation %d", t.RepoID, t.Installation)
	}
	_, err := r.url()
	return err
}

// do makes a call, and passes the answer's body to read. Errors are
// *ports.HostError.
func (c *api) do(ctx context.Context, t ports.Target, r request, read reader) (links, error) {
	if err := r.check(t); err != nil {
		return links{}, &ports.HostError{Op: r.op, Kind: ports.HostInvalid, Err: err}
	}
	if r.pinned {
		return c.doPinned(ctx, t, r, read)
	}
	return c.ask(ctx, t, r, read)
}

// ask makes a call over the network.
func (c *api) ask(ctx context.Context, t ports.Target, r request, read reader) (links, error) {
	inst := c.installation(accountOf(r.scope, t))
	if err := inst.limits.check(time.Now()); err != nil {
		return links{}, hostError(r.op, err)
	}
	if !r.isRead() {
		// GitHub asks for one write at a time.
		if err := acquire(ctx, inst.writes); err != nil {
			return links{}, hostError(r.op, err)
		}
		defer func() { <-inst.writes }()
	}
	for try := 1; ; try++ {
		l, err := c.once(withCall(ctx, &call{
			route: r.method + " " + cmp.Or(r.route, r.path), try: try, target: t, scope: r.scope,
			inst: inst, app: c.installation(0), budget: r.budget,
		}), t, r, read)
		if err = hostError(r.op, err); err == nil {
			return l, nil
		}
		if !again(ctx, r, err, try) {
			return links{}, err
		}
	}
}

// again decides whether to try again, and waits before the next try. A read is
// tried again after a temporary failure, unless GitHub said how long to wait. If
// GitHub no longer accepts the token, the call gets a new token once. This holds
// for writes as well, because GitHub refused before it did anything.
func again(ctx context.Context, r request, err error, try int) bool {
	var host *ports.HostError
	if try >= readTries || ctx.Err() != nil || !errors.As(err, &host) {
		return false
	}
	if host.Status == http.StatusUnauthorized {
		return true
	}
	if !r.isRead() || host.Kind != ports.HostTransient || host.RetryAfter > 0 || errors.Is(err, errTooLarge) {
		return false
	}
	select {
	case <-time.After(retryDelay + rand.N(retryDelay)):
		return true
	case <-ctx.Done():
		return false
	}
}

// once makes a single request. A context bounds its time. If that time is over,
// the error must not look like the caller's deadline.
func (c *api) once(ctx context.Context, t ports.Target, r request, read reader) (links, error) {
	if err := acquire(ctx, c.inFlight); err != nil {
		return links{}, err
	}
	defer func() { <-c.inFlight }()
	bounded, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	l, err := c.send(bounded, t, r, read)
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("no answer within %s", c.timeout)
	}
	return l, err
}

func (c *api) send(ctx context.Context, t ports.Target, r request, read reader) (links, error) {
	gc, err := c.client(r.scope, t)
	if err != nil {
		return links{}, err
	}
	resp, moved, err := follow(ctx, gc, t, r)
	if err != nil {
		return links{}, err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden {
		// A token keeps the permissions from when it was created.
		c.forget(r.scope, t, gc)
	}
	if !r.succeeded(resp.StatusCode) {
		return links{}, readError(resp)
	}
	l := linksOf(resp.Header)
	l.moved = moved
	return l, read(resp.Body)
}

// follow sends the request and follows redirects without changing it. net/http
// would turn some writes into reads, and take the read's answer for the write's.
// follow asks only the API itself, so that no other host gets the token.
//
// follow uses go-github's client for authentication, but not its Do method. Do
// tracks rate limits itself, and is wrong about GitHub's secondary limits. moved
// says that the request was redirected.
func follow(ctx context.Context, gc *github.Client, t ports.Target, r request) (resp *http.Response, moved bool, err error) {
	client := gc.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	to, err := r.url()
	if err != nil {
		return nil, false, err
	}
	for n := range 1 + maxRedirects {
		req, err := gc.NewRequest(r.method, to, r.body)
		if err != nil {
			return nil, false, fmt.Errorf("make the request: %w", err)
		}
		if r.accept != "" {
			req.Header.Set("Accept", r.accept)
		}
		if r.pinned {
			req.Header.Set("Cache-Control", "no-store") // api.pinned caches it
		}
		resp, err := client.Do(req.WithContext(ctx))
		if err != nil {
			return nil, false, err
		}
		next := movedTo(resp)
		if next == nil {
			return resp, n > 0, nil
		}
		resp.Body.Close()
		if r.stays && !strings.HasPrefix(strings.TrimPrefix(next.Path, gc.BaseURL.Path), fmt.Sprintf("repositories/%d/", t.RepoID)) {
			return nil, false, &ports.HostError{Op: r.op, Kind: ports.HostNotFound, Status: resp.StatusCode, Err: errElsewhere}
		}
		if next.Host != gc.BaseURL.Host || next.Scheme != gc.BaseURL.Scheme {
			return nil, false, &ports.HostError{
				Op: r.op, Kind: ports.HostInvalid, Status: resp.StatusCode, Err: fmt.Errorf("redirected to another host, %s", clean(next.Host)),
			}
		}
		to = next.String()
	}
	return nil, false, &ports.HostError{Op: r.op, Kind: ports.HostInvalid, Err: fmt.Errorf("redirected more than %d times", maxRedirects)}
}

var errElsewhere = errors.New("it moved to another repository")

// movedTo returns a redirect's destination, or nil. For a repository's old name
// GitHub answers 301, or 307 if the request is a write.
func movedTo(resp *http.Response) *url.URL {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		if to, err := resp.Location(); err == nil {
			return to
		}
	}
	return nil
}

// doPinned makes a call whose answer never changes, because SHAs determine it. An
// answer that was read completely and is valid is cached for the client.
func (c *api) doPinned(ctx context.Context, t ports.Target, r request, read reader) (links, error) {
	path, err := r.url()
	if err != nil {
		return links{}, hostError(r.op, err)
	}
	key := fmt.Sprintf("%s %s %d %s", clientKey(r.scope, t), r.accept, r.first, path)
	if text, ok := c.pinned.Get(key); ok {
		return links{}, hostError(r.op, read(bytes.NewReader(text)))
	}
	var text []byte
	_, err = c.ask(ctx, t, r, func(body io.Reader) (err error) {
		if r.first > 0 {
			body = io.LimitReader(body, r.first)
		}
		if text, err = io.ReadAll(body); err != nil {
			return fmt.Errorf("read the answer: %w", err)
		}
		return read(bytes.NewReader(text))
	})
	if err == nil {
		c.pinned.Add(key, text, int64(len(text)))
	}
	return links{}, err
}
