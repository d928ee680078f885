package gh

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/app/ports"
)

// reviewWriter implements ports.ReviewWriter.
type reviewWriter struct{ *api }

// maxReviewPages bounds the pages of reviews of one pull request.
const maxReviewPages = 30

// pullReview is a review. GitHub does not say here which app wrote it.
type pullReview struct {
	ID    int64  `json:"id"`
	Body  string `json:"body"`
	State string `json:"state"` // APPROVED, CHANGES_REQUESTED, COMMENTED, DISMISSED or PENDING
	User  struct {
		Login string `json:"login"`
		Type  string `json:"type"`
	} `json:"user"` // empty for a deleted account
}

func (r *pullReview) whole() error { return wholeIf(r.ID > 0 && r.State != "") }

// reviewList is a page of reviews.
type reviewList []pullReview

func (l *reviewList) whole() error {
	return wholeList(*l, func(r pullReview) bool { return r.whole() == nil })
}

// reviewText is a review to submit.
type reviewText struct {
	CommitID string `json:"commit_id"`
	Event    string `json:"event"`
	Body     string `json:"body"`
}

// CreateReview submits a review of one head of the pull request, and returns its id.
func (c reviewWriter) CreateReview(ctx context.Context, t ports.Target, w ports.ReviewWrite) (int64, error) {
	var created pullReview
	_, err := c.do(ctx, t, request{
		op: "submit a review", method: http.MethodPost,
		path: "/repos/{owner}/{repo}/pulls/{pull_number}/reviews", args: []any{t.Owner, t.Name, t.Number},
		body: reviewText{CommitID: w.HeadSHA, Event: string(w.Verdict), Body: w.Body},
	}, asJSON(&created))
	return created.ID, err
}

// DismissReview dismisses one of our reviews. It is no error if the review is already
// dismissed or deleted. It is an error if the App can't see the pull request any more,
// although GitHub then also answers that it is not found.
func (c reviewWriter) DismissReview(ctx context.Context, t ports.Target, id int64, message string) error {
	_, err := c.do(ctx, t, request{
		op: "dismiss the review", method: http.MethodPut,
		path: "/repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}/dismissals", args: []any{t.Owner, t.Name, t.Number, id},
		body: map[string]string{"message": message, "event": "DISMISS"},
	}, ignored)
	switch {
	case err == nil || strings.Contains(err.Error(), alreadyDismissed):
		return nil
	case !isNotFound(err):
		return err
	}
	all, listed := c.Reviews(ctx, t)
	switch {
	case listed != nil:
		return listed
	case slices.ContainsFunc(all, func(r ports.PullReview) bool { return r.ID == id && !r.Dismissed }):
		return err
	}
	return nil
}

// alreadyDismissed is GitHub's message, with 422, if the review is already dismissed.
const alreadyDismissed = "Can not dismiss a dismissed pull request review"

// Reviews lists the reviews of the pull request in GitHub's order, oldest first.
func (c reviewWriter) Reviews(ctx context.Context, t ports.Target) ([]ports.PullReview, error) {
	all, err := allPages[reviewList](ctx, c.api, t, request{
		op: "list the reviews", method: http.MethodGet,
		path: "/repos/{owner}/{repo}/pulls/{pull_number}/reviews", args: []any{t.Owner, t.Name, t.Number},
	}, maxReviewPages)
	if err != nil {
		return nil, err
	}
	var out []ports.PullReview
	for _, r := range slices.Concat(all...) {
		out = append(out, ports.PullReview{ID: r.ID, Author: r.User.Login, Bot: r.User.Type == "Bot", Body: r.Body, Dismissed: r.State == "DISMISSED"})
	}
	return out, nil
}

// Login returns the App's own account, which writes its reviews.
func (c reviewWriter) Login(ctx context.Context) (string, error) {
	a, err := c.App(ctx)
	if err != nil {
		return "", err
	}
	return a.Slug + "[bot]", nil
}

// RequestReviews asks people to review: logins, and teams of the repository's
// owner as "org/team-slug". GitHub asks all of them or none. If somebody is not a
// collaborator, or wrote the pull request, the error is HostInvalid.
func (c reviewWriter) RequestReviews(ctx context.Context, t ports.Target, people []string) error {
	const op = "request reviews"
	body := map[string][]string{}
	for _, who := range people {
		org, slug, team := strings.Cut(who, "/")
		switch {
		case !team:
			body["reviewers"] = append(body["reviewers"], who)
		case strings.EqualFold(org, t.Owner):
			body["team_reviewers"] = append(body["team_reviewers"], slug)
		default:
			return &ports.HostError{Op: op, Kind: ports.HostInvalid, Err: fmt.Errorf("%s is not a team of %s", who, t.Owner)}
		}
	}
	_, err := c.do(ctx, t, request{
		op: op, method: http.MethodPost,
		path: "/repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers", args: []any{t.Owner, t.Name, t.Number},
		body: body,
	}, ignored)
	return err
}
