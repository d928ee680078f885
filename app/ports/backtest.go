package ports

import (
	"context"
	"time"

	"github.com/reviewgate/reviewgate/pipeline"
)

// Backtests keeps, for each pull request that changes config, what the newest proposal would have
// decided otherwise in stored reviews.
type Backtests interface {
	// ChooseReviews chooses the reviews for a backtest of the config that about proposes: the newest
	// that were saved since a time, those of the same repository and config branch or, if
	// organisation is set, those of all the account's repositories in the installation. It leaves out
	// the reviews of about itself and of merge groups.
	ChooseReviews(ctx context.Context, about Target, organisation bool, since time.Time, most int) (ChosenReviews, error)
	// ChooseAllReviews chooses the newest reviews of a repository in the same way, whatever their
	// config branch; none is left out but those of merge groups.
	ChooseAllReviews(ctx context.Context, of Target, organisation bool, since time.Time, most int) (ChosenReviews, error)
	// ConfigBacktest returns what SaveConfigBacktest stored last, or nil. It returns ErrUnreadable if
	// that can't be decoded.
	ConfigBacktest(ctx context.Context, key string) (*ConfigBacktest, error)
	// SaveConfigBacktest stores a backtest in place of the target's last one, and a notice as
	// AddNotice does. It returns ErrNotFound if the target does not exist.
	SaveConfigBacktest(ctx context.Context, key string, b ConfigBacktest, notice string) error
}

// ConfigBacktest is the backtest of what a pull request proposed on a head. Proposal identifies the
// proposed config.
type ConfigBacktest struct {
	HeadSHA  string
	Proposal string
	Result   pipeline.ConfigBacktest
	SavedAt  time.Time // set by SaveConfigBacktest
}

// ChosenReviews are the newest reviews of a period. The newest review of each head counts.
type ChosenReviews struct {
	Stored int          // heads with a review in all of that time
	Heads  []ChosenHead // those reviewed last, the newest first
	Since  time.Time    // when the newest review of the last of Heads was saved
}

// ChosenHead is a head whose newest review is chosen.
type ChosenHead struct {
	Key     string // of the target
	HeadSHA string
}
