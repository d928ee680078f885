package gh

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/reviewgate/reviewgate/app/localgit"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

const (
	// callsOfFetch is what a fetch counts in the review's budget: git asks what
	// there is, and fetches twice.
	callsOfFetch = 4
	// routeFetch is what metrics and logs call a fetch.
	routeFetch = "git fetch"
)

// fetchChange has git fetch the change, and returns all of its files. The error
// says why that was not done or did not work.
func (s *source) fetchChange(ctx context.Context, p partial, e ends) (raw.Files, error) {
	var none raw.Files
	if s.client.git == nil {
		return none, fmt.Errorf("where git finds the repositories is not known for the API at %s", s.client.wire.api.Host)
	}
	if s.budget.left() < callsOfFetch+1 { // and one for the token
		return none, &budgetError{s.budget.most}
	}
	// Each takes memory and disk.
	if err := acquire(ctx, s.client.fetching); err != nil {
		return none, err
	}
	defer func() { <-s.client.fetching }()
	token, err := s.gitToken(ctx)
	if err != nil {
		return none, err
	}
	s.budget.used.Add(callsOfFetch)
	repo := s.client.git.JoinPath(s.target.Owner, s.target.Name+".git")
	sent := time.Now()
	files, err := localgit.Fetch(ctx, localgit.Remote{URL: repo.String(), Token: token}, e.base, e.head)
	info := CallInfo{Route: routeFetch, Installation: s.target.Installation, RateRemaining: -1, Try: 1}
	if err == nil {
		info.Status = http.StatusOK
	}
	s.client.wire.record(ctx, &call{target: s.target}, info, sent, err)
	if err != nil {
		return none, err
	}
	if n := paths(files.Files); n < p.total {
		return none, fmt.Errorf("git found %d of the %d files that GitHub counts", n, p.total)
	}
	files.Whole = true
	return files, nil
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
// Enterprise Server, and elsewhere at the host that "api." stands before. It is
// nil for any other API, which is a proxy's: the token is for GitHub alone.
func gitRoot(api *url.URL) *url.URL {
	root := *api
	root.Path = "/"
	if strings.TrimSuffix(api.Path, "/") == "/api/v3" {
		return &root
	}
	host, ok := strings.CutPrefix(api.Host, "api.")
	if root.Host = host; !ok || api.Path != "/" {
		return nil
	}
	return &root
}
