package inforce

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/config"
)

// A repository is identified by its ID, not by its name. The server's config chooses modes
// by name. So all names of a repository are stored with its ID, and the strictest of their
// modes counts: a rename to a name with a milder mode changes nothing.

// maxNames is how many of a repository's names are stored, oldest first. So no number of
// renames removes the first name.
const maxNames = 50

// noteNames stores names of a repository. It writes only new ones.
func (c *Configs) noteNames(ctx context.Context, repoID int64, seen ...string) error {
	all, err := c.Layers.RepositoryNames(ctx, repoID)
	if err != nil {
		return err
	}
	var added []string
	for _, name := range seen {
		name = strings.ToLower(name)
		if name != "" && len(all)+len(added) < maxNames && !slices.Contains(all, name) {
			added = append(added, name)
		}
	}
	if len(added) == 0 {
		return nil
	}
	return c.Layers.AddRepositoryNames(ctx, repoID, added)
}

// NameWeakening logs the settings in organisations' layers that do not count because they
// would loosen the server's config. The remedy in each log line is the line of config that
// would let the setting count. It uses the layers as they were last read.
func (c *Configs) NameWeakening(ctx context.Context) error {
	names, err := c.Layers.GoodLayerNames(ctx, 0)
	if err != nil {
		return err
	}
	for _, name := range names {
		good, err := c.Layers.GoodLayer(ctx, 0, name)
		if err != nil {
			return fmt.Errorf("look for an organisation's config: %w", err)
		}
		if good == nil {
			continue
		}
		layer := configLayer(config.LayerOrganisation, good.Source, good.Files)
		cfg, _ := c.Loader.Load(append(c.serverLayers(), layer)...)
		for _, p := range cfg.Weakened() {
			c.Log.Warn().Str("organisation", layer.Organisation).Str("file", p.File).Int("line", p.Line).Str("problem", p.Problem).Str("remedy", p.Remedy).
				Msg("this setting of an organisation's config does not count")
		}
	}
	return nil
}

// named sets the repository's past names in cfg. cfg must be a copy, such as the loader
// returns.
func (c *Configs) named(ctx context.Context, cfg *config.Config, repoID int64) error {
	names, err := c.Layers.RepositoryNames(ctx, repoID)
	cfg.Names = names
	return err
}
