package app

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	stdlog "log"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/agents/model"
	"github.com/reviewgate/reviewgate/app/api"
	"github.com/reviewgate/reviewgate/app/gh"
	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/app/internal/telemetry"
	"github.com/reviewgate/reviewgate/app/localgit"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/review"
	"github.com/reviewgate/reviewgate/app/webhook"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// Options are what a server needs in addition to its settings. The zero value is usable.
type Options struct {
	Log     zerolog.Logger
	Version string

	// Workers is how many reviews run at the same time. The default is 8, because
	// a review mostly waits for GitHub.
	Workers int
	// DrainTimeout is how long running reviews may continue after the server was
	// asked to stop. Default 15 s. The queue then takes up to 10 s to end them.
	// Together that is less than the 30 s that orchestrators wait.
	DrainTimeout time.Duration
	// Agents are added to the agents of the config, by id. They replace agents with
	// the same id.
	Agents map[string]dispatch.Agent
	// Pages are handlers that the server serves in addition, by their patterns.
	Pages map[string]http.Handler
	// Engines caches compiled configs. Default: a cache of this App alone.
	Engines *run.Engines
	// Unsynced is store.Options.Unsynced, for tests.
	Unsynced bool
	// Apart is the command line of a child process that reviews suspects with RunApart.
	// Without it this process reviews them. ApartEnv is added to the child's
	// environment. ApartMemory is how much memory the child may take, in bytes. The
	// default is 60 % of this process's limit, and at most 1 GiB.
	Apart, ApartEnv []string
	ApartMemory     int64
	// QuarantineSteps and QuarantineFor are passed to review.Options.
	QuarantineSteps []time.Duration
	QuarantineFor   time.Duration
	// SessionJoin and SessionMinute are passed to review.Remote.
	SessionJoin, SessionMinute time.Duration
	// RetryBase, LeaseTTL, ScanInterval and TellWait are passed to review.Options.
	RetryBase, LeaseTTL, ScanInterval, TellWait time.Duration
	// MaxStoring is passed to webhook.Config.
	MaxStoring time.Duration
	// Memory is how much memory this process may take, in bytes. The default is the
	// system's limit.
	Memory int64
}

// App is the whole server.
type App struct {
	settings Settings
	options  Options
	store    *store.Store
	queue    *store.Queue
	client   *gh.Client
	service  *review.Service
	api      *api.API
	metrics  *telemetry.Metrics
	tracer   *telemetry.Tracer
	listener net.Listener
	server   *http.Server
	control  *control // nil if commands don't need it
	memory   MemoryLimit
	rest     rest
	children children
	done     atomic.Int64 // jobs, for tests
}

