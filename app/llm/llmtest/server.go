package llmtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/reviewgate/reviewgate/config"
)

// Options configure a Server.
type Options struct {
	// Key is the key that requests must have. The default is the stand-in's own.
	Key string
	// Keyless accepts requests without a key, like a local server.
	Keyless bool
	// Models are the existing models, "stand-in" by default.
	Models []string
	// Lacks names parameters that the server does not know, like older servers and those of
	// others: max_completion_tokens, json_schema, json_object, response_format,
	// output_config.
	Lacks []string
}

// Server is the stand-in. All its methods may be called from any goroutine.
type Server struct {
	// URL is the server's root, without a trailing slash.
	URL string

	opts   Options
	answer func(*Request) Reply
	http   *http.Server
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu       sync.Mutex
	sent     bytes.Buffer
	requests []*Request
	mistakes []string
	cached   map[string]bool // starts of questions that a cache would have
}

// New starts a Server. answer answers its questions, from several goroutines at once. The
// caller must Close the Server.
func New(opts Options, answer func(*Request) Reply) (*Server, error) {
	if opts.Key == "" {
		opts.Key = "sk-stand-in-0123456789abcdef"
	}
	if opts.Models == nil {
		opts.Models = []string{"stand-in"}
	}
	var config net.ListenConfig
	listener, err := config.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	s := &Server{URL: "http://" + listener.Addr().String(), opts: opts, answer: answer, cached: map[string]bool{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.http = &http.Server{Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: 10 * time.Second}
	s.wg.Go(func() {
		// Serve ends with ErrServerClosed once Close is called. A listener that breaks before
		// that shows at the first request.
		_ = s.http.Serve(ear{Listener: listener, s: s})
	})
	return s, nil
}

// Close ends the Server and releases the requests that it holds.
func (s *Server) Close() error {
	s.cancel()
	err := s.http.Close()
	s.wg.Wait()
	return err
}

// TB is what Start needs of a *testing.T, *testing.B or *rapid.T.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
	Cleanup(func())
}

// Start starts a Server that ends with the test.
func Start(t TB, opts Options, answer func(*Request) Reply) *Server {
	t.Helper()
	s, err := New(opts, answer)
	if err != nil {
		t.Fatalf("start the stand-in for models: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close the stand-in for models: %v", err)
		}
	})
	return s
}

// Always answers every question with reply.
func Always(reply Reply) func(*Request) Reply {
	return func(*Request) Reply { return reply }
}

// Key returns the key that requests must have.
func (s *Server) Key() string { return s.opts.Key }

// Endpoint returns the first of the server's models with one of its APIs, under the model's
// name.
func (s *Server) Endpoint(api string) config.ModelEndpoint {
	e := config.ModelEndpoint{Name: s.opts.Models[0], API: api, Model: s.opts.Models[0], BaseURL: s.URL}
	if api == config.APIOpenAI {
		e.BaseURL += "/v1"
	}
	return e
}

// Requests returns the accepted requests in the order of their arrival.
func (s *Server) Requests() []*Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Mistakes returns the reason for each refused request.
func (s *Server) Mistakes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.mistakes)
}

// Sent returns every byte that was received on any connection.
func (s *Server) Sent() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Clone(s.sent.Bytes())
}

// ear and earConn record what is read.
type ear struct {
	net.Listener
	s *Server
}

func (e ear) Accept() (net.Conn, error) {
	c, err := e.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return earConn{Conn: c, s: e.s}, nil
}

type earConn struct {
	net.Conn
	s *Server
}

func (c earConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.sent.Write(p[:n])
	return n, err
}

// maxQuestion is the largest request, as on Anthropic's API.
const maxQuestion = 32 << 20

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	protocol, ok := protocols[r.URL.Path]
	if !ok {
		s.mu.Lock()
		s.mistakes = append(s.mistakes, "no such path: "+r.URL.Path)
		s.mu.Unlock()
		http.NotFound(w, r)
		return
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxQuestion))
	var tooLarge *http.MaxBytesError
	var q *Request
	var refused *Fault
	switch {
	case errors.As(err, &tooLarge):
		refused = protocol.tooLarge()
	case err != nil:
		return // the client has gone
	case r.Method != http.MethodPost:
		refused = &Fault{Status: http.StatusMethodNotAllowed, Type: "invalid_request_error", Message: "Method Not Allowed"}
	default:
		q, refused = s.take(protocol, r, text)
	}
	if refused != nil {
		s.mu.Lock()
		s.mistakes = append(s.mistakes, refused.Message)
		s.mu.Unlock()
		s.write(w, r, protocol.fault(*refused))
		return
	}
	s.reply(w, r, protocol, q)
}

// take reads a request, and records it if it is a valid question.
func (s *Server) take(p protocol, r *http.Request, text []byte) (*Request, *Fault) {
	if refused := p.authorise(r.Header, s.opts); refused != nil {
		return nil, refused
	}
	q := &Request{API: p.name(), Header: r.Header.Clone(), Body: text}
	if refused := p.read(q, s.opts); refused != nil {
		return nil, refused
	}
	if !slices.Contains(s.opts.Models, q.Model) {
		return nil, p.noModel(q.Model)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, q)
	q.N = len(s.requests)
	if q.Caches {
		for _, part := range []string{q.System, q.System + q.Shared} {
			if s.cached[part] {
				q.cached = len(part)
			}
		}
		s.cached[q.System], s.cached[q.System+q.Shared] = true, true
	}
	return q, nil
}

func (s *Server) reply(w http.ResponseWriter, r *http.Request, p protocol, q *Request) {
	reply := s.answer(q)
	switch {
	case reply.drop:
		panic(http.ErrAbortHandler)
	case reply.slow:
		s.wait(r)
		panic(http.ErrAbortHandler)
	case reply.fault != nil:
		o := p.fault(*reply.fault)
		maps.Copy(o.header, reply.header)
		s.write(w, r, o)
	default:
		o := p.render(q, reply)
		if reply.raw != nil {
			o = *reply.raw
		}
		o.half, o.stall, o.drip = reply.half, reply.stall, reply.drip
		s.write(w, r, o)
	}
}

// wait holds a request until the client goes or the server ends.
func (s *Server) wait(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-s.ctx.Done():
	}
}

// output is an answer in the form in which it is sent.
type output struct {
	status int
	header http.Header
	body   []byte
	half   bool // send half of it, and then drop the connection
	stall  bool // send half of it, and then nothing
	drip   bool // send only empty lines without end
}

func (s *Server) write(w http.ResponseWriter, r *http.Request, o output) {
	maps.Copy(w.Header(), o.header)
	w.WriteHeader(o.status)
	if o.drip {
		s.drip(w, r)
	}
	if !o.half && !o.stall {
		_, _ = w.Write(o.body) // the client may have gone
		return
	}
	_, _ = w.Write(o.body[:len(o.body)/2])
	_ = http.NewResponseController(w).Flush()
	if o.stall {
		s.wait(r)
	}
	panic(http.ErrAbortHandler)
}

// drip sends empty lines until the client goes or the server ends.
func (s *Server) drip(w http.ResponseWriter, r *http.Request) {
	drops := time.NewTicker(5 * time.Millisecond)
	defer drops.Stop()
	for {
		_, _ = io.WriteString(w, "\n") // the context ends when the client goes
		_ = http.NewResponseController(w).Flush()
		select {
		case <-drops.C:
		case <-r.Context().Done():
			panic(http.ErrAbortHandler)
		case <-s.ctx.Done():
			panic(http.ErrAbortHandler)
		}
	}
}
