package gh

import (
	"context"
	"errors"
	"net/http"

	"github.com/reviewgate/reviewgate/app/ports"
)

// peopleReader implements ports.PeopleReader.
type peopleReader struct{ *api }

// permissionAnswer is what GitHub says of a person. go-github's type lacks the
// detailed permissions.
type permissionAnswer struct {
	// Permission tells only none, read, write and admin apart: maintain reads
	// as write there, and triage as read.
	Permission string `json:"permission"`
	RoleName   string `json:"role_name"` // as GitHub's pages call it; any word for a role of the organisation's own
	User       struct {
		Permissions struct {
			Admin    bool `json:"admin"`
			Maintain bool `json:"maintain"`
			Push     bool `json:"push"`
			Triage   bool `json:"triage"`
		} `json:"permissions"`
	} `json:"user"`
}

// whole refuses an answer without the word. It is not read as no permission:
// that would take away what a person's review report objects to.
func (a *permissionAnswer) whole() error { return wholeIf(a.Permission != "") }

// Permission asks what a person may do in the repository. Somebody whom
// GitHub doesn't know there may do nothing.
func (c peopleReader) Permission(ctx context.Context, t ports.Target, login string) (ports.Permission, error) {
	return c.permission(ctx, t, login, nil)
}

// Permission is that of the client, as a part of the review.
func (s *source) Permission(ctx context.Context, login string) (ports.Permission, error) {
	return s.client.permission(ctx, s.target, login, &s.budget)
}

func (c *api) permission(ctx context.Context, t ports.Target, login string, b *budget) (ports.Permission, error) {
	const op = "read a person's permission"
	if login == "" {
		return "", &ports.HostError{Op: op, Kind: ports.HostInvalid, Err: errors.New("no login given")}
	}
	var a permissionAnswer
	_, err := c.do(ctx, t, request{
		op: op, method: http.MethodGet,
		path: "/repos/{owner}/{repo}/collaborators/{username}/permission", args: []any{t.Owner, t.Name, login}, budget: b,
	}, asJSON(&a))
	if isNotFound(err) {
		return ports.PermissionNone, nil
	}
	if err != nil {
		return "", err
	}
	return a.permission(), nil
}

// permission refines the coarse word by the detailed ones. The word is the
// upper bound, and one that is not known is worth nothing.
func (a permissionAnswer) permission() ports.Permission {
	detailed := a.User.Permissions
	switch a.Permission {
	case "admin":
		return ports.PermissionAdmin
	case "maintain":
		return ports.PermissionMaintain
	case "write":
		if detailed.Maintain || a.RoleName == "maintain" {
			return ports.PermissionMaintain
		}
		return ports.PermissionWrite
	case "triage":
		return ports.PermissionTriage
	case "read":
		if detailed.Triage {
			return ports.PermissionTriage
		}
		return ports.PermissionRead
	}
	return ports.PermissionNone
}
