package store

import (
	"cmp"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/reviewgate/reviewgate/app/review"
)

// publishQueue is the queue of publish jobs. It has workers of its own, so
// that a finished review is never kept waiting by those that still run.
const publishQueue = "publish"

// queues are all queues that jobs are inserted into.
var queues = []string{river.QueueDefault, publishQueue}

// jobArgs is what River stores of a job: ids, and the delivery that asked.
type jobArgs interface {
	river.JobArgs
	job() review.Job
	delivery() string // GUID, empty for what no delivery asked for, and for targets: see targets.gave_up
	options() *river.InsertOpts
}

// queueOf is the queue that a job goes to.
func queueOf(args jobArgs) string {
	if o := args.options(); o.Queue != "" {
		return o.Queue
	}
	return river.QueueDefault
}

// onceAlive makes River insert no job twice while one with equal arguments
// waits, runs or was put off.
var onceAlive = river.UniqueOpts{ByArgs: true, ByState: []rivertype.JobState{
	rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable,
	rivertype.JobStateRunning, rivertype.JobStateScheduled,
}}

// reviewArgs is a job that reviews a target. Seq tells the target's jobs
// apart: a new number makes a new job.
type reviewArgs struct {
	Key string `json:"key"`
	Seq int64  `json:"seq"`

	line int // where it stands: see jobInOrder
}

func (reviewArgs) Kind() string { return string(review.JobReview) }

func (a reviewArgs) job() review.Job { return review.Job{Kind: review.JobReview, Key: a.Key} }

func (reviewArgs) delivery() string { return "" }

func (a reviewArgs) options() *river.InsertOpts {
	priority := map[int]int{jobInOrder: 2, jobOverShare: 3, jobLow: 4}[a.line]
	return &river.InsertOpts{Priority: priority, UniqueOpts: onceAlive}
}

// publishArgs is a job that publishes a target's stored review. Its numbers
// are those of reviewArgs.
type publishArgs struct {
	Key string `json:"key"`
	Seq int64  `json:"seq"`
}

func (publishArgs) Kind() string { return string(review.JobPublish) }

func (a publishArgs) job() review.Job { return review.Job{Kind: review.JobPublish, Key: a.Key} }

func (publishArgs) delivery() string { return "" }

func (publishArgs) options() *river.InsertOpts {
	return &river.InsertOpts{Queue: publishQueue, UniqueOpts: onceAlive}
}

// commandArgs is a job for a slash command. What people ask for goes before
// reviews: they are short, and somebody waits.
type commandArgs struct {
	Place     review.CommentPlace `json:"place,omitempty"` // empty in jobs from before there were several
	CommentID int64               `json:"comment_id"`
	Delivery  string              `json:"delivery"`
}

func (commandArgs) Kind() string { return string(review.JobCommand) }

func (a commandArgs) job() review.Job {
	return review.Job{Kind: review.JobCommand, Place: cmp.Or(a.Place, review.PlaceConversation), CommentID: a.CommentID}
}

func (a commandArgs) delivery() string { return a.Delivery }

func (commandArgs) options() *river.InsertOpts { return &river.InsertOpts{Priority: 1} }

type rerequestArgs struct {
	Rerequest review.Rerequest `json:"rerequest"`
	Delivery  string           `json:"delivery"`
}

func (rerequestArgs) Kind() string { return string(review.JobRerequest) }

func (a rerequestArgs) job() review.Job {
	return review.Job{Kind: review.JobRerequest, Rerequest: &a.Rerequest, Delivery: a.Delivery}
}

func (a rerequestArgs) delivery() string { return a.Delivery }

func (rerequestArgs) options() *river.InsertOpts { return &river.InsertOpts{Priority: 1} }

type reportArgs struct {
	Report   review.ReportNews `json:"report"`
	Delivery string            `json:"delivery"`
}

func (reportArgs) Kind() string { return string(review.JobReport) }

func (a reportArgs) job() review.Job {
	return review.Job{Kind: review.JobReport, Report: &a.Report, Delivery: a.Delivery}
}

func (a reportArgs) delivery() string { return a.Delivery }

func (reportArgs) options() *river.InsertOpts { return &river.InsertOpts{Priority: 1} }

// scansArgs is a job for news of others' checks. Asked tells one from the next:
// see Store.askLater.
type scansArgs struct {
	Key   string `json:"key"`
	Asked int64  `json:"asked"`
}

