package gh

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/google/go-github/v60/github"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

// Source returns what reads the target.
func (c pullReader) Source(t ports.Target) ports.PullSource {
	s := &source{client: c.api, target: t, budget: budget{most: int64(c.callsPerReview)}}
	if t.Kind == ports.TargetGroup {
		group := &groupSource{source: s}
		return ports.PullSource{Change: group, Discussion: group, Scanners: group}
	}
	pull := &pullSource{source: s}
	return ports.PullSource{Change: pull, Discussion: pull, Scanners: pull}
}

// source is what pull requests and merge groups have in common.
type source struct {
	client *api
	target ports.Target
	budget budget
	pull   once[*github.PullRequest]
}

// Calls counts the requests made so far, those for a token included.
func (s *source) Calls() int { return int(s.budget.used.Load()) }

// get is a read that is counted.
func (s *source) get(op, path string, args ...any) request {
	return request{op: op, method: http.MethodGet, path: path, args: args, budget: &s.budget}
}

// readPull reads the pull request, once however often it is asked for.
func (s *source) readPull(ctx context.Context) (*github.PullRequest, error) {
	return s.pull.do(ctx, func(ctx context.Context) (*github.PullRequest, error) {
		p := new(pullAnswer)
		t := s.target
		r := s.get("read the pull request", "/repos/{owner}/{repo}/pulls/{pull_number}", t.Owner, t.Name, t.Number)
		_, err := s.client.do(ctx, t, r, asJSON(p))
		if err == nil {
			err = ours(t, p)
		}
		return &p.PullRequest, err
	})
}

// once keeps the first result that is no error. Others wait for it meanwhile.
type once[T any] struct {
	mu    sync.Mutex
	done  bool
	value T
}

func (o *once[T]) do(ctx context.Context, f func(context.Context) (T, error)) (T, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.done {
		return o.value, nil
	}
	v, err := f(ctx)
	if err == nil {
		o.value, o.done = v, true
	}
	return v, err
}

// GitHub's limits on what it tells of a change.
const (
	maxPullFiles    = 3000
	maxCompareFiles = 300
	maxPullCommits  = 250
)

// maxCommits bounds the commits that are read by pages of a comparison, which
// goes on for as long as there are any.
const maxCommits = 1000

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

// Files reads the changed files: those that GitHub lists, and by other ways what the
// list leaves out.
func (s *pullSource) Files(ctx context.Context) (raw.Files, error) {
	const op = "read the changed files"
	t := s.target
	r := s.get(op, "/repos/{owner}/{repo}/pulls/{pull_number}/files", t.Owner, t.Name, t.Number)
	all, _, err := pages[fileList](ctx, s.client, t, r, maxPullFiles/perPage)
	if err != nil {
		return raw.Files{}, err
	}
	p, err := s.readPull(ctx) // which the other reads need too
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
		return l.files, nil // of another head, which is seen later
	}
	l.cut = l.total > len(l.listed)
	l.limit = fmt.Sprintf("GitHub lists %d of %d changed files", len(l.listed), l.total)
	l.doubt = slices.ContainsFunc(all, func(page fileList) bool { return crowded(page) }) || !l.cut && undercounted(l.listed, p)
	return s.complete(ctx, l)
}

// repository is the pull request's, as it is called by now.
func (s *pullSource) repository(ctx context.Context) (*github.Repository, error) {
	p, err := s.readPull(ctx)
	return p.GetBase().GetRepo(), err
}

// Commits reads the commits: those that GitHub lists of a pull request, or where
// it has more the first thousand that a comparison lists.
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

// comparedCommits reads the commits of a comparison, of which the first page may
// be known. Of total, no more than maxCommits are read.
func (s *source) comparedCommits(ctx context.Context, r request, first []*github.RepositoryCommit, total int) (raw.Commits, error) {
	list := first
	for n := 1 + len(list)/perPage; len(list) < min(total, maxCommits); n++ {
		more, _, err := page[commitsOfComparison](ctx, s.client, s.target, r, n)
		if err != nil {
			return raw.Commits{}, err
		}
		if len(more.Commits) == 0 {
			break
		}
		list = append(list, more.Commits...)
	}
	return raw.Commits{Commits: commits(list), Incomplete: missingCommits(total, len(list))}, nil
}

// missingCommits says that not all commits were listed. The gate doesn't need
// them: the files hold the change itself.
func missingCommits(total, listed int) []pipeline.Incompleteness {
	if total <= listed {
		return nil
	}
	return []pipeline.Incompleteness{{What: "commits", Why: fmt.Sprintf("%d of %d commits are listed", listed, total)}}
}
