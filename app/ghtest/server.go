package ghtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// Options configure a Server. The zero value is a usable GitHub that sends no
// webhooks.
type Options struct {
	// Addr is the address to listen on. The default is a free loopback port.
	Addr string
	// WebhookURL and WebhookSecret are the App's. Without a URL, deliveries are recorded as
	// failed and not sent. See Webhook.Set.
	WebhookURL    string
	WebhookSecret string
	// WebhookTimeout is how long the App may take to answer a delivery. The default is ten
	// seconds, like GitHub's.
	WebhookTimeout time.Duration
	// AppSlug names the App. The default is "reviewgate". Its bot's name is slug + "[bot]".
	AppSlug string
	// Permissions are granted to every installation. The default is DefaultPermissions.
	Permissions map[string]string
	// Events are the webhook events that the App has subscribed to. The default is
	// DefaultEvents. Events that need no subscription are always sent.
	Events []string
	// Limits are GitHub's own if nil.
	Limits *Limits
	// Now is the clock of tokens, rate limits and timestamps. The default is time.Now.
	// Commits have their own dates, so that their SHAs are the same in every run.
	Now func() time.Time
	// Fail is called when it is useless to continue: git fails, or the script names an
	// unknown object. It must not return. By default it panics. Start sets it to the test's
	// Fatalf.
	Fail func(format string, args ...any)
}

// DefaultPermissions returns the permissions that reviewgate requests when it is installed.
func DefaultPermissions() map[string]string {
	return map[string]string{
		"checks":        "write",
		"contents":      "read",
		"issues":        "read",
		"merge_queues":  "read",
		"metadata":      "read",
		"pull_requests": "write",
		"statuses":      "write",
	}
}

// DefaultEvents returns the events reviewgate subscribes to.
func DefaultEvents() []string {
	return []string{"check_run", "issue_comment", "merge_group", "pull_request", "pull_request_review", "pull_request_review_comment", "push", "repository", "repository_dispatch"}
}

// Server is the stand-in. All its methods, and the methods of the objects that it returns,
// may be called from any goroutine.
type Server struct {
	// URL is the API's root, without a trailing slash. The API also answers at URL/api/v3,
	// like GitHub Enterprise Server.
	URL string
	// Calls is the log of requests.
	Calls *CallLog
	// Webhook delivers events to the App.
	Webhook *Webhook

	render  *renderer
	limiter *limiter

	opts   Options
	limits Limits
	dir    string
	ctx    context.Context
	cancel context.CancelFunc
	http   *http.Server
	wg     sync.WaitGroup

	mu      sync.Mutex
	changed chan struct{} // closed and replaced at every change
	active  int           // requests being answered
	state   state
}

// New starts a Server. The caller must Close it. It fails if it can't find git or can't
// listen.
func New(opts Options) (*Server, error) {
	if _, err := findGit(); err != nil {
		return nil, fmt.Errorf("find git, which keeps the repositories: %w", err)
	}
	opts = opts.withDefaults()
	dir, err := os.MkdirTemp("", "ghtest-")
	if err != nil {
		return nil, fmt.Errorf("make a directory for repositories: %w", err)
	}
	s := &Server{opts: opts, limits: *opts.Limits, dir: dir, changed: make(chan struct{})}
	s.Calls, s.Webhook = &CallLog{s: s}, newWebhook(s)
	s.render, s.limiter = &renderer{s: s}, &limiter{s: s, rates: map[string]*rate{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if err := s.start(); err != nil {
		s.cancel()
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

func (o Options) withDefaults() Options {
	if o.Addr == "" {
		o.Addr = "127.0.0.1:0"
	}
	if o.WebhookTimeout == 0 {
		o.WebhookTimeout = 10 * time.Second
	}
	if o.AppSlug == "" {
		o.AppSlug = "reviewgate"
	}
	if o.Permissions == nil {
		o.Permissions = DefaultPermissions()
	}
	if o.Events == nil {
		o.Events = DefaultEvents()
	}
	if o.Limits == nil {
		l := GitHubLimits()
		o.Limits = &l
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Fail == nil {
		o.Fail = func(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
	}
	return o
}

func (s *Server) start() error {
	var config net.ListenConfig
	listener, err := config.Listen(s.ctx, "tcp", s.opts.Addr)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	s.URL = "http://" + listener.Addr().String()
	if err := s.state.init(s); err != nil {
		return errors.Join(err, listener.Close())
	}
	s.http = &http.Server{Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: 10 * time.Second}
	s.wg.Go(func() {
		// Serve ends with ErrServerClosed once Close is called. A listener that breaks before
		// that shows at the first request.
		_ = s.http.Serve(listener)
	})
	s.wg.Go(s.Webhook.deliverQueued)
	return nil
}

// Close ends the Server. It closes connections, releases requests that hooks hold by ending
// their contexts, and deletes repositories.
func (s *Server) Close() error {
	// Connections come first, so that a released request isn't answered.
	err := s.http.Close()
	s.cancel()
	s.Webhook.client.CloseIdleConnections()
	s.wg.Wait()
	return errors.Join(err, s.drain(), os.RemoveAll(s.dir))
}

// drain waits until no request is in progress.
func (s *Server) drain() error {
	patience := time.NewTimer(5 * time.Second)
	defer patience.Stop()
	for {
		s.mu.Lock()
		active, changed := s.active, s.changed
		s.mu.Unlock()
		if active == 0 {
			return nil
		}
		select {
		case <-changed:
		case <-patience.C:
			return errors.New("a hook holds a request and doesn't watch its context")
		}
	}
}

// TB is what Start needs of a *testing.T, *testing.B or *rapid.T.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
	Cleanup(func())
}

// Start starts a Server that ends with the test.
func Start(t TB, opts Options) *Server {
	t.Helper()
	if opts.Fail == nil {
		opts.Fail = t.Fatalf
	}
	s, err := New(opts)
	if err != nil {
		t.Fatalf("start the GitHub stand-in: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close the GitHub stand-in: %v", err)
		}
	})
	return s
}

// WaitFor returns once cond is true. It calls cond first and then after every change of the
// state, in the caller's goroutine. cond may call any method that only reads. The error is
// ctx's, or says that the Server was closed.
func (s *Server) WaitFor(ctx context.Context, cond func() bool) error {
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		// A change after this line closes the channel taken above, so that no change between
		// the check and the wait is missed.
		if cond() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait for the stand-in's state: %w", ctx.Err())
		case <-s.ctx.Done():
			return errors.New("wait for the stand-in's state: server closed")
		}
	}
}

// notify wakes the waiting goroutines. The lock must be held.
func (s *Server) notify() {
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *Server) now() time.Time { return s.opts.Now().UTC() }
