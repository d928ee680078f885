package gh

import (
	"context"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
)

// groupSource reads a merge group: the words of the pull request that its ref
// names, if it names one, and the change between the group's base and head.
type groupSource struct {
	*source
	compared once[*comparison]
	named    once[*repositoryAnswer]
}

// PullRequest reads what there is of a pull request. Base and head are the
// group's.
func (s *groupSource) PullRequest(ctx context.Context) (normalize.PullRequest, error) {
	var out normalize.PullRequest
	var diff *comparison
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) { diff, err = s.compare(gctx); return err })
	g.Go(func() (err error) { out, err = s.words(gctx); return err })
	if err := g.Wait(); err != nil {
		return normalize.PullRequest{}, err
	}
	t := s.target
	out.Base.SHA = t.BaseSHA
	out.Head = pipeline.Head{Ref: branch(t.HeadRef), SHA: t.HeadSHA, Repository: out.Repository.FullName()}
	out.Draft = false
	out.Commits = diff.GetTotalCommits()
	out.Totals = pipeline.Totals{Files: len(diff.Files)}
	for _, f := range diff.Files {
		out.Totals.Additions += f.GetAdditions()
		out.Totals.Deletions += f.GetDeletions()
	}
	return out, nil
}

// words are the group's title and what goes with it.
func (s *groupSource) words(ctx context.Context) (normalize.PullRequest, error) {
	if s.target.Number > 0 {
		p, err := s.readPull(ctx)
		if err != nil {
			return normalize.PullRequest{}, err
		}
		return pullRequest(p), nil
	}
	repo, err := s.readRepository(ctx)
	if err != nil {
		return normalize.PullRequest{}, err
	}
	return normalize.PullRequest{
		Repository: repository(&repo.Repository),
		Title:      "Merge group " + branch(s.target.HeadRef),
	}, nil
}

// readRepository reads the repository, once however often it is asked for.
func (s *groupSource) readRepository(ctx context.Context) (*repositoryAnswer, error) {
	return s.named.do(ctx, func(ctx context.Context) (*repositoryAnswer, error) {
		const op = "read the repository"
		repo := new(repositoryAnswer)
		t := s.target
		_, err := s.client.do(ctx, t, s.get(op, "/repos/{owner}/{repo}", t.Owner, t.Name), asJSON(repo))
		if err == nil {
			err = sameRepository(op, t, repo.GetID())
		}
		return repo, err
	})
}

// Files are those that differ between the group's base and head: at most 300,
// all on the first page.
func (s *groupSource) Files(ctx context.Context) (normalize.Files, error) {
	diff, err := s.compare(ctx)
	if err != nil {
		return normalize.Files{}, err
	}
	files := normalize.Files{Files: changedFiles(diff.Files), HeadSHA: s.target.HeadSHA}
	if err := s.lookInto(ctx, diff.Files, files.Files, s.tip, s.mergeBase); err != nil {
		return normalize.Files{}, err
	}
	if len(files.Files) >= maxCompareFiles {
		files.Incomplete = append(files.Incomplete, pipeline.Incompleteness{
			What: "files", Why: "GitHub compares at most 300 files, and does not say whether there are more", Gating: true,
		})
	}
	return files, nil
}

// Commits are those that the group adds to its base.
func (s *groupSource) Commits(ctx context.Context) (normalize.Commits, error) {
	diff, err := s.compare(ctx)
	if err != nil {
		return normalize.Commits{}, err
	}
	c := normalize.Commits{Commits: commits(diff.Commits)}
	for n := 2; len(c.Commits) < min(diff.GetTotalCommits(), maxCommits); n++ {
		more, _, err := page[commitsOfComparison](ctx, s.client, s.target, s.compareRequest(), n)
		if err != nil {
			return normalize.Commits{}, err
		}
		if len(more.Commits) == 0 {
			break
		}
		c.Commits = append(c.Commits, commits(more.Commits)...)
	}
	c.Incomplete = missingCommits(diff.GetTotalCommits(), len(c.Commits))
	return c, nil
}

func (s *groupSource) compare(ctx context.Context) (*comparison, error) {
	return s.compared.do(ctx, func(ctx context.Context) (*comparison, error) {
		diff, _, err := page[comparison](ctx, s.client, s.target, s.compareRequest(), 1)
		return &diff, err
	})
}

func (s *groupSource) compareRequest() request {
	t := s.target
	r := s.get("compare the merge group with its base", "/repos/{owner}/{repo}/compare/{basehead}",
		t.Owner, t.Name, t.BaseSHA+"..."+t.HeadSHA)
	r.pinned = shaPattern.MatchString(t.BaseSHA) && shaPattern.MatchString(t.HeadSHA)
	return r
}

func branch(ref string) string { return strings.TrimPrefix(ref, "refs/heads/") }
