package review

import (
	"context"
	"fmt"
	"time"

	"github.com/reviewgate/reviewgate/app/agents/codescanning"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/raw"
	"github.com/reviewgate/reviewgate/policies/fixloop"
)

// TargetKind tells what is reviewed.
type TargetKind string

// The kinds of target.
const (
	TargetPull  TargetKind = "pull"
	TargetGroup TargetKind = "merge_group"
)

// Target is what is reviewed: a pull request, or a merge group, whose check
// stands on the group's own head SHA.
type Target struct {
	Kind         TargetKind
	Installation int64
	RepoID       int64
	Owner        string
	Name         string
	Number       int    // of the pull request; for a group the one its ref names, or 0
	HeadSHA      string // newest known to us; for a group the SHA itself
	BaseSHA      string // for a group
	HeadRef      string // for a group
}

// Key names the target in the store: stable over pushes, renames and
// transfers, since it is made from GitHub's numeric repository id.
func (t Target) Key() string {
	if t.Kind == TargetGroup {
		return fmt.Sprintf("group/%d/%s", t.RepoID, t.HeadSHA)
	}
	return fmt.Sprintf("pull/%d/%d", t.RepoID, t.Number)
}

// Answer is what a published review was about. BaseRef is empty for reviews of versions
// that did not store it.
type Answer struct{ HeadSHA, BaseRef string }

// Delivery is one webhook delivery and what it asks for. Exactly the asks
// that are set are stored; one that asks nothing is recorded as a no-op.
type Delivery struct {
	GUID         string
	Event        string
	Action       string
	Installation int64
	RepoID       int64
	ReceivedAt   time.Time

	Review    *ReviewAsk
	Close     *Target
	Merged    bool // what is closed was merged
	Push      *Push
	Command   *Command
	Rerequest *Rerequest
	Report    *ReportNews
	Scans     *ScanNews
	Sweep     *Sweep
	Config    *ConfigNews
	Forget    *Forget
}

// ConfigNews says that a push, or another name, may have changed the config of a
// repository, and with it of all that it holds for.
type ConfigNews struct {
	Repository Target // without a number and a head
	Branch     string // that was pushed to; empty for the default branch
	// Was is the full name that the repository had before it was renamed or
	// transferred; empty for a push. All open pull requests are reviewed again
	// then, since config goes by names.
	Was string
}

// Forget asks to delete what is stored of repositories that the App may not see
// any more: those of Repos, or where there are none all of the installation,
// which is gone for good then.
type Forget struct {
	Installation int64
	Repos        []int64
}

// Sweep asks to look for what was missed: open pull requests of an
// installation whose head has no completed check.
type Sweep struct {
	Installation int64
	// Granted says that permissions were granted: what was refused for want of
	// them is tried again.
	Granted bool
}

// Holding is what is stored of one repository. Its names are empty where only
// its id is known.
type Holding struct {
	Repository Target   // without a number and a head
	Keys       []string // of its targets that are to be forgotten
}

// ReviewAsk asks for a review of the target as it is when the review runs.
type ReviewAsk struct {
	Target Target
	Reason string // in words, such as "opened" or "pushed"
	// LabelsOnly says that only labels changed: the ask counts only if the
	// target's last review read labels, or read the type from them and TypeLabel
	// says that this is one of those.
	LabelsOnly bool
	TypeLabel  bool
	// At is when the event that asks happened by GitHub's clock, in whole
	// seconds; zero for what was read from GitHub now. Old news moves no head.
	// Of news from one second that with the Before of the head that is known is
	// the newer.
	At     time.Time
	Before string // head that the event replaced, if it tells
	// Once names the ask where it may be made again after a crash: it counts
	// the first time.
	Once string
	// Asked, if set, is the generation that had been asked for when the target was
	// found to need a review, 0 for one that was not known: where somebody has
	// asked since, this ask is needless.
	Asked *int64
	// Fresh demands a new check run even where nothing seems to have changed:
	// the old one must not stand while the review runs.
	Fresh bool
	// Author is the id of the account that opened the pull request, 0 if the ask does
	// not know it. Each author has a share of the queue while others wait.
	Author int64
	// Low lets other work go first: nobody waits for this review.
	Low bool
	// Rerun says how much is done anew. Of several asks that one review answers,
	// all are met, and so is that of the last one if it was given up.
	Rerun Rerun
	// AtOnce ends the wait of a quarantined target.
	AtOnce bool
	// ByHand says that somebody decided in the gate's place: what was given up
	// need not be done for it.
	ByHand bool
}

