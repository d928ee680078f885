package gh

import (
	"context"
	"errors"
	"net/http"

	"github.com/reviewgate/reviewgate/app/ports"
)

// peopleReader implements ports.PeopleReader.
type peopleReader struct{ *api }

// permissionAnswer is GitHub's answer about a person. go-github's type lacks the
// detailed permissions.
type permissionAnswer struct {
	// Permission is none, read, write or admin. It is write for maintain, and read for
	// triage.
	Permission string `json:"permission"`
	RoleName   string `json:"role_name"` // as GitHub's pages call it; organisations can define other roles
	User       struct {
		Permissions struct {
			Admin    bool `json:"admin"`
			Maintain bool `json:"maintain"`
			Push     bool `json:"push"`
			Triage   bool `json:"triage"`
		} `json:"permissions"`
	} `json:"user"`
}

// whole refuses an answer without a permission. To read it as no permission would drop the
// objections in a person's review report.
func (a *permissionAnswer) whole() error { return wholeIf(a.Permission != "") }

// Permission asks what a person may do in the repository. A person whom GitHub does not
// know there has no permission.
func (c peopleReader) Permission(ctx context.Context, t ports.Target, login string) (ports.Permission, error) {
	return c.permission(ctx, t, login, nil)
}

// Permission asks the same as peopleReader.Permission, and counts as a call of the review.
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

// permission refines the coarse permission by the detailed ones. The coarse permission is
// the upper bound. An unknown one counts as no permission.
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
