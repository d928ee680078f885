package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
)

// A SQLite file has one process. What another one wants of it, a command at the
// side of the server, it asks of the server through a socket beside the file,
// which only the file's owner can open.

// socketOf is where the server of a database takes what commands ask of it. A
// database on a server of its own has none: there commands go themselves.
func socketOf(databaseURL string) (path string, ok bool) {
	file, ok := strings.CutPrefix(databaseURL, "sqlite://")
	return file + ".sock", ok
}

const (
	// controlTimeout bounds one ask, which waits for GitHub once.
	controlTimeout = time.Minute
	// maxControl bounds an ask and its answer, in bytes.
	maxControl = 64 << 10
	// pathBackfill takes backfillAsk.
	pathBackfill = "/backfill"
)

// maxSocketPath is what every system takes for a socket's address, in bytes:
// Linux 107, others 103.
const maxSocketPath = 100

// shortPath is a path by which this process reaches a socket whose own is too
// long for an address: through its directory, opened. Systems without /proc have
// none, and what is tried then says so. Call done when the socket was reached.
func shortPath(path string) (short string, done func(), err error) {
	if len(path) <= maxSocketPath {
		return path, func() {}, nil
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return "", nil, fmt.Errorf("open the socket's directory: %w", err)
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(path)), func() { dir.Close() }, nil
}

func dialSocket(ctx context.Context, path string) (net.Conn, error) {
	short, done, err := shortPath(path)
	if err != nil {
		return nil, err
	}
	defer done()
	var d net.Dialer
	return d.DialContext(ctx, "unix", short)
}

// backfillAsk is an open pull request that may need a review.
type backfillAsk struct {
	Pull   ports.OpenPull
	Shared bool // other open pull requests have its head
	Dry    bool // only tell
}

// backfillAnswer is what became of it. Error is why nothing did.
type backfillAnswer struct {
	Asked bool
	Error string
	// Kind is of trouble with GitHub, empty for other; RetryAfter is how long it
	// is not to be asked.
	Kind       ports.HostKind
	RetryAfter time.Duration
}

// control is the server's end of the socket.
type control struct {
	path     string
	listener net.Listener
	server   *http.Server
}

// listenControl makes the socket. One that a killed server left behind is
// replaced: the lock on the database says that there is no other.
func listenControl(ctx context.Context, path string, backfill http.HandlerFunc) (*control, error) {
	// Made where nobody else can go, so that it is never open to others.
	dir := path + ".new"
	if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700)); err != nil {
		return nil, fmt.Errorf("make the socket's directory: %w", err)
	}
	defer os.RemoveAll(dir)
	made := filepath.Join(dir, "s")
	short, done, err := shortPath(made)
	if err != nil {
		return nil, err
	}
	defer done()
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "unix", short)
	if err != nil {
		return nil, fmt.Errorf("listen on a socket: %w", err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := errors.Join(os.Chmod(made, 0o600), os.Rename(made, path)); err != nil {
		l.Close()
		return nil, fmt.Errorf("make the socket: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+pathBackfill, backfill)
	return &control{path: path, listener: l, server: &http.Server{
		Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: controlTimeout + 10*time.Second,
	}}, nil
}

// serve answers until close is called.
func (c *control) serve() { _ = c.server.Serve(c.listener) } // it ends with the listener

func (c *control) close() {
	c.server.Close()
	c.listener.Close() // closed already if it served
	os.Remove(c.path)
}

// backfill answers one ask.
func (a *App) backfill(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), controlTimeout)
	defer cancel()
	var ask backfillAsk
	err := decodeAsk(http.MaxBytesReader(w, r.Body, maxControl), &ask)
	var answer backfillAnswer
	if err == nil {
		answer.Asked, err = a.service.Backfill(ctx, ask.Pull, ask.Shared, ask.Dry)
	}
	if err != nil {
		answer.Error = err.Error()
		var host *ports.HostError
		if errors.As(err, &host) {
			answer.Kind, answer.RetryAfter = host.Kind, host.RetryAfter
		}
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		a.options.Log.Warn().Err(err).Msg("a command was not answered")
	}
}

var headPattern = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

func decodeAsk(r io.Reader, ask *backfillAsk) error {
	dec := json.NewDecoder(r)
	dec.DisallowUnknownFields()
	if err := dec.Decode(ask); err != nil {
		return fmt.Errorf("read what is asked, by another version of reviewgate perhaps: %w", err)
	}
	p := ask.Pull
	if p.Kind != ports.TargetPull || p.Installation <= 0 || p.RepoID <= 0 || p.Number <= 0 || p.Owner == "" || p.Name == "" || !headPattern.MatchString(p.HeadSHA) {
		return errors.New("what is asked names no pull request")
	}
	return nil
}

// controlClient asks a server through its socket.
type controlClient struct{ http *http.Client }

// dialControl connects to the server that listens at path. ok is false where
// none does.
func dialControl(ctx context.Context, path string) (_ *controlClient, ok bool, err error) {
	conn, err := dialSocket(ctx, path)
	switch {
	case errors.Is(err, os.ErrPermission):
		return nil, false, fmt.Errorf("a server uses the database, and its socket %s may only be opened by the user that runs it: run this command as that user: %w", path, err)
	case err != nil:
		return nil, false, nil //nolint:nilerr // nobody listens: the database's lock tells whether a server runs
	}
	conn.Close()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dialSocket(ctx, path) }}
	return &controlClient{&http.Client{Transport: transport, Timeout: controlTimeout + 20*time.Second}}, true, nil
}

func (c *controlClient) close() { c.http.CloseIdleConnections() }

// Backfill has the server do it.
func (c *controlClient) Backfill(ctx context.Context, p ports.OpenPull, shared, dry bool) (asked bool, err error) {
	text, err := json.Marshal(backfillAsk{Pull: p, Shared: shared, Dry: dry})
	if err != nil {
		return false, fmt.Errorf("write what is asked: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://server"+pathBackfill, strings.NewReader(string(text)))
	if err != nil {
		return false, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return false, fmt.Errorf("ask the server: %w", err)
	}
	defer resp.Body.Close()
	var answer backfillAnswer
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxControl)).Decode(&answer); err != nil || resp.StatusCode != http.StatusOK {
		return false, errors.Join(fmt.Errorf("the server answered %s", resp.Status), err)
	}
	switch {
	case answer.Kind != "":
		return false, &ports.HostError{Op: "ask the server", Kind: answer.Kind, RetryAfter: answer.RetryAfter, Err: errors.New(answer.Error)}
	case answer.Error != "":
		return false, errors.New(answer.Error)
	}
	return answer.Asked, nil
}
