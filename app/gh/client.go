package gh

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/google/go-github/v60/github"
	"github.com/gregjones/httpcache"
	"github.com/palantir/go-githubapp/githubapp"
	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/review"
)

// Config is what a Client is made from. AppID and PrivateKey are needed.
type Config struct {
	AppID      int64
	PrivateKey []byte // PEM, as GitHub hands it out
	// V3URL and V4URL are the roots of the REST and GraphQL APIs. Default:
	// those of github.com.
	V3URL, V4URL string
	// Transport carries the requests. Default: one of its own.
	Transport http.RoundTripper
	UserAgent string // default "reviewgate"
	Log       zerolog.Logger
	// OnCall, if set, is told of every request that went over the network. It
	// is called from many goroutines.
	OnCall func(CallInfo)
	// Timeout bounds a single request, its body included. Default 30 s.
	Timeout time.Duration
}

// CallInfo tells of one request to GitHub.
type CallInfo struct {
	Route         string // method and path template, such as "GET /repos/{owner}/{repo}/pulls/{pull_number}"
	Status        int    // 0 if there was no answer
	Duration      time.Duration
	Installation  int64
	RateRemaining int // -1 if the answer didn't say
}

const (
	// defaultTimeout is far above what GitHub takes: it gives up on a request
	// of its own after 10 s.
	defaultTimeout = 30 * time.Second
	// maxInFlight is half of the 100 concurrent requests that GitHub allows
	// an app, which leaves room for a second replica.
	maxInFlight = 50
	// maxClients bounds the repositories whose token is kept. One takes a few
	// kilobytes.
	maxClients = 1000
	// maxHTTPCache and maxBlobs are in bytes.
	maxHTTPCache = 16 << 20
	maxBlobs     = 8 << 20
)

// Client is GitHub as the use cases see it. It may be used from any number of
// goroutines.
type Client struct {
	appID    int64
	timeout  time.Duration
	wire     *wire
	creator  githubapp.ClientCreator
	clients  *lru[*github.Client]
	blobs    *lru[[]byte]
	inFlight chan struct{}

	mu            sync.Mutex
	installations map[int64]*installation
}

var _ review.GitHub = (*Client)(nil)

// installation is what calls on behalf of one installation share.
type installation struct {
	id     int64
	writes chan struct{} // held during a write
	limits limits
}

// New returns a Client. It checks the settings, but asks GitHub for nothing.
func New(c Config) (*Client, error) {
	if c.AppID <= 0 {
		return nil, errors.New("the App ID must be positive")
	}
	api, err := apiRoot(c.V3URL)
	if err != nil {
		return nil, err
	}
	if c.V4URL == "" {
		c.V4URL = "https://api.github.com/graphql"
	}
	if c.UserAgent == "" {
		c.UserAgent = "reviewgate"
	}
	if c.Timeout <= 0 {
		c.Timeout = defaultTimeout
	}
	wire := newWire(c, api)
	cache := &httpCache{newLRU[[]byte](maxHTTPCache)}
	creator := githubapp.NewClientCreator(api.String(), c.V4URL, c.AppID, c.PrivateKey,
		githubapp.WithClientUserAgent(c.UserAgent),
		githubapp.WithClientMiddleware(obeyLimits),
		githubapp.WithClientCaching(true, func() httpcache.Cache { return cache }),
		githubapp.WithTransport(wire),
	)
	if _, err := creator.NewAppClient(); err != nil {
		return nil, fmt.Errorf("read the App's private key, which must be an RSA key in PEM format: %w", err)
	}
	return &Client{
		appID:         c.AppID,
		timeout:       c.Timeout,
		wire:          wire,
		creator:       creator,
		clients:       newLRU[*github.Client](maxClients),
		blobs:         newLRU[[]byte](maxBlobs),
		inFlight:      make(chan struct{}, maxInFlight),
		installations: map[int64]*installation{},
	}, nil
}

// Close closes the connections that no call is using.
func (c *Client) Close() {
	(&http.Client{Transport: c.wire.next}).CloseIdleConnections()
}

func apiRoot(s string) (*url.URL, error) {
	if s == "" {
		s = "https://api.github.com/"
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, fmt.Errorf("the API URL %q must be an absolute http or https URL", s)
	}
	if !strings.HasSuffix(u.Path, "/") {
		u.Path += "/"
	}
	return u, nil
}

// clientKey names the client of a target's repository.
func clientKey(t review.Target) string {
	return fmt.Sprintf("%d/%d", t.Installation, t.RepoID)
}

// client returns the go-github client whose token is for the target's
// repository.
func (c *Client) client(t review.Target) (*github.Client, error) {
	// Held while a client is made, or the reads that begin a review side by
	// side would each fetch a token.
	c.mu.Lock()
	defer c.mu.Unlock()
	if gc, ok := c.clients.get(clientKey(t)); ok {
		return gc, nil
	}
	gc, err := c.creator.NewInstallationClient(t.Installation)
	if err != nil {
		return nil, fmt.Errorf("make a client for installation %d: %w", t.Installation, err)
	}
	c.clients.add(clientKey(t), gc, 1)
	return gc, nil
}

func (c *Client) installation(id int64) *installation {
	c.mu.Lock()
	defer c.mu.Unlock()
	inst, ok := c.installations[id]
	if !ok {
		inst = &installation{id: id, writes: make(chan struct{}, 1)}
		c.installations[id] = inst
	}
	return inst
}

// acquire takes a slot, or gives up with ctx.
func acquire(ctx context.Context, slots chan struct{}) error {
	select {
	case slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