// CommentPlace tells where a comment stands. GitHub numbers those of each place
// for themselves.
type CommentPlace string

// The places.
const (
	PlaceConversation CommentPlace = "issue_comment"
	PlaceReview       CommentPlace = "review"         // the words of a review
	PlaceReviewLine   CommentPlace = "review_comment" // on a line, or a reply to one
)

// Command is a slash command in a comment.
type Command struct {
	Place     CommentPlace
	CommentID int64 // with Place, what tells it from all others
	Target    Target
	Sender    string
	Author    string // of the pull request
	SenderID  int64  // of the account, 0 where the event did not tell
	AuthorID  int64  // likewise
	Name      string // "review" for the bare command, else its first word as typed
	Args      string // the rest of the line, at most MaxCommandArgs characters, secrets replaced
	// ReceivedAt is when it came, or when it was said if that is long before: its
	// delivery was lost, and found later.
	ReceivedAt time.Time
}

// CommandCount is how many commands came on a target in a while.
type CommandCount struct {
	Obeyed     int
	TurnedDown int // refused, or not even answered
	BySender   int // by the sender of one command, up to that one and whatever became of them
}

// MaxCommandArgs bounds what is kept of a command after its name, in characters:
// a reason is read by people.
const MaxCommandArgs = 500

// ReportNews says that a comment with a review report came, changed or went. It
// asks for a review where reviews of the pull request read such comments and the
// author's counts.
type ReportNews struct {
	Target Target
	Author string // of the comment
}

// Rerequest asks for a fresh review of every pull request that has the head.
type Rerequest struct {
	Installation int64
	RepoID       int64
	Owner        string
	Name         string
	HeadSHA      string
	Numbers      []int // of the pull requests that the event names; empty for forks
}

// Accepted says what became of a delivery.
type Accepted struct {
	Duplicate bool   // seen before, and nothing was given up since
	NoOp      bool   // asks for nothing
	Key       string // of the target whose generation was raised or that was closed, if any
	HeadMoved bool   // the ask names another head than the newest known before
	Closed    bool   // a known target was closed
}

// TargetState is what the store knows of a target.
type TargetState struct {
	Target
	Wanted int64 // generation asked for
	Done   int64 // generation finished
	Author int64 // id of the account that opened the pull request, 0 if unknown
	Reason string
	// AskedAt is when the oldest ask that is not done was made: of those that
	// somebody waits for, if any does.
	AskedAt time.Time
	// Rerun is how much the wanted generation does anew: what meets every ask
	// that is not done.
	Rerun  Rerun
	Fresh  bool // the wanted generation must write a new check run even if nothing changed
	Closed bool
	GaveUp bool
	// GaveUpAt is when, the zero time if it was not or that is not known.
	GaveUpAt time.Time
	Attempts int // failed attempts at the wanted generation
	// FailedSince is when the first of them failed, zero if none did.
	FailedSince time.Time
	// Crashes counts the runs whose process died, or that lost their lease by expiry,
	// since a review of the target was last completed. Above 0 the target is a suspect,
	// but not to blame: others were under review beside it.
	Crashes    int
	Quarantine Quarantine
	// Notices are to be said once in the comment, oldest first, such as why
	// commands were refused; at most MaxNotices.
	Notices []string
	// Said are the notices that were said of this head within NoticeStay, oldest
	// first, at most MaxNotices.
	Said []string
	// Scans is what its last review took in of what others found.
	Scans ScansRead
	// FixLoop is where the fix loop stands after the newest published review.
	FixLoop fixloop.State
	Resumes int // how many times people have had it go on after it was escalated
	// Result says in words how the generation that was finished last ended
	// where it could not be answered, such as "the App is suspended".
	Result string
}

