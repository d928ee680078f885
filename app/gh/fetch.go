package gh

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/reviewgate/reviewgate/app/localgit"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

const (
	// callsOfFetch is how many calls of the review's budget a fetch takes: git lists
	// the refs, and fetches twice.
	callsOfFetch = 4
	// routeFetch is the name of a fetch in metrics and logs.
	routeFetch = "git fetch"
)

// canFetch returns why git can't fetch changes here, or nil.
func (c *api) canFetch() error {
	if c.git == nil {
		return fmt.Errorf("where git finds the repositories is not known for the API at %s", c.wire.api.Host)
	}
	return localgit.Available()
}

// GitVersion returns the version of the git that fetches changes, or the reason why git
// can't fetch them.
func (c *api) GitVersion(ctx context.Context) (string, error) {
	if err := c.canFetch(); err != nil {
		return "", err
	}
	return localgit.Version(ctx)
}

// fetchChange fetches the change by git, and returns all of its files. The base's
// repository also has the commits of every fork. git fetches them by their SHAs, because a
// branch could have moved.
func (s *source) fetchChange(ctx context.Context, l listing, base string) (raw.Files, error) {
	const op = "fetch the change by git"
	var none raw.Files
	if err := s.client.canFetch(); err != nil {
		return none, err
	}
	if s.budget.left() < callsOfFetch+1 { // one more for the token
		return none, hostError(op, &budgetError{s.budget.most})
	}
	repo, err := l.repo(ctx)
	if err != nil {
		return none, err
	}
	// Each fetch takes memory and disk.
	if err := acquire(ctx, s.client.fetching); err != nil {
		return none, hostError(op, err)
	}
	defer func() { <-s.client.fetching }()
	token, err := s.gitToken(ctx)
	if err != nil {
		return none, err
	}
	s.budget.used.Add(callsOfFetch)
	url := s.client.git.JoinPath(cmp.Or(repo.GetOwner().GetLogin(), s.target.Owner), cmp.Or(repo.GetName(), s.target.Name)+".git")
	sent := time.Now()
	files, err := localgit.Fetch(ctx, localgit.Remote{URL: url.String(), Token: token}, base, l.head)
	info := CallInfo{Route: routeFetch, Installation: s.target.Installation, RateRemaining: -1, Try: 1}
	if err == nil {
		info.Status = http.StatusOK
	}
	s.client.wire.record(ctx, &call{target: s.target}, info, sent, err)
	switch {
	case ctx.Err() != nil:
		return none, hostError(op, ctx.Err())
	case localgit.MayPass(err):
		return none, &ports.HostError{Op: op, Kind: ports.HostTransient, Err: err}
	case err != nil:
		return none, err
	}
	if n := paths(files.Files); n < l.total {
		return none, fmt.Errorf("git found %d of the %d files that GitHub counts", n, l.total)
	}
	files.Whole = true
	return files, nil
}

// paths counts the paths that a change touches. A rename counts twice, because git and
// GitHub may disagree on whether a file was renamed, or removed and added.
func paths(files []raw.ChangedFile) int {
	n := len(files)
	for _, f := range files {
		if f.Status == pipeline.FileRenamed {
			n++
		}
	}
	return n
}

// gitToken gets a token that can only read the contents of this one repository.
func (s *source) gitToken(ctx context.Context) (string, error) {
	var t struct {
		Token string `json:"token"`
	}
	_, err := s.client.do(ctx, s.target, request{
		op: "get a token for git", scope: asApp, method: http.MethodPost, budget: &s.budget,
		path: "/app/installations/{installation_id}/access_tokens", args: []any{s.target.Installation},
	}, asJSON(&t))
	if err == nil && t.Token == "" {
		err = &ports.HostError{Op: "get a token for git", Kind: ports.HostInvalid, Err: errNotWhole}
	}
	return t.Token, err
}

// gitRoot returns the URL at which git finds an API's repositories. On GitHub Enterprise
// Server it is the API's host, and elsewhere that host without "api.". If a proxy gives the
// API another URL, it is the web URL. It is nil if none of these is known.
func gitRoot(api *url.URL, web string) *url.URL {
	root := *api
	root.Path = "/"
	if strings.TrimSuffix(api.Path, "/") == "/api/v3" {
		return &root
	}
	if host, ok := strings.CutPrefix(api.Host, "api."); ok && api.Path == "/" {
		root.Host = host
		return &root
	}
	pages, err := url.Parse(web)
	if err != nil || pages.Host == "" {
		return nil
	}
	return pages
}
