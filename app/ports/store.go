package ports

import (
	"context"
	"time"

	"github.com/reviewgate/reviewgate/pipeline"
)

// Store keeps what must survive a crash. It has one role for each subject, so that a use
// case can ask for only the roles that it needs. Every method is one transaction. SQLite
// and PostgreSQL implement all roles.
type Store struct {
	Intake
	Targets
	Scans
	Tokens
	Leases
	Reviews
	History
	Archive
	Backtests
	Learning
	Probations
	Writes
	LineComments
	Commands
	Layers
	ConfigUse
	Recovery
	Marks
	Retention
	Deferrals
	RateLimits
	Memory
	Sessions
	APITokens
}

// Intake stores what deliveries, commands and sweeps ask for.
type Intake interface {
	// Accept stores a delivery and everything it asks for: the raised generation of its
	// target, its command, and the job. Once it returns without an error, none of that can
	// be lost. A GUID counts once, unless what it asked for was given up and has not been
	// asked for since. A command counts once for the place and number of its comment,
	// whatever the GUID.
	Accept(ctx context.Context, d Delivery) (Accepted, error)
	// Ask raises a target's generation without a delivery. Every ask reopens a closed target
	// and resets its failed attempts. Asks for a removed installation are ignored.
	Ask(ctx context.Context, ask ReviewAsk) error
}

// Scans keeps what reviews read from other Apps' checks, and the events about those checks.
type Scans interface {
	// BeginScans deletes the events about others' checks that arrived so far, because the
	// review is about to read those checks. SetScans records what was read, and inserts a
	// job if an event that arrived since affects it.
	BeginScans(ctx context.Context, key string) error
	SetScans(ctx context.Context, key string, reads ScansRead) error
	// AskScans asks for the review that events about others' checks called for, limited to
	// the agents that read those checks. It does so at most once in every. If it is too
	// early, it asks for nothing and returns how long to wait.
	AskScans(ctx context.Context, key string, every time.Duration) (wait time.Duration, err error)
}

// Tokens counts the tokens of agents' questions to language models against their budgets.
type Tokens interface {
	// TakeTokens reserves the tokens that an agent's question may use. If a budget has too
	// few left, it reserves nothing and over names that budget. The reservation of a
	// process that died stays. SettleTokens replaces the reservation with the actual
	// number.
	TakeTokens(ctx context.Context, ask TokenAsk) (id int64, over TokenBudget, err error)
	SettleTokens(ctx context.Context, id int64, tokens int) error
}

// Leases gives one holder at a time the right to work on a target. All methods that take a
// lease, except Release, return ErrLeaseLost if another holder has it by now.
type Leases interface {
	// Acquire takes the lease of key for owner if it is free or expired. It returns false
	// if there is another holder, even one of the same owner.
	Acquire(ctx context.Context, key, owner string, ttl time.Duration) (Lease, bool, error)
	// Renew extends the lease, or returns ErrLeaseLost. A lease that expired but that
	// nobody took is not lost.
	Renew(ctx context.Context, l Lease, ttl time.Duration) error
	// Release gives the lease back. It ignores a lease that was lost.
	Release(ctx context.Context, l Lease) error
	// Finish records that generation is done. In the same transaction it gives the lease
	// back, unless there is more to do: a greater generation is wanted, or notices are
	// still to be written. It reports that as more. gaveUp marks the generation as given
	// up.
	Finish(ctx context.Context, l Lease, generation int64, gaveUp bool) (more bool, err error)
	// Failed counts a failed attempt at the wanted generation and gives the
	// lease back. It returns the count.
	Failed(ctx context.Context, l Lease) (attempts int, err error)
	// Died records that the target's review ended its child process, and when it is tried
	// again. Rest clears that record: the target then waits for an ask, and remains a
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
	// UnpublishedReview returns the newest saved review of the target that is not published
	// and whose generation is not finished, or nil.
	UnpublishedReview(ctx context.Context, key string) (*StoredReview, error)
	// MarkPublished records that a review was published, and inserts the jobs that follow.
	// The first time, the review's fix loop becomes the target's, and memory counts the review.
	MarkPublished(ctx context.Context, runID string, next ...Job) error
	// Published reports whether a review of the generation was published.
	Published(ctx context.Context, key string, generation int64) (bool, error)
	// DropReview deletes a review that was superseded before it was published.
	DropReview(ctx context.Context, runID string) error
}

// History reads published reviews.
type History interface {
	// LatestReview returns the newest published review of the target, or nil.
	LatestReview(ctx context.Context, key string) (*StoredReview, error)
	// ReviewAsOf returns the review of the target that was the newest published one at the
	// given time, or nil.
	ReviewAsOf(ctx context.Context, key string, at time.Time) (*StoredReview, error)
	// ReviewOfHead returns the newest review of the target on a head, published or about to
	// be, or nil. If baseRef is not empty, only reviews for that base branch count.
	ReviewOfHead(ctx context.Context, key, headSHA, baseRef string) (*StoredReview, error)
	// LastPublished returns the head and base of the target's newest published review, or nil
	// if there is none.
	LastPublished(ctx context.Context, key string) (*PublishedHead, error)
	// PreviousReport returns the report of the target's newest published review on another
	// head, or nil.
	PreviousReport(ctx context.Context, key, headSHA string) (*pipeline.PreviousReport, error)
	// HeadDecisions lists the decision for each open pull request on the head, by number.
	HeadDecisions(ctx context.Context, repoID int64, headSHA string) ([]HeadDecision, error)
}

