package ports

import (
	"context"
	"time"

	"github.com/reviewgate/reviewgate/pipeline"
)

// Store keeps what must survive a crash. It is one role for each subject, so that a use
// case can ask for the roles that it needs. Every method is one transaction. SQLite and
// PostgreSQL implement all roles alike.
type Store struct {
	Intake
	Targets
	Scans
	Tokens
	Leases
	Reviews
	History
	Writes
	Commands
	Layers
	ConfigUse
	Recovery
	Marks
	Retention
	Deferrals
	RateLimits
}

// Intake takes in what deliveries, commands and sweeps ask for.
type Intake interface {
	// Accept stores a delivery and all it asks for: the raised generation of
	// its target, its command, and the job. Once it has returned without an
	// error, nothing of that is lost. A GUID counts once, unless what it asked
	// for was given up and not asked for since; a command's comment, told by its place and number, counts once
	// whatever the GUID.
	Accept(ctx context.Context, d Delivery) (Accepted, error)
	// Ask raises a target's generation outside a delivery. Fresh demands a
	// new check run even where nothing changed. Every ask opens a target that
	// was closed, and forgets its failed attempts. For an installation that is gone
	// none counts.
	Ask(ctx context.Context, ask ReviewAsk, fresh bool) error
}

// Scans keeps what reviews read of other Apps' checks, and the news of them.
type Scans interface {
	// BeginScans forgets the news of others' checks that came until now: what
	// they tell of is about to be read. SetScans records what was read, and
	// inserts a job where news that came since make a difference to it.
	BeginScans(ctx context.Context, key string) error
	SetScans(ctx context.Context, key string, reads ScansRead) error
	// AskScans asks for the review that news of others' checks asked for, of the
	// agents that read them. It does so once in a while of every at most: before,
	// it asks for nothing and tells how long to wait.
	AskScans(ctx context.Context, key string, every time.Duration) (wait time.Duration, err error)
}

// Tokens counts what agents ask of language models against their budgets.
type Tokens interface {
	// TakeTokens notes what an agent is about to ask of a model. Where that is more
	// than is left of a budget nothing is noted, and over names it. What a process
	// that died had asked for counts as taken. SettleTokens notes what it took.
	TakeTokens(ctx context.Context, ask TokenAsk) (id int64, over TokenBudget, err error)
	SettleTokens(ctx context.Context, id int64, tokens int) error
}

// Leases gives one holder at a time the right to work on a target. All methods that take
// a lease return ErrLeaseLost where somebody else has it by now, but for Release.
type Leases interface {
	// Acquire takes the lease of key for owner if it is free or expired. It
	// returns false if another holder has it, of the same owner too.
	Acquire(ctx context.Context, key, owner string, ttl time.Duration) (Lease, bool, error)
	// Renew prolongs the lease, or returns ErrLeaseLost, as do all methods that
	// take a lease but Release. One that expired but was not taken is not lost.
	Renew(ctx context.Context, l Lease, ttl time.Duration) error
	// Release gives the lease back; one that was lost is left alone.
	Release(ctx context.Context, l Lease) error
	// Finish records that generation is done and, in the same transaction,
	// gives the lease back unless there is more to do (a greater generation
	// is wanted, or a notice is unsaid), which it reports. gaveUp marks the
	// generation as given up.
	Finish(ctx context.Context, l Lease, generation int64, gaveUp bool) (more bool, err error)
	// Failed counts a failed attempt at the wanted generation and gives the
	// lease back. It returns the count.
	Failed(ctx context.Context, l Lease) (attempts int, err error)
	// Died notes that the target's review ended the child process it ran in, and when it
	// is tried again. Rest forgets that: the target then waits for an ask, and is still a
	// suspect.
	Died(ctx context.Context, l Lease, next time.Time) error
	Rest(ctx context.Context, l Lease) error
	// HandOver gives the lease back and inserts a job of another kind
	// (JobReview or JobPublish) for the target, in one transaction.
	HandOver(ctx context.Context, l Lease, to JobKind) error
}

// Reviews keeps reviews until they are published.
type Reviews interface {
	// SaveReview stores a review of the target whose lease is held, once for
	// each run. In the same transaction it gives the lease back and inserts
	// the job that publishes the review.
	SaveReview(ctx context.Context, l Lease, r StoredReview) error
	// UnpublishedReview returns the newest review of the target that was saved
	// and not published, and whose generation is not finished; or nil.
	UnpublishedReview(ctx context.Context, key string) (*StoredReview, error)
	// MarkPublished notes that a review was published. With the first time its fix
	// loop becomes the target's.
	MarkPublished(ctx context.Context, runID string) error
	// Published reports whether a review of the generation was published.
	Published(ctx context.Context, key string, generation int64) (bool, error)
	// DropReview deletes a review that was superseded before it was published.
	DropReview(ctx context.Context, runID string) error
}