// Quarantine is what is known of a target whose review ended the child process it ran in;
// the zero value for all others. It outlasts pushes.
type Quarantine struct {
	Deaths int       // child processes that the review ended
	Since  time.Time // when it ended the first
	Next   time.Time // when it is tried again
}

// Quarantined is a target that is in quarantine.
type Quarantined struct {
	Target
	Quarantine
}

// MaxNotices is how many notices may wait to be said in one comment: as many as
// a pull request has commands in an hour by default.
const MaxNotices = 20

// NoticeStay is how long a notice that was said stays when the comment is written
// again on the same head, for another answer say: whoever asked has to get round
// to reading it.
const NoticeStay = 10 * time.Minute

// Lease is the right to work on a target or to write a head's check. Token
// grows with each holder, so that a write by a holder that was thought dead
// can be told.
type Lease struct {
	Key   string
	Owner string
	Token int64
}

// StoredReview is a review with what replay needs. Raw agent outputs, facts,
// previous report and config layers are all in Review and Config.
type StoredReview struct {
	RunID      string
	Key        string
	Generation int64
	RepoID     int64
	HeadSHA    string
	BaseSHA    string
	Review     pipeline.Review
	Config     []ConfigBlob
	Record     pipeline.RunRecord
	// FixLoop is where the fix loop of the target stands after it.
	FixLoop fixloop.State
}

// ConfigBlob is the text of one config file that a review was done with.
type ConfigBlob struct {
	Layer   string
	Path    string
	BlobSHA string
	Text    []byte
}

// ConfigSource is the files of one layer and where they were read. No files
// means that there is no such layer, unless Unreadable says that its repository
// can't be seen: that there is none, or that the App may not read it.
type ConfigSource struct {
	Source     string
	Files      []ConfigBlob
	Unreadable bool
}

// ConfigRead is what GitHub holds of the config of one repository, and the
// names of the files at the root of the branch it was read from, which come
// with it.
type ConfigRead struct {
	Organisation ConfigSource
	Repository   ConfigSource
	RootFiles    []string
	// Attributes and Exceptions are the .gitattributes and the .gitleaks.toml at the root
	// of that branch, which belong to no config layer. The Path is empty if the branch
	// lacks the file.
	Attributes, Exceptions ConfigBlob
}

// HeadDecision is where one open pull request on a head stands. Decision is
// that of the review of its wanted generation, empty if there is none; Pending
// says that one is still to come.
type HeadDecision struct {
	Target   Target
	Decision pipeline.Decision
	Pending  bool
}

// WriteKind tells what is written to GitHub.
type WriteKind string

// The things of which there may be only one, so that each create is preceded
// by a stored intent.
const (
	WriteCheck   WriteKind = "check"
	WriteComment WriteKind = "comment"
	// WriteReview is the newest review on GitHub that was decided without a person.
	// At most one of them stands.
	WriteReview WriteKind = "review"
	// WriteRequests is what was asked of people for a head.
	WriteRequests WriteKind = "requests"
)

// WriteState is how far a write is known to have come.
type WriteState string

// The states of a write. An intended one may or may not exist on GitHub, and
// is looked for before it is created again.
const (
	WriteIntended  WriteState = "intended"
	WriteOpen      WriteState = "open"
	WriteCompleted WriteState = "completed"
	WriteRefused   WriteState = "refused" // of a review: GitHub did not take it
	WriteStuck     WriteState = "stuck"   // of a review: GitHub does not let it be dismissed
)

// Write is something of ours on GitHub, or the intent to create it. Subject
// is "repoID/headSHA" for a check, and the key of the target for all else. A
// review is completed when it is dismissed.
type Write struct {
	ID         int64
	Kind       WriteKind
	Subject    string
	Key        string // of the target whose run wrote it first
	HeadSHA    string // for all but a comment
	ExternalID string
	RemoteID   int64
	State      WriteState
	// Digest is of what was last written. Of a review it is the verdict and the
	// base branch, and of requests the people, each separated by spaces; see
	// requestDigest.
	Digest string
}

// GoodLayer is the newest version of a config layer that was valid.
type GoodLayer struct {
	Source string
	Files  []ConfigBlob
}

