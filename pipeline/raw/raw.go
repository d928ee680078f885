package raw

import (
	"time"

	"github.com/reviewgate/reviewgate/pipeline"
)

// PullRequest is the change without its files and commits.
type PullRequest struct {
	Repository pipeline.Repository
	Number     int
	Title      string
	Body       string
	Draft      bool
	Author     pipeline.Author
	Base       pipeline.Base
	Head       pipeline.Head
	Labels     []string
	Milestone  string
	Totals     pipeline.Totals // the source's own totals
	Commits    int             // the source's own count
	// CommittedAt is when the head was committed, if the review is about the past. Otherwise it is
	// zero, and dates are compared with the time of the read.
	CommittedAt time.Time
}

// Files are the changed files that the source returned.
type Files struct {
	Files []ChangedFile
	// HeadSHA is the head that the list was read at, if the source knows it. If it differs from
	// the pull request's, the read is superseded.
	HeadSHA    string
	Incomplete []pipeline.Incompleteness
	// Whole says that the source compared both trees completely. No file is missing then, even
	// if the list is shorter than the code host's count: what is one moved file to one tool may
	// be two files to another.
	Whole bool
}

// ChangedFile is one changed file with its patch: the hunks of a unified diff from the first
// @@ on.
type ChangedFile struct {
	Path         string
	PreviousPath string
	Status       pipeline.FileStatus
	Additions    int
	Deletions    int
	Patch        string
	// Binary says that the source knows the file to be binary. GitHub's API doesn't say. A file
	// from GitHub without a patch and without changed lines counts as binary, empty, or changed
	// only in mode or name.
	Binary bool
	// Empty says that the source knows the file to have no content at the head.
	Empty bool
	// LookedInto says that the source read the bytes of a binary file, or says in Incomplete
	// why it did not.
	LookedInto bool
	// Secrets are the secrets that the source found in the bytes of a file whose lines it does
	// not show. They become redactions of the facts.
	Secrets []pipeline.Redaction
}

// Commits are the commits of the change, oldest first. A list as long as PullRequest.Commits
// must hold the head. If it does not, the head moved.
type Commits struct {
	Commits    []pipeline.Commit
	Incomplete []pipeline.Incompleteness
}
