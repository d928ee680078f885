package gh

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/reviewgate/reviewgate/app/ports"
)

// membershipAnswer is GitHub's answer about a person in a team.
type membershipAnswer struct {
	State string `json:"state"` // active, or pending until an invitation is accepted
}

func (a *membershipAnswer) whole() error { return wholeIf(a.State != "") }

// TeamMember asks whether a person is in a team, "org/team-slug". It needs the
// organisation permission "Members: read". Without that permission, or if there is no
// such team, it reports false.
func (c peopleReader) TeamMember(ctx context.Context, t ports.Target, team, login string) (bool, error) {
	const op = "look for a person in a team"
	org, slug, ok := strings.Cut(team, "/")
	if !ok || login == "" {
		return false, &ports.HostError{Op: op, Kind: ports.HostInvalid, Err: errors.New("no team or login given")}
	}
	var a membershipAnswer
	_, err := c.do(ctx, t, request{
		op: op, method: http.MethodGet,
		path: "/orgs/{org}/teams/{team_slug}/memberships/{username}", args: []any{org, slug, login},
	}, asJSON(&a))
	var host *ports.HostError
	if errors.As(err, &host) && (host.Kind == ports.HostNotFound || host.Kind == ports.HostForbidden) {
		return false, nil
	}
	return err == nil && a.State == "active", err
}