// Store keeps what must survive a crash. Every method is one transaction.
// SQLite and PostgreSQL implement it alike.
type Store interface {
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

	// Target returns what is known of a target, or ErrNotFound, as do those
	// below that change one.
	Target(ctx context.Context, key string) (TargetState, error)
	// TargetsOnHead lists the open pull requests last seen at the head.
	TargetsOnHead(ctx context.Context, repoID int64, headSHA string) ([]Target, error)
	// SetHead records the head that a read showed; SetReadsLabels which label
	// events matter to the target.
	SetHead(ctx context.Context, key, headSHA string) error
	SetReadsLabels(ctx context.Context, key string, reads pipeline.LabelsRead) error
	SetClosed(ctx context.Context, key string, closed bool) error
	// BeginScans forgets the news of others' checks that came until now: what
	// they tell of is about to be read. SetScans records what was read, and
	// inserts a job where news that came since make a difference to it.
	BeginScans(ctx context.Context, key string) error
	SetScans(ctx context.Context, key string, reads ScansRead) error
	// TakeTokens notes what an agent is about to ask of a model. Where that is more
	// than is left of a budget nothing is noted, and over names it. What a process
	// that died had asked for counts as taken. SettleTokens notes what it took.
	TakeTokens(ctx context.Context, ask TokenAsk) (id int64, over TokenBudget, err error)
	SettleTokens(ctx context.Context, id int64, tokens int) error
	// AskScans asks for the review that news of others' checks asked for, of the
	// agents that read them. It does so once in a while of every at most: before,
	// it asks for nothing and tells how long to wait.
	AskScans(ctx context.Context, key string, every time.Duration) (wait time.Duration, err error)
	// AddNotice keeps a notice to be said once and inserts a job for the
	// target, so that it is. One that is kept already is kept once. Where
	// MaxNotices wait it returns ErrManyNotices.
	AddNotice(ctx context.Context, key, notice string) error
	// NoticesSaid notes that these notices were said: those that came since are
	// to be.
	NoticesSaid(ctx context.Context, key string, said []string) error

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
	// SetResult keeps how the target's newest generation ended where it could
	// not be answered. Finish without gaveUp clears it.
	SetResult(ctx context.Context, key, result string) error

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
	// LatestReview returns the newest published review of the target, or nil.
	LatestReview(ctx context.Context, key string) (*StoredReview, error)
	// ReviewAsOf returns the review of the target that was the newest published
	// one at a time, or nil.
	ReviewAsOf(ctx context.Context, key string, at time.Time) (*StoredReview, error)
	// PreviousReport is that of the newest published review of the target on
	// another head, or nil.
	PreviousReport(ctx context.Context, key, headSHA string) (*pipeline.PreviousReport, error)
	// HeadDecisions lists where each open pull request on the head stands, by
	// number.
	HeadDecisions(ctx context.Context, repoID int64, headSHA string) ([]HeadDecision, error)

	// NewestWrite returns the newest write of a kind for a subject, or nil.
	NewestWrite(ctx context.Context, kind WriteKind, subject string) (*Write, error)
	// OpenChecks lists the repository's checks that are not completed and on
	// whose head no open target is any more.
	OpenChecks(ctx context.Context, repoID int64) ([]Write, error)
	// Intend stores the intent to create, and returns it with its ID.
	Intend(ctx context.Context, l Lease, w Write) (Write, error)
	// Record stores what is now known of a write (remote id, state, digest).
	Record(ctx context.Context, w Write) error

	// Command returns a command, or ErrNotFound; done tells that it was
	// accepted or finished before.
	Command(ctx context.Context, place CommentPlace, commentID int64) (c Command, done bool, err error)
	// Obey stores what a command changes of its target, with the entry in the
	// audit log, and marks it as accepted. Where ask is not nil it raises the
	// target's generation (fresh) with a job. A command that was accepted or
	// finished before changes nothing. A notice of it is kept as by AddNotice.
	Obey(ctx context.Context, c Command, e Effect, ask *ReviewAsk) error
	// Pushes returns who opened a pull request and sent its pushes, as far as deliveries
	// told.
	Pushes(ctx context.Context, t Target) ([]Push, error)
	// Taught returns the dismissals and acceptances of a target, by
	// fingerprint, and what was decided by hand for the head against the base,
	// if anything was.
	Taught(ctx context.Context, key, headSHA, baseRef string) (pipeline.Memory, error)
	// Audit lists what people decided of a target, newest first.
	Audit(ctx context.Context, key string, limit int) ([]AuditEntry, error)
	// AwaitingCommands lists the accepted commands of a target whose
	// generation is at most the given one and that are not finished.
	AwaitingCommands(ctx context.Context, key string, generation int64) ([]Command, error)
	// FinishCommand records a command's outcome, such as done or refused. The
	// first one stays.
	FinishCommand(ctx context.Context, place CommentPlace, commentID int64, outcome string) error
	// Refuse records the outcome of a command that was refused, unless it was
	// accepted or finished before, and keeps the notice of why as by AddNotice.
	// Where the target is forgotten there is nobody to say it to.
	Refuse(ctx context.Context, c Command, outcome, why string) error
	// CommandsSince counts the commands on the target of one.
	CommandsSince(ctx context.Context, c Command, since time.Time) (CommandCount, error)

	// GoodLayer returns what SaveGoodLayer stored last, or nil.
	GoodLayer(ctx context.Context, repoID int64, layer string) (*GoodLayer, error)
	// GoodLayerNames lists the layers that are stored of a repository, by name.
	GoodLayerNames(ctx context.Context, repoID int64) ([]string, error)
	SaveGoodLayer(ctx context.Context, repoID int64, layer string, g GoodLayer) error

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
	// Mark returns the time that SetMark stored last under a name, or the zero
	// time: how far something that is done over and over has come.
	Mark(ctx context.Context, name string) (time.Time, error)
	SetMark(ctx context.Context, name string, at time.Time) error
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

	// KnownPulls lists the open pull requests of a repository, newest first. Those
	// of an organisation's .github are those of all repositories that the account
	// has in the installation.
	KnownPulls(ctx context.Context, repo Target, limit int) ([]Target, error)
	// ConfigUsed returns what the newest published review of the target was done
	// with, without the texts; ok is false if there is none, or another is wanted.
	ConfigUsed(ctx context.Context, key string) (files []ConfigBlob, ok bool, err error)

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

	// LastAnswer returns what the newest published review of the target was about, or
	// nil where none was published.
	LastAnswer(ctx context.Context, key string) (*Answer, error)
	// ReviewOfHead returns the newest review of the target on a head, published
	// or about to be, or nil. A base branch that is given is the one that it was to go
	// into.
	ReviewOfHead(ctx context.Context, key, headSHA, baseRef string) (*StoredReview, error)
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

	// SetRefused keeps until when GitHub refuses an installation's calls, 0
	// for the App's own, so that neither a restarted process nor another one
	// asks early. Refusals lists those that still hold.
	SetRefused(ctx context.Context, installation int64, until time.Time) error
	Refusals(ctx context.Context) (map[int64]time.Time, error)
}

