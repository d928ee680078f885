package inforce

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/retry"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// InForce is the config that applies to a target, and the parts it was made from.
type InForce struct {
	Config *config.Config
	// own is the layer to which the repository's files belong, read are these files as they
	// were found, and below are the layers below it in the config.
	own       string
	read      []ports.ConfigBlob
	below     []config.Layer
	Blobs     []ports.ConfigBlob // of all layers, including the defaults
	RootFiles []string
	// probation are the rules that may be put in evaluation; see onProbation.
	probation []string
	// Attributes and Exceptions are the base's .gitattributes and .gitleaks.toml. They are
	// in Blobs, too, so that a push that changes one of them is noticed.
	Attributes, Exceptions ports.ConfigBlob
}

// InForce reads the layers on GitHub and lays them over the server's. A layer may be
// broken, for example because a lower layer changed. The config's problems then name it,
// and its last good version is used instead. If there is no such version, or it does not
// fit the lower layers either, only the lower layers count. The same holds for a layer
// whose repository can no longer be read.
func (c *Configs) InForce(ctx context.Context, t ports.Target, src ports.Change) (InForce, error) {
	branch, err := c.ConfigBranch(ctx, t, src)
	if err != nil {
		return InForce{}, err
	}
	if err := c.dropIfChanged(ctx, t); err != nil {
		return InForce{}, err
	}
	read, err := c.ConfigReader.ReadConfig(ctx, t, branch)
	if err != nil {
		return InForce{}, err
	}
	// After a rename another repository may have taken the name. The read of the pull
	// request, which this review needs anyway, detects that. The config must have no effect
	// before it.
	if _, err := src.PullRequest(ctx); err != nil {
		return InForce{}, err
	}
	return c.Lay(ctx, t, branch, read, false)
}

// Lay builds the config from what was read. With look it stores no layer as the last good
// one.
func (c *Configs) Lay(ctx context.Context, t ports.Target, branch string, read ports.ConfigRead, look bool) (InForce, error) {
	l := layering{configs: c, look: look}
	l.used, l.blobs = c.serverLayers(), append(defaultBlobs(), LayerBlobs(c.Server)...)
	below := l.used
	if err := l.lay(ctx, config.LayerOrganisation, organisationKey(t.Installation, read.Organisation.Source), read.Organisation); err != nil {
		return InForce{}, err
	}
	own, files := config.LayerOrganisation, read.Organisation.Files
	if !ports.IsOrganisationRepo(t) {
		own, files, below = config.LayerRepository, read.Repository.Files, l.used
		if err := l.lay(ctx, own, repositoryKey(t.RepoID, branch), read.Repository); err != nil {
			return InForce{}, err
		}
	}
	rules, err := c.onProbation(ctx, t.RepoID)
	if err != nil {
		return InForce{}, err
	}
	cfg := l.config()
	if layer := cfg.ProbationLayer(rules); len(layer.Files) > 0 {
		l.used = append([]config.Layer{layer}, l.used...)
		l.blobs = slices.Insert(l.blobs, len(defaultBlobs()), LayerBlobs(layer)...)
		cfg = l.config()
	}
	if !look {
		if err := c.noteNames(ctx, t.RepoID, t.Owner+"/"+t.Name); err != nil {
			return InForce{}, err
		}
	}
	if err := c.named(ctx, cfg, t.RepoID); err != nil {
		return InForce{}, err
	}
	blobs := l.blobs
	for _, b := range []ports.ConfigBlob{read.Attributes, read.Exceptions} {
		if b.Path != "" {
			blobs = append(blobs, b)
		}
	}
	return InForce{Config: cfg, own: own, read: files, below: below, probation: rules, Blobs: blobs, RootFiles: read.RootFiles, Attributes: read.Attributes, Exceptions: read.Exceptions}, nil
}

// ConfigBranch returns the base branch if the server's config lets it have its own config,
// else an empty string, as for the default branch. Only if the server names such branches
// is the pull request read first, which takes one more round trip.
func (c *Configs) ConfigBranch(ctx context.Context, t ports.Target, src ports.Change) (string, error) {
	if c.branches == nil {
		return "", nil
	}
	pr, err := src.PullRequest(ctx)
	if err != nil {
		return "", err
	}
	branch := pr.Base.Ref
	if branch == pr.Repository.DefaultBranch || !c.branches.Any(branch) {
		branch = ""
	}
	return branch, c.noteBranch(ctx, t, branch)
}

