package ports

import (
	"context"

	"github.com/reviewgate/reviewgate/pipeline/raw"
)

// PullSource reads one pull request or merge group for a review.
type PullSource struct {
	Change
	Discussion
	Scanners
}

// Change is the change under review. Its methods are called concurrently.
type Change interface {
	PullRequest(ctx context.Context) (raw.PullRequest, error)
	Files(ctx context.Context) (raw.Files, error)
	Commits(ctx context.Context) (raw.Commits, error)
	// File reads the beginning of a file at a commit, or at the tip of a branch that is given as
	// Branches and its name: at least most bytes if the file is that long. A directory or a submodule has no text. The error for a missing file is
	// HostNotFound.
	File(ctx context.Context, commit, path string, most int64) ([]byte, error)
	// ProposedTests reads the policy tests as they will be after the merge, at most one file or one
	// byte more than a config may have: those that the change touches at the head, and the others
	// at the tip of branch, or of the default branch if branch is empty.
	ProposedTests(ctx context.Context, branch, head string, touched []string) ([]ConfigBlob, error)
	// Calls returns the number of API calls made through the source.
	Calls() int
}

// Branches is what the full name of a branch begins with.
const Branches = "refs/heads/"

// Discussion is what people wrote about the change.
type Discussion interface {
	// Remarks lists people's comments on the pull request that contain the words, oldest
	// first.
	Remarks(ctx context.Context, words string) ([]Remark, error)
	// LinkedIssue reads an issue of the repository. The error for a pull request is
	// HostNotFound.
	LinkedIssue(ctx context.Context, number int) (LinkedIssue, error)
	// Permission is a person's permission in the repository.
	Permission(ctx context.Context, login string) (Permission, error)
}

// Scanners reads the findings of other Apps.
type Scanners interface {
	// OtherRuns lists the newest check runs of other Apps in each suite on a commit.
	OtherRuns(ctx context.Context, commit string) ([]ScanRun, error)
	// Annotations lists the annotations of a check run, up to most.
	Annotations(ctx context.Context, run int64, most int) ([]ScanAnnotation, error)
	// Alerts lists the open code scanning alerts of the change. If the change can have no
	// alerts, none says why.
	Alerts(ctx context.Context) (alerts []ScanAlert, none string, err error)
}