// JobKind names what a job does.
type JobKind string

// The kinds of job.
const (
	JobReview     JobKind = "review"     // runs a target's review and stores it
	JobPublish    JobKind = "publish"    // writes a stored review to GitHub
	JobCommand    JobKind = "command"    // obeys a slash command
	JobRerequest  JobKind = "rerequest"  // asks for what has a head to be reviewed again
	JobReport     JobKind = "report"     // asks for a review where a comment with a review report matters
	JobScans      JobKind = "scans"      // asks for a review where others' checks have something new
	JobDeliveries JobKind = "deliveries" // reads the App's delivery log for lost deliveries; periodic
	JobIssues     JobKind = "issues"     // brings a repository's issues up to date
	JobSweep      JobKind = "sweep"      // finds open pull requests without an answer; periodic for all installations
	JobConfig     JobKind = "config"     // looks at config that was pushed, and asks for the reviews that it may change
	JobForget     JobKind = "forget"     // deletes what is stored of repositories that are none of ours any more
	JobRetention  JobKind = "retention"  // deletes what has been kept for long enough; periodic
)

// Job is a unit of queued work. It carries ids; the rest is in the store.
type Job struct {
	Kind         JobKind      `json:"kind"`
	Key          string       `json:"key,omitempty"`          // JobReview, JobPublish
	Place        CommentPlace `json:"place,omitempty"`        // JobCommand
	CommentID    int64        `json:"comment_id,omitempty"`   // JobCommand
	Rerequest    *Rerequest   `json:"rerequest,omitempty"`    // JobRerequest
	Report       *ReportNews  `json:"report,omitempty"`       // JobReport
	ScansOf      string       `json:"scans_of,omitempty"`     // JobScans: key of the target
	Config       *ConfigNews  `json:"config,omitempty"`       // JobConfig
	Forget       *Forget      `json:"forget,omitempty"`       // JobForget
	Issues       *IssuesAsk   `json:"issues,omitempty"`       // JobIssues
	Delivery     string       `json:"delivery,omitempty"`     // JobRerequest, JobReport, JobConfig: GUID of what asked for it
	Installation int64        `json:"installation,omitempty"` // JobSweep; 0 for all
	Granted      bool         `json:"granted,omitempty"`      // JobSweep: see Sweep
	Attempt      int          `json:"-"`                      // from 1; counts each run of this job
}

