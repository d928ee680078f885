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

	"github.com/reviewgate/reviewgate/app/ports"
)

// Config is what a Client is made from. AppID and PrivateKey are needed.
type Config struct {
	AppID      int64
	PrivateKey []byte // PEM, as GitHub hands it out
	// V3URL and V4URL are the roots of the REST and GraphQL APIs. Default:
	// those of github.com.
	V3URL, V4URL string
	// WebURL is where people open that GitHub. Git finds the repositories there if
	// V3URL is a proxy's. May be empty.
	WebURL string
	// Transport carries the requests. Default: one of its own.
	Transport http.RoundTripper
	UserAgent string // default "reviewgate"
	Log       zerolog.Logger
	// OnCall, if set, is told of every request that went over the network. It
	// is called from many goroutines, with the context of what asked.
	OnCall func(context.Context, CallInfo)
	// OnRefused, if set, is told until when GitHub refuses an installation's
	// calls for a rate limit, or for 0 the App's own, whenever that is later
	// than was known. The call that was refused returns after it.
	OnRefused func(installation int64, until time.Time)
	// Timeout bounds a single request, its body included. Default 30 s.
	Timeout time.Duration
	// CallsPerReview bounds the requests that one Source makes. Default 300.
	CallsPerReview int
	// OrganisationAge is for how long an organisation's config is used without
	// looking again. Default a minute.
	OrganisationAge time.Duration
}

// CallInfo tells of one request to GitHub.
type CallInfo struct {
	Route         string        // method and path template, such as "GET /repos/{owner}/{repo}/pulls/{pull_number}"
	Status        int           // 0 if there was no answer; 304 where the HTTP cache had it
	Duration      time.Duration // until the answer's body was read
	Installation  int64         // whose rate limit counts it; 0 is the App, which asks for the tokens too
	RateRemaining int           // -1 if the answer didn't say
	RateLimit     int           // calls of REST in each window, 0 if the answer didn't say
	RateReset     time.Time     // when the window ends, by our clock; zero if the answer didn't say
	Try           int           // from 1; more than 1 is the repetition of a read
	Date          time.Time     // when it answered by its own clock, in whole seconds; zero if it didn't say
}

const (
	// defaultTimeout is far above what GitHub takes: it gives up on a request
	// of its own after 10 s.
	defaultTimeout = 30 * time.Second
	// maxInFlight is half of the 100 concurrent requests that GitHub allows
	// an app, which leaves room for a second replica.
	maxInFlight = 50
	// maxFetches bounds the changes that git fetches at once, which take memory
	// and disk.
	maxFetches = 2
	// maxClients bounds the repositories whose token is kept. One takes a few
	// kilobytes.
	maxClients = 1000
	// maxHTTPCache and maxPinned are in bytes. Pinned answers have room for the
	// largest config file, of which an eighth of all must do.
	maxHTTPCache = 16 << 20
	maxPinned    = 8 * maxConfigFile
	// defaultCallsPerReview is several times what the largest pull request takes: 30
	// pages of files, 10 of commits, 8 contents or a fetch, and what agents read.
	defaultCallsPerReview = 300
)

// Client is GitHub as the use cases see it. It may be used from any number of
// goroutines.
type Client struct {
	ports.Host
	*api
}

// api is what all roles of the client work with.
type api struct {
	appID           int64
	timeout         time.Duration
	callsPerReview  int
	organisationAge time.Duration
	onRefused       func(int64, time.Time)
	wire            *wire
	creator         githubapp.ClientCreator
	clients         *lru[*github.Client]
	pinned          *lru[[]byte]
	organisations   *organisations
	inFlight        chan struct{}
	git             *url.URL      // root of the repositories, nil if not known
	fetching        chan struct{} // held while git fetches
	diffing         chan struct{} // held while contents are compared
	now             func() time.Time

	mu            sync.Mutex
	installations map[int64]*installation
}

// The roles of ports.Host.
type (
	pullReader         struct{ *api }
	configReader       struct{ *api }
	checkWriter        struct{ *api }
	commentWriter      struct{ *api }
	issueWriter        struct{ *api }
	labelWriter        struct{ *api }
	reviewWriter       struct{ *api }
	peopleReader       struct{ *api }
	deliveryLog        struct{ *api }
	installationReader struct{ *api }
)

func newClient(a *api) *Client {
	return &Client{
		api: a,
		Host: ports.Host{
			PullReader:         pullReader{a},
			ConfigReader:       configReader{a},
			CheckWriter:        checkWriter{a},
			CommentWriter:      commentWriter{a},
			IssueWriter:        issueWriter{a},
			LabelWriter:        labelWriter{a},
			ReviewWriter:       reviewWriter{a},
			PeopleReader:       peopleReader{a},
			DeliveryLog:        deliveryLog{a},
			InstallationReader: installationReader{a},
		},
	}
}

