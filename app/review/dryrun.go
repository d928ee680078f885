package review

import (
	"context"
	"time"

	"github.com/reviewgate/reviewgate/app/inforce"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// DryRun reviews as a server would, but stores and writes nothing. So it does not know
// earlier reviews: neither their findings nor what people decided about them.
type DryRun struct{ service *Service }

// NewDryRun returns a DryRun. It ignores Store, Owner and the durations of the options.
// stored holds the last good versions of config layers; nil means none.
func NewDryRun(o Options, stored ports.KnownLayers) (*DryRun, error) {
	if stored == nil {
		stored = NoLayers{}
	}
	o.Store = ports.Store{Layers: readLayers{stored}, Marks: noMarks{}}
	s, err := New(o)
	if err != nil {
		return nil, err
	}
	return &DryRun{s}, nil
}

// NoLayers is a KnownLayers without any layer.
type NoLayers struct{}

// GoodLayer implements ports.KnownLayers.
func (NoLayers) GoodLayer(context.Context, int64, string) (*ports.GoodLayer, error) { return nil, nil }

// ConfigBranch implements ports.KnownLayers.
func (NoLayers) ConfigBranch(context.Context, string) (string, error) { return "", nil }

// RepositoryNames implements ports.KnownLayers.
func (NoLayers) RepositoryNames(context.Context, int64) ([]string, error) { return nil, nil }

// readLayers reads stored layers and stores none.
type readLayers struct{ ports.KnownLayers }

func (readLayers) GoodLayerNames(context.Context, int64) ([]string, error) { return nil, nil }

func (readLayers) SaveGoodLayer(context.Context, int64, string, ports.GoodLayer) error { return nil }

func (readLayers) SetConfigBranch(context.Context, string, string) error { return nil }

func (readLayers) AddRepositoryNames(context.Context, int64, []string) error { return nil }

// noMarks is a Marks for an App that has done no periodic work.
type noMarks struct{}

func (noMarks) Mark(context.Context, string) (time.Time, error) { return time.Time{}, nil }

func (noMarks) SetMark(context.Context, string, time.Time) error { return nil }

// Config returns the config in force for pull requests into the default branch of the
// target's repository. The problems of a layer are in InForce.Problems; if its last good
// version is known, that is used instead.
func (d *DryRun) Config(ctx context.Context, t ports.Target) (*config.Config, error) {
	read, err := d.service.GitHub.ReadConfig(ctx, t, "")
	if err != nil {
		return nil, err
	}
	f, err := d.service.configs.Lay(ctx, t, "", read, true)
	return f.Config, err
}

// DryOptions are the options of a dry review. All are optional.
type DryOptions struct {
	// Repository replaces the repository's own layer of config. If the repository is its
	// organisation's .github, it replaces the organisation's layer.
	Repository *config.Layer
	Trigger    string // what asked for it, in words
	Progress   func(what string)
}

// Review reviews a pull request in its current state. It ignores the config's mode and
// reviews drafts, too.
func (d *DryRun) Review(ctx context.Context, t ports.Target, o DryOptions) (run.Outcome, error) {
	s := d.service
	src := &source{PullSource: s.GitHub.Source(t)}
	src.layers = func(ctx context.Context) (inforce.InForce, error) {
		return d.config(ctx, t, src.PullSource, o.Repository)
	}
	maker := s.agentsOf(ctx, t, src.PullSource)
	maker.NoModels = true
	options := run.Options{
		RunID: newRunID(), Trigger: o.Trigger, Progress: o.Progress,
		IOAgents: maker.Agent, File: readFile(src), Panicked: s.logPanic,
	}
	if o.Repository == nil { // otherwise the repository's config does not count
		options.Proposed = func(ctx context.Context, f *pipeline.PRFacts) (*config.Config, error) {
			cfg, _, err := s.configs.Proposed(ctx, t, f, &src.InForce)
			return cfg, err
		}
		options.Tests = policyTests(s.configs, t, src)
	}
	outcome, err := s.Pipeline.Run(ctx, src, options)
	if err != nil {
		return outcome, err
	}
	outcome.Record.APICalls = src.Calls()
	return outcome, maker.Trouble()
}

// config returns the config for a dry review.
func (d *DryRun) config(ctx context.Context, t ports.Target, src ports.Change, own *config.Layer) (inforce.InForce, error) {
	if own == nil {
		return d.service.configs.InForce(ctx, t, src)
	}
	read, err := d.service.GitHub.ReadConfig(ctx, t, "")
	if err != nil {
		return inforce.InForce{}, err
	}
	layer := *own
	if layer.Name = config.LayerRepository; ports.IsOrganisationRepo(t) {
		layer.Name = config.LayerOrganisation
		read.Organisation = ports.ConfigSource{Source: own.Source, Files: inforce.LayerBlobs(layer)}
	} else {
		read.Repository = ports.ConfigSource{Source: own.Source, Files: inforce.LayerBlobs(layer)}
	}
	return d.service.configs.Lay(ctx, t, "", read, true)
}