// Worker does jobs. The error says whether the queue tries again: a *RetryError
// means yes, after its delay; any other error is final.
type Worker interface {
	Work(ctx context.Context, job Job) error
}

// RetryError asks the queue to run a job again.
type RetryError struct {
	After time.Duration
	Err   error
}

func (e *RetryError) Error() string {
	return fmt.Sprintf("try again in %s: %v", e.After, e.Err)
}

func (e *RetryError) Unwrap() error { return e.Err }

// GitHub is what the use cases need of the code host. Errors are *HostError.
type GitHub interface {
	// Source reads the target. Config reads of other layers are not its job:
	// see ReadConfig.
	Source(t Target) PullSource
	// ReadConfig reads the layers of config that live on GitHub: the
	// organisation's from the tip of the default branch of its .github
	// repository, and the repository's own from the tip of branch, or of its
	// default branch if branch is empty. A layer without files is no error.
	ReadConfig(ctx context.Context, t Target, branch string) (ConfigRead, error)
	// ForgetConfig drops what is remembered of the config of a repository's
	// organisation, so that it is read anew.
	ForgetConfig(t Target)
	// ProposedConfig reads the repository's layer as it is at a commit, which
	// may be a fork's: for showing what it would bring, never for judging by it.
	ProposedConfig(ctx context.Context, t Target, sha string) (ConfigSource, error)
	// Pull reads the pull request again, to see whether its head has moved.
	Pull(ctx context.Context, t Target) (PullState, error)
	// PullsOnHead lists the open pull requests whose head is sha.
	PullsOnHead(ctx context.Context, t Target, sha string) ([]Target, error)

	CreateCheck(ctx context.Context, t Target, w CheckWrite) (id int64, err error)
	// UpdateCheck rewrites a check run. Annotations are appended to those
	// already there, in requests of at most 50.
	UpdateCheck(ctx context.Context, t Target, id int64, w CheckWrite) error
	// Checks lists our app's check runs on the head, of whatever name (a
	// setting may have changed it), newest first.
	Checks(ctx context.Context, t Target, headSHA string) ([]CheckRun, error)

	CreateComment(ctx context.Context, t Target, body string) (id int64, err error)
	UpdateComment(ctx context.Context, t Target, id int64, body string) error
	DeleteComment(ctx context.Context, t Target, id int64) error
	// Comments lists our app's own comments that carry the marker, oldest
	// first.
	Comments(ctx context.Context, t Target, marker string) ([]Comment, error)

	// Issues lists the issues that our app made in the target's repository since
	// then, newest first, as far back as is looked.
	Issues(ctx context.Context, t Target, since time.Time) ([]Issue, error)
	// Issue reads an issue that our app made; any other is HostNotFound.
	Issue(ctx context.Context, t Target, number int) (Issue, error)
	CreateIssue(ctx context.Context, t Target, w IssueWrite) (number int, err error)
	// UpdateIssue writes an issue's body anew, and opens it or closes it as
	// completed.
	UpdateIssue(ctx context.Context, t Target, number int, body string, open bool) error
	// AddLabel and RemoveLabel change the labels of the pull request. What is so
	// already is no error.
	AddLabel(ctx context.Context, t Target, label string) error
	RemoveLabel(ctx context.Context, t Target, label string) error

	// CreateReview submits a review of one head.
	CreateReview(ctx context.Context, t Target, w ReviewWrite) (id int64, err error)
	// DismissReview dismisses a review of ours. One that is dismissed or gone
	// already is no error; one that can't be seen is.
	DismissReview(ctx context.Context, t Target, id int64, message string) error
	// Reviews lists all reviews of the pull request, oldest first.
	Reviews(ctx context.Context, t Target) ([]PullReview, error)
	// Login is the App's own account, which may be renamed.
	Login(ctx context.Context) (string, error)
	// RequestReviews asks people to review, all or none of them: logins, and teams
	// as "org/team-slug". Where one can't be asked the error is HostInvalid.
	RequestReviews(ctx context.Context, t Target, people []string) error

	Permission(ctx context.Context, t Target, login string) (Permission, error)
	// TeamMember reports whether a person is in a team, "org/team-slug". What
	// the App may not see is no.
	TeamMember(ctx context.Context, t Target, team, login string) (bool, error)
	// React adds a reaction to a comment. The words of a review take none.
	React(ctx context.Context, t Target, place CommentPlace, commentID int64, reaction string) error

	// Access asks how the App stands to the target's repository, to tell why
	// it was refused.
	Access(ctx context.Context, t Target) (Access, error)

	// FailedDeliveries lists the attempts in the App's delivery log from since on that
	// failed, newest first. whole is false where the log holds more than is read.
	FailedDeliveries(ctx context.Context, since time.Time) (attempts []HookAttempt, whole bool, err error)
	// Payload reads what an attempt delivered. The error is ErrNoPayload where the log
	// holds the attempt, and not what it delivered.
	Payload(ctx context.Context, attemptID int64) ([]byte, error)
	// Redeliver asks GitHub to send a delivery again.
	Redeliver(ctx context.Context, attemptID int64) error
	// Installations lists where the App is installed.
	Installations(ctx context.Context) ([]Installation, error)
	// Repositories lists an installation's repositories that are not archived,
	// as targets without a number.
	Repositories(ctx context.Context, installation int64) ([]Target, error)
	// OpenPulls lists a repository's open pull requests that were updated
	// since then, newest first.
	OpenPulls(ctx context.Context, repo Target, since time.Time) ([]OpenPull, error)
}