// History reads published reviews.
type History interface {
	// LatestReview returns the newest published review of the target, or nil.
	LatestReview(ctx context.Context, key string) (*StoredReview, error)
	// ReviewAsOf returns the review of the target that was the newest published
	// one at a time, or nil.
	ReviewAsOf(ctx context.Context, key string, at time.Time) (*StoredReview, error)
	// ReviewOfHead returns the newest review of the target on a head, published
	// or about to be, or nil. A base branch that is given is the one that it was to go
	// into.
	ReviewOfHead(ctx context.Context, key, headSHA, baseRef string) (*StoredReview, error)
	// LastAnswer returns what the newest published review of the target was about, or
	// nil where none was published.
	LastAnswer(ctx context.Context, key string) (*Answer, error)
	// PreviousReport is that of the newest published review of the target on
	// another head, or nil.
	PreviousReport(ctx context.Context, key, headSHA string) (*pipeline.PreviousReport, error)
	// HeadDecisions lists where each open pull request on the head stands, by
	// number.
	HeadDecisions(ctx context.Context, repoID int64, headSHA string) ([]HeadDecision, error)
}

// Writes keeps what was written to GitHub, or is about to be.
type Writes interface {
	// NewestWrite returns the newest write of a kind for a subject, or nil.
	NewestWrite(ctx context.Context, kind WriteKind, subject string) (*Write, error)
	// OpenChecks lists the repository's checks that are not completed and on
	// whose head no open target is any more.
	OpenChecks(ctx context.Context, repoID int64) ([]Write, error)
	// Intend stores the intent to create, and returns it with its ID.
	Intend(ctx context.Context, l Lease, w Write) (Write, error)
	// Record stores what is now known of a write.
	Record(ctx context.Context, w Write) error
}

// Commands keeps slash commands and what people decided with them.
type Commands interface {
	// Command returns a command, or ErrNotFound; done tells that it was
	// accepted or finished before.
	Command(ctx context.Context, place CommentPlace, commentID int64) (c Command, done bool, err error)
	// CommandsSince counts the commands on the target of one.
	CommandsSince(ctx context.Context, c Command, since time.Time) (CommandCount, error)
	// Obey stores what a command changes of its target, with the entry in the
	// audit log, and marks it as accepted. Where ask is not nil it raises the
	// target's generation (fresh) with a job. A command that was accepted or
	// finished before changes nothing. A notice of it is kept as by AddNotice.
	Obey(ctx context.Context, c Command, e Effect, ask *ReviewAsk) error
	// Refuse records the outcome of a command that was refused, unless it was
	// accepted or finished before, and keeps the notice of why as by AddNotice.
	// Where the target is forgotten there is nobody to say it to.
	Refuse(ctx context.Context, c Command, outcome, why string) error
	// FinishCommand records a command's outcome, such as done or refused. The
	// first one stays.
	FinishCommand(ctx context.Context, place CommentPlace, commentID int64, outcome string) error
	// AwaitingCommands lists the accepted commands of a target whose
	// generation is at most the given one and that are not finished.
	AwaitingCommands(ctx context.Context, key string, generation int64) ([]Command, error)
	// Taught returns the dismissals and acceptances of a target, by
	// fingerprint, and what was decided by hand for the head against the base,
	// if anything was.
	Taught(ctx context.Context, key, headSHA, baseRef string) (pipeline.Memory, error)
	// Pushes returns who opened a pull request and sent its pushes, as far as deliveries
	// told.
	Pushes(ctx context.Context, t Target) ([]Push, error)
	// Audit lists what people decided of a target, newest first.
	Audit(ctx context.Context, key string, limit int) ([]AuditEntry, error)
}

// Layers keeps the last valid version of each config layer, and what tells which of them
// hold for a target.
type Layers interface {
	KnownLayers
	// GoodLayerNames lists the layers that are stored of a repository, by name.
	GoodLayerNames(ctx context.Context, repoID int64) ([]string, error)
	SaveGoodLayer(ctx context.Context, repoID int64, layer string, g GoodLayer) error
	SetConfigBranch(ctx context.Context, key, branch string) error
	// AddRepositoryNames adds those names that a repository does not have yet.
	AddRepositoryNames(ctx context.Context, repoID int64, names []string) error
}

// KnownLayers reads what Layers keeps.
type KnownLayers interface {
	// GoodLayer returns what SaveGoodLayer stored last, or nil.
	GoodLayer(ctx context.Context, repoID int64, layer string) (*GoodLayer, error)
	// ConfigBranch returns the base branch whose config a target has: empty for the
	// default branch, or for a target that is not known.
	ConfigBranch(ctx context.Context, key string) (string, error)
	// RepositoryNames lists the names that a repository has had, the first one first.
	RepositoryNames(ctx context.Context, repoID int64) ([]string, error)
}

