package inforce

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/config"
)

// A repository is known by its id, whatever it is called. The server's config chooses
// modes by name, so the names under which a repository was seen are kept with its id,
// and the strictest mode of all of them counts: renaming it to a name that is treated
// mildly changes nothing.

// maxNames is how many of a repository's names are kept, the first ones: however often it
// is renamed, the one under which it was first seen stays.
const maxNames = 50

// noteNames keeps names of a repository. It writes only what is new.
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

// NameWeakening logs what in organisations' layers does not count because it would loosen
// what the server's config says, each with the line that would let it count. It goes by
// the layers as they were last read.
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
				Msg("an organisation's config does not count in this")
		}
	}
	return nil
}

// named sets the names that a repository has had in its config, which must be a copy such
// as the loader returns.
func (c *Configs) named(ctx context.Context, cfg *config.Config, repoID int64) error {
	names, err := c.Layers.RepositoryNames(ctx, repoID)
	cfg.Names = names
	return err
}
