package gh

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/reviewgate/reviewgate/app/review"
	"github.com/reviewgate/reviewgate/config"
)

const (
	// organisationRepo is where an account keeps what holds for all of its
	// repositories.
	organisationRepo = ".github"
	// organisationAge is for how long an organisation's layer is used without
	// looking again. It keeps the layer from costing each review a call.
	organisationAge = time.Minute
	// maxOrganisations bounds the layers that are kept, in bytes.
	maxOrganisations = 32 << 20

	opOrganisation = "read the organisation's config"
)

// organisations are the layers that were read lately, by installation and
// account. Failures are not kept.
type organisations struct {
	known *lru[organisation]

	mu      sync.Mutex
	reading map[string]*reading
}

type organisation struct {
	source review.ConfigSource
	at     time.Time
}

// reading is one that is under way. What it found may be looked at once done is
// closed.
type reading struct {
	done   chan struct{}
	source review.ConfigSource
	err    error
}

func newOrganisations() *organisations {
	return &organisations{known: newLRU[organisation](maxOrganisations), reading: map[string]*reading{}}
}

// organisationConfig is the organisation's layer as it was within the last
// minute.
func (c *Client) organisationConfig(ctx context.Context, t review.Target) (review.ConfigSource, error) {
	key := fmt.Sprintf("%d/%s", t.Installation, strings.ToLower(t.Owner))
	for {
		r, first := c.organisations.begin(key)
		if first {
			return c.leadReading(ctx, t, key, r)
		}
		select {
		case <-r.done:
		case <-ctx.Done():
			return review.ConfigSource{}, hostError(opOrganisation, ctx.Err())
		}
		if !isCalledOff(r.err) {
			return r.source, r.err
		}
	}
}

// leadReading finds what others wait for.
func (c *Client) leadReading(ctx context.Context, t review.Target, key string, r *reading) (review.ConfigSource, error) {
	o := c.organisations
	defer o.end(key, r)
	known, ok := o.known.get(key)
	if ok && c.now().Sub(known.at) < organisationAge {
		r.source, r.err = known.source, nil
		return r.source, nil
	}
	at := c.now()
	r.source, r.err = c.readOrganisation(ctx, t)
	if r.err == nil {
		o.keep(key, organisation{r.source, at})
	}
	return r.source, r.err
}

// isCalledOff tells a reading that whoever led it gave up, which is no reason
// for others to.
func isCalledOff(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// begin joins a reading, or begins one if none is under way.
func (o *organisations) begin(key string) (r *reading, first bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if r, ok := o.reading[key]; ok {
		return r, false
	}
	r = &reading{done: make(chan struct{}), err: context.Canceled} // as it is after a panic
	o.reading[key] = r
	return r, true
}

func (o *organisations) end(key string, r *reading) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.reading, key)
	close(r.done)
}

func (o *organisations) keep(key string, org organisation) {
	const overhead = 256 // of an entry, about
	cost := int64(overhead)
	for _, f := range org.source.Files {
		cost += overhead + int64(len(f.Text))
	}
	o.known.add(key, org, cost)
}

// readOrganisation reads the organisation's layer. The App may be installed on
// .github, which may be private then; where it is not, a public one can be read
// all the same. What can't be seen isn't there.
func (c *Client) readOrganisation(ctx context.Context, t review.Target) (review.ConfigSource, error) {
	none := review.ConfigSource{Source: t.Owner + "/" + organisationRepo}
	tr := treeReader{client: c, target: t, scope: asOrganisation, op: opOrganisation}
	tr.target.Name, tr.target.RepoID = organisationRepo, 0
	root, err := tr.root(ctx, defaultBranch)
	if isNotCovered(err) {
		tr.scope, tr.target.RepoID = asRepository, t.RepoID
		root, err = tr.root(ctx, defaultBranch)
	}
	if isNotFound(err) || isEmptyRepository(err) {
		return none, nil
	}
	if err != nil {
		return review.ConfigSource{}, err
	}
	files, err := tr.layer(ctx, config.LayerOrganisation, root)
	if err != nil {
		return review.ConfigSource{}, err
	}
	return review.ConfigSource{Source: none.Source, Files: files}, nil
}

// presentOrganisation is the layer of the account that has the repository now.
// That of the one in its old name counts no more: after a rename anybody may
// have taken that, with a .github of his own.
func (c *Client) presentOrganisation(ctx context.Context, t review.Target, read review.ConfigSource) (review.ConfigSource, error) {
	repo := new(repositoryAnswer)
	_, err := c.do(ctx, t, request{
		op: opOrganisation, method: http.MethodGet, path: "/repositories/{repository_id}", args: []any{t.RepoID},
	}, asJSON(repo))
	if err != nil {
		return review.ConfigSource{}, err
	}
	if strings.EqualFold(repo.GetOwner().GetLogin(), t.Owner) {
		return read, nil
	}
	t.Owner = repo.GetOwner().GetLogin()
	return c.organisationConfig(ctx, t)
}

// isNotCovered tells that no token is to be had for a repository: the App is
// not installed on it, or there is none.
func isNotCovered(err error) bool {
	var host *review.HostError
	return errors.As(err, &host) && host.Kind == review.HostForbidden && host.Status == http.StatusUnprocessableEntity
}