// OpenPull is an open pull request as a list shows it.
type OpenPull struct {
	Target
	BaseRef string
}

// Access is how the App stands to a repository. Owner, Name and Installation
// are the present ones, which differ from the target's after a rename or a
// transfer.
type Access struct {
	Installed    bool
	Suspended    bool
	Installation int64
	Owner, Name  string
	// Missing lists permissions that reviews need and that were not granted,
	// such as "checks: write".
	Missing []string
}

// HookAttempt is one attempt at a webhook delivery, as GitHub logged it.
type HookAttempt struct {
	ID           int64
	GUID         string
	Event        string
	Action       string
	Status       int // of our answer, 0 if there was none
	At           time.Time
	Installation int64
	RepoID       int64
}

// Delivered reports whether the attempt was answered with success.
func (a HookAttempt) Delivered() bool { return a.Status >= 200 && a.Status < 300 }

// LostDelivery is a delivery that failed and was not taken in since.
type LostDelivery struct {
	HookAttempt     // the newest that was seen, with the time of the first
	Urgency     int // higher for those to look for sooner
	Looks       int // how often it was looked for
}

// LogRead is what was read of the App's delivery log.
type LogRead struct {
	Lost []LostDelivery
	// Before is since when GitHub sends deliveries again: what is older is dropped.
	Before time.Time
	UpTo   time.Time // how far the log was read
}

// Installation is an account on which the App is installed.
type Installation struct {
	ID        int64
	Account   string
	CreatedAt time.Time
	Suspended bool
}

