package explain

import (
	"context"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
)

// change modifies one line in each of its files and says nothing about it.
type change struct {
	cfg        *config.Config
	paths      []string
	attributes []byte
}

var _ normalize.Source = (*change)(nil)

// oneLine is the patch of each file.
const oneLine = "@@ -1 +1 @@\n-\n+\n"

func (c *change) PullRequest(context.Context) (normalize.PullRequest, error) {
	n := len(c.paths)
	return normalize.PullRequest{Totals: pipeline.Totals{Files: n, Additions: n, Deletions: n}}, nil
}

func (c *change) Files(context.Context) (normalize.Files, error) {
	var out normalize.Files
	for _, p := range c.paths {
		out.Files = append(out.Files, normalize.ChangedFile{
			Path: p, Status: pipeline.FileModified, Additions: 1, Deletions: 1, Patch: oneLine,
		})
	}
	return out, nil
}

func (c *change) Commits(context.Context) (normalize.Commits, error) {
	return normalize.Commits{}, nil
}

func (c *change) Config(context.Context) (normalize.ConfigRead, error) {
	return normalize.ConfigRead{Config: c.cfg, Attributes: c.attributes}, nil
}
