package ports

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Ended is how the work of a child process ended.
type Ended struct {
	Retry bool          // the job runs again
	After time.Duration // how long from now
	Err   string        // empty if the work is done
}

// EndedBy says how work that returned err ended.
func EndedBy(err error) Ended {
	if err == nil {
		return Ended{}
	}
	var retry *RetryError
	if errors.As(err, &retry) {
		return Ended{Retry: true, After: retry.After, Err: retry.Err.Error()}
	}
	return Ended{Err: err.Error()}
}

func (e Ended) AsError() error {
	switch {
	case e.Retry:
		return &RetryError{After: e.After, Err: errors.New(e.Err)}
	case e.Err != "":
		return errors.New(e.Err)
	}
	return nil
}

// DiedError says that a child process ended before its work did.
type DiedError struct {
	How    string // such as "signal: killed"
	Others bool   // the process had been given other work too, which may be to blame
}

func (e *DiedError) Error() string { return "the child process ended: " + e.How }

// MarkDeliveries is the mark of how far the App's delivery log was read.
const MarkDeliveries = "deliveries"

// JobKind names what a job does.
type JobKind string

// The kinds of job.
const (
	JobReview     JobKind = "review"     // runs a target's review and stores it
	JobPublish    JobKind = "publish"    // writes a stored review to GitHub
	JobCommand    JobKind = "command"    // obeys a slash command
	JobRerequest  JobKind = "rerequest"  // asks for what has a head to be reviewed again
	JobReport     JobKind = "report"     // asks for a review where a comment with a review report matters
	JobScans      JobKind = "scans"      // asks for a review where others' checks have something new
	JobDeliveries JobKind = "deliveries" // reads the App's delivery log for lost deliveries; periodic
	JobIssues     JobKind = "issues"     // brings a repository's issues up to date
	JobSweep      JobKind = "sweep"      // finds open pull requests without an answer; periodic for all installations
	JobConfig     JobKind = "config"     // looks at config that was pushed, and asks for the reviews that it may change
	JobForget     JobKind = "forget"     // deletes what is stored of repositories that are none of ours any more
	JobRetention  JobKind = "retention"  // deletes what has been kept for long enough; periodic
)

// Job is a unit of queued work. It carries ids; the rest is in the store.
type Job struct {
	Kind         JobKind      `json:"kind"`
	Key          string       `json:"key,omitempty"`          // JobReview, JobPublish
	Place        CommentPlace `json:"place,omitempty"`        // JobCommand
	CommentID    int64        `json:"comment_id,omitempty"`   // JobCommand
	Rerequest    *Rerequest   `json:"rerequest,omitempty"`    // JobRerequest
	Report       *ReportNews  `json:"report,omitempty"`       // JobReport
	ScansOf      string       `json:"scans_of,omitempty"`     // JobScans: key of the target
	Config       *ConfigNews  `json:"config,omitempty"`       // JobConfig
	Forget       *Forget      `json:"forget,omitempty"`       // JobForget
	Issues       *IssuesAsk   `json:"issues,omitempty"`       // JobIssues
	Delivery     string       `json:"delivery,omitempty"`     // JobRerequest, JobReport, JobConfig: GUID of what asked for it
	Installation int64        `json:"installation,omitempty"` // JobSweep; 0 for all
	Granted      bool         `json:"granted,omitempty"`      // JobSweep: see Sweep
	Attempt      int          `json:"-"`                      // from 1; counts each run of this job
}

// Worker does jobs. The error says whether the queue tries again: a *RetryError
// means yes, after its delay; any other error is final.
type Worker interface {
	Work(ctx context.Context, job Job) error
}

// RetryError asks the queue to run a job again.
type RetryError struct {
	After time.Duration
	Err   error
}

func (e *RetryError) Error() string {
	return fmt.Sprintf("try again in %s: %v", e.After, e.Err)
}

func (e *RetryError) Unwrap() error { return e.Err }
