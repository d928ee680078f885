package inforce

import (
	"context"
	"fmt"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/retry"
	"github.com/reviewgate/reviewgate/config"
)

// ConfigOf returns the config that a stored review used.
func (c *Configs) ConfigOf(ctx context.Context, r *ports.StoredReview) (*config.Config, error) {
	var layers []config.Layer
	for _, name := range config.LayerNames()[1:] {
		if l := configLayer(name, sourceOf(r, name), r.Config); len(l.Files) > 0 {
			layers = append(layers, l)
		}
	}
	cfg, problems := c.Loader.Load(layers...)
	if len(problems) > 0 {
		return nil, &retry.FinalError{Err: fmt.Errorf("load the stored config of run %s: %s", r.RunID, problems[0].Problem), Why: "internal"}
	}
	return cfg, c.named(ctx, cfg, r.RepoID)
}

// sourceOf returns where a layer of a stored review was read.
func sourceOf(r *ports.StoredReview, layer string) string {
	for _, l := range r.Review.Facts.Config.Layers {
		if l.Name == layer && l.Used {
			return l.Source
		}
	}
	return ""
}
