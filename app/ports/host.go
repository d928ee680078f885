package ports

import (
	"context"
	"time"
)

// Host is GitHub as the use cases need it, with one role for each subject. Errors are
// *HostError.
type Host struct {
	PullReader
	ConfigReader
	CheckWriter
	CommentWriter
	InlineWriter
	IssueWriter
	LabelWriter
	ReviewWriter
	PeopleReader
	DeliveryLog
	InstallationReader
}

// PullReader reads pull requests, and what access the App has to their repositories.
type PullReader interface {
	// Source returns a reader of the target. It does not read config layers: see
	// ReadConfig.
	Source(t Target) PullSource
	// Pull reads the pull request again, to see whether its head has moved.
	Pull(ctx context.Context, t Target) (PullState, error)
	// PullsOnHead lists the open pull requests whose head is sha.
	PullsOnHead(ctx context.Context, t Target, sha string) ([]Target, error)
	// Access reads what access the App has to the target's repository, to find out why it
	// was refused.
	Access(ctx context.Context, t Target) (Access, error)
}

// ConfigReader reads the layers of config that live on GitHub.
type ConfigReader interface {
	// ReadConfig reads the layers of config that live on GitHub. The organisation's layer
	// comes from the tip of the default branch of its .github repository. The repository's
	// own layer comes from the tip of branch, or of its default branch if branch is empty.
	// A layer without files is not an error.
	ReadConfig(ctx context.Context, t Target, branch string) (ConfigRead, error)
	// ForgetConfig drops the cached config of a repository's organisation, so that it is
	// read again.
	ForgetConfig(t Target)
	// ProposedConfig reads the repository's layer at a commit, which may be a fork's. Use
	// it only to show the effect of a change, never to judge one.
	ProposedConfig(ctx context.Context, t Target, sha string) (ConfigSource, error)
}

// CheckWriter writes check runs.
type CheckWriter interface {
	CreateCheck(ctx context.Context, t Target, w CheckWrite) (id int64, err error)
	// UpdateCheck rewrites a check run. Annotations are appended to those
	// already there, in requests of at most 50.
	UpdateCheck(ctx context.Context, t Target, id int64, w CheckWrite) error
	// Checks lists our App's check runs on the head, newest first. It includes all names,
	// because a setting may have changed the name.
	Checks(ctx context.Context, t Target, headSHA string) ([]CheckRun, error)
}

// CommentWriter writes our comments, and adds reactions to others' comments.
type CommentWriter interface {
	CreateComment(ctx context.Context, t Target, body string) (id int64, err error)
	UpdateComment(ctx context.Context, t Target, id int64, body string) error
	DeleteComment(ctx context.Context, t Target, id int64) error
	// Comments lists our app's own comments that carry the marker, oldest
	// first.
	Comments(ctx context.Context, t Target, marker string) ([]Comment, error)
	// React adds a reaction to a comment. The body of a review can't have reactions.
	React(ctx context.Context, t Target, place CommentPlace, commentID int64, reaction string) error
}

// IssueWriter writes issues.
type IssueWriter interface {
	// Issues lists the issues that our App created in the target's repository since the
	// given time, newest first. It reads a limited number of pages.
	Issues(ctx context.Context, t Target, since time.Time) ([]Issue, error)
	// Issue reads an issue that our App created. For any other issue the error is
	// HostNotFound.
	Issue(ctx context.Context, t Target, number int) (Issue, error)
	CreateIssue(ctx context.Context, t Target, w IssueWrite) (number int, err error)
	// UpdateIssue replaces an issue's body, and opens the issue or closes it as completed.
	UpdateIssue(ctx context.Context, t Target, number int, body string, open bool) error
}

// LabelWriter changes the labels of a pull request.
type LabelWriter interface {
	// AddLabel and RemoveLabel change the labels of the pull request. A change that is
	// already made is not an error.
	AddLabel(ctx context.Context, t Target, label string) error
	RemoveLabel(ctx context.Context, t Target, label string) error
}

// ReviewWriter writes pull request reviews, and asks people for theirs.
type ReviewWriter interface {
	// CreateReview submits a review of one head.
	CreateReview(ctx context.Context, t Target, w ReviewWrite) (id int64, err error)
	// DismissReview dismisses a review of ours. It is not an error if the review is already
	// dismissed or gone, but it is one if the review can't be read.
	DismissReview(ctx context.Context, t Target, id int64, message string) error
	// Reviews lists all reviews of the pull request, oldest first.
	Reviews(ctx context.Context, t Target) ([]PullReview, error)
	// RequestReviews asks either all of the people to review or none of them. They are
	// logins, and teams as "org/team-slug". If one of them can't be asked, the error is
	// HostInvalid.
	RequestReviews(ctx context.Context, t Target, people []string) error
	// Login returns the login of the App's own account, which may be renamed.
	Login(ctx context.Context) (string, error)
}

// PeopleReader reads what people may do.
type PeopleReader interface {
	Permission(ctx context.Context, t Target, login string) (Permission, error)
	// TeamMember reports whether a person is in a team, "org/team-slug". It returns false
	// if the App may not see the team.
	TeamMember(ctx context.Context, t Target, team, login string) (bool, error)
}

// DeliveryLog reads the App's log of webhook deliveries.
type DeliveryLog interface {
	// FailedDeliveries lists the failed attempts since the given time, newest first. whole
	// is false if the log has more attempts than are read.
	FailedDeliveries(ctx context.Context, since time.Time) (attempts []HookAttempt, whole bool, err error)
	// Payload reads the payload of an attempt. The error is ErrNoPayload if the log has the
	// attempt but not its payload.
	Payload(ctx context.Context, attemptID int64) ([]byte, error)
	// Redeliver asks GitHub to send a delivery again.
	Redeliver(ctx context.Context, attemptID int64) error
}

// InstallationReader lists where the App is installed, and the open pull requests there.
type InstallationReader interface {
	// Installations lists where the App is installed.
	Installations(ctx context.Context) ([]Installation, error)
	// Repositories lists an installation's repositories that are not archived,
	// as targets without a number.
	Repositories(ctx context.Context, installation int64) ([]Target, error)
	// OpenPulls lists a repository's open pull requests that were updated since the given
	// time, newest first.
	OpenPulls(ctx context.Context, repo Target, since time.Time) ([]OpenPull, error)
}