// New opens the database and builds the server. When New returns, the server listens
// already, so that Addr is known, but it answers only after a call of Run.
func New(ctx context.Context, settings Settings, o Options) (*App, error) {
	if o.Workers == 0 {
		o.Workers = 8
	}
	if o.DrainTimeout == 0 {
		o.DrainTimeout = 15 * time.Second
	}
	if o.Version == "" {
		o.Version = Version()
	}
	a := &App{settings: settings, options: o, memory: limitHeap(o.Log)}
	if o.Memory > 0 {
		a.memory = a.memory.smaller(MemoryLimit{o.Memory, "the server's options"})
	}
	if err := a.build(ctx); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

func (a *App) build(ctx context.Context) error {
	if err := a.buildService(ctx, false); err != nil {
		return err
	}
	return a.buildServer(ctx)
}

// buildService builds everything that reviews need. beside is set in a child process, which
// runs beside the server.
func (a *App) buildService(ctx context.Context, beside bool) (err error) {
	process := processName()
	if a.store, err = store.Open(ctx, a.settings.DatabaseURL, store.Options{Process: process, Log: a.options.Log, Unsynced: a.options.Unsynced, Beside: beside}); err != nil {
		return err
	}
	loader := config.NewLoader(64)
	a.tracer = telemetry.NewTracer(a.settings.Traces, a.options.Version, a.options.Log)
	a.metrics = telemetry.New(telemetry.Options{Version: a.options.Version, Agents: a.agents(loader), Jobs: jobKinds(), Routes: api.Routes(), Depth: a.depth})
	if a.client, err = gh.New(gh.Config{
		AppID: a.settings.AppID, PrivateKey: a.settings.PrivateKey,
		V3URL: a.settings.V3URL, V4URL: a.settings.V4URL, WebURL: a.settings.WebURL,
		UserAgent: "reviewgate/" + a.options.Version, Log: a.options.Log, OnCall: a.onCall, OnRefused: a.onRefused,
	}); err != nil {
		return fmt.Errorf("make the GitHub client: %w", err)
	}
	runner, err := run.NewRunner(run.Config{Key: a.derived("digests of secrets"), Version: a.options.Version, Now: time.Now, Agents: a.options.Agents, Engines: a.options.Engines})
	if err != nil {
		return fmt.Errorf("make the pipeline: %w", err)
	}
	a.rest.give = func() {
		runner.Forget()
		a.client.Close()
		giveBack()
	}
	models, err := openModels(a.settings)
	if err != nil {
		return err
	}
	remote, err := a.remote()
	if err != nil {
		return err
	}
	var apart func(context.Context, ports.Lease, ports.Target, ports.JobKind, bool) (ports.Ended, error)
	if len(a.options.Apart) > 0 {
		apart = a.apart
	}
	a.service, err = review.New(review.Options{
		Store: a.store.Store, GitHub: a.client.Host, Pipeline: runner, Loader: loader, Server: a.settings.Config, Shadow: a.settings.Shadow, Models: models,
		Log: a.options.Log, Version: a.options.Version, Owner: process, WebURL: a.settings.WebURL,
		Observe: review.Observer{
			Reviewed: a.metrics.Reviewed, Cycle: a.metrics.Cycle, Answer: a.metrics.Answer, Stage: a.onStage, Agent: a.onAgent,
			GaveUp: a.metrics.GaveUp, Found: a.metrics.Found, ConfigPushed: a.metrics.ConfigPushed, Issue: a.metrics.Issue, ModelUse: a.metrics.ModelUse,
		},
		Person: personHash(a.settings.PrivateKey), Retention: a.settings.Retention, LogRetention: a.settings.AnalyticsRetention, Memory: a.memory.Bytes, TellWait: a.options.TellWait,
		RetryBase: a.options.RetryBase, LeaseTTL: a.options.LeaseTTL, ScanInterval: a.options.ScanInterval,
		Remote: remote,
		Apart:  apart, QuarantineSteps: a.options.QuarantineSteps, QuarantineFor: a.options.QuarantineFor,
	})
	return err
}

// buildServer builds the queue and the HTTP server, and listens.
func (a *App) buildServer(ctx context.Context) (err error) {
	if a.queue, err = store.NewQueue(a.store, a.service, store.QueueOptions{Workers: a.options.Workers, Periodic: a.periodic(), Begin: a.onJob}); err != nil {
		return fmt.Errorf("make the queue: %w", err)
	}
	hook, err := webhook.New(webhook.Config{
		Secrets: a.settings.WebhookSecrets, Accept: a.service.Accept, AppID: a.settings.AppID,
		Log: a.options.Log, Observe: a.onDelivery, MaxStoring: a.options.MaxStoring,
	})
	if err != nil {
		return fmt.Errorf("make the webhook handler: %w", err)
	}
	a.service.Change(func(o *review.Options) { o.TakeIn = hook.TakeIn })
	if err := a.buildAPI(); err != nil {
		return fmt.Errorf("make the API: %w", err)
	}
	var lc net.ListenConfig
	if a.listener, err = lc.Listen(ctx, "tcp", a.settings.Addr); err != nil {
		return fmt.Errorf("listen on %s (%s): %w", a.settings.Addr, keyAddr, err)
	}
	a.server = &http.Server{
		Handler:           a.routes(hook),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       30 * time.Second, // enough for 25 MB of payload over a slow line
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		ErrorLog:          stdlog.New(httpTrouble{a.options.Log}, "", 0),
	}
	a.server.RegisterOnShutdown(a.api.Drain)
	if path, ok := socketOf(a.settings.DatabaseURL); ok {
		if a.control, err = listenControl(ctx, path, map[string]http.HandlerFunc{
			pathBackfill: a.backfill, pathMemory: a.changeMemory, pathTokens: a.changeTokens,
		}); err != nil {
			a.options.Log.Warn().Err(err).Str("socket", path).Msg("reviewgate backfill, memory and token can't reach this server")
		}
	}
	return nil
}

// openModels opens the language models of the server's config.
func openModels(s Settings) (*model.Server, error) {
	cfg, problems := config.Load(s.Config)
	if len(problems) > 0 {
		return nil, fmt.Errorf("read the server's config: %s", config.FormatProblem(problems[0]))
	}
	return model.Open(cfg.Settings.ModelEndpoints, s.Dial, func(name string) string { return s.ModelKeys[name] })
}

// derived returns a key for one purpose. Only this server's App can make it.
func (a *App) derived(purpose string) []byte {
	key := hmac.New(sha256.New, a.settings.PrivateKey)
	key.Write([]byte(purpose))
	return key.Sum(nil)
}

// personHash returns a function that hashes accounts with a key that only the server has, by id or,
// if that is unknown, by login.
func personHash(privateKey []byte) func(login string, id int64) string {
	return func(login string, id int64) string {
		h := hmac.New(sha256.New, privateKey)
		if id != 0 {
			fmt.Fprintf(h, "person %d", id)
		} else {
			fmt.Fprintf(h, "person %q", strings.ToLower(login))
		}
		return hex.EncodeToString(h.Sum(nil)[:8])
	}
}

// retentionInterval is how often the server deletes what is past its retention period.
const retentionInterval = time.Hour

// probationInterval is how often the server looks for rules that people judge wrong too often.
const probationInterval = time.Hour

// periodic returns the jobs that look for lost deliveries, unanswered pull requests and rules that
// are often wrong, and the job that deletes old data.
func (a *App) periodic() []store.Periodic {
	var jobs []store.Periodic
	for kind, every := range map[ports.JobKind]time.Duration{
		ports.JobDeliveries: a.settings.DeliveryLogInterval,
		ports.JobSweep:      a.settings.SweepInterval,
	} {
		if every > 0 {
			jobs = append(jobs, store.Periodic{Kind: kind, Every: every})
		}
	}
	jobs = append(jobs, store.Periodic{Kind: ports.JobProbation, Every: probationInterval})
	if a.settings.Retention+a.settings.AnalyticsRetention > 0 {
		jobs = append(jobs, store.Periodic{Kind: ports.JobRetention, Every: retentionInterval})
	}
	return jobs
}

// Addr is the address the server listens on, host:port.
func (a *App) Addr() string { return a.listener.Addr().String() }

// credentialsTimeout is how long the start waits for GitHub to say whether it accepts
// the App's ID and key.
const credentialsTimeout = 3 * time.Second

// checkCredentials asks GitHub whether it accepts the App's ID and private key. If GitHub
// rejects them, the error holds GitHub's answer. Other failures are only logged, because
// the server can store webhooks while GitHub's API is down.
func (a *App) checkCredentials(ctx context.Context) error {
	asking, cancel := context.WithTimeout(ctx, credentialsTimeout)
	defer cancel()
	app, err := a.client.App(asking)
	var host *ports.HostError
	switch {
	case err == nil && app.ID != a.settings.AppID:
		return fmt.Errorf("check the App's ID and private key: the key belongs to App %d, and %s is %d", app.ID, keyAppID, a.settings.AppID)
	case err == nil:
		return nil
	case errors.As(err, &host) && (host.Status == http.StatusUnauthorized || host.Status == http.StatusNotFound):
		return fmt.Errorf("check the App's ID and private key (%s, %s): %w", keyAppID, keyPrivateKey, err)
	}
	a.options.Log.Warn().Err(err).Msg("GitHub did not say whether it takes the App's ID and private key")
	return nil
}

// Run serves until ctx ends, then drains. It returns nil after a clean end. It first
// resumes the work that earlier processes left unfinished.
func (a *App) Run(ctx context.Context) error {
	if err := a.obeyRefusals(ctx); err != nil {
		if ctx.Err() != nil {
			return nil // ctx ended before any work began
		}
		return err
	}
	if err := a.checkCredentials(ctx); err != nil {
		return err
	}
	if err := a.service.NameWeakening(ctx); err != nil {
		a.options.Log.Warn().Err(err).Msg("organisations whose config does not count can't be named")
	}
	watching, stopWatching := context.WithCancel(context.WithoutCancel(ctx))
	var watch sync.WaitGroup
	watch.Go(func() { a.watchRefusals(watching) })
	watch.Go(func() { a.service.Sessions.Run(watching) })
	defer watch.Wait()
	defer stopWatching()
	if err := a.queue.Start(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("start the queue: %w", err)
	}
	localgit.RemoveLeft() // left by an earlier process that was killed
	a.rest.give()         // compiling the rules took memory that is not needed again
	defer a.rest.stop()
	a.options.Log.Info().Str("addr", a.Addr()).Str("version", a.options.Version).Msg("serving")
	failed := make(chan error, 1)
	go func() { failed <- a.server.Serve(a.listener) }()
	if a.control != nil {
		go a.control.serve()
	}

	var err error
	select {
	case err = <-failed:
		err = fmt.Errorf("serve HTTP: %w", err)
	case <-ctx.Done():
		a.options.Log.Info().Dur("timeout_ms", a.options.DrainTimeout).Msg("draining")
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.options.DrainTimeout)
	defer cancel()
	if a.control != nil {
		a.control.close()
	}
	if serr := a.server.Shutdown(stop); serr != nil {
		a.server.Close() // open connections have used up the time to finish
		err = errors.Join(err, fmt.Errorf("finish open requests: %w", serr))
	}
	if qerr := a.queue.Stop(stop); qerr != nil {
		err = errors.Join(err, fmt.Errorf("stop the queue: %w", qerr))
	}
	return err
}

// Close releases the resources that New acquired. Call it after Run has returned.
func (a *App) Close() error {
	var err error
	if a.listener != nil {
		a.listener.Close() // closed already after Run
	}
	if a.control != nil {
		a.control.close() // the same
	}
	a.children.close()
	if a.client != nil {
		a.client.Close()
	}
	if a.tracer != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		err = a.tracer.Close(ctx)
	}
	if a.store != nil {
		err = errors.Join(err, a.store.Close())
	}
	return err
}

