package ports

import (
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/fixloop"
)

// StoredReview is a review with what replay needs. Raw agent outputs, facts,
// previous report and config layers are all in Review and Config.
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
	// FixLoop is where the fix loop of the target stands after it.
	FixLoop fixloop.State
}