// Recovery keeps what is needed to find lost deliveries and unanswered pull requests.
type Recovery interface {
	// NoteLost keeps what was read of the delivery log, and how far that was. Of the
	// deliveries that are missing it drops those that Accept stored and of which nothing
	// was given up since. It keeps a bounded number, the most urgent and then
	// the oldest, and returns how many it dropped beyond that.
	NoteLost(ctx context.Context, read LogRead) (dropped int64, err error)
	// LostDeliveries lists those to look for at that time, the most urgent first, and
	// then the oldest.
	LostDeliveries(ctx context.Context, now time.Time, limit int) ([]LostDelivery, error)
	// LookedFor notes that a delivery was taken in or asked for, and when to look for it
	// next, if it is still missing.
	LookedFor(ctx context.Context, guid string, next time.Time) error
	// AskSweep inserts the job that does the sweep, unless one waits.
	AskSweep(ctx context.Context, s Sweep) error
	// Unanswered lists the installation's open targets of which nothing is
	// wanted and whose newest generation was given up with a result.
	Unanswered(ctx context.Context, installation int64) ([]Target, error)
	// RefusedScans lists the installation's open targets of which nothing is wanted,
	// and agents were refused what others found.
	RefusedScans(ctx context.Context, installation int64) ([]TargetState, error)
	// ScanRepositories tells the repositories in which an open target takes in what
	// others found.
	ScanRepositories(ctx context.Context) (map[int64]bool, error)
	// Orphans lists one target for each repository that has checks which
	// OpenChecks would list.
	Orphans(ctx context.Context) ([]Target, error)
}

// Retention deletes what is no longer needed.
type Retention interface {
	// Held lists what is stored of what is to be forgotten, by repository.
	Held(ctx context.Context, f Forget) ([]Holding, error)
	// ForgetTarget deletes a target whose lease is held, with all that is stored
	// of it and the lease itself. A check on a head that another open pull request
	// has stays.
	ForgetTarget(ctx context.Context, l Lease) error
	// ForgetOutdated does the same with one that Outdated lists for the time, and
	// tells whether it still did. One of which something is wanted by now is
	// handed over to a review job.
	ForgetOutdated(ctx context.Context, l Lease, before time.Time) (gone bool, err error)
	// ForgetRepository deletes what is left of a repository, unless it has targets,
	// and unties its deliveries from it: they stay known.
	ForgetRepository(ctx context.Context, repoID int64) error
	// ForgetInstallation deletes what is left of an installation that is gone.
	// What is asked for it from then on is a no-op.
	ForgetInstallation(ctx context.Context, id int64) error
	// Outdated lists targets that were closed before a time and have nothing
	// left to do, oldest first.
	Outdated(ctx context.Context, before time.Time, limit int) (keys []string, err error)
	// Prune deletes what is older than the times and needed no more, a small
	// batch of it at most. It returns how many rows it deleted, 0 when nothing
	// is left to delete.
	Prune(ctx context.Context, reviews, deliveries time.Time) (n int, err error)
}

// Deferrals keeps what was merged with a warning or a gap, and the issues about it.
type Deferrals interface {
	// LiveDeferred lists what a repository has deferred and not resolved or left,
	// by ID: those that wait, are intended or open.
	LiveDeferred(ctx context.Context, repoID int64) ([]Deferred, error)
	// NoteDeferred takes in what a merge brings. The same news again changes
	// nothing. dropped counts what was new beyond MaxDeferred.
	NoteDeferred(ctx context.Context, l Lease, news DeferredNews) (dropped int, err error)
	// ChangedDeferred lists what GitHub is to be told of, by ID, and when the
	// repository's newest issue that is known was intended; zero for none.
	ChangedDeferred(ctx context.Context, repoID int64) (all []Deferred, newest time.Time, err error)
	// IntendDeferred notes the intent to open an issue, unless limit of them were
	// intended for the repository since then.
	IntendDeferred(ctx context.Context, l Lease, d Deferred, limit int, since time.Time) (ok bool, err error)
	// RecordDeferred stores what became of an issue: state, number, digest,
	// whether there is more to tell, and when it was intended.
	RecordDeferred(ctx context.Context, d Deferred) error
	// DeferredRepositories lists one target without a number for each repository
	// that ChangedDeferred would list something of.
	DeferredRepositories(ctx context.Context) ([]Target, error)
	// AskIssues inserts the job that brings issues up to date, unless one waits.
	AskIssues(ctx context.Context, a IssuesAsk) error
}

// RateLimits keeps until when GitHub refuses calls.
type RateLimits interface {
	// SetRefused keeps until when GitHub refuses an installation's calls, 0
	// for the App's own, so that neither a restarted process nor another one
	// asks early. Refusals lists those that still hold.
	SetRefused(ctx context.Context, installation int64, until time.Time) error
	Refusals(ctx context.Context) (map[int64]time.Time, error)
}

// Marks keeps how far periodic work has come.
type Marks interface {
	// Mark returns the time that SetMark stored last under a name, or the zero
	// time: how far something that is done over and over has come.
	Mark(ctx context.Context, name string) (time.Time, error)
	SetMark(ctx context.Context, name string, at time.Time) error
}

// ConfigUse tells which reviews a change of config may concern.
type ConfigUse interface {
	// KnownPulls lists the open pull requests of a repository, newest first. Those
	// of an organisation's .github are those of all repositories that the account
	// has in the installation.
	KnownPulls(ctx context.Context, repo Target, limit int) ([]Target, error)
	// ConfigUsed returns what the newest published review of the target was done
	// with, without the texts; ok is false if there is none, or another is wanted.
	ConfigUsed(ctx context.Context, key string) (files []ConfigBlob, ok bool, err error)
}
