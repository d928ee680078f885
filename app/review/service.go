package review

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/access"
	"github.com/reviewgate/reviewgate/app/admission"
	"github.com/reviewgate/reviewgate/app/agents"
	"github.com/reviewgate/reviewgate/app/backtest"
	"github.com/reviewgate/reviewgate/app/commandrun"
	"github.com/reviewgate/reviewgate/app/decisions"
	"github.com/reviewgate/reviewgate/app/inforce"
	"github.com/reviewgate/reviewgate/app/issues"
	"github.com/reviewgate/reviewgate/app/lease"
	"github.com/reviewgate/reviewgate/app/memory"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/probation"
	"github.com/reviewgate/reviewgate/app/publish"
	"github.com/reviewgate/reviewgate/app/recovery"
	"github.com/reviewgate/reviewgate/app/rereview"
	"github.com/reviewgate/reviewgate/app/retention"
	"github.com/reviewgate/reviewgate/app/retry"
	"github.com/reviewgate/reviewgate/app/sessions"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// Options configure a Service. Everything except the durations and Server is required.
type Options struct {
	Store    ports.Store
	GitHub   ports.Host
	Pipeline *run.Runner
	Loader   *config.Loader
	Server   config.Layer // the server's layer; has no Files if the server has no config of its own
	// Shadow is another layer of the server. If it has files, each review is also computed with it,
	// and stores the difference.
	Shadow  config.Layer
	Log     zerolog.Logger
	Version string // of reviewgate, for the comment's footer
	Owner   string // unique for each process: holds leases
	WebURL  string // of GitHub, for links
	// Models are the language models of the server's config; nil if the config names no model.
	Models  *agents.Models
	Observe Observer
	Now     func() time.Time
	// TakeIn handles the payload of a failed delivery attempt as the webhook would. It
	// returns ErrRefused if the webhook would refuse it.
	TakeIn func(ctx context.Context, a ports.HookAttempt, payload []byte) error

	LeaseTTL    time.Duration // default 15 s; a crashed holder blocks its target for this long
	RetryBase   time.Duration // default 5 s, doubled for each failure up to 2 minutes
	RetryWindow time.Duration // default 30 minutes; a review that fails for this long is given up
	// ScanInterval is the minimum time between two reviews of a pull request that changes
	// in others' checks cause. Default 1 minute, because such checks end one after the
	// other.
	ScanInterval time.Duration
	// Apart does the work of a lease on a suspect in a child process. If alone is set, the
	// process has no other work; otherwise other suspects share it. The error is a
	// *DiedError if the process ended before the work did; any other error says nothing
	// about the target. Without Apart, suspects are reviewed in this process, one at a
	// time.
	Apart func(ctx context.Context, l ports.Lease, t ports.Target, kind ports.JobKind, alone bool) (ports.Ended, error)
	// QuarantineSteps are the waits between tries of a review that ended its child process;
	// the last step repeats. Default: 1, 5, 15 and 60 minutes. After QuarantineFor no more
	// tries are made. Default: a day.
	QuarantineSteps []time.Duration
	QuarantineFor   time.Duration
	// Person returns a keyed hash of an account, which tells people apart and can't be reversed.
	Person func(login string, id int64) string
	// Remote says how remote reviewers are reached. Without Send, no reviewer is asked.
	Remote       Remote
	Retention    time.Duration // how long reviews and closed pull requests are kept; 0 means forever
	LogRetention time.Duration // how long the logs for analytics are kept; 0 means forever
	// Memory is how much memory this process may use, in bytes. Default 1 GiB. Changes that
	// need much of it wait for each other: see admission.
	Memory int64
	// TellWait is how long a change waits for memory before its check says so. Default 15 s.
	TellWait time.Duration
}

// Remote says how remote reviewers are reached; see sessions.Keeper.
type Remote struct {
	Send      func(ctx context.Context, to config.Receiver, secret []byte, id string, body []byte) (sessions.Response, error)
	Receiver  func(agent string) (to config.Receiver, secret []byte, ok bool)
	PublicURL string
	Key       []byte
	// Join and Minute are for tests.
	Join, Minute time.Duration
}

