package gh

import (
	"context"
	"net/http"
	"slices"
	"sync"

	"github.com/google/go-github/v60/github"

	"github.com/reviewgate/reviewgate/app/review"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
)

// Source returns what reads the target.
func (c *Client) Source(t review.Target) review.PullSource {
	s := &source{client: c, target: t, budget: budget{most: int64(c.callsPerReview)}}
	if t.Kind == review.TargetGroup {
		return &groupSource{source: s}
	}
	return &pullSource{source: s}
}

// source is what pull requests and merge groups have in common.
type source struct {
	client *Client
	target review.Target
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
	maxCommits      = 250
)

// pullSource reads a pull request.
type pullSource struct{ *source }

// PullRequest reads the pull request without its files and commits.
func (s *pullSource) PullRequest(ctx context.Context) (normalize.PullRequest, error) {
	p, err := s.readPull(ctx)
	if err != nil {
		return normalize.PullRequest{}, err
	}
	return pullRequest(p), nil
}

// Files reads the changed files: all of them, up to GitHub's 3,000.
func (s *pullSource) Files(ctx context.Context) (normalize.Files, error) {
	const op = "read the changed files"
	t := s.target
	r := s.get(op, "/repos/{owner}/{repo}/pulls/{pull_number}/files", t.Owner, t.Name, t.Number)
	all, whole, err := pages[fileList](ctx, s.client, t, r, maxPullFiles/perPage)
	if err != nil {
		return normalize.Files{}, err
	}
	var files normalize.Files
	if files.HeadSHA, err = headOfPages(all); err != nil {
		return normalize.Files{}, &review.HostError{Op: op, Kind: review.HostTransient, Err: err}
	}
	for _, page := range all {
		files.Files = append(files.Files, changedFiles(page)...)
	}
	if err := s.lookInto(ctx, slices.Concat(all...), files.Files, s.tip, s.mergeBase); err != nil {
		return normalize.Files{}, err
	}
	if whole && len(files.Files) < maxPullFiles {
		return files, nil
	}
	p, err := s.readPull(ctx)
	if err != nil {
		return normalize.Files{}, err
	}
	if p.GetChangedFiles() > len(files.Files) {
		files.Incomplete = append(files.Incomplete, pipeline.Incompleteness{
			What: "files", Why: "GitHub lists at most 3,000 changed files", Gating: true,
		})
	}
	return files, nil
}

// Commits reads the commits: the first 250, which is all that GitHub lists.
func (s *pullSource) Commits(ctx context.Context) (normalize.Commits, error) {
	t := s.target
	r := s.get("read the commits", "/repos/{owner}/{repo}/pulls/{pull_number}/commits", t.Owner, t.Name, t.Number)
	all, _, err := pages[commitList](ctx, s.client, t, r, (maxCommits+perPage-1)/perPage)
	if err != nil {
		return normalize.Commits{}, err
	}
	var c normalize.Commits
	for _, page := range all {
		c.Commits = append(c.Commits, commits(page)...)
	}
	if len(c.Commits) < maxCommits {
		return c, nil
	}
	p, err := s.readPull(ctx)
	if err != nil {
		return normalize.Commits{}, err
	}
	c.Incomplete = missingCommits(p.GetCommits(), len(c.Commits))
	return c, nil
}

// missingCommits says that not all commits were listed. The gate doesn't need
// them: the files hold the change itself.
func missingCommits(total, listed int) []pipeline.Incompleteness {
	if total <= listed {
		return nil
	}
	return []pipeline.Incompleteness{{What: "commits", Why: "GitHub lists at most 250 commits"}}
}
