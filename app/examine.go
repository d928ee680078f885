package app

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/doctor"
	"github.com/reviewgate/reviewgate/app/gh"
	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/review"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/deploy"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// Examine checks the App's installations, and one repository if owner and name are given.
// It changes nothing on GitHub or in the database.
func Examine(ctx context.Context, settings Settings, owner, name string) (doctor.Result, error) {
	manifest, err := deploy.AppManifest()
	if err != nil {
		return doctor.Result{}, err
	}
	layers := []config.Layer{settings.Config}
	if len(settings.Config.Files) == 0 {
		layers = nil
	}
	server, _ := config.Load(layers...) // LoadSettings has validated it
	var skew skewMeter
	o := newCommandReader(settings, zerolog.Nop())
	o.onCall = skew.note
	stored := &storedLayers{KnownLayers: review.NoLayers{}}
	defer stored.close()
	dry, client, err := o.dryRun(stored)
	if err != nil {
		return doctor.Result{}, err
	}
	defer client.Close()
	return doctor.Examine(ctx, doctor.Options{
		GitHub: client, AppID: settings.AppID, API: settings.V3URL, GraphQL: settings.V4URL, Web: settings.WebURL, Manifest: manifest, Skew: skew.skew, HookPath: HookPath,
		Database: func(ctx context.Context) (version, newest int64, err error) {
			i, err := store.Inspect(ctx, settings.DatabaseURL)
			if err == nil && i.Version == i.Newest {
				err = stored.open(ctx, settings.DatabaseURL)
			}
			return i.Version, i.Newest, err
		},
		Server: server, InForce: dry.Config, KnowsLastGood: stored.opened, Quarantined: stored.quarantined, Owner: owner, Name: name,
	}), nil
}

// commandReader builds what a command needs to read GitHub as the server does, when the command
// runs without a server.
type commandReader struct {
	settings Settings
	log      zerolog.Logger
	onCall   func(context.Context, gh.CallInfo)
}

func newCommandReader(s Settings, log zerolog.Logger) *commandReader {
	return &commandReader{settings: s, log: log}
}

// client returns a GitHub client. Close it after use.
func (o *commandReader) client() (*gh.Client, error) {
	c, err := gh.New(gh.Config{
		AppID: o.settings.AppID, PrivateKey: o.settings.PrivateKey, V3URL: o.settings.V3URL, V4URL: o.settings.V4URL, WebURL: o.settings.WebURL,
		UserAgent: "reviewgate/" + Version(), Log: o.log, OnCall: o.onCall,
	})
	if err != nil {
		return nil, fmt.Errorf("make the GitHub client: %w", err)
	}
	return c, nil
}

// options returns the options of the use cases.
func (o *commandReader) options(client *gh.Client) (review.Options, error) {
	runner, err := run.NewRunner(run.Config{Version: Version(), Now: time.Now})
	if err != nil {
		return review.Options{}, fmt.Errorf("make the pipeline: %w", err)
	}
	return review.Options{
		GitHub: client.Host, Pipeline: runner, Loader: config.NewLoader(8), Server: o.settings.Config,
		Log: o.log, Version: Version(), WebURL: o.settings.WebURL,
	}, nil
}

// dryRun returns a dry run of the use cases, which reports what the server would do, and
// the GitHub client that it uses. stored may be nil.
func (o *commandReader) dryRun(stored ports.KnownLayers) (*review.DryRun, *gh.Client, error) {
	client, err := o.client()
	if err != nil {
		return nil, nil, err
	}
	options, err := o.options(client)
	if err == nil {
		var dry *review.DryRun
		if dry, err = review.NewDryRun(options, stored); err == nil {
			return dry, client, nil
		}
	}
	client.Close()
	return nil, nil, err
}

// storedLayers holds the config layers that the server's database knows. It knows none before
// open is called.
type storedLayers struct {
	ports.KnownLayers
	reader *store.Reader
}

func (k *storedLayers) open(ctx context.Context, databaseURL string) error {
	reader, err := store.OpenReader(ctx, databaseURL)
	if err == nil {
		k.KnownLayers, k.reader = reader, reader
	}
	return err
}

func (k *storedLayers) opened() bool { return k.reader != nil }

func (k *storedLayers) quarantined(ctx context.Context) ([]ports.Quarantined, error) {
	if k.reader == nil {
		return nil, nil
	}
	return k.reader.Quarantined(ctx)
}

func (k *storedLayers) close() {
	if k.reader != nil {
		k.reader.Close() // an error loses nothing: the reader writes nothing
	}
}

// skewMeter compares GitHub's clock with this computer's, by the date of GitHub's newest
// answer.
type skewMeter struct {
	mu    sync.Mutex
	ahead time.Duration // how far GitHub's clock is ahead
	known bool
}

// note measures by one answer. GitHub gave the answer between the request and now, and cut
// its date to whole seconds.
func (m *skewMeter) note(_ context.Context, c gh.CallInfo) {
	if c.Date.IsZero() {
		return
	}
	now := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known, m.ahead = true, 0
	if sent := now.Add(-c.Duration).Truncate(time.Second); c.Date.Before(sent) {
		m.ahead = c.Date.Sub(sent)
	} else if c.Date.After(now) {
		m.ahead = c.Date.Sub(now)
	}
}

func (m *skewMeter) skew() (time.Duration, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ahead, m.known
}
