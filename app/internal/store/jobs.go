package store

import (
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/reviewgate/reviewgate/app/review"
)

// jobArgs is what River stores of a job: ids, and the delivery that asked.
type jobArgs interface {
	river.JobArgs
	job() review.Job
	delivery() string // GUID, empty for reviews: see targets.gave_up
	options() *river.InsertOpts
}

// reviewArgs is a job for a target. Seq tells the target's jobs apart: River
// inserts none twice while it is alive, and a new number makes a new job.
type reviewArgs struct {
	Key string `json:"key"`
	Seq int64  `json:"seq"`
}

func (reviewArgs) Kind() string { return string(review.JobReview) }

func (a reviewArgs) job() review.Job { return review.Job{Kind: review.JobReview, Key: a.Key} }

func (a reviewArgs) delivery() string { return "" }

func (a reviewArgs) options() *river.InsertOpts {
	return &river.InsertOpts{Priority: 2, UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: []rivertype.JobState{
		rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable,
		rivertype.JobStateRunning, rivertype.JobStateScheduled,
	}}}
}

// commandArgs is a job for a slash command. Commands and rerequests go before
// reviews: they are short, and somebody waits.
type commandArgs struct {
	CommentID int64  `json:"comment_id"`
	Delivery  string `json:"delivery"`
}

func (commandArgs) Kind() string { return string(review.JobCommand) }

func (a commandArgs) job() review.Job {
	return review.Job{Kind: review.JobCommand, CommentID: a.CommentID}
}

func (a commandArgs) delivery() string { return a.Delivery }

func (a commandArgs) options() *river.InsertOpts { return &river.InsertOpts{Priority: 1} }

type rerequestArgs struct {
	Rerequest review.Rerequest `json:"rerequest"`
	Delivery  string           `json:"delivery"`
}

func (rerequestArgs) Kind() string { return string(review.JobRerequest) }

func (a rerequestArgs) job() review.Job {
	return review.Job{Kind: review.JobRerequest, Rerequest: &a.Rerequest}
}

func (a rerequestArgs) delivery() string { return a.Delivery }

func (a rerequestArgs) options() *river.InsertOpts { return &river.InsertOpts{Priority: 1} }
