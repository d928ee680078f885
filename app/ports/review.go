package ports

import (
	"time"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/fixloop"
)

// StoredReview is a review with everything that a replay needs. Raw agent outputs, facts,
// the previous report and config layers are all in Review and Config.
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

// Delivered reports whether our answer to the attempt was a success.
func (a HookAttempt) Delivered() bool { return a.Status >= 200 && a.Status < 300 }

// LostDelivery is a delivery that failed and has not arrived since.
type LostDelivery struct {
	HookAttempt     // the newest attempt, with the time of the first one
	Urgency     int // deliveries with a higher one are looked for sooner
	Looks       int // how many times it was looked for
}

// LogRead is what was read of the App's delivery log.
type LogRead struct {
	Lost []LostDelivery
	// Before is the oldest time from which GitHub redelivers. Older deliveries are dropped.
	Before time.Time
	UpTo   time.Time // how far the log was read
}