// installation is what calls on behalf of one installation share, or for 0
// those of the App itself.
type installation struct {
	writes chan struct{} // held during a write
	limits limits
}

// New returns a Client. It checks the settings, but asks GitHub for nothing.
func New(c Config) (*Client, error) {
	if c.AppID <= 0 {
		return nil, errors.New("the App ID must be positive")
	}
	root, err := apiRoot(c.V3URL)
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
	if c.CallsPerReview <= 0 {
		c.CallsPerReview = defaultCallsPerReview
	}
	if c.OrganisationAge <= 0 {
		c.OrganisationAge = organisationAge
	}
	wire := newWire(c, root)
	cache := &httpCache{newLRU[[]byte](maxHTTPCache)}
	creator := githubapp.NewClientCreator(root.String(), c.V4URL, c.AppID, c.PrivateKey,
		githubapp.WithClientUserAgent(c.UserAgent),
		githubapp.WithClientCaching(true, func() httpcache.Cache { return cache }),
		githubapp.WithTransport(wire),
	)
	if _, err := creator.NewAppClient(); err != nil {
		return nil, fmt.Errorf("read the App's private key, which must be an RSA key in PEM format: %w", err)
	}
	return newClient(&api{
		appID:           c.AppID,
		timeout:         c.Timeout,
		callsPerReview:  c.CallsPerReview,
		organisationAge: c.OrganisationAge,
		onRefused:       c.OnRefused,
		wire:            wire,
		creator:         creator,
		clients:         newLRU[*github.Client](maxClients),
		pinned:          newLRU[[]byte](maxPinned),
		organisations:   newOrganisations(),
		inFlight:        make(chan struct{}, maxInFlight),
		git:             gitRoot(root, c.WebURL),
		fetching:        make(chan struct{}, maxFetches),
		diffing:         make(chan struct{}, 1),
		now:             time.Now,
		installations:   map[int64]*installation{},
	}), nil
}

// Refuse tells that GitHub refuses an installation's calls until then, or for 0
// the App's own, as a process before this one or beside it was told. It is not
// asked before.
func (c *api) Refuse(installation int64, until time.Time) {
	c.installation(installation).limits.refuse(until, time.Now())
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

// scope is as whom a call is made.
type scope int

const (
	// asRepository is the installation, with a token for the target's
	// repository only.
	asRepository scope = iota
	// asInstallation is the installation, with a token that reads the names
	// and pull requests of all its repositories.
	asInstallation
	// asOrganisation is the installation, with a token that reads the .github
	// repository of its account.
	asOrganisation
	// asApp is the App itself.
	asApp
)

// accountOf is whose rate limits a call counts against.
func accountOf(s scope, t ports.Target) int64 {
	if s == asApp {
		return 0
	}
	return t.Installation
}

// clientKey names the client with which a call is made.
func clientKey(s scope, t ports.Target) string {
	switch s {
	case asApp:
		return "app"
	case asInstallation:
		return fmt.Sprint(t.Installation)
	case asOrganisation:
		return fmt.Sprintf("%d/%s", t.Installation, organisationRepo)
	}
	return fmt.Sprintf("%d/%d", t.Installation, t.RepoID)
}

// client returns the go-github client that authenticates a call.
func (c *api) client(s scope, t ports.Target) (*github.Client, error) {
	key := clientKey(s, t)
	// Held while a client is made, or the reads that begin a review side by
	// side would each fetch a token.
	c.mu.Lock()
	defer c.mu.Unlock()
	if gc, ok := c.clients.get(key); ok {
		return gc, nil
	}
	var gc *github.Client
	var err error
	if s == asApp {
		gc, err = c.creator.NewAppClient()
	} else {
		gc, err = c.creator.NewInstallationClient(t.Installation)
	}
	if err != nil {
		return nil, fmt.Errorf("make the client %s: %w", key, err)
	}
	c.clients.add(key, gc, 1)
	return gc, nil
}

// forget drops a client, so that the next call gets a new token. Another one
// that has taken its place stays.
func (c *api) forget(s scope, t ports.Target, gc *github.Client) {
	key := clientKey(s, t)
	c.mu.Lock()
	defer c.mu.Unlock()
	if now, ok := c.clients.get(key); ok && now == gc {
		c.clients.remove(key)
		c.wire.tokens.forget(key)
	}
}

func (c *api) installation(id int64) *installation {
	c.mu.Lock()
	defer c.mu.Unlock()
	inst, ok := c.installations[id]
	if !ok {
		inst = &installation{writes: make(chan struct{}, 1)}
		inst.limits.tell = func(until time.Time) {
			if c.onRefused != nil {
				c.onRefused(id, until)
			}
		}
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
