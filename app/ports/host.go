package ports

import (
	"context"
	"time"
)

// Host is GitHub as far as the use cases need it: one role for each subject. Errors are
// *HostError.
type Host struct {
	PullReader
	ConfigReader
	CheckWriter
	CommentWriter
	IssueWriter
	LabelWriter
	ReviewWriter
	PeopleReader
	DeliveryLog
	InstallationReader
}

// PullReader reads pull requests and how the App stands to their repositories.
type PullReader interface {
	// Source reads the target. Config reads of other layers are not its job:
	// see ReadConfig.
	Source(t Target) PullSource
	// Pull reads the pull request again, to see whether its head has moved.
	Pull(ctx context.Context, t Target) (PullState, error)
	// PullsOnHead lists the open pull requests whose head is sha.
	PullsOnHead(ctx context.Context, t Target, sha string) ([]Target, error)
	// Access asks how the App stands to the target's repository, to tell why
	// it was refused.
	Access(ctx context.Context, t Target) (Access, error)
}

// ConfigReader reads the layers of config that live on GitHub.
type ConfigReader interface {
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
}

// CheckWriter writes check runs.
type CheckWriter interface {
	CreateCheck(ctx context.Context, t Target, w CheckWrite) (id int64, err error)
	// UpdateCheck rewrites a check run. Annotations are appended to those
	// already there, in requests of at most 50.
	UpdateCheck(ctx context.Context, t Target, id int64, w CheckWrite) error
	// Checks lists our app's check runs on the head, of whatever name (a
	// setting may have changed it), newest first.
	Checks(ctx context.Context, t Target, headSHA string) ([]CheckRun, error)
}

// CommentWriter writes our comments, and reactions to those of others.
type CommentWriter interface {
	CreateComment(ctx context.Context, t Target, body string) (id int64, err error)
	UpdateComment(ctx context.Context, t Target, id int64, body string) error
	DeleteComment(ctx context.Context, t Target, id int64) error
	// Comments lists our app's own comments that carry the marker, oldest
	// first.
	Comments(ctx context.Context, t Target, marker string) ([]Comment, error)
	// React adds a reaction to a comment. The words of a review take none.
	React(ctx context.Context, t Target, place CommentPlace, commentID int64, reaction string) error
}

// IssueWriter writes issues.
type IssueWriter interface {
	// Issues lists the issues that our app made in the target's repository since
	// then, newest first, as far back as is looked.
	Issues(ctx context.Context, t Target, since time.Time) ([]Issue, error)
	// Issue reads an issue that our app made; any other is HostNotFound.
	Issue(ctx context.Context, t Target, number int) (Issue, error)
	CreateIssue(ctx context.Context, t Target, w IssueWrite) (number int, err error)
	// UpdateIssue writes an issue's body anew, and opens it or closes it as
	// completed.
	UpdateIssue(ctx context.Context, t Target, number int, body string, open bool) error
}

// LabelWriter changes the labels of a pull request. A change that is made already is no
// error.
type LabelWriter interface {
	// AddLabel and RemoveLabel change the labels of the pull request. What is so
	// already is no error.
	AddLabel(ctx context.Context, t Target, label string) error
	RemoveLabel(ctx context.Context, t Target, label string) error
}

// ReviewWriter writes pull request reviews, and asks people for theirs.
type ReviewWriter interface {
	// CreateReview submits a review of one head.
	CreateReview(ctx context.Context, t Target, w ReviewWrite) (id int64, err error)
	// DismissReview dismisses a review of ours. One that is dismissed or gone
	// already is no error; one that can't be seen is.
	DismissReview(ctx context.Context, t Target, id int64, message string) error
	// Reviews lists all reviews of the pull request, oldest first.
	Reviews(ctx context.Context, t Target) ([]PullReview, error)
	// RequestReviews asks people to review, all or none of them: logins, and teams
	// as "org/team-slug". Where one can't be asked the error is HostInvalid.
	RequestReviews(ctx context.Context, t Target, people []string) error
	// Login is the App's own account, which may be renamed.
	Login(ctx context.Context) (string, error)
}

// PeopleReader tells what people may do.
type PeopleReader interface {
	Permission(ctx context.Context, t Target, login string) (Permission, error)
	// TeamMember reports whether a person is in a team, "org/team-slug". What
	// the App may not see is no.
	TeamMember(ctx context.Context, t Target, team, login string) (bool, error)
}

// DeliveryLog reads the App's log of webhook deliveries.
type DeliveryLog interface {
	// FailedDeliveries lists the attempts in the App's delivery log from since on that
	// failed, newest first. whole is false where the log holds more than is read.
	FailedDeliveries(ctx context.Context, since time.Time) (attempts []HookAttempt, whole bool, err error)
	// Payload reads what an attempt delivered. The error is ErrNoPayload where the log
	// holds the attempt, and not what it delivered.
	Payload(ctx context.Context, attemptID int64) ([]byte, error)
	// Redeliver asks GitHub to send a delivery again.
	Redeliver(ctx context.Context, attemptID int64) error
}

// InstallationReader lists where the App is installed, and what is open there.
type InstallationReader interface {
	// Installations lists where the App is installed.
	Installations(ctx context.Context) ([]Installation, error)
	// Repositories lists an installation's repositories that are not archived,
	// as targets without a number.
	Repositories(ctx context.Context, installation int64) ([]Target, error)
	// OpenPulls lists a repository's open pull requests that were updated
	// since then, newest first.
	OpenPulls(ctx context.Context, repo Target, since time.Time) ([]OpenPull, error)
}
