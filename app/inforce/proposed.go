package inforce

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// Proposed loads the config that would be in force after the change is merged. It takes the
// files that the change touches from the head, and the other files from where the config in
// force was read. The layers below stay the same. It also returns the repository's files in that
// config.
func (c *Configs) Proposed(ctx context.Context, t ports.Target, f *pipeline.PRFacts, now *InForce) (*config.Config, []ports.ConfigBlob, error) {
	from, err := c.ConfigReader.ProposedConfig(ctx, t, f.Head.SHA)
	if err != nil {
		c.Log.Warn().EmbedObject(t.At(f.Head.SHA)).Err(err).Msg("proposed config not read")
		return nil, nil, err
	}
	touched := config.ChangedFiles(f)
	own := config.Layer{Name: now.own, Source: from.Source, Files: filesOf(config.Merged(now.read, from.Files, pathOf, touched))}
	layers := slices.Clip(now.below)
	if len(own.Files) > 0 {
		layers = append(layers, own)
	}
	cfg, _ := c.proposals.Load(layers...) // the config contains its problems
	if layer := cfg.ProbationLayer(now.probation); len(layer.Files) > 0 {
		cfg, _ = c.proposals.Load(append([]config.Layer{layer}, layers...)...)
	}
	return cfg, LayerBlobs(own), nil
}

// ProposedFiles returns the files of the layer that the change of a stored review proposes, and an
// id of them. They are those that the review stored, with secrets replaced. That suffices to compute
// reviews with them: a secret in config blocks its own change, and only a pattern that contains one
// finds less in this form. The id is empty if there is nothing to compute: the change edits no
// config, or the config has mistakes or could not be tried.
func ProposedFiles(r *ports.StoredReview) (files []config.File, id string) {
	p := &r.Review.Report.ProposedConfig
	if p.Decision == "" || len(p.Problems) > 0 || len(config.ChangedFiles(&r.Review.Facts)) == 0 {
		return nil, ""
	}
	files = configLayer(ports.LayerProposed, "", r.Config).Files
	h := sha256.New()
	for _, f := range files {
		fmt.Fprintf(h, "%q %x\n", f.Path, sha256.Sum256(f.Text))
	}
	return files, hex.EncodeToString(h.Sum(nil))
}

// ProposedTests reads the policy tests as they will be after the merge, like [Configs.Proposed].
func (c *Configs) ProposedTests(ctx context.Context, t ports.Target, src ports.Change, f *pipeline.PRFacts) ([]config.File, error) {
	branch, err := c.ConfigBranch(ctx, t, src)
	if err != nil {
		return nil, err
	}
	read, err := src.ProposedTests(ctx, branch, f.Head.SHA, config.ChangedTests(f))
	if err != nil {
		c.Log.Warn().EmbedObject(t.At(f.Head.SHA)).Err(err).Msg("proposed policy tests not read")
		return nil, err
	}
	return filesOf(read), nil
}

func pathOf(b ports.ConfigBlob) string { return b.Path }

func filesOf(blobs []ports.ConfigBlob) []config.File {
	files := make([]config.File, len(blobs))
	for i, b := range blobs {
		files[i] = config.File{Path: b.Path, BlobSHA: b.BlobSHA, Text: b.Text}
	}
	return files
}