// noteBranch stores which branch's config a target has, for knownBranch.
func (c *Configs) noteBranch(ctx context.Context, t ports.Target, branch string) error {
	noted, err := c.Layers.ConfigBranch(ctx, t.Key())
	if err != nil || noted == branch {
		return err
	}
	return c.Layers.SetConfigBranch(ctx, t.Key(), branch)
}

// goodKey is the repository and the name under which the last good version of a layer is
// stored.
type goodKey struct {
	repoID int64
	name   string
}

// repositoryKey returns the key of a repository's own layer. Each branch has its own key.
func repositoryKey(repoID int64, branch string) goodKey {
	if branch == "" {
		return goodKey{repoID, config.LayerRepository}
	}
	return goodKey{repoID, config.LayerRepository + ":" + branch}
}

// organisationKey returns the key of an organisation's layer. It contains the account, so
// that a repository uses the layer from its first review on, and no longer uses it after a
// transfer. source is the account's .github.
func organisationKey(installation int64, source string) goodKey {
	owner, _, _ := strings.Cut(source, "/")
	return goodKey{0, ports.OrganisationLayer(installation, owner)}
}

// serverLayers returns the server's layer, if it has one.
func (c *Configs) serverLayers() []config.Layer {
	if len(c.Server.Files) == 0 {
		return nil
	}
	return []config.Layer{c.Server}
}

// layering lays one layer over the other, lowest first.
type layering struct {
	configs *Configs
	used    []config.Layer
	blobs   []ports.ConfigBlob
	broken  []pipeline.ConfigLayer
	wrong   []pipeline.ConfigProblem
	look    bool // stores nothing
}

