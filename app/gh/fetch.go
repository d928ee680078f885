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
	// callsOfFetch is what a fetch counts in the review's budget: git asks what
	// there is, and fetches twice.
	callsOfFetch = 4
	// routeFetch is what metrics and logs call a fetch.
	routeFetch = "git fetch"
)

// canFetch returns why git can't fetch changes here, or nil.
func (c *api) canFetch() error {
	if c.git == nil {
		return fmt.Errorf("where git finds the repositories is not known for the API at %s", c.wire.api.Host)
	}
	return localgit.Available()
}

// GitVersion returns the version of the git that fetches changes, or why none can.
func (c *api) GitVersion(ctx context.Context) (string, error) {
	if err := c.canFetch(); err != nil {
		return "", err
	}
	return localgit.Version(ctx)
}

// fetchChange has git fetch the change from its base, and returns all of its files. The
// base's repository has the commits of every fork, and they are asked for by their SHAs:
// a branch could have moved.
func (s *source) fetchChange(ctx context.Context, l listing, base string) (raw.Files, error) {
	const op = "fetch the change by git"
	var none raw.Files
	if err := s.client.canFetch(); err != nil {
		return none, err
	}
	if s.budget.left() < callsOfFetch+1 { // and one for the token
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

// paths counts the paths that a change touches. GitHub may take two of them for
// a move where git has a removal and a creation.
func paths(files []raw.ChangedFile) int {
	n := len(files)
	for _, f := range files {
		if f.Status == pipeline.FileRenamed {
			n++
		}
	}
	return n
}

// gitToken asks for a token that reads the contents of the one repository, and
// nothing else.
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

// gitRoot is where git finds the repositories of an API: beside it on GitHub
// Enterprise Server, and elsewhere at the host that "api." stands before. Of a proxy's API
// the pages' URL tells. It is nil if that is not known.
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
