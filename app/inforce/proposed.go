package inforce

import (
	"context"
	"slices"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// Proposed loads the config that would be in force after the change is merged. It takes the
// files that the change touches from the head, and the other files from where the config in
// force was read. The layers below stay the same. It also returns
// the repository's files in that config.
func (c *Configs) Proposed(ctx context.Context, t ports.Target, f *pipeline.PRFacts, now *InForce) (*config.Config, []ports.ConfigBlob, error) {
	from, err := c.ConfigReader.ProposedConfig(ctx, t, f.Head.SHA)
	if err != nil {
		c.Log.Warn().EmbedObject(t.At(f.Head.SHA)).Err(err).Msg("proposed config not read")
		return nil, nil, err
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
	cfg, _ := c.proposals.Load(layers...) // the config contains its problems
	return cfg, LayerBlobs(own), nil
}
