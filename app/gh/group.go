package gh

import (
	"context"
	"strings"

	"github.com/google/go-github/v60/github"
	"golang.org/x/sync/errgroup"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

// groupSource reads a merge group: the title and description of the pull request that
// its ref names, if it names one, and the change between the group's base and head.
type groupSource struct {
	*source
	compared once[*comparison]
	files    once[raw.Files]
	named    once[*repositoryAnswer]
}

// PullRequest reads the pull request that the group's ref names, as far as there is
// one. Base and head are those of the group.
func (s *groupSource) PullRequest(ctx context.Context) (raw.PullRequest, error) {
	var out raw.PullRequest
	var diff *comparison
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) { diff, err = s.compare(gctx); return err })
	g.Go(func() (err error) { out, err = s.words(gctx); return err })
	if err := g.Wait(); err != nil {
		return raw.PullRequest{}, err
	}
	t := s.target
	out.Base.SHA = t.BaseSHA
	out.Head = pipeline.Head{Ref: branch(t.HeadRef), SHA: t.HeadSHA, Repository: out.Repository.FullName()}
	out.Draft = false
	out.Commits = diff.GetTotalCommits()
	if len(diff.Files) < maxCompareFiles && !crowded(diff.Files) {
		out.Totals = totals(changedFiles(diff.Files))
		return out, nil
	}
	all, err := s.Files(ctx)
	out.Totals = totals(all.Files)
	return out, err
}

// totals sums up the changes of a comparison, because GitHub doesn't.
func totals(files []raw.ChangedFile) pipeline.Totals {
	t := pipeline.Totals{Files: len(files)}
	for _, f := range files {
		t.Additions += f.Additions
		t.Deletions += f.Deletions
	}
	return t
}

// words returns the pull request that the group's ref names, or else a title for the
// group.
func (s *groupSource) words(ctx context.Context) (raw.PullRequest, error) {
	if s.target.Number > 0 {
		p, err := s.readPull(ctx)
		if err != nil {
			return raw.PullRequest{}, err
		}
		return pullRequest(p), nil
	}
	repo, err := s.repository(ctx)
	if err != nil {
		return raw.PullRequest{}, err
	}
	return raw.PullRequest{
		Repository: repository(repo),
		Title:      "Merge group " + branch(s.target.HeadRef),
	}, nil
}

// repository returns the group's repository with its present name.
func (s *groupSource) repository(ctx context.Context) (*github.Repository, error) {
	if s.target.Number > 0 {
		p, err := s.readPull(ctx)
		return p.GetBase().GetRepo(), err
	}
	r, err := s.readRepository(ctx)
	if err != nil {
		return nil, err
	}
	return &r.Repository, nil
}

// readRepository reads the repository once, even if it is called several times.
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

// Files returns the files that differ between the group's base and head. It reads them
// once, even if it is called several times.
func (s *groupSource) Files(ctx context.Context) (raw.Files, error) {
	return s.files.do(ctx, s.readFiles)
}

// readFiles reads the files that GitHub compares, which are all on the first page, and by
// other ways what GitHub leaves out. GitHub doesn't say how many files there are.
func (s *groupSource) readFiles(ctx context.Context) (raw.Files, error) {
	diff, err := s.compare(ctx)
	if err != nil {
		return raw.Files{}, err
	}
	return s.complete(ctx, listing{
		listed: diff.Files, files: raw.Files{Files: changedFiles(diff.Files), HeadSHA: s.target.HeadSHA},
		cut: len(diff.Files) >= maxCompareFiles, limit: "GitHub compares at most 300 files",
		doubt: crowded(diff.Files), head: s.target.HeadSHA, base: s.mergeBase, repo: s.repository,
	})
}

// Commits returns the commits that the group adds to its base.
func (s *groupSource) Commits(ctx context.Context) (raw.Commits, error) {
	diff, err := s.compare(ctx)
	if err != nil {
		return raw.Commits{}, err
	}
	return s.comparedCommits(ctx, s.compareRequest(), diff.Commits, diff.GetTotalCommits())
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

func (s *groupSource) mergeBase(ctx context.Context) (string, error) {
	diff, err := s.compare(ctx)
	if err != nil {
		return "", err
	}
	return diff.GetMergeBaseCommit().GetSHA(), nil
}