// Writes records what was written to GitHub or is about to be.
type Writes interface {
	// NewestWrite returns the newest write of a kind for a subject, or nil.
	NewestWrite(ctx context.Context, kind WriteKind, subject string) (*Write, error)
	// OpenChecks lists the repository's checks that are not completed and whose head no
	// longer belongs to an open target.
	OpenChecks(ctx context.Context, repoID int64) ([]Write, error)
	// Intend stores the intent to create something, and returns the write with its ID.
	Intend(ctx context.Context, l Lease, w Write) (Write, error)
	// Record stores the current state of a write.
	Record(ctx context.Context, w Write) error
}

// Commands keeps slash commands and the decisions that people made with them.
type Commands interface {
	// Command returns a command, or ErrNotFound. done reports that it was accepted or
	// finished before.
	Command(ctx context.Context, place CommentPlace, commentID int64) (c Command, done bool, err error)
	// CommandsSince counts the commands on the target of the given command.
	CommandsSince(ctx context.Context, c Command, since time.Time) (CommandCount, error)
	// Obey stores the effect of a command on its target, adds the entry to the audit log,
	// and marks the command as accepted. If ask is not nil, it raises the target's
	// generation (fresh) with a job. It changes nothing if the command was accepted or
	// finished before. It stores the effect's notice as AddNotice does.
	Obey(ctx context.Context, c Command, e Effect, ask *ReviewAsk) error
	// Refuse records the outcome of a refused command, unless the command was accepted or
	// finished before, and stores the reason as a notice as AddNotice does. If the target
	// was deleted, it stores no notice.
	Refuse(ctx context.Context, c Command, outcome, why string) error
	// FinishCommand records a command's outcome, such as done or refused. Later outcomes do
	// not replace the first one.
	FinishCommand(ctx context.Context, place CommentPlace, commentID int64, outcome string) error
	// AwaitingCommands lists the target's accepted commands that are not finished and whose
	// generation is at most the given one.
	AwaitingCommands(ctx context.Context, key string, generation int64) ([]Command, error)
	// Taught returns the dismissals and acceptances of a target, by fingerprint, and the
	// decision by hand for the head against the base, if there is one.
	Taught(ctx context.Context, key, headSHA, baseRef string) (pipeline.Memory, error)
	// Pushes returns who opened a pull request and who sent its pushes, as far as
	// deliveries reported it.
	Pushes(ctx context.Context, t Target) ([]Push, error)
	// Audit lists people's decisions about a target, newest first.
	Audit(ctx context.Context, key string, limit int) ([]AuditEntry, error)
}

// Layers keeps the last valid version of each config layer, and what determines which
// layers apply to a target.
type Layers interface {
	KnownLayers
	// GoodLayerNames lists the names of a repository's stored layers.
	GoodLayerNames(ctx context.Context, repoID int64) ([]string, error)
	SaveGoodLayer(ctx context.Context, repoID int64, layer string, g GoodLayer) error
	SetConfigBranch(ctx context.Context, key, branch string) error
	// AddRepositoryNames adds those names that a repository does not have yet.
	AddRepositoryNames(ctx context.Context, repoID int64, names []string) error
}

// KnownLayers reads what Layers stores.
type KnownLayers interface {
	// GoodLayer returns what SaveGoodLayer stored last, or nil.
	GoodLayer(ctx context.Context, repoID int64, layer string) (*GoodLayer, error)
	// ConfigBranch returns the base branch whose config applies to a target. It is empty
	// for the default branch and for an unknown target.
	ConfigBranch(ctx context.Context, key string) (string, error)
	// RepositoryNames lists the names that a repository has had, oldest first.
	RepositoryNames(ctx context.Context, repoID int64) ([]string, error)
}

// Recovery keeps what is needed to find lost deliveries and unanswered pull requests.
type Recovery interface {
	// AddLostDeliveries stores the failed deliveries that were read from the delivery log, and how
	// far the log was read. It drops deliveries that Accept has stored, unless what they
	// asked for was given up since. It keeps a limited number, the most urgent and then the
	// oldest, and returns how many it dropped beyond that limit.
	AddLostDeliveries(ctx context.Context, read LogRead) (dropped int64, err error)
	// LostDeliveries lists the deliveries that are due at the time now, the most urgent
	// first, then the oldest.
	LostDeliveries(ctx context.Context, now time.Time, limit int) ([]LostDelivery, error)
	// LookedFor records that a delivery was handled or requested again, and when to look
	// for it next if it is still missing.
	LookedFor(ctx context.Context, guid string, next time.Time) error
	// AskSweep inserts the job for a sweep, unless one is waiting.
	AskSweep(ctx context.Context, s Sweep) error
	// Unanswered lists the installation's open targets for which nothing is wanted and
	// whose newest generation was given up with a result.
	Unanswered(ctx context.Context, installation int64) ([]Target, error)
	// RefusedScans lists the installation's open targets for which nothing is wanted and
	// whose agents were refused access to others' findings.
	RefusedScans(ctx context.Context, installation int64) ([]TargetState, error)
	// ScanRepositories returns the repositories in which an open target reads others'
	// findings.
	ScanRepositories(ctx context.Context) (map[int64]bool, error)
	// Orphans lists one target for each repository that has checks which
	// OpenChecks would list.
	Orphans(ctx context.Context) ([]Target, error)
}