func (scansArgs) Kind() string { return string(review.JobScans) }

func (a scansArgs) job() review.Job { return review.Job{Kind: review.JobScans, ScansOf: a.Key} }

func (scansArgs) delivery() string { return "" }

func (scansArgs) options() *river.InsertOpts { return &river.InsertOpts{Priority: 2} }

type configArgs struct {
	News     review.ConfigNews `json:"news"`
	Delivery string            `json:"delivery"`
}

func (configArgs) Kind() string { return string(review.JobConfig) }

func (a configArgs) job() review.Job {
	return review.Job{Kind: review.JobConfig, Config: &a.News, Delivery: a.Delivery}
}

func (a configArgs) delivery() string { return a.Delivery }

func (configArgs) options() *river.InsertOpts { return &river.InsertOpts{Priority: 2} }

// forgetArgs is a job that deletes. GitHub may report one removal in two events. Each
// gets its own job, since a running one may already have looked past what the second
// reports.
type forgetArgs struct {
	Forget   review.Forget `json:"forget"`
	Delivery string        `json:"delivery"`
}

func (forgetArgs) Kind() string { return string(review.JobForget) }

func (a forgetArgs) job() review.Job { return review.Job{Kind: review.JobForget, Forget: &a.Forget} }

func (a forgetArgs) delivery() string { return a.Delivery }

func (forgetArgs) options() *river.InsertOpts { return &river.InsertOpts{Priority: 3} }

// retentionArgs is the periodic job that deletes what is old.
type retentionArgs struct{}

func (retentionArgs) Kind() string { return string(review.JobRetention) }

func (retentionArgs) job() review.Job { return review.Job{Kind: review.JobRetention} }

func (retentionArgs) delivery() string { return "" }

func (retentionArgs) options() *river.InsertOpts {
	return &river.InsertOpts{Priority: 4, UniqueOpts: onceAlive}
}

// issuesArgs is a job for a repository's issues. Nobody waits for it. Each
// merge gets its own; of the others one is enough.
type issuesArgs struct {
	Ask      review.IssuesAsk `json:"ask"`
	Delivery string           `json:"delivery"`
}

func (issuesArgs) Kind() string { return string(review.JobIssues) }

func (a issuesArgs) job() review.Job {
	return review.Job{Kind: review.JobIssues, Issues: &a.Ask, Delivery: a.Delivery}
}

func (a issuesArgs) delivery() string { return a.Delivery }

func (a issuesArgs) options() *river.InsertOpts {
	o := &river.InsertOpts{Priority: 3}
	if a.Delivery == "" { // deliveries count once themselves
		o.UniqueOpts = onceAlive
	}
	return o
}

// deliveriesArgs is the periodic job that reads the delivery log.
type deliveriesArgs struct{}

func (deliveriesArgs) Kind() string { return string(review.JobDeliveries) }

func (deliveriesArgs) job() review.Job { return review.Job{Kind: review.JobDeliveries} }

func (deliveriesArgs) delivery() string { return "" }

func (deliveriesArgs) options() *river.InsertOpts {
	return &river.InsertOpts{Priority: 1, UniqueOpts: onceAlive}
}

// sweepArgs is a job that looks for what was missed. Each delivery that asks
// for one gets its own; the others are told apart by Seq, 0 for the periodic
// one: see AskSweep.
type sweepArgs struct {
	Installation int64  `json:"installation"`
	Seq          int64  `json:"seq"`
	Delivery     string `json:"delivery"`
	Granted      bool   `json:"granted,omitempty"`
}

func (sweepArgs) Kind() string { return string(review.JobSweep) }

func (a sweepArgs) job() review.Job {
	return review.Job{Kind: review.JobSweep, Installation: a.Installation, Granted: a.Granted}
}

func (a sweepArgs) delivery() string { return a.Delivery }

func (a sweepArgs) options() *river.InsertOpts {
	o := &river.InsertOpts{Priority: 2}
	if a.Delivery == "" { // deliveries count once themselves
		o.UniqueOpts = onceAlive
	}
	return o
}

// targetJob is the job of a kind for a target.
func targetJob(kind review.JobKind, key string, seq int64) jobArgs {
	if kind == review.JobPublish {
		return publishArgs{Key: key, Seq: seq}
	}
	return reviewArgs{Key: key, Seq: seq}
}