// lay lays a layer over the layers before it. at is the key of its last good version.
func (l *layering) lay(ctx context.Context, name string, at goodKey, from ports.ConfigSource) error {
	good, err := l.configs.Layers.GoodLayer(ctx, at.repoID, at.name)
	if err != nil {
		return fmt.Errorf("look for the last good config: %w", err)
	}
	if good == nil {
		good = &ports.GoodLayer{}
	}
	if from.Unreadable {
		l.keepInForce(name, from.Source, *good)
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
	if l.look || sameBlobs(good.Files, from.Files) {
		return nil
	}
	if err := l.configs.Layers.SaveGoodLayer(ctx, at.repoID, at.name, ports.GoodLayer{Source: from.Source, Files: from.Files}); err != nil {
		return fmt.Errorf("store the good config: %w", err)
	}
	return nil
}

// keepInForce leaves a layer in force whose repository can no longer be read, because final
// settings must not end silently in this way. The layer of another account that had the
// repository before has another key: see organisationKey.
func (l *layering) keepInForce(name, source string, good ports.GoodLayer) {
	if len(good.Files) == 0 {
		return
	}
	l.wrong = append(l.wrong, pipeline.ConfigProblem{
		Layer:   name,
		Problem: source + " can no longer be read, so its config stays in force as it was last read",
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

// refuse records why the uppermost layer of a config can't be used.
func (l *layering) refuse(tried *config.Config) {
	layers := tried.InForce.Layers
	l.broken = append(l.broken, layers[len(layers)-1])
	l.wrong = append(l.wrong, tried.InForce.Problems...)
}

// try reports whether a layer is valid over the layers in use.
func (l *layering) try(layer config.Layer) (*config.Config, bool) {
	if len(layer.Files) == 0 {
		return nil, true
	}
	cfg, problems := l.configs.Loader.Load(append(slices.Clip(l.used), layer)...)
	return cfg, len(problems) == 0
}

func (l *layering) use(layer config.Layer, files []ports.ConfigBlob) {
	if len(layer.Files) > 0 {
		l.used, l.blobs = append(slices.Clip(l.used), layer), append(l.blobs, files...)
	}
}

// config returns the config that the layers make. Broken layers are not part of it; it
// lists each of them after the layer that is used instead.
func (l *layering) config() *config.Config {
	cfg, _ := l.configs.Loader.Load(l.used...)
	layers := &cfg.InForce.Layers // a copy, as the loader gives
	for _, b := range l.broken {
		i := slices.IndexFunc(*layers, func(x pipeline.ConfigLayer) bool { return config.LayerRank(x.Name) > config.LayerRank(b.Name) })
		if i < 0 {
			i = len(*layers)
		}
		*layers = slices.Insert(*layers, i, b)
	}
	cfg.InForce.Problems = append(slices.Clip(l.wrong), cfg.Weakened()...)
	return cfg
}

// Known returns the config from the newest good layers for the target, for callers that
// have not read the config in force. Rules that reviewgate put in evaluation on its own are enforced
// in it.
func (c *Configs) Known(ctx context.Context, t ports.Target) (*config.Config, error) {
	branch, err := c.knownBranch(ctx, t)
	if err != nil {
		return nil, err
	}
	layers, err := c.knownLayers(ctx, t, branch)
	if err != nil {
		return nil, err
	}
	cfg, _ := c.Loader.Load(layers...) // a layer that no longer fits is left out
	return cfg, c.named(ctx, cfg, t.RepoID)
}

// knownLayers returns the newest good layers for the target, with the branch's own config.
func (c *Configs) knownLayers(ctx context.Context, t ports.Target, branch string) ([]config.Layer, error) {
	layers := c.serverLayers()
	for _, from := range []struct {
		layer string
		key   goodKey
	}{
		{config.LayerOrganisation, organisationKey(t.Installation, t.Owner)},
		{config.LayerRepository, repositoryKey(t.RepoID, branch)},
	} {
		good, err := c.Layers.GoodLayer(ctx, from.key.repoID, from.key.name)
		if err != nil {
			return nil, fmt.Errorf("look for the config known last: %w", err)
		}
		if good == nil || len(good.Files) == 0 {
			continue
		}
		layers = append(layers, configLayer(from.layer, good.Source, good.Files))
	}
	return layers, nil
}

// knownBranch returns the branch whose config the target had at the last read.
func (c *Configs) knownBranch(ctx context.Context, t ports.Target) (string, error) {
	if c.branches == nil {
		return "", nil
	}
	return c.Layers.ConfigBranch(ctx, t.Key())
}

// SwitchedOff reports whether nothing may be posted in the repository, according to the
// newest known config.
func (c *Configs) SwitchedOff(ctx context.Context, t ports.Target) (bool, error) {
	cfg, err := c.Known(ctx, t)
	return err == nil && cfg.Mode(t.Owner+"/"+t.Name) == config.ModeOff, err
}

// CarriesConfig reports whether the config on the pushed branch counts: it is the default
// branch, or a branch that the server names. A .github repository has no such branches.
func (c *Configs) CarriesConfig(n ports.ConfigNews) bool {
	if n.Branch == "" {
		return true
	}
	return c.branches != nil && c.branches.Any(n.Branch) && !isOrganisation(n.Repository)
}

func isOrganisation(repo ports.Target) bool {
	return strings.EqualFold(repo.Name, ports.OrganisationRepo)
}

// ConfigOf returns the config that a stored review used.
func (c *Configs) ConfigOf(ctx context.Context, r *ports.StoredReview) (*config.Config, error) {
	_, layers := LayersOf(r)
	cfg, problems := c.Loader.Load(layers...)
	if len(problems) > 0 {
		return nil, &retry.FinalError{Err: fmt.Errorf("load the stored config of run %s: %s", r.RunID, problems[0].Problem), Why: "internal"}
	}
	return cfg, c.named(ctx, cfg, r.RepoID)
}

// LayersOf returns the defaults that a stored review was made with, and the layers that it
// used over them. The first versions did not store the defaults. For their reviews it returns
// the embedded defaults.
func LayersOf(r *ports.StoredReview) (defaults config.Layer, layers []config.Layer) {
	for _, name := range config.LayerNames()[1:] {
		if l := configLayer(name, sourceOf(r, name), r.Config); len(l.Files) > 0 {
			layers = append(layers, l)
		}
	}
	defaults = configLayer(config.LayerDefaults, sourceOf(r, config.LayerDefaults), r.Config)
	if len(defaults.Files) == 0 {
		defaults = config.DefaultLayer()
	}
	return defaults, layers
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