// Observer has functions that are called with what happened, for metrics. Any field may be
// nil.
type Observer struct {
	Reviewed func(decision string, d time.Duration)
	// Cycle is called with the rule that decided a cycle of a session. Answer is called with what each
	// reviewer of the cycle had answered by then: a verdict, "waiting" or "missing".
	Cycle  func(rule string)
	Answer func(agent, verdict string)
	// Stage and Agent are called when a stage or an agent has ended. begun is when the
	// stage began; for an agent it is the beginning of the agent's stage.
	Stage func(ctx context.Context, stage string, begun time.Time, d time.Duration)
	Agent func(ctx context.Context, agent, status string, begun time.Time, d time.Duration)
	// GaveUp is called for each review that could not be completed, with the reason:
	// "access", "github", "crashes" or "internal".
	GaveUp func(why string)
	// Found is called for each lost item that was found: "delivery", "pull_request" or
	// "check".
	Found func(what string)
	// ModelUse is called with the cost of an agent's question to a model, once the question
	// is answered or given up.
	ModelUse func(pipeline.ModelUse)
	// ConfigPushed is called for each push that may have changed config, with the result of
	// the check: "valid", "invalid" or "unreadable".
	ConfigPushed func(result string)
	// Issue is called with what happened to an issue about merged code: "created",
	// "updated", "closed", "left", "waiting", "refused" or "dropped".
	Issue func(what string)
}

// Service runs the use cases.
type Service struct {
	Options
	Keeper      *memory.Keeper   // decides what is remembered
	Sessions    *sessions.Keeper // runs the sessions of coding agents
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
	rerequested *rereview.Rerequested
	reported    *rereview.Reported
	scanned     *rereview.Scanned
	commands    *commandrun.Runner
	publisher   *publish.Publisher
	decisions   *decisions.Decisions
	previewer   *backtest.Previewer
	deleter     *retention.Deleter
	probation   *probation.Finder
	access      *access.Checker
	running     runs
	followed    *publish.FollowedHeads
	suspects    suspects
	postponer   postponer
	jobs        map[ports.JobKind]work
}

var _ ports.Worker = (*Service)(nil)

// New returns a Service. It fails if the server's layer is not valid.
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
	s := &Service{Options: o, postponer: postponer{memory: admission.NewRoom(o.Memory, o.TellWait, o.Now), calls: &admission.Calls{}}, followed: &publish.FollowedHeads{}}
	var err error
	s.configs, err = inforce.NewConfigs(inforce.Configs{
		Layers: o.Store.Layers, Marks: o.Store.Marks, ConfigReader: o.GitHub.ConfigReader, Probations: o.Store.Probations,
		Loader: o.Loader, Server: o.Server, Log: o.Log, Now: o.Now,
	})
	if err != nil {
		return nil, err
	}
	s.build()
	return s, nil
}

// Change changes the options of a service that is idle. It is for tests.
func (s *Service) Change(f func(*Options)) {
	f(&s.Options)
	s.build()
}

