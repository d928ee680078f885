package review

import (
	"context"
	"slices"

	"github.com/reviewgate/reviewgate/config"
)

// proposed loads the config that a change would bring once it is merged: the
// repository's files as they are at the head, over the layers that the config
// now in force has below them.
func (s *Service) proposed(ctx context.Context, t Target, sha string, now *inForce) (*config.Config, error) {
	from, err := s.GitHub.ProposedConfig(ctx, t, sha)
	if err != nil {
		s.Log.Warn().Str("target", t.Key()).Str("head", sha).Err(err).Msg("proposed config not read")
		return nil, err
	}
	layers := slices.Clip(now.below)
	if own := configLayer(config.LayerRepository, from.Source, from.Files); len(own.Files) > 0 {
		own.Name = now.own
		layers = append(layers, own)
	}
	cfg, _ := s.proposals.Load(layers...) // its problems stand in it
	return cfg, nil
}
