package review

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// inForce is the config that a target is judged by, and what it was made of.
type inForce struct {
	config *config.Config
	// own is the layer that the repository's files are, and below are those
	// that the config has below it.
	own       string
	below     []config.Layer
	blobs     []ConfigBlob // of all layers, the defaults among them
	rootFiles []string
}

// config reads the layers that live on GitHub and lays them over the server's.
// A layer that is broken, be it that a lower one changed, stands in the
// config's problems, and its last good version is used in its stead; where
// that is none or does not fit the lower layers either, they stand alone. So
// does one whose repository can't be read any more.
func (s *Service) config(ctx context.Context, t Target, src PullSource) (inForce, error) {
	branch, err := s.configBranch(ctx, src)
	if err != nil {
		return inForce{}, err
	}
	read, err := s.GitHub.ReadConfig(ctx, t, branch)
	if err != nil {
		return inForce{}, err
	}
	l := layering{service: s, repoID: t.RepoID}
	l.used, l.blobs = s.serverLayers(), append(defaultBlobs(), layerBlobs(s.Server)...)
	below := l.used
	if err := l.lay(ctx, config.LayerOrganisation, config.LayerOrganisation, read.Organisation); err != nil {
		return inForce{}, err
	}
	own := config.LayerOrganisation
	if !strings.EqualFold(t.Name, organisationRepo) {
		own, below = config.LayerRepository, l.used
		if err := l.lay(ctx, own, keptName(branch), read.Repository); err != nil {
			return inForce{}, err
		}
	}
	return inForce{config: l.config(), own: own, below: below, blobs: l.blobs, rootFiles: read.RootFiles}, nil
}

// organisationRepo is the repository whose config is its organisation's, and
// which has no other.
const organisationRepo = ".github"

// configBranch is the base branch if the server's config says that it carries
// config of its own, else empty. Only then is the pull request read first,
// which is a round trip more.
func (s *Service) configBranch(ctx context.Context, src PullSource) (string, error) {
	if s.branches == nil {
		return "", nil
	}
	pr, err := src.PullRequest(ctx)
	if err != nil {
		return "", err
	}
	if !s.branches.Any(pr.Base.Ref) {
		return "", nil
	}
	return pr.Base.Ref, nil
}

// keptName is the name under which a repository's good layer is kept: each
// branch has its own.
func keptName(branch string) string {
	if branch == "" {
		return config.LayerRepository
	}
	return config.LayerRepository + ":" + branch
}

// serverLayers is the server's layer, if it has one.
func (s *Service) serverLayers() []config.Layer {
	if len(s.Server.Files) == 0 {
		return nil
	}
	return []config.Layer{s.Server}
}

// layering lays one layer after the other, lowest first.
type layering struct {
	service *Service
	repoID  int64
	used    []config.Layer
	blobs   []ConfigBlob
	broken  []pipeline.ConfigLayer
	wrong   []pipeline.ConfigProblem
}

// lay lays a layer over those before. kept is the name of its last good
// version.
func (l *layering) lay(ctx context.Context, name, kept string, from ConfigSource) error {
	good, err := l.service.Store.GoodLayer(ctx, l.repoID, kept)
	if err != nil {
		return fmt.Errorf("look for the last good config: %w", err)
	}
	if good == nil {
		good = &GoodLayer{}
	}
	if from.Unreadable {
		l.keep(name, from.Source, *good)
		return nil
	}
	layer := configLayer(name, from.Source, from.Files)
	tried, fits := l.try(layer)
	if !fits {
		l.refuse(tried)
		last := configLayer(name, good.Source, good.Files)
		if _, fits := l.try(last); fits {
			l.use(last, good.Files)
		}
		return nil
	}
	l.use(layer, from.Files)
	if sameBlobs(good.Files, from.Files) {
		return nil
	}
	if err := l.service.Store.SaveGoodLayer(ctx, l.repoID, kept, GoodLayer{Source: from.Source, Files: from.Files}); err != nil {
		return fmt.Errorf("keep the good config: %w", err)
	}
	return nil
}

// keep leaves a layer in force whose repository can't be read any more: what is
// final must not go without a word by that. One that was read elsewhere was
// that of another account, which had the repository before.
func (l *layering) keep(name, source string, good GoodLayer) {
	if len(good.Files) == 0 || !strings.EqualFold(good.Source, source) {
		return
	}
	l.wrong = append(l.wrong, pipeline.ConfigProblem{
		Layer:   name,
		Problem: source + " can't be read any more, so its config stays in force as it was read last",
		Remedy: "make it public or install the App on it; if its config is to end, remove " +
			config.RepositoryDir + " from it as well (an empty repository of that name will do)",
	})
	layer := configLayer(name, good.Source, good.Files)
	if tried, fits := l.try(layer); fits {
		l.use(layer, good.Files)
	} else {
		l.refuse(tried)
	}
}

// refuse notes why the uppermost layer of a config can't be used.
func (l *layering) refuse(tried *config.Config) {
	layers := tried.InForce.Layers
	l.broken = append(l.broken, layers[len(layers)-1])
	l.wrong = append(l.wrong, tried.InForce.Problems...)
}

// try reports whether a layer is valid over those that are used.
func (l *layering) try(layer config.Layer) (*config.Config, bool) {
	if len(layer.Files) == 0 {
		return nil, true
	}
	cfg, problems := l.service.Loader.Load(append(slices.Clip(l.used), layer)...)
	return cfg, len(problems) == 0
}

func (l *layering) use(layer config.Layer, files []ConfigBlob) {
	if len(layer.Files) > 0 {
		l.used, l.blobs = append(slices.Clip(l.used), layer), append(l.blobs, files...)
	}
}

// config is what the layers add up to. Those that are broken are no part of
// it, and are listed after what is used in their stead.
func (l *layering) config() *config.Config {
	cfg, _ := l.service.Loader.Load(l.used...)
	layers := &cfg.InForce.Layers // a copy, as the loader gives
	for _, b := range l.broken {
		i := slices.IndexFunc(*layers, func(x pipeline.ConfigLayer) bool { return rank(x.Name) > rank(b.Name) })
		if i < 0 {
			i = len(*layers)
		}
		*layers = slices.Insert(*layers, i, b)
	}
	cfg.InForce.Problems = l.wrong
	return cfg
}

func rank(layer string) int {
	return slices.Index([]string{config.LayerDefaults, config.LayerServer, config.LayerOrganisation, config.LayerRepository}, layer)
}

// known is the config by the newest layers that were good for the repository,
// for where the config in force is not at hand.
func (s *Service) known(ctx context.Context, t Target) *config.Config {
	layers := s.serverLayers()
	for _, name := range []string{config.LayerOrganisation, config.LayerRepository} {
		good, err := s.Store.GoodLayer(ctx, t.RepoID, name)
		if err != nil || good == nil || len(good.Files) == 0 {
			continue
		}
		layers = append(layers, configLayer(name, good.Source, good.Files))
	}
	cfg, _ := s.Loader.Load(layers...) // one that no longer fits is left out
	return cfg
}

// switchedOff reports whether nothing may be posted on the repository, as far
// as its config is known.
func (s *Service) switchedOff(ctx context.Context, t Target) bool {
	return s.known(ctx, t).Mode(t.Owner+"/"+t.Name) == config.ModeOff
}
