package gh

import (
	"context"
	"path"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
)

// testsDir is the directory with a repository's policy tests.
const testsDir = config.RepositoryDir + "/" + config.TestsDir

// testsAtOnce is how many files with policy tests are read at once.
const testsAtOnce = 8

// ProposedTests reads the policy tests as they will be after the merge. It reads those that the
// change touches at the head. It reads the others where the config in force is read: at the tip of
// branch or, if that is empty, of the default branch. So a branch that is behind has no outdated tests.
func (s *source) ProposedTests(ctx context.Context, branch, head string, touched []string) ([]ports.ConfigBlob, error) {
	tr := treeReader{client: s.client, target: s.target, op: "read the proposed policy tests", budget: &s.budget}
	root, err := tr.commit(ctx, head)
	if err != nil {
		return nil, err
	}
	ours, err := tr.tests(ctx, root)
	if err != nil {
		return nil, err
	}
	rev := defaultBranch
	if branch != "" {
		rev = "refs/heads/" + branch
	}
	if root, err = tr.root(ctx, rev); err != nil {
		return nil, err
	}
	base, err := tr.tests(ctx, root)
	if err != nil {
		return nil, err
	}
	entries := config.Merged(base, ours, func(e treeEntry) string { return path.Join(testsDir, e.Path) }, touched)
	return tr.texts(ctx, entries[:min(len(entries), config.MaxTests+1)])
}

// tests lists the files with policy tests below the root of a commit.
func (tr treeReader) tests(ctx context.Context, dir *directory) (files []treeEntry, err error) {
	for name := range strings.SplitSeq(testsDir, "/") {
		e, found := dir.find(name)
		if !found || e.Type != "tree" {
			return nil, nil
		}
		if dir, err = tr.tree(ctx, e.SHA); err != nil {
			return nil, err
		}
	}
	for _, e := range dir.Entries {
		if e.Type == "blob" && config.IsTest(e.Path) {
			files = append(files, e)
		}
	}
	return files, nil
}

// texts reads files with policy tests. It reads none if there are too many, and at most one byte more
// than is allowed: that suffices to notice.
func (tr treeReader) texts(ctx context.Context, entries []treeEntry) ([]ports.ConfigBlob, error) {
	files := make([]ports.ConfigBlob, len(entries))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(testsAtOnce)
	left := int64(config.MaxTestBytes)
	for i, e := range entries {
		files[i] = ports.ConfigBlob{Layer: config.LayerRepository, Path: path.Join(testsDir, e.Path), BlobSHA: e.SHA}
		if len(entries) > config.MaxTests || left < 0 {
			continue
		}
		most := left + 1
		left -= e.Size
		g.Go(func() (err error) {
			files[i].Text, err = tr.blob(ctx, e, most)
			return err
		})
	}
	return files, g.Wait()
}
