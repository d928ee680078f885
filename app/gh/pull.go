package gh

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/google/go-github/v60/github"

	"github.com/reviewgate/reviewgate/app/ports"
)

// pullReader implements ports.PullReader.
type pullReader struct{ *api }

// Pull reads the pull request again. For a merge group it makes no call, because its SHAs
// never change.
func (c pullReader) Pull(ctx context.Context, t ports.Target) (ports.PullState, error) {
	if t.Kind == ports.TargetGroup {
		return ports.PullState{HeadSHA: t.HeadSHA}, nil
	}
	p := new(pullAnswer)
	_, err := c.do(ctx, t, request{
		op: "read the pull request again", method: http.MethodGet,
		path: "/repos/{owner}/{repo}/pulls/{pull_number}", args: []any{t.Owner, t.Name, t.Number},
	}, asJSON(p))
	if err == nil {
		err = ours(t, p)
	}
	if err != nil {
		return ports.PullState{}, err
	}
	return ports.PullState{
		HeadSHA: p.GetHead().GetSHA(),
		BaseRef: p.GetBase().GetRef(),
		Closed:  p.GetState() != "open",
		Draft:   p.GetDraft(),

		Merged:    p.GetMerged(),
		ClosedAt:  p.GetClosedAt().Time,
		UpdatedAt: p.GetUpdatedAt().Time,

		Requested:    requested(t, &p.PullRequest),
		Conversation: conversation(&p.PullRequest),
	}, nil
}

// requested lists the people and teams who were asked to review.
func requested(t ports.Target, p *github.PullRequest) []string {
	var all []string
	for _, u := range p.RequestedReviewers {
		all = append(all, u.GetLogin())
	}
	for _, team := range p.RequestedTeams {
		all = append(all, t.Owner+"/"+team.GetSlug())
	}
	return all
}

// maxHeadPages bounds the pages of pull requests for one commit.
const maxHeadPages = 5

// PullsOnHead lists the repository's open pull requests whose head is sha, in GitHub's
// order. A commit that does not exist any more has none.
func (c pullReader) PullsOnHead(ctx context.Context, t ports.Target, sha string) ([]ports.Target, error) {
	all, err := allPages[pullList](ctx, c.api, t, request{
		op: "list the pull requests on a commit", method: http.MethodGet,
		path: "/repos/{owner}/{repo}/commits/{commit_sha}/pulls", args: []any{t.Owner, t.Name, sha},
	}, maxHeadPages)
	var host *ports.HostError
	if errors.As(err, &host) && host.Status == http.StatusUnprocessableEntity { // "No commit found for SHA"
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []ports.Target
	for _, p := range slices.Concat(all...) {
		if p.GetState() != "open" || p.GetHead().GetSHA() != sha || p.GetBase().GetRepo().GetID() != t.RepoID {
			continue
		}
		out = append(out, ports.Target{
			Kind: ports.TargetPull, Installation: t.Installation, RepoID: t.RepoID,
			Owner: t.Owner, Name: t.Name, Number: p.GetNumber(), HeadSHA: sha,
		})
	}
	return out, nil
}
