package gh

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/reviewgate/reviewgate/app/ports"
)

// needed lists the permissions that reviews can't do without. Permission to write pull
// requests is enough for comments and reactions.
var needed = []struct{ name, level string }{
	{"checks", "write"},
	{"contents", "read"},
	{"metadata", "read"},
	{"pull_requests", "write"},
}

// levels are the levels of a permission. Each includes those before it.
var levels = []string{"read", "write", "admin"}

// Access asks what access the App has to the target's repository, even if the repository
// was renamed or transferred.
func (c pullReader) Access(ctx context.Context, t ports.Target) (ports.Access, error) {
	a := ports.Access{Installation: t.Installation, Owner: t.Owner, Name: t.Name}
	// GitHub redirects to the id after a rename or a transfer, unless another repository
	// has taken the old name. Only the way by the name is documented.
	i, err := c.installationOf(ctx, t, "/repositories/{repository_id}/installation", t.RepoID)
	if isNotFound(err) && t.Name != "" {
		i, err = c.installationOf(ctx, t, "/repos/{owner}/{repo}/installation", t.Owner, t.Name)
	}
	if isNotFound(err) {
		return a, nil
	}
	if err != nil {
		return ports.Access{}, err
	}
	a.Installed, a.Suspended = true, i.SuspendedAt != nil
	a.Installation, a.Missing = i.ID, missing(i.Permissions)
	if a.Suspended {
		return a, nil // a suspended installation can't read the name
	}
	t.Installation = i.ID
	return c.present(ctx, t, a)
}

func (c *api) installationOf(ctx context.Context, t ports.Target, path string, args ...any) (i installationAnswer, err error) {
	_, err = c.do(ctx, t, request{
		op: "read the App's installation", scope: asApp, method: http.MethodGet, path: path, args: args,
	}, asJSON(&i))
	return i, err
}

// present fills in the repository's present owner and name. The id stays the same, while
// another repository may have the old name now. present uses a new token, and so do later
// calls: an older token may lack permissions that were granted since.
func (c *api) present(ctx context.Context, t ports.Target, a ports.Access) (ports.Access, error) {
	c.mu.Lock()
	key := clientKey(asRepository, t)
	c.clients.Remove(key)
	c.wire.tokens.forget(key)
	c.mu.Unlock()
	repo := new(repositoryAnswer)
	_, err := c.do(ctx, t, request{
		op: "read the repository's name", method: http.MethodGet, path: "/repositories/{repository_id}", args: []any{t.RepoID},
	}, asJSON(repo))
	var host *ports.HostError
	switch {
	case err == nil:
		a.Owner, a.Name = repo.GetOwner().GetLogin(), repo.GetName()
	case errors.As(err, &host) && host.Temporary():
		return ports.Access{}, err
	case isNotFound(err) || host.Status == http.StatusUnprocessableEntity:
		a.Installed = false // this repository is gone, and another has its name
	}
	return a, nil
}

// missing lists the needed permissions that were not granted.
func missing(granted map[string]string) []string {
	var out []string
	for _, n := range needed {
		if slices.Index(levels, granted[n.name]) < slices.Index(levels, n.level) {
			out = append(out, n.name+": "+n.level)
		}
	}
	return out
}
