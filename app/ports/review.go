package ports

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/fixloop"
	"github.com/reviewgate/reviewgate/policies/learning"
)

// StoredReview is a review with everything that a replay needs. Raw agent outputs, facts,
// the previous report and config layers are all in Review and Config. Config also has the
// files that the pull request proposed, as LayerProposed; these are not in force.
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
	// FixLoop is the state of the target's fix loop after the review.
	FixLoop fixloop.State
	// Entry is what the review adds to the log of its target when it is published, or nil. SaveReview
	// sets its time. It is not read back.
	Entry *learning.Entry
	// Memory is what the review adds to memory when it is published. It is not read back.
	Memory MemoryCounts
	// Session is what the review changes in the session of its target when it is published. It is not
	// read back.
	Session SessionOutcome
	// Lacks says what the review lacks for a replay, if an older version saved it. Reviews
	// of this version lack nothing. SaveReview ignores it.
	Lacks string
}

// LayerProposed is the name of the layer with the config files that a pull request proposes,
// with secrets replaced.
const LayerProposed = "proposed"

// Archive reads stored reviews without a lease and changes nothing.
type Archive interface {
	// Archived reads the chosen reviews, by target and then from the oldest to the newest, a
	// few at a time. For a review that was altered after it was saved it gives an
	// AlteredError and goes on. Any other error ends the reading.
	Archived(ctx context.Context, which ReviewFilter) iter.Seq2[*StoredReview, error]
	// Ended returns how a pull request ended. It is open if the store does not know it.
	Ended(ctx context.Context, key string) (PullEnd, error)
}

// PullEnd is how a pull request ended.
type PullEnd string

// The ends of pull requests. PullEnded is closed or merged: the store does not know which.
const (
	PullOpen   PullEnd = "open"
	PullClosed PullEnd = "closed"
	PullMerged PullEnd = "merged"
	PullEnded  PullEnd = "ended"
)

// ReviewFilter chooses stored reviews. The zero value chooses all.
type ReviewFilter struct {
	RunID      string
	Key        string    // of the target
	Repository string    // owner/name in any case, as deliveries named it last
	Number     int       // of the pull request in Repository; 0 for all
	Since      time.Time // when the reviews were saved
	OnlyPulls  bool      // leaves out the reviews of merge groups
	// Concerns, if set, reports whether the reviews of a repository are read, by its full name.
	Concerns func(repository string) bool
}

// AlteredError says that a stored review is not what was saved.
type AlteredError struct {
	RunID string
	Err   error
}

func (e *AlteredError) Error() string {
	return fmt.Sprintf("the stored review of run %s was altered or damaged after it was saved (%v): restore the database from a backup", e.RunID, e.Err)
}

// Unwrap returns how that was noticed.
func (e *AlteredError) Unwrap() error { return e.Err }
