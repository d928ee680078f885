package gh

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"github.com/google/go-github/v60/github"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

// source is the common part of pullSource and groupSource.
type source struct {
	client *api
	target ports.Target
	budget budget
	pull   once[*github.PullRequest]
}

// Calls returns the number of requests so far, including those for tokens.
func (s *source) Calls() int { return int(s.budget.used.Load()) }

// get returns a read that counts against the budget.
func (s *source) get(op, path string, args ...any) request {
	return request{op: op, method: http.MethodGet, path: path, args: args, budget: &s.budget}
}

// readPull reads the pull request once, even if it is called several times.
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

// once keeps the first result without an error. Concurrent callers wait for it.
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

// GitHub's limits on the lists of a change.
const (
	maxPullFiles    = 3000
	maxCompareFiles = 300
	maxPullCommits  = 250
)

// comparedCommits reads the commits of a comparison. first holds those of the first page
// if they are already known. total is their number; at most maxCommits are read.
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

// maxCommits bounds the commits that are read from a comparison. GitHub itself sets no
// limit there.
const maxCommits = 1000

// missingCommits says that not all commits are listed. The gate does not need them: the
// files contain the whole change.
func missingCommits(total, listed int) []pipeline.Incompleteness {
	if total <= listed {
		return nil
	}
	return []pipeline.Incompleteness{{What: "commits", Why: fmt.Sprintf("%d of %d commits are listed", listed, total)}}
}
