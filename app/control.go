package app

import (
	"bytes"
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

// Only one process can use a SQLite file. A command that runs beside the server asks the
// server instead, through a socket beside the file. Only the file's owner can open the
// socket.

// socketOf returns the path of the socket through which commands reach the server that
// uses a SQLite database. A PostgreSQL database needs no socket: commands connect to it
// directly.
func socketOf(databaseURL string) (path string, ok bool) {
	file, ok := strings.CutPrefix(databaseURL, "sqlite://")
	return file + ".sock", ok
}

const (
	// controlTimeout bounds one request, which waits for GitHub once.
	controlTimeout = time.Minute
	// maxControl bounds a request, and maxAnswer the server's answer, in bytes.
	maxControl = 64 << 10
	maxAnswer  = 4 << 20
	// pathBackfill accepts a backfillAsk.
	pathBackfill = "/backfill"
)

// maxSocketPath is a length that every system accepts for a socket's address, in bytes.
// Linux accepts 107, other systems 103.
const maxSocketPath = 100

// shortPath returns a path to a socket that is short enough for an address. If the socket's
// own path is too long, shortPath opens its directory and returns a path through /proc. On
// systems without /proc the use of that path fails. Call done after the use.
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
	Shared bool // other open pull requests have the same head
	Dry    bool // answer, but request no review
}

// backfillAnswer is the answer to a backfillAsk. Error is the reason for a failure.
type backfillAnswer struct {
	Asked bool
	Error string
	// Kind is the kind of GitHub's error; it is empty for other errors. RetryAfter is how
	// long to wait before the next call of GitHub.
	Kind       ports.HostKind
	RetryAfter time.Duration
}

// control is the server's end of the socket.
type control struct {
	path     string
	listener net.Listener
	server   *http.Server
}

// listenControl creates the socket. It replaces a socket that a killed server left behind:
// this server holds the lock on the database, so no other server listens there.
func listenControl(ctx context.Context, path string, handlers map[string]http.HandlerFunc) (*control, error) {
	// The socket is created in a private directory, so that others can never open it.
	dir := path + ".new"
	if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700)); err != nil {
		return nil, fmt.Errorf("make the socket's directory: %w", err)
	}
	defer os.RemoveAll(dir)
	socket := filepath.Join(dir, "s")
	short, done, err := shortPath(socket)
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
	if err := errors.Join(os.Chmod(socket, 0o600), os.Rename(socket, path)); err != nil {
		l.Close()
		return nil, fmt.Errorf("make the socket: %w", err)
	}
	mux := http.NewServeMux()
	for path, handle := range handlers {
		mux.HandleFunc("POST "+path, handle)
	}
	return &control{path: path, listener: l, server: &http.Server{
		Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: controlTimeout + 10*time.Second,
	}}, nil
}

// serve answers until close is called.
func (c *control) serve() { _ = c.server.Serve(c.listener) } // Serve ends with the listener

func (c *control) close() {
	c.server.Close()
	c.listener.Close() // closed already if serve was called
	os.Remove(c.path)
}

// backfill answers one backfillAsk.
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
	a.tell(w, answer)
}

// tell answers a command.
func (a *App) tell(w http.ResponseWriter, answer any) {
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
		return fmt.Errorf("read the request, which may come from another version of reviewgate: %w", err)
	}
	p := ask.Pull
	if p.Kind != ports.TargetPull || p.Installation <= 0 || p.RepoID <= 0 || p.Number <= 0 || p.Owner == "" || p.Name == "" || !headPattern.MatchString(p.HeadSHA) {
		return errors.New("what is asked names no pull request")
	}
	return nil
}

// controlClient asks a server through its socket.
type controlClient struct{ http *http.Client }

// dialControl connects to the server that listens at path. ok is false if no server
// listens there.
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

// Backfill asks the server to request the review.
func (c *controlClient) Backfill(ctx context.Context, p ports.OpenPull, shared, dry bool) (asked bool, err error) {
	var answer backfillAnswer
	if err := c.ask(ctx, pathBackfill, backfillAsk{Pull: p, Shared: shared, Dry: dry}, &answer); err != nil {
		return false, err
	}
	switch {
	case answer.Kind != "":
		return false, &ports.HostError{Op: "ask the server", Kind: answer.Kind, RetryAfter: answer.RetryAfter, Err: errors.New(answer.Error)}
	case answer.Error != "":
		return false, errors.New(answer.Error)
	}
	return answer.Asked, nil
}

// ask sends a command's request to the server, and decodes the answer.
func (c *controlClient) ask(ctx context.Context, path string, ask, answer any) error {
	text, err := json.Marshal(ask)
	if err != nil {
		return fmt.Errorf("write the request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://server"+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("ask the server: %w", err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(answer); err != nil || resp.StatusCode != http.StatusOK {
		return errors.Join(fmt.Errorf("the server answered %s", resp.Status), err)
	}
	return nil
}