// build creates the parts of the service from the options.
func (s *Service) build() {
	s.leases = lease.Keeper{Store: s.Store.Leases, Owner: s.Owner, TTL: s.LeaseTTL, Retry: s.RetryBase}
	s.retry = retry.Policy{Base: s.RetryBase, Window: s.RetryWindow, Now: s.Now}
	s.configs.Layers, s.configs.Marks, s.configs.Probations, s.configs.ConfigReader = s.Store.Layers, s.Store.Marks, s.Store.Probations, s.GitHub.ConfigReader
	s.pushes = &inforce.Pushes{
		Configs: s.configs, Targets: s.Store.Targets, Intake: s.Store.Intake, ConfigUse: s.Store.ConfigUse,
		ConfigReader: s.GitHub.ConfigReader, Retry: s.retry, Log: s.Log, Observe: s.Observe.ConfigPushed,
	}
	s.rerequested = &rereview.Rerequested{Targets: s.Store.Targets, Intake: s.Store.Intake, PullReader: s.GitHub.PullReader}
	s.reported = &rereview.Reported{
		Configs: s.configs, Targets: s.Store.Targets, History: s.Store.History, Intake: s.Store.Intake,
		PeopleReader: s.GitHub.PeopleReader,
	}
	s.scanned = &rereview.Scanned{Scans: s.Store.Scans, Interval: s.ScanInterval, Retry: s.retry}
	s.Keeper = memory.NewKeeper(s.Store, s.Pipeline, s.Log, s.Now)
	receiver := s.Remote.Receiver
	if receiver == nil {
		receiver = func(string) (to config.Receiver, secret []byte, ok bool) { return to, nil, false }
	}
	s.Sessions = &sessions.Keeper{
		Sessions: s.Store.Sessions, Targets: s.Store.Targets, History: s.Store.History, PullReader: s.GitHub.PullReader, Configs: s.configs,
		Send: s.Remote.Send, Receiver: receiver, PublicURL: s.Remote.PublicURL, Key: s.Remote.Key, Join: s.Remote.Join, Minute: s.Remote.Minute,
		WebURL: s.WebURL, Redact: s.Pipeline.Redact, Log: s.Log, Now: s.Now,
	}
	s.commands = &commandrun.Runner{
		Configs: s.configs, Commands: s.Store.Commands, Keeper: s.Keeper, History: s.Store.History, Targets: s.Store.Targets,
		PullReader: s.GitHub.PullReader, PeopleReader: s.GitHub.PeopleReader, CommentWriter: s.GitHub.CommentWriter, Learning: s.Store.Learning,
		Sessions: s.Store.Sessions, SessionSettings: s.Sessions.SettingsOf, Retry: s.retry, Redact: s.Pipeline.Redact, Person: s.Person, Log: s.Log, Now: s.Now,
	}
	s.tracker = &issues.Tracker{
		Configs: s.configs, Deferrals: s.Store.Deferrals, Probations: s.Store.Probations, History: s.Store.History, Marks: s.Store.Marks,
		IssueWriter: s.GitHub.IssueWriter, Leases: s.leases, Log: s.Log, Now: s.Now, WebURL: s.WebURL,
		Observe: s.Observe.Issue,
	}
	s.previewer = &backtest.Previewer{
		Targets: s.Store.Targets, History: s.Store.History, Archive: s.Store.Archive, Backtests: s.Store.Backtests,
		Version: s.Version, Log: s.Log, Now: s.Now,
	}
	s.deleter = &retention.Deleter{
		Retention: s.Store.Retention, PullReader: s.GitHub.PullReader, Leases: s.leases, Keep: s.Retention, KeepLogs: s.LogRetention, Log: s.Log, Now: s.Now,
	}
	s.probation = &probation.Finder{
		Configs: s.configs, Probations: s.Store.Probations, Learning: s.Store.Learning, Marks: s.Store.Marks, Log: s.Log, Now: s.Now,
	}
	s.access = &access.Checker{PullReader: s.GitHub.PullReader, Intake: s.Store.Intake, Retry: s.retry, Log: s.Log}
	observeFound := s.Observe.Found
	if observeFound == nil {
		observeFound = func(string) {}
	}
	s.checks = &publish.Checks{
		Configs: s.configs, Followed: s.followed, Writes: s.Store.Writes, History: s.Store.History, Intake: s.Store.Intake,
		CheckWriter: s.GitHub.CheckWriter, Leases: s.leases, Log: s.Log, Now: s.Now, WebURL: s.WebURL, Found: observeFound,
	}
	s.postponer.checks, s.postponer.log, s.postponer.now = s.checks, s.Log, s.Now
	s.requests = &publish.Requests{Writes: s.Store.Writes, ReviewWriter: s.GitHub.ReviewWriter, Leases: s.leases, Log: s.Log}
	s.verdicts = &publish.Verdicts{
		Checks: s.checks, Configs: s.configs, Writes: s.Store.Writes, PullReader: s.GitHub.PullReader,
		ReviewWriter: s.GitHub.ReviewWriter, Leases: s.leases, Log: s.Log,
	}
	s.labels = &publish.Labels{LabelWriter: s.GitHub.LabelWriter, Leases: s.leases, Log: s.Log}
	s.comments = &publish.Comments{
		Verdicts: s.verdicts, Requests: s.requests, Configs: s.configs, Writes: s.Store.Writes, History: s.Store.History,
		Targets: s.Store.Targets, Backtests: s.Store.Backtests, Inline: s.Store.LineComments, CommentWriter: s.GitHub.CommentWriter, Leases: s.leases, Log: s.Log, WebURL: s.WebURL,
	}
	inline := &publish.Inline{
		Checks: s.checks, LineComments: s.Store.LineComments, InlineWriter: s.GitHub.InlineWriter, History: s.Store.History,
		Leases: s.leases, Log: s.Log, WebURL: s.WebURL,
	}
	s.publisher = &publish.Publisher{
		Checks: s.checks, Comments: s.comments, Inline: inline, Verdicts: s.verdicts, Requests: s.requests, Labels: s.labels, Configs: s.configs,
		Targets: s.Store.Targets, Reviews: s.Store.Reviews, History: s.Store.History, PullReader: s.GitHub.PullReader,
		Log: s.Log, Now: s.Now,
	}
	s.decisions = &decisions.Decisions{Targets: s.Store.Targets, History: s.Store.History, Commands: s.Store.Commands, Sessions: s.Store.Sessions, PullReader: s.GitHub.PullReader}
	s.finder = &recovery.Finder{
		Configs: s.configs, Checks: s.checks, Issues: s.tracker, Recovery: s.Store.Recovery, Marks: s.Store.Marks,
		Targets: s.Store.Targets, Intake: s.Store.Intake, Writes: s.Store.Writes, History: s.Store.History,
		DeliveryLog: s.GitHub.DeliveryLog, InstallationReader: s.GitHub.InstallationReader, PullReader: s.GitHub.PullReader,
		CheckWriter: s.GitHub.CheckWriter, Leases: s.leases, Log: s.Log, Now: s.Now, TakeIn: s.TakeIn, Observe: s.Observe.Found,
	}
	s.jobs = s.works()
}

