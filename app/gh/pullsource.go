package gh

import (
	"context"
	"fmt"
	"net/url"
	"slices"

	"github.com/google/go-github/v60/github"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

// Source returns the source for the target.
func (c pullReader) Source(t ports.Target) ports.PullSource {
	s := &source{client: c.api, target: t, budget: budget{most: int64(c.callsPerReview)}}
	if t.Kind == ports.TargetGroup {
		group := &groupSource{source: s}
		return ports.PullSource{Change: group, Discussion: group, Scanners: group}
	}
	pull := &pullSource{source: s}
	return ports.PullSource{Change: pull, Discussion: pull, Scanners: pull}
}

// pullSource reads a pull request.
type pullSource struct{ *source }

// PullRequest reads the pull request without its files and commits.
func (s *pullSource) PullRequest(ctx context.Context) (raw.PullRequest, error) {
	p, err := s.readPull(ctx)
	if err != nil {
		return raw.PullRequest{}, err
	}
	return pullRequest(p), nil
}

// Files reads the changed files: from GitHub's list, and by other ways what the list
// leaves out.
func (s *pullSource) Files(ctx context.Context) (raw.Files, error) {
	const op = "read the changed files"
	t := s.target
	r := s.get(op, "/repos/{owner}/{repo}/pulls/{pull_number}/files", t.Owner, t.Name, t.Number)
	all, _, err := pages[fileList](ctx, s.client, t, r, maxPullFiles/perPage)
	if err != nil {
		return raw.Files{}, err
	}
	p, err := s.readPull(ctx) // the other reads need it too
	if err != nil {
		return raw.Files{}, err
	}
	l := listing{
		listed: slices.Concat(all...), total: p.GetChangedFiles(),
		head: p.GetHead().GetSHA(), base: s.mergeBase, repo: s.repository,
	}
	l.files.Files = changedFiles(l.listed)
	if l.files.HeadSHA, err = headOfPages(all); err != nil {
		return raw.Files{}, &ports.HostError{Op: op, Kind: ports.HostTransient, Err: err}
	}
	if l.files.HeadSHA != "" && l.files.HeadSHA != l.head {
		return l.files, nil // the caller notices the other head
	}
	l.cut = l.total > len(l.listed)
	l.limit = fmt.Sprintf("GitHub lists %d of %d changed files", len(l.listed), l.total)
	l.doubt = slices.ContainsFunc(all, func(page fileList) bool { return crowded(page) }) || !l.cut && undercounted(l.listed, p)
	return s.complete(ctx, l)
}

// repository returns the pull request's repository with its present name.
func (s *pullSource) repository(ctx context.Context) (*github.Repository, error) {
	p, err := s.readPull(ctx)
	return p.GetBase().GetRepo(), err
}

// Commits reads the commits from GitHub's list for a pull request. If there are more than
// that list can have, it reads the first thousand from a comparison.
func (s *pullSource) Commits(ctx context.Context) (raw.Commits, error) {
	t := s.target
	r := s.get("read the commits", "/repos/{owner}/{repo}/pulls/{pull_number}/commits", t.Owner, t.Name, t.Number)
	all, _, err := pages[commitList](ctx, s.client, t, r, (maxPullCommits+perPage-1)/perPage)
	if err != nil {
		return raw.Commits{}, err
	}
	c := raw.Commits{Commits: commits(slices.Concat(all...))}
	if len(c.Commits) < maxPullCommits {
		return c, nil
	}
	p, err := s.readPull(ctx)
	if err != nil || p.GetCommits() <= len(c.Commits) {
		return c, err
	}
	r = s.get("read the commits beyond those that are listed", "/repos/{owner}/{repo}/compare/{basehead}",
		t.Owner, t.Name, p.GetBase().GetSHA()+"..."+p.GetHead().GetSHA())
	return s.comparedCommits(ctx, r, nil, p.GetCommits())
}

// mergeBase returns the commit where the change begins. It reads the second page of a
// comparison, because that page has no files.
func (s *pullSource) mergeBase(ctx context.Context) (string, error) {
	p, err := s.readPull(ctx)
	if err != nil {
		return "", err
	}
	t := s.target
	r := s.get("find where the change begins", "/repos/{owner}/{repo}/compare/{basehead}", t.Owner, t.Name, p.GetBase().GetSHA()+"..."+p.GetHead().GetSHA())
	r.query, r.pinned = url.Values{"per_page": {"1"}, "page": {"2"}}, true
	var m meeting
	_, err = s.client.do(ctx, t, r, asJSON(&m))
	return m.MergeBase.GetSHA(), err
}
