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

// maxCommits bounds the commits that are read by pages of a comparison, which
// goes on for as long as there are any.
const maxCommits = 1000

// missingCommits says that not all commits were listed. The gate doesn't need
// them: the files hold the change itself.
func missingCommits(total, listed int) []pipeline.Incompleteness {
	if total <= listed {
		return nil
	}
	return []pipeline.Incompleteness{{What: "commits", Why: fmt.Sprintf("%d of %d commits are listed", listed, total)}}
}
