package gh

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"
	"github.com/gregjones/httpcache"
	"github.com/palantir/go-githubapp/githubapp"

	"github.com/reviewgate/reviewgate/app/ports"
)

const (
	// defaultTimeout is much longer than GitHub needs: GitHub itself gives up on a
	// request after 10 s.
	defaultTimeout = 30 * time.Second
	// maxInFlight is half of the 100 concurrent requests that GitHub allows
	// an app. This leaves room for a second replica.
	maxInFlight = 50
	// maxFetches bounds the changes that git fetches at the same time, because they
	// take memory and disk space.
	maxFetches = 2
	// maxClients bounds the number of repositories whose token is cached. A token
	// takes a few kilobytes.
	maxClients = 1000
	// maxHTTPCache and maxPinned are in bytes. maxPinned is eight times the largest
	// config file, because an lru does not keep a value above an eighth of its size.
	maxHTTPCache = 16 << 20
	maxPinned    = 8 * maxConfigFile
	// defaultCallsPerReview is several times the calls for the largest pull request: 30
	// pages of files, 10 of commits, 8 contents or a fetch, and the reads of agents.
	defaultCallsPerReview = 300
)

// Client gives the use cases access to GitHub. It is safe for concurrent use.
type Client struct {
	ports.Host
	*api
}

func newClient(a *api) *Client {
	return &Client{
		api: a,
		Host: ports.Host{
			PullReader:         pullReader{a},
			ConfigReader:       configReader{a},
			CheckWriter:        checkWriter{a},
			CommentWriter:      commentWriter{a},
			InlineWriter:       inlineWriter{a},
			IssueWriter:        issueWriter{a},
			LabelWriter:        labelWriter{a},
			ReviewWriter:       reviewWriter{a},
			PeopleReader:       peopleReader{a},
			DeliveryLog:        deliveryLog{a},
			InstallationReader: installationReader{a},
		},
	}
}

// New returns a Client. It checks the settings, but makes no call of GitHub.
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
		v4:              c.V4URL,
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

// Close closes idle connections.
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