func (a *App) depth() (telemetry.Queue, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	d, err := a.queue.Depth(ctx)
	return telemetry.Queue{Waiting: d.Available, Running: d.Running, Later: d.Later, Oldest: d.Oldest, Quarantined: d.Quarantined}, err
}

// onRefused stores a rate limit, so that no process calls GitHub too early.
func (a *App) onRefused(installation int64, until time.Time) {
	a.metrics.Refused(fmt.Sprint(installation))
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := a.store.SetRefused(ctx, installation, until); err != nil {
		a.options.Log.Warn().Err(err).Int64("installation", installation).Msg("a rate limit is known to this process alone")
	}
}

// obeyRefusals reads the rate limits that this server's processes have stored, and obeys
// them.
func (a *App) obeyRefusals(ctx context.Context) error {
	refusals, err := a.store.Refusals(ctx)
	if err != nil {
		return fmt.Errorf("read the rate limits in force: %w", err)
	}
	for installation, until := range refusals {
		a.client.Refuse(installation, until)
	}
	return nil
}

// watchRefusals calls obeyRefusals every second until ctx ends.
func (a *App) watchRefusals(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := a.obeyRefusals(ctx); err != nil && ctx.Err() == nil {
			a.options.Log.Warn().Err(err).Msg("rate limits of other processes are not known")
		}
	}
}

// processName returns a name that is unique to this process, so that a lease names its
// holder.
func processName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	host = host[:min(len(host), 60)] // the store takes 100 bytes
	return fmt.Sprintf("%s/%d/%d", host, os.Getpid(), time.Now().UnixNano())
}
