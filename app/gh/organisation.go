package gh

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
)

type organisation struct {
	source ports.ConfigSource
	at     time.Time
}

// reading is a read of an organisation's layer that is in progress. Its result may be
// used once done is closed.
type reading struct {
	done   chan struct{}
	source ports.ConfigSource
	err    error
}

// organisationConfig returns the organisation's layer, which may be up to a minute old.
func (c *api) organisationConfig(ctx context.Context, t ports.Target) (ports.ConfigSource, error) {
	key := organisationKey(t)
	for {
		r, first := c.organisations.begin(key)
		if first {
			return c.leadReading(ctx, t, key, r)
		}
		select {
		case <-r.done:
		case <-ctx.Done():
			return ports.ConfigSource{}, hostError(opOrganisation, ctx.Err())
		}
		if !isCalledOff(r.err) {
			return r.source, r.err
		}
	}
}

func organisationKey(t ports.Target) string {
	return fmt.Sprintf("%d/%s", t.Installation, strings.ToLower(t.Owner))
}

// leadReading gets the layer for all callers that wait for it.
func (c *api) leadReading(ctx context.Context, t ports.Target, key string, r *reading) (ports.ConfigSource, error) {
	o := c.organisations
	defer o.end(key, r)
	known, ok := o.known.Get(key)
	if ok && c.now().Sub(known.at) < c.organisationAge {
		r.source, r.err = known.source, nil
		return r.source, nil
	}
	at := c.now()
	r.source, r.err = c.readOrganisation(ctx, t)
	if r.err == nil {
		o.keep(key, r, organisation{r.source, at})
	}
	return r.source, r.err
}

// isCalledOff reports whether the caller that led a reading was cancelled. The other
// callers then try again.
func isCalledOff(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// ForgetConfig drops the cached layer of the account that owns a repository. A reading
// in progress is not cached either: it may have seen the previous state.
func (c configReader) ForgetConfig(t ports.Target) {
	o, key := c.organisations, organisationKey(t)
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.reading, key)
	o.known.Remove(key)
	o.uncovered.Remove(key)
}

// readOrganisation reads the organisation's layer. If the App is installed on .github,
// the repository may be private. Otherwise it can be read if it is public. If GitHub
// redirects the request, the repository is not the organisation's .github any more.
func (c *api) readOrganisation(ctx context.Context, t ports.Target) (ports.ConfigSource, error) {
	source := ports.ConfigSource{Source: t.Owner + "/" + organisationRepo}
	tr, root, err := c.organisationRoot(ctx, t)
	if isNotFound(err) || isEmptyRepository(err) {
		source.Unreadable = isNotFound(err)
		return source, nil
	}
	if err != nil {
		return ports.ConfigSource{}, err
	}
	if root.moved { // to another account, or to another name
		source.Unreadable = true
		return source, nil
	}
	if source.Files, err = tr.layer(ctx, config.LayerOrganisation, root); err != nil {
		return ports.ConfigSource{}, err
	}
	return source, nil
}

// organisationRoot finds out which token can read .github, and reads its root.
func (c *api) organisationRoot(ctx context.Context, t ports.Target) (treeReader, *directory, error) {
	uncovered, key := c.organisations.uncovered, organisationKey(t)
	tr := treeReader{client: c, target: t, scope: asOrganisation, op: opOrganisation}
	tr.target.Name, tr.target.RepoID = organisationRepo, 0
	if since, ok := uncovered.Get(key); !ok || c.now().Sub(since) >= uncoveredAge {
		root, err := tr.root(ctx, defaultBranch)
		if !isNotCovered(err) {
			return tr, root, err
		}
		uncovered.Add(key, c.now(), 1)
	}
	tr.scope, tr.target.RepoID = asRepository, t.RepoID
	root, err := tr.root(ctx, defaultBranch)
	return tr, root, err
}

// presentOrganisation returns the layer of the account that owns the repository now.
// The layer of the account in its old name does not count: after a rename anybody may
// take the old name and create a .github there.
func (c *api) presentOrganisation(ctx context.Context, t ports.Target, read ports.ConfigSource) (ports.ConfigSource, error) {
	repo := new(repositoryAnswer)
	_, err := c.do(ctx, t, request{
		op: opOrganisation, method: http.MethodGet, path: "/repositories/{repository_id}", args: []any{t.RepoID},
	}, asJSON(repo))
	if err != nil {
		return ports.ConfigSource{}, err
	}
	if strings.EqualFold(repo.GetOwner().GetLogin(), t.Owner) {
		return read, nil
	}
	t.Owner = repo.GetOwner().GetLogin()
	return c.organisationConfig(ctx, t)
}

// isNotCovered reports whether GitHub gives no token for a repository: the App is not
// installed on it, or it does not exist.
func isNotCovered(err error) bool {
	var host *ports.HostError
	return errors.As(err, &host) && host.Kind == ports.HostForbidden && host.Status == http.StatusUnprocessableEntity
}
