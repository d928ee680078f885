package review

import (
	"context"
	"fmt"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
)

// source is a PullSource with its config: what normalize reads.
type source struct {
	PullSource
	config func(ctx context.Context) (*config.Config, []ConfigBlob, error)
	blobs  []ConfigBlob // set by Config
}

var _ normalize.Source = (*source)(nil)

// Config loads the config in force and keeps its text for the store.
func (s *source) Config(ctx context.Context) (normalize.ConfigRead, error) {
	cfg, blobs, err := s.config(ctx)
	s.blobs = append(defaultBlobs(), blobs...)
	return normalize.ConfigRead{Config: cfg}, err
}

// defaultBlobs is the text of the embedded defaults: another version of
// reviewgate has others, and a stored review needs its own.
func defaultBlobs() []ConfigBlob {
	layer := config.DefaultLayer()
	var blobs []ConfigBlob
	for _, f := range layer.Files {
		blobs = append(blobs, ConfigBlob{Layer: layer.Name, Path: f.Path, BlobSHA: config.BlobSHA(f.Text), Text: f.Text})
	}
	return blobs
}

const layerRepository = config.LayerRepository

// config loads the defaults and the repository's layer. A repository layer
// that is broken is reported in the config's problems, and its last good
// version is used in its stead; where there never was one, the defaults stand.
func (s *Service) config(ctx context.Context, t Target) (*config.Config, []ConfigBlob, error) {
	read, err := s.GitHub.ReadConfig(ctx, t, "")
	if err != nil {
		return nil, nil, err
	}
	from, blobs := read.Repository.Source, read.Repository.Files
	if len(blobs) == 0 {
		cfg, _ := s.Loader.Load()
		return cfg, nil, s.keepGoodLayer(ctx, t, from, nil)
	}
	layer := configLayer(from, blobs)
	cfg, problems := s.Loader.Load(layer)
	if len(problems) == 0 {
		if err := s.keepGoodLayer(ctx, t, from, blobs); err != nil {
			return nil, nil, err
		}
		return cfg, blobs, nil
	}
	good, err := s.Store.GoodLayer(ctx, t.RepoID, layerRepository)
	if err != nil {
		return nil, nil, fmt.Errorf("look for the last good config: %w", err)
	}
	if good == nil {
		return cfg, nil, nil
	}
	// The broken layer is left out whole, and stands in the problems.
	cfg, _ = s.Loader.Load(configLayer(good.Source, good.Files), layer)
	return cfg, good.Files, nil
}

func (s *Service) keepGoodLayer(ctx context.Context, t Target, from string, blobs []ConfigBlob) error {
	good, err := s.Store.GoodLayer(ctx, t.RepoID, layerRepository)
	if err != nil {
		return fmt.Errorf("look for the last good config: %w", err)
	}
	if good != nil && sameBlobs(good.Files, blobs) || good == nil && len(blobs) == 0 {
		return nil
	}
	if err := s.Store.SaveGoodLayer(ctx, t.RepoID, layerRepository, GoodLayer{Source: from, Files: blobs}); err != nil {
		return fmt.Errorf("keep the good config: %w", err)
	}
	return nil
}

func sameBlobs(a, b []ConfigBlob) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Path != b[i].Path || a[i].BlobSHA != b[i].BlobSHA {
			return false
		}
	}
	return true
}

// configLayer is the repository's layer among the blobs.
func configLayer(from string, blobs []ConfigBlob) config.Layer {
	l := config.Layer{Name: layerRepository, Source: from}
	for _, b := range blobs {
		if b.Layer == layerRepository {
			l.Files = append(l.Files, config.File{Path: b.Path, BlobSHA: b.BlobSHA, Text: b.Text})
		}
	}
	return l
}
