package review

import (
	"context"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/access"
	"github.com/reviewgate/reviewgate/app/admission"
	"github.com/reviewgate/reviewgate/app/agents"
	"github.com/reviewgate/reviewgate/app/commandrun"
	"github.com/reviewgate/reviewgate/app/decisions"
	"github.com/reviewgate/reviewgate/app/inforce"
	"github.com/reviewgate/reviewgate/app/issues"
	"github.com/reviewgate/reviewgate/app/lease"
	"github.com/reviewgate/reviewgate/app/news"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/publish"
	"github.com/reviewgate/reviewgate/app/recovery"
	"github.com/reviewgate/reviewgate/app/retention"
	"github.com/reviewgate/reviewgate/app/retry"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// Options are what a Service is made from. All but the durations and Server are
// needed.
type Options struct {
	Store    ports.Store
	GitHub   ports.Host
	Pipeline *run.Runner
	Loader   *config.Loader
	Server   config.Layer // the server's, without files if there is none
	Log      zerolog.Logger
	Version  string // of reviewgate, for the comment's footer
	Owner    string // unique for each process: holds leases
	WebURL   string // of GitHub, for links
	// Models are the language models of the server's config; nil for none.
	Models  *agents.Models
	Observe Observer
	Now     func() time.Time
	// TakeIn takes in what an attempt that failed would have delivered. The error is
	// ErrRefused where the webhook would refuse it.
	TakeIn func(ctx context.Context, a ports.HookAttempt, payload []byte) error

	LeaseTTL    time.Duration // default 15 s; a crashed holder blocks its target so long
	RetryBase   time.Duration // default 5 s, doubled for each failure up to 2 minutes
	RetryWindow time.Duration // default 30 minutes; a review that fails for so long is given up
	// ScanInterval is how often news of others' checks have a pull request
	// reviewed again at most. Default 1 minute: they end one after the other.
	ScanInterval time.Duration
	// Apart does the work of a lease on a suspect in a child process: in one of its own if
	// alone is set, and otherwise in one that it shares with other suspects. The error is
	// a *DiedError if the process ended meanwhile; any other error says nothing about the
	// target. Without Apart suspects are reviewed in this process, one at a time.
	Apart func(ctx context.Context, l ports.Lease, t ports.Target, kind ports.JobKind, alone bool) (ports.Ended, error)
	// QuarantineSteps are how long a review that ended its child process waits for the
	// next try; the last step is repeated. Default: 1, 5, 15 and 60 minutes.
	// QuarantineFor is how long it is tried again at all. Default: a day.
	QuarantineSteps []time.Duration
	QuarantineFor   time.Duration
	Retention       time.Duration // how long reviews and closed pull requests are kept; 0 for ever
	// Memory is how much memory this process may take, in bytes. Default 1 GiB. Changes
	// that take much of it wait for one another: see admission.
	Memory int64
	// TellWait is how long a change waits for memory before its check says so. Default 15 s.
	TellWait time.Duration
}

// Observer is told what happened, for metrics. Any field may be nil.
type Observer struct {
	Reviewed func(decision string, d time.Duration)
	// Stage and Agent are told when what they name began: of an agent it is
	// known that this was after its stage did.
	Stage func(ctx context.Context, stage string, begun time.Time, d time.Duration)
	Agent func(ctx context.Context, agent, status string, begun time.Time, d time.Duration)
	// GaveUp is told of reviews that could not be completed, by why: "access",
	// "github", "crashes", "internal".
	GaveUp func(why string)
	// Found is told of what had been lost and was found: "delivery",
	// "pull_request", "check".
	Found func(what string)
	// ModelUse is told what a question of an agent's to a model took, when it is
	// answered or given up.
	ModelUse func(pipeline.ModelUse)
	// ConfigPushed is told of each push that may have changed config, by what it
	// was found to be: "valid", "invalid", "unreadable".
	ConfigPushed func(found string)
	// Issue is told what became of an issue about something merged: "created",
	// "updated", "closed", "left", "waiting", "refused", "dropped".
	Issue func(what string)
}

// Service does the use cases.
type Service struct {
	Options
	retry       retry.Policy
	leases      lease.Keeper
	configs     *inforce.Configs
	pushes      *inforce.Pushes
	checks      *publish.Checks
	comments    *publish.Comments
	verdicts    *publish.Verdicts
	requests    *publish.Requests
	labels      *publish.Labels
	tracker     *issues.Tracker
	finder      *recovery.Finder
	rerequested *news.Rerequested
	reported    *news.Reported
	scanned     *news.Scanned
	commands    *commandrun.Runner
	publisher   *publish.Publisher
	taught      *decisions.Decisions
	deleter     *retention.Deleter
	access      *access.Checker
	running     runs
	followed    *publish.FollowedHeads
	suspects    suspects
	holder      holder
	jobs        map[ports.JobKind]work
}

var _ ports.Worker = (*Service)(nil)

// New returns a Service. A server's layer that is not valid is an error.
func New(o Options) (*Service, error) {
	if o.LeaseTTL == 0 {
		o.LeaseTTL = 15 * time.Second
	}
	if o.RetryBase == 0 {
		o.RetryBase = 5 * time.Second
	}
	if o.RetryWindow == 0 {
		o.RetryWindow = 30 * time.Minute
	}
	if len(o.QuarantineSteps) == 0 {
		o.QuarantineSteps = []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour}
	}
	if o.QuarantineFor == 0 {
		o.QuarantineFor = 24 * time.Hour
	}
	if o.ScanInterval == 0 {
		o.ScanInterval = time.Minute
	}
	if o.TellWait == 0 {
		o.TellWait = 15 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Loader.Redact == nil {
		o.Loader.Redact = o.Pipeline.Redact
	}
	s := &Service{Options: o, holder: holder{memory: admission.NewRoom(o.Memory, o.TellWait, o.Now), calls: &admission.Calls{}}, followed: &publish.FollowedHeads{}}
	var err error
	s.configs, err = inforce.NewConfigs(inforce.Configs{
		Layers: o.Store.Layers, Marks: o.Store.Marks, ConfigReader: o.GitHub.ConfigReader, Loader: o.Loader, Server: o.Server, Log: o.Log, Now: o.Now,
	})
	if err != nil {
		return nil, err
	}
	s.build()
	return s, nil
}

// Change changes the options of a service that does nothing at the moment: for tests.
func (s *Service) Change(f func(*Options)) {
	f(&s.Options)
	s.build()
}

// build makes the parts that the options are handed on to.
func (s *Service) build() {
	s.leases = lease.Keeper{Store: s.Store.Leases, Owner: s.Owner, TTL: s.LeaseTTL, Retry: s.RetryBase}
	s.retry = retry.Policy{Base: s.RetryBase, Window: s.RetryWindow, Now: s.Now}
	s.configs.Layers, s.configs.Marks, s.configs.ConfigReader = s.Store.Layers, s.Store.Marks, s.GitHub.ConfigReader
	s.pushes = &inforce.Pushes{
		Configs: s.configs, Targets: s.Store.Targets, Intake: s.Store.Intake, ConfigUse: s.Store.ConfigUse,
		ConfigReader: s.GitHub.ConfigReader, Retry: s.retry, Log: s.Log, Observe: s.Observe.ConfigPushed,
	}
	s.rerequested = &news.Rerequested{Targets: s.Store.Targets, Intake: s.Store.Intake, PullReader: s.GitHub.PullReader}
	s.reported = &news.Reported{
		Configs: s.configs, Targets: s.Store.Targets, History: s.Store.History, Intake: s.Store.Intake,
		PeopleReader: s.GitHub.PeopleReader,
	}
	s.scanned = &news.Scanned{Scans: s.Store.Scans, Interval: s.ScanInterval, Retry: s.retry}
	s.commands = &commandrun.Runner{
		Configs: s.configs, Commands: s.Store.Commands, History: s.Store.History, Targets: s.Store.Targets,
		PullReader: s.GitHub.PullReader, PeopleReader: s.GitHub.PeopleReader, CommentWriter: s.GitHub.CommentWriter,
		Retry: s.retry, Redact: s.Pipeline.Redact, Log: s.Log, Now: s.Now,
	}
	s.tracker = &issues.Tracker{
		Configs: s.configs, Deferrals: s.Store.Deferrals, History: s.Store.History, Marks: s.Store.Marks,
		IssueWriter: s.GitHub.IssueWriter, Leases: s.leases, Log: s.Log, Now: s.Now, WebURL: s.WebURL,
		Observe: s.Observe.Issue,
	}
	s.deleter = &retention.Deleter{
		Retention: s.Store.Retention, PullReader: s.GitHub.PullReader, Leases: s.leases, Keep: s.Retention, Log: s.Log, Now: s.Now,
	}
	s.access = &access.Checker{PullReader: s.GitHub.PullReader, Intake: s.Store.Intake, Retry: s.retry, Log: s.Log}
	s.checks = &publish.Checks{
		Configs: s.configs, Followed: s.followed, Writes: s.Store.Writes, History: s.Store.History, Intake: s.Store.Intake,
		CheckWriter: s.GitHub.CheckWriter, Leases: s.leases, Log: s.Log, Now: s.Now, WebURL: s.WebURL, Found: s.found,
	}
	s.holder.checks, s.holder.log, s.holder.now = s.checks, s.Log, s.Now
	s.requests = &publish.Requests{Writes: s.Store.Writes, ReviewWriter: s.GitHub.ReviewWriter, Leases: s.leases, Log: s.Log}
	s.verdicts = &publish.Verdicts{
		Checks: s.checks, Configs: s.configs, Writes: s.Store.Writes, PullReader: s.GitHub.PullReader,
		ReviewWriter: s.GitHub.ReviewWriter, Leases: s.leases, Log: s.Log,
	}
	s.labels = &publish.Labels{LabelWriter: s.GitHub.LabelWriter, Leases: s.leases, Log: s.Log}
	s.comments = &publish.Comments{
		Verdicts: s.verdicts, Requests: s.requests, Configs: s.configs, Writes: s.Store.Writes, History: s.Store.History,
		Targets: s.Store.Targets, CommentWriter: s.GitHub.CommentWriter, Leases: s.leases, Log: s.Log, WebURL: s.WebURL,
	}
	s.publisher = &publish.Publisher{
		Checks: s.checks, Comments: s.comments, Verdicts: s.verdicts, Requests: s.requests, Labels: s.labels, Configs: s.configs,
		Targets: s.Store.Targets, Reviews: s.Store.Reviews, History: s.Store.History, PullReader: s.GitHub.PullReader,
		Log: s.Log, Now: s.Now,
	}
	s.taught = &decisions.Decisions{Targets: s.Store.Targets, History: s.Store.History, Commands: s.Store.Commands, PullReader: s.GitHub.PullReader}
	s.finder = &recovery.Finder{
		Configs: s.configs, Checks: s.checks, Issues: s.tracker, Recovery: s.Store.Recovery, Marks: s.Store.Marks,
		Targets: s.Store.Targets, Intake: s.Store.Intake, Writes: s.Store.Writes, History: s.Store.History,
		DeliveryLog: s.GitHub.DeliveryLog, InstallationReader: s.GitHub.InstallationReader, PullReader: s.GitHub.PullReader,
		CheckWriter: s.GitHub.CheckWriter, Leases: s.leases, Log: s.Log, Now: s.Now, TakeIn: s.TakeIn, Observe: s.Observe.Found,
	}
	s.jobs = s.works()
}

func (s *Service) found(what string) {
	if s.Observe.Found != nil {
		s.Observe.Found(what)
	}
}

// Accept stores what a webhook delivery asks for. When it returns without an
// error the ask survives any crash. A run that the delivery makes moot, since
// the head moved or the pull request was closed, is cancelled at once.
func (s *Service) Accept(ctx context.Context, d ports.Delivery) (ports.Accepted, error) {
	d.Asks = s.kept(d.Asks)
	acc, err := s.Store.Accept(ctx, d)
	if err != nil {
		return acc, fmt.Errorf("store delivery %s: %w", d.GUID, err)
	}
	switch {
	case acc.Closed:
		s.running.cancel(acc.Key, publish.ErrClosed)
	case acc.HeadMoved:
		s.running.cancel(acc.Key, publish.ErrSuperseded)
	}
	return acc, nil
}

// kept are the asks as they are stored: without secrets in commands, and without pushes
// to branches that no config is read from.
func (s *Service) kept(asks []ports.Ask) (kept []ports.Ask) {
	for _, ask := range asks {
		switch a := ask.(type) {
		case ports.Command:
			ask = s.commands.Presentable(a)
		case ports.ConfigNews:
			if !s.configs.CarriesConfig(a) {
				continue
			}
		}
		kept = append(kept, ask)
	}
	return kept
}

// NameWeakening logs what organisations' layers may not loosen; see
// inforce.Configs.NameWeakening.
func (s *Service) NameWeakening(ctx context.Context) error { return s.configs.NameWeakening(ctx) }

// Backfill is recovery.Finder.Backfill.
func (s *Service) Backfill(ctx context.Context, p ports.OpenPull, shared, dry bool) (asked bool, err error) {
	return s.finder.Backfill(ctx, p, shared, dry)
}