// PullSource is a normalize.Source without its config.
type PullSource interface {
	PullRequest(ctx context.Context) (raw.PullRequest, error)
	Files(ctx context.Context) (raw.Files, error)
	Commits(ctx context.Context) (raw.Commits, error)
	// File reads a file of the repository as it is at a commit: at least its
	// first bytes up to most. What is no file has no text; one that is not there
	// is HostNotFound.
	File(ctx context.Context, commit, path string, most int64) ([]byte, error)
	// Remarks lists the comments by people on the pull request that have the
	// words in them, oldest first.
	Remarks(ctx context.Context, words string) ([]Remark, error)
	// OtherRuns lists the newest check runs of other Apps in each suite on a
	// commit; Annotations those of one, at most most; Alerts the open code
	// scanning alerts of the change, or in words why it can have none.
	OtherRuns(ctx context.Context, commit string) ([]codescanning.ScanRun, error)
	Annotations(ctx context.Context, run int64, most int) ([]codescanning.ScanAnnotation, error)
	Alerts(ctx context.Context) (alerts []codescanning.ScanAlert, none string, err error)
	// LinkedIssue reads an issue of the repository. A pull request is none.
	LinkedIssue(ctx context.Context, number int) (LinkedIssue, error)
	// Permission is that of GitHub, with its calls counted.
	Permission(ctx context.Context, login string) (Permission, error)
	// Calls counts the API calls made.
	Calls() int
}

// LinkedIssue is what somebody asked for.
type LinkedIssue struct {
	Number      int
	Title, Body string
}

// Conversation tells what can be said on a pull request.
type Conversation struct {
	Comments int // issue comments there, ours among them
	Locked   bool
	Archived bool
}

// PullState is what matters of a pull request before it is written to.
type PullState struct {
	HeadSHA string
	BaseRef string
	Closed  bool
	Draft   bool
	// Requested are who is asked to review: logins, and teams as "org/team-slug".
	Requested []string
	Conversation
}

// CheckWrite is a check run to write. Conclusion is empty while it is in
// progress.
type CheckWrite struct {
	Name        string
	HeadSHA     string
	ExternalID  string
	DetailsURL  string
	Conclusion  string
	Output      render.CheckOutput
	StartedAt   time.Time
	CompletedAt time.Time
	// Repeat says that this write may have been tried before: annotations
	// that are there are not sent again.
	Repeat bool
}

// CheckRun is one of our check runs as GitHub has it.
type CheckRun struct {
	ID         int64
	ExternalID string
	Completed  bool
	Conclusion string
}

// Comment is one of our comments as GitHub has it.
type Comment struct {
	ID   int64
	Body string
	URL  string
}

// Issue is one of our issues as GitHub has it.
type Issue struct {
	Number int
	Body   string
	Open   bool
}

// IssueWrite is an issue to open.
type IssueWrite struct {
	Title  string
	Body   string
	Labels []string
}

// ReviewVerdict is what a review says, in GitHub's words.
type ReviewVerdict string

// The verdicts that are given without a person.
const (
	ReviewApprove ReviewVerdict = "APPROVE"
	ReviewReject  ReviewVerdict = "REQUEST_CHANGES"
)

// ReviewWrite is a review to submit.
type ReviewWrite struct {
	HeadSHA string
	Verdict ReviewVerdict
	Body    string
}

// PullReview is a review as GitHub has it.
type PullReview struct {
	ID        int64
	Author    string // login
	Bot       bool   // the author is an App
	Body      string
	Dismissed bool
}

// Remark is a person's comment.
type Remark struct {
	ID     int64
	Author string // login
	Body   string
}

// Permission is what a person may do in a repository.
type Permission string

// GitHub's repository permissions, least first.
const (
	PermissionNone     Permission = "none"
	PermissionRead     Permission = "read"
	PermissionTriage   Permission = "triage"
	PermissionWrite    Permission = "write"
	PermissionMaintain Permission = "maintain"
	PermissionAdmin    Permission = "admin"
)

// CanWrite reports whether the permission includes write.
func (p Permission) CanWrite() bool {
	return p == PermissionWrite || p.CanMaintain()
}

// CanMaintain reports whether the permission includes maintain.
func (p Permission) CanMaintain() bool { return p == PermissionMaintain || p == PermissionAdmin }
