package explain

import (
	"context"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/raw"
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

func (c *change) PullRequest(context.Context) (raw.PullRequest, error) {
	n := len(c.paths)
	return raw.PullRequest{Totals: pipeline.Totals{Files: n, Additions: n, Deletions: n}}, nil
}

func (c *change) Files(context.Context) (raw.Files, error) {
	var out raw.Files
	for _, p := range c.paths {
		out.Files = append(out.Files, raw.ChangedFile{
			Path: p, Status: pipeline.FileModified, Additions: 1, Deletions: 1, Patch: oneLine,
		})
	}
	return out, nil
}

func (c *change) Commits(context.Context) (raw.Commits, error) {
	return raw.Commits{}, nil
}

func (c *change) Config(context.Context) (normalize.ConfigRead, error) {
	return normalize.ConfigRead{Config: c.cfg, Attributes: c.attributes}, nil
}
