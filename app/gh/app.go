package gh

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/reviewgate/reviewgate/app/ports"
)

// installationReader implements ports.InstallationReader.
type installationReader struct{ *api }

// installationAnswer is an installation.
type installationAnswer struct {
	ID          int64             `json:"id"`
	Account     github.User       `json:"account"`
	CreatedAt   github.Timestamp  `json:"created_at"`
	SuspendedAt *github.Timestamp `json:"suspended_at"`
	// Permissions are names and levels. go-github's type knows only some of them.
	Permissions map[string]string `json:"permissions"`
}

func (i *installationAnswer) whole() error { return wholeIf(i.ID > 0) }

type installationList []installationAnswer

func (l *installationList) whole() error {
	return wholeList(*l, func(i installationAnswer) bool { return i.ID > 0 })
}

// Installations lists the App's installations, up to 10,000.
func (c installationReader) Installations(ctx context.Context) ([]ports.Installation, error) {
	var out []ports.Installation
	err := walkAll(ctx, c.api, ports.Target{}, request{
		op: "list the installations", scope: asApp, method: http.MethodGet, path: "/app/installations",
	}, maxWalk, func(page installationList) bool {
		for _, i := range page {
			out = append(out, ports.Installation{
				ID: i.ID, Account: i.Account.GetLogin(), CreatedAt: i.CreatedAt.Time, Suspended: i.SuspendedAt != nil,
			})
		}
		return true
	})
	return out, err
}

// repositoryList is a page of repositories.
type repositoryList struct {
	Total        *int               `json:"total_count"`
	Repositories []repositoryAnswer `json:"repositories"`
}

func (l *repositoryList) whole() error {
	if l.Total == nil || l.Repositories == nil {
		return errNotWhole
	}
	return wholeList(l.Repositories, func(r repositoryAnswer) bool { return r.whole() == nil })
}

// Repositories lists an installation's repositories that are not archived, up
// to 10,000.
func (c installationReader) Repositories(ctx context.Context, installation int64) ([]ports.Target, error) {
	var out []ports.Target
	err := walkAll(ctx, c.api, ports.Target{Installation: installation}, request{
		op: "list the installation's repositories", scope: asInstallation, method: http.MethodGet, path: "/installation/repositories",
	}, maxWalk, func(page repositoryList) bool {
		for _, r := range page.Repositories {
			if !r.GetArchived() {
				out = append(out, ports.Target{
					Kind: ports.TargetPull, Installation: installation,
					RepoID: r.GetID(), Owner: r.GetOwner().GetLogin(), Name: r.GetName(),
				})
			}
		}
		return true
	})
	return out, err
}

// OpenPulls lists a repository's open pull requests that were updated since
// then, newest first and up to 10,000. It includes pull requests whose fork was
// deleted.
func (c installationReader) OpenPulls(ctx context.Context, repo ports.Target, since time.Time) ([]ports.OpenPull, error) {
	var out []ports.OpenPull
	seen := map[int]bool{} // an update during the listing can move others to the next page
	err := walkAll(ctx, c.api, repo, request{
		op: "list the open pull requests", scope: asInstallation, method: http.MethodGet,
		path: "/repos/{owner}/{repo}/pulls", args: []any{repo.Owner, repo.Name},
		query: url.Values{"state": {"open"}, "sort": {"updated"}, "direction": {"desc"}},
	}, maxWalk, func(page pullList) bool {
		for _, p := range page {
			if p.GetUpdatedAt().Before(since) {
				return false
			}
			if seen[p.GetNumber()] || p.GetState() != "open" || p.GetBase().GetRepo().GetID() != repo.RepoID {
				continue
			}
			seen[p.GetNumber()] = true
			out = append(out, ports.OpenPull{Target: ports.Target{
				Kind: ports.TargetPull, Installation: repo.Installation, RepoID: repo.RepoID,
				Owner: repo.Owner, Name: repo.Name, Number: p.GetNumber(), HeadSHA: p.GetHead().GetSHA(),
			}, BaseRef: p.GetBase().GetRef()})
		}
		return true
	})
	return out, err
}
