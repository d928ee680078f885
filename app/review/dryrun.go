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

// DryRun reads and tells what a server would do; it keeps nothing and writes
// nothing. So it knows nothing of earlier reviews either: neither what they
// found, nor what people taught.
type DryRun struct{ service *Service }

// NewDryRun returns a DryRun. Store, Owner and the durations of the options
// don't matter. Without kept, which may be nil, no config has a last good version.
func NewDryRun(o Options, kept ports.KnownLayers) (*DryRun, error) {
	if kept == nil {
		kept = NoLayers{}
	}
	o.Store = ports.Store{Layers: readLayers{kept}, Marks: noMarks{}}
	s, err := New(o)
	if err != nil {
		return nil, err
	}
	return &DryRun{s}, nil
}

// NoLayers are the layers where none is known.
type NoLayers struct{}

// GoodLayer implements ports.KnownLayers.
func (NoLayers) GoodLayer(context.Context, int64, string) (*ports.GoodLayer, error) { return nil, nil }

// ConfigBranch implements ports.KnownLayers.
func (NoLayers) ConfigBranch(context.Context, string) (string, error) { return "", nil }

// RepositoryNames implements ports.KnownLayers.
func (NoLayers) RepositoryNames(context.Context, int64) ([]string, error) { return nil, nil }

// readLayers are layers that are read and never stored.
type readLayers struct{ ports.KnownLayers }

func (readLayers) GoodLayerNames(context.Context, int64) ([]string, error) { return nil, nil }

func (readLayers) SaveGoodLayer(context.Context, int64, string, ports.GoodLayer) error { return nil }

func (readLayers) SetConfigBranch(context.Context, string, string) error { return nil }

func (readLayers) AddRepositoryNames(context.Context, int64, []string) error { return nil }

// noMarks are the marks of an App that has done no periodic work.
type noMarks struct{}

func (noMarks) Mark(context.Context, string) (time.Time, error) { return time.Time{}, nil }

func (noMarks) SetMark(context.Context, string, time.Time) error { return nil }

// Config is the config in force for pull requests into the default branch of the
// target's repository. What is wrong with a layer is in its InForce.Problems; its
// last good version stands in for it, where that is known.
func (d *DryRun) Config(ctx context.Context, t ports.Target) (*config.Config, error) {
	read, err := d.service.GitHub.ReadConfig(ctx, t, "")
	if err != nil {
		return nil, err
	}
	f, err := d.service.configs.Lay(ctx, t, "", read, true)
	return f.Config, err
}

// DryOptions are what a dry review may be given. All are optional.
type DryOptions struct {
	// Repository stands in for the repository's own layer of config, its
	// organisation's if the repository is its .github.
	Repository *config.Layer
	Trigger    string // what asked for it, in words
	Progress   func(what string)
}

// Review reviews a pull request as it is now, whatever the config's mode says,
// drafts too.
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
	if o.Repository == nil { // else no config of the repository counts
		options.Proposed = func(ctx context.Context, f *pipeline.PRFacts) (*config.Config, error) {
			return s.configs.Proposed(ctx, t, f, &src.InForce)
		}
	}
	outcome, err := s.Pipeline.Run(ctx, src, options)
	if err != nil {
		return outcome, err
	}
	outcome.Record.APICalls = src.Calls()
	return outcome, maker.Trouble()
}

// config is the config that a dry review is judged by.
func (d *DryRun) config(ctx context.Context, t ports.Target, src ports.Change, own *config.Layer) (inforce.InForce, error) {
	if own == nil {
		return d.service.configs.InForce(ctx, t, src)
	}
	read, err := d.service.GitHub.ReadConfig(ctx, t, "")
	if err != nil {
		return inforce.InForce{}, err
	}
	stand := *own
	if stand.Name = config.LayerRepository; ports.IsOrganisationRepo(t) {
		stand.Name = config.LayerOrganisation
		read.Organisation = ports.ConfigSource{Source: own.Source, Files: inforce.LayerBlobs(stand)}
	} else {
		read.Repository = ports.ConfigSource{Source: own.Source, Files: inforce.LayerBlobs(stand)}
	}
	return d.service.configs.Lay(ctx, t, "", read, true)
}
