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

// reading is one that is under way. What it found may be looked at once done is
// closed.
type reading struct {
	done   chan struct{}
	source ports.ConfigSource
	err    error
}

// organisationConfig is the organisation's layer as it was within the last
// minute.
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

// leadReading finds what others wait for.
func (c *api) leadReading(ctx context.Context, t ports.Target, key string, r *reading) (ports.ConfigSource, error) {
	o := c.organisations
	defer o.end(key, r)
	known, ok := o.known.get(key)
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

// isCalledOff tells a reading that whoever led it gave up, which is no reason
// for others to.
func isCalledOff(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// ForgetConfig drops what is remembered of the layer of the account that has a
// repository. A reading that is under way is not remembered either: it may have
// seen what was there before.
func (c configReader) ForgetConfig(t ports.Target) {
	o, key := c.organisations, organisationKey(t)
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.reading, key)
	o.known.remove(key)
	o.uncovered.remove(key)
}

// readOrganisation reads the organisation's layer. The App may be installed on
// .github, which may be private then; where it is not, a public one can be read
// all the same. One that GitHub redirects to is not the organisation's any more.
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
	if root.moved { // to another account, or to another name and meaning
		source.Unreadable = true
		return source, nil
	}
	if source.Files, err = tr.layer(ctx, config.LayerOrganisation, root); err != nil {
		return ports.ConfigSource{}, err
	}
	return source, nil
}

// organisationRoot finds out as whom .github can be read, and reads its root.
func (c *api) organisationRoot(ctx context.Context, t ports.Target) (treeReader, *directory, error) {
	uncovered, key := c.organisations.uncovered, organisationKey(t)
	tr := treeReader{client: c, target: t, scope: asOrganisation, op: opOrganisation}
	tr.target.Name, tr.target.RepoID = organisationRepo, 0
	if since, ok := uncovered.get(key); !ok || c.now().Sub(since) >= uncoveredAge {
		root, err := tr.root(ctx, defaultBranch)
		if !isNotCovered(err) {
			return tr, root, err
		}
		uncovered.add(key, c.now(), 1)
	}
	tr.scope, tr.target.RepoID = asRepository, t.RepoID
	root, err := tr.root(ctx, defaultBranch)
	return tr, root, err
}

// presentOrganisation is the layer of the account that has the repository now.
// That of the one in its old name counts no more: after a rename anybody may
// have taken that, with a .github of his own.
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

// isNotCovered tells that no token is to be had for a repository: the App is
// not installed on it, or there is none.
func isNotCovered(err error) bool {
	var host *ports.HostError
	return errors.As(err, &host) && host.Kind == ports.HostForbidden && host.Status == http.StatusUnprocessableEntity
}
