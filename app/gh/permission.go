package gh

import (
	"context"
	"errors"
	"net/http"

	"github.com/reviewgate/reviewgate/app/review"
)

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
func (c *Client) Permission(ctx context.Context, t review.Target, login string) (review.Permission, error) {
	return c.permission(ctx, t, login, nil)
}

// Permission is that of the client, as a part of the review.
func (s *source) Permission(ctx context.Context, login string) (review.Permission, error) {
	return s.client.permission(ctx, s.target, login, &s.budget)
}

func (c *Client) permission(ctx context.Context, t review.Target, login string, b *budget) (review.Permission, error) {
	const op = "read a person's permission"
	if login == "" {
		return "", &review.HostError{Op: op, Kind: review.HostInvalid, Err: errors.New("no login given")}
	}
	var a permissionAnswer
	_, err := c.do(ctx, t, request{
		op: op, method: http.MethodGet,
		path: "/repos/{owner}/{repo}/collaborators/{username}/permission", args: []any{t.Owner, t.Name, login}, budget: b,
	}, asJSON(&a))
	if isNotFound(err) {
		return review.PermissionNone, nil
	}
	if err != nil {
		return "", err
	}
	return a.permission(), nil
}

// permission refines the coarse word by the detailed ones. The word is the
// upper bound, and one that is not known is worth nothing.
func (a permissionAnswer) permission() review.Permission {
	detailed := a.User.Permissions
	switch a.Permission {
	case "admin":
		return review.PermissionAdmin
	case "maintain":
		return review.PermissionMaintain
	case "write":
		if detailed.Maintain || a.RoleName == "maintain" {
			return review.PermissionMaintain
		}
		return review.PermissionWrite
	case "triage":
		return review.PermissionTriage
	case "read":
		if detailed.Triage {
			return review.PermissionTriage
		}
		return review.PermissionRead
	}
	return review.PermissionNone
}
