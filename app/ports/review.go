package ports

import (
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