// Retention deletes what is no longer needed.
type Retention interface {
	// Held lists, by repository, the stored data that f covers.
	Held(ctx context.Context, f Forget) ([]Holding, error)
	// ForgetTarget deletes a target whose lease is held, with all its data and the lease
	// itself. It keeps a check whose head another open pull request has.
	ForgetTarget(ctx context.Context, l Lease) error
	// ForgetOutdated deletes a target in the same way if Outdated still lists it for the
	// given time, and reports whether it did. If something is wanted for the target by now,
	// it hands the target over to a review job.
	ForgetOutdated(ctx context.Context, l Lease, before time.Time) (gone bool, err error)
	// ForgetRepository deletes the remaining data of a repository, unless it has targets.
	// Its deliveries stay known, but no longer refer to the repository.
	ForgetRepository(ctx context.Context, repoID int64) error
	// ForgetInstallation deletes the remaining data of a removed installation. Later asks
	// for it do nothing.
	ForgetInstallation(ctx context.Context, id int64) error
	// Outdated lists targets that were closed before the given time and have nothing left
	// to do, oldest first.
	Outdated(ctx context.Context, before time.Time, limit int) (keys []string, err error)
	// Prune deletes one small batch of rows that are older than the given times and no
	// longer needed. It returns the number of deleted rows, 0 if nothing is left to delete.
	// The zero time deletes nothing of a kind.
	Prune(ctx context.Context, before Ages) (n int, err error)
}

// Ages are the times before which stored data is old.
type Ages struct {
	Reviews    time.Time // and what belongs to them
	Deliveries time.Time
	Learning   time.Time // logs without a newer entry
	Memory     time.Time // records without effect that nobody used since: they expire
}

// Deferrals keeps the warnings and gaps that were merged, and the issues about them.
type Deferrals interface {
	// LiveDeferred lists a repository's deferred items in the states waiting, intended and
	// open, by ID.
	LiveDeferred(ctx context.Context, repoID int64) ([]Deferred, error)
	// NoteDeferred stores the deferred items that a merge adds. The same news again changes
	// nothing. dropped counts the new items beyond MaxDeferred.
	NoteDeferred(ctx context.Context, l Lease, news DeferredNews) (dropped int, err error)
	// ChangedDeferred lists the items that must be written to GitHub, by ID. newest is when
	// the repository's newest known issue was intended; zero without such an issue.
	ChangedDeferred(ctx context.Context, repoID int64) (all []Deferred, newest time.Time, err error)
	// IntendDeferred stores the intent to open an issue. It returns false if the repository
	// already has limit intents since the given time.
	IntendDeferred(ctx context.Context, l Lease, d Deferred, limit int, since time.Time) (ok bool, err error)
	// RecordDeferred stores the result for an issue: its state, number and digest, whether
	// there is more to write, and when it was intended.
	RecordDeferred(ctx context.Context, d Deferred) error
	// DeferredRepositories lists one target without a number for each repository for which
	// ChangedDeferred would list something.
	DeferredRepositories(ctx context.Context) ([]Target, error)
	// AskIssues inserts the job that updates a repository's issues, unless one is waiting.
	AskIssues(ctx context.Context, a IssuesAsk) error
}

// RateLimits stores for how long GitHub refuses calls.
type RateLimits interface {
	// SetRefused stores until when GitHub refuses the calls of an installation, or of the
	// App itself for 0. So neither a restarted process nor another process calls too early.
	// Refusals lists the refusals that are still in force.
	SetRefused(ctx context.Context, installation int64, until time.Time) error
	Refusals(ctx context.Context) (map[int64]time.Time, error)
}

// Marks stores the progress of periodic work.
type Marks interface {
	// Mark returns the time that SetMark last stored under a name, or the zero time.
	Mark(ctx context.Context, name string) (time.Time, error)
	SetMark(ctx context.Context, name string, at time.Time) error
}

// ConfigUse finds the reviews that a change of config may affect.
type ConfigUse interface {
	// KnownPulls lists the open pull requests of a repository, newest first. For an
	// organisation's .github it lists those of all repositories that the account has in the
	// installation.
	KnownPulls(ctx context.Context, repo Target, limit int) ([]Target, error)
	// ConfigUsed returns the config files of the target's newest published review, without
	// their texts. ok is false if there is no such review or another one is wanted.
	ConfigUsed(ctx context.Context, key string) (files []ConfigBlob, ok bool, err error)
}
