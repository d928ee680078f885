package gh

import (
	"context"
	"net/http"
	"strings"

	"github.com/reviewgate/reviewgate/app/review"
)

// RequestReviewers asks people, and teams as "org/team-slug", to review the pull
// request, all of them or none. Who is asked already stays so.
func (c *Client) RequestReviewers(ctx context.Context, t review.Target, people []string) error {
	body := map[string][]string{}
	for _, who := range people {
		if _, slug, team := strings.Cut(who, "/"); team {
			body["team_reviewers"] = append(body["team_reviewers"], slug)
		} else {
			body["reviewers"] = append(body["reviewers"], who)
		}
	}
	_, err := c.do(ctx, t, request{
		op: "request reviewers", method: http.MethodPost,
		path: "/repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers", args: []any{t.Owner, t.Name, t.Number},
		body: body,
	}, ignored)
	return err
}
