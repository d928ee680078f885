package gh

import (
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/google/go-github/v60/github"
	"github.com/palantir/go-githubapp/githubapp"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline/lru"
)

// api is what all roles of the client share.
type api struct {
	appID           int64
	v4              string // the address of GraphQL
	timeout         time.Duration
	callsPerReview  int
	organisationAge time.Duration
	onRefused       func(int64, time.Time)
	wire            *wire
	creator         githubapp.ClientCreator
	clients         *lru.Cache[string, *github.Client]
	pinned          *lru.Cache[string, []byte]
	organisations   *organisations
	inFlight        chan struct{}
	git             *url.URL      // root of the repositories, nil if unknown
	fetching        chan struct{} // held while git fetches
	diffing         chan struct{} // held while contents are compared
	now             func() time.Time

	mu            sync.Mutex
	installations map[int64]*installation
}

// Refuse says that GitHub refuses an installation's calls until then, or the App's own
// calls if installation is 0. Another process has received the refusal. The client makes
// no such call before that time.
func (c *api) Refuse(installation int64, until time.Time) {
	c.installation(installation).limits.refuse(until, time.Now())
}

// client returns the go-github client that authenticates a call.
func (c *api) client(s scope, t ports.Target) (*github.Client, error) {
	key := clientKey(s, t)
	// The lock is held while a client is created. Otherwise the concurrent reads at the
	// beginning of a review would each fetch a token.
	c.mu.Lock()
	defer c.mu.Unlock()
	if gc, ok := c.clients.Get(key); ok {
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
	c.clients.Add(key, gc, 1)
	return gc, nil
}

// forget drops a client, so that the next call gets a new token. It does not drop another
// client that has replaced this one.
func (c *api) forget(s scope, t ports.Target, gc *github.Client) {
	key := clientKey(s, t)
	c.mu.Lock()
	defer c.mu.Unlock()
	if now, ok := c.clients.Get(key); ok && now == gc {
		c.clients.Remove(key)
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
