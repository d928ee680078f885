package ports

import (
	"context"
	"iter"
	"time"

	"github.com/reviewgate/reviewgate/policies/learning"
)

// Learning reads the logs from which learning.Replay computes outcomes. They are written by the
// transactions that publish a review, obey a command, or accept the event that ends a pull request.
type Learning interface {
	// Log returns the log of a pull request, empty if there is none. Reviews are in the order in
	// which they were published.
	Log(ctx context.Context, key string) ([]learning.Entry, error)
	// Logs reads the chosen logs, one pull request at a time.
	Logs(ctx context.Context, which LogFilter) iter.Seq2[[]learning.Entry, error]
}

// LogFilter chooses logs. The zero value chooses all.
type LogFilter struct {
	Since  time.Time // only logs with an entry of this time or later, but those as a whole
	RepoID int64     // only of this repository
	// Concerns, if set, reports whether the logs of a repository are read, by its full name.
	Concerns func(repository string) bool
}