// Accept stores what a webhook delivery asks for. Once it returns without an error, the
// asks survive any crash. It cancels a run at once if the delivery makes it moot because
// the head moved or the pull request was closed.
func (s *Service) Accept(ctx context.Context, d ports.Delivery) (ports.Accepted, error) {
	d.Asks = s.storable(d.Asks)
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

// storable returns the asks in the form in which they are stored: commands and events without secrets, and
// no pushes to branches without config.
func (s *Service) storable(asks []ports.Ask) (kept []ports.Ask) {
	for _, ask := range asks {
		switch a := ask.(type) {
		case ports.Command:
			ask = s.commands.Presentable(a)
		case ports.EventNews:
			a.Event = s.Sessions.Presentable(a.Event)
			ask = a
		case ports.ConfigNews:
			if !s.configs.CarriesConfig(a) {
				continue
			}
		}
		kept = append(kept, ask)
	}
	return kept
}

// NameWeakening logs where organisations' layers try to loosen the server's config; see
// inforce.Configs.NameWeakening.
func (s *Service) NameWeakening(ctx context.Context) error { return s.configs.NameWeakening(ctx) }

// Backfill is recovery.Finder.Backfill.
func (s *Service) Backfill(ctx context.Context, p ports.OpenPull, shared, dry bool) (asked bool, err error) {
	return s.finder.Backfill(ctx, p, shared, dry)
}

func (s *Service) countGaveUp(cause error) {
	if s.Observe.GaveUp == nil {
		return
	}
	var final *retry.FinalError
	switch {
	case errors.As(cause, new(*access.RefusedError)):
		s.Observe.GaveUp("access")
	case errors.As(cause, &final):
		s.Observe.GaveUp(final.Why)
	case errors.As(cause, new(*ports.HostError)):
		s.Observe.GaveUp("github")
	default:
		s.Observe.GaveUp("internal")
	}
}
