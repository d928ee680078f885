package inforce

import (
	"context"
	"slices"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// Proposed loads the config that a change would bring once it is merged: what
// it touches of the repository's files as it is at the head, and the others as
// they are where the config now in force was read, over the layers below them.
func (c *Configs) Proposed(ctx context.Context, t ports.Target, f *pipeline.PRFacts, now *InForce) (*config.Config, error) {
	from, err := c.ConfigReader.ProposedConfig(ctx, t, f.Head.SHA)
	if err != nil {
		c.Log.Warn().EmbedObject(t.At(f.Head.SHA)).Err(err).Msg("proposed config not read")
		return nil, err
	}
	touched := config.ChangedFiles(f)
	own := config.Layer{Name: now.own, Source: from.Source}
	for _, of := range []struct {
		blobs   []ports.ConfigBlob
		touched bool
	}{{now.read, false}, {from.Files, true}} {
		for _, b := range of.blobs {
			if slices.Contains(touched, b.Path) == of.touched {
				own.Files = append(own.Files, config.File{Path: b.Path, BlobSHA: b.BlobSHA, Text: b.Text})
			}
		}
	}
	layers := slices.Clip(now.below)
	if len(own.Files) > 0 {
		layers = append(layers, own)
	}
	cfg, _ := c.proposals.Load(layers...) // its problems stand in it
	return cfg, nil
}
