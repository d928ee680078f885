package raw

import (
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
	Totals     pipeline.Totals // the source's own sums
	Commits    int             // the source's own count
}

// Files are the changed files as far as the source gave them.
type Files struct {
	Files []ChangedFile
	// HeadSHA is the head the list was read at, where the source knows it;
	// if it is not the pull request's the read is superseded.
	HeadSHA    string
	Incomplete []pipeline.Incompleteness
	// Whole says that the source compared all of the two trees, so that no file
	// is missing even where its list is shorter than the code host's count: what
	// is one moved file to one is two files to the other.
	Whole bool
}

// ChangedFile is one changed file with its patch: the hunks of a unified
// diff, from the first @@ on.
type ChangedFile struct {
	Path         string
	PreviousPath string
	Status       pipeline.FileStatus
	Additions    int
	Deletions    int
	Patch        string
	// Binary says that the source knows the file to be binary. GitHub's API
	// doesn't say; there a file without patch and without changed lines is
	// taken to be binary, empty, or changed in mode or name only.
	Binary bool
	// Empty says that the source knows the file to have no content at the head.
	Empty bool
	// LookedInto says that the source read the bytes of a binary file, or that it says in
	// Incomplete why it did not.
	LookedInto bool
	// Secrets are those that the source found in the bytes of a file whose lines it does
	// not show. They become redactions of the facts.
	Secrets []pipeline.Redaction
}

// Commits are the commits of the change, oldest first. A list that is as long
// as PullRequest.Commits says holds the head; if it does not, the head moved.
type Commits struct {
	Commits    []pipeline.Commit
	Incomplete []pipeline.Incompleteness
}
