package store

import (
	"cmp"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/reviewgate/reviewgate/app/ports"
)

// publishQueue is the queue of publish jobs. It has workers of its own, so
// that a finished review is never kept waiting by those that still run.
const publishQueue = "publish"

// queues are all queues that jobs are inserted into.
var queues = []string{river.QueueDefault, publishQueue}

// jobArgs is what River stores of a job: ids, and the delivery that asked.
type jobArgs interface {
	river.JobArgs
	job() ports.Job
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

func (reviewArgs) Kind() string { return string(ports.JobReview) }

func (a reviewArgs) job() ports.Job { return ports.Job{Kind: ports.JobReview, Key: a.Key} }

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

func (publishArgs) Kind() string { return string(ports.JobPublish) }

func (a publishArgs) job() ports.Job { return ports.Job{Kind: ports.JobPublish, Key: a.Key} }

func (publishArgs) delivery() string { return "" }

func (publishArgs) options() *river.InsertOpts {
	return &river.InsertOpts{Queue: publishQueue, UniqueOpts: onceAlive}
}

// commandArgs is a job for a slash command. What people ask for goes before
// reviews: they are short, and somebody waits.
type commandArgs struct {
	Place     ports.CommentPlace `json:"place,omitempty"` // empty in jobs from before there were several
	CommentID int64              `json:"comment_id"`
	Delivery  string             `json:"delivery"`
}

func (commandArgs) Kind() string { return string(ports.JobCommand) }

func (a commandArgs) job() ports.Job {
	return ports.Job{Kind: ports.JobCommand, Place: cmp.Or(a.Place, ports.PlaceConversation), CommentID: a.CommentID}
}

func (a commandArgs) delivery() string { return a.Delivery }

func (commandArgs) options() *river.InsertOpts { return &river.InsertOpts{Priority: 1} }

type rerequestArgs struct {
	Rerequest ports.Rerequest `json:"rerequest"`
	Delivery  string          `json:"delivery"`
}

func (rerequestArgs) Kind() string { return string(ports.JobRerequest) }

func (a rerequestArgs) job() ports.Job {
	return ports.Job{Kind: ports.JobRerequest, Rerequest: &a.Rerequest, Delivery: a.Delivery}
}

func (a rerequestArgs) delivery() string { return a.Delivery }

func (rerequestArgs) options() *river.InsertOpts { return &river.InsertOpts{Priority: 1} }

type reportArgs struct {
	Report   ports.ReportNews `json:"report"`
	Delivery string           `json:"delivery"`
}

func (reportArgs) Kind() string { return string(ports.JobReport) }

func (a reportArgs) job() ports.Job {
	return ports.Job{Kind: ports.JobReport, Report: &a.Report, Delivery: a.Delivery}
}

func (a reportArgs) delivery() string { return a.Delivery }

func (reportArgs) options() *river.InsertOpts { return &river.InsertOpts{Priority: 1} }

// scansArgs is a job for news of others' checks. Asked tells one from the next:
// see Store.askLater.
type scansArgs struct {
	Key   string `json:"key"`
	Asked int64  `json:"asked"`
}

func (scansArgs) Kind() string { return string(ports.JobScans) }

func (a scansArgs) job() ports.Job { return ports.Job{Kind: ports.JobScans, ScansOf: a.Key} }

func (scansArgs) delivery() string { return "" }

func (scansArgs) options() *river.InsertOpts { return &river.InsertOpts{Priority: 2} }

type configArgs struct {
	News     ports.ConfigNews `json:"news"`
	Delivery string           `json:"delivery"`
}

func (configArgs) Kind() string { return string(ports.JobConfig) }

func (a configArgs) job() ports.Job {
	return ports.Job{Kind: ports.JobConfig, Config: &a.News, Delivery: a.Delivery}
}

func (a configArgs) delivery() string { return a.Delivery }

func (configArgs) options() *river.InsertOpts { return &river.InsertOpts{Priority: 2} }

// forgetArgs is a job that deletes. GitHub may report one removal in two events. Each
// gets its own job, since a running one may already have looked past what the second
// reports.
type forgetArgs struct {
	Forget   ports.Forget `json:"forget"`
	Delivery string       `json:"delivery"`
}

func (forgetArgs) Kind() string { return string(ports.JobForget) }

func (a forgetArgs) job() ports.Job { return ports.Job{Kind: ports.JobForget, Forget: &a.Forget} }

func (a forgetArgs) delivery() string { return a.Delivery }

func (forgetArgs) options() *river.InsertOpts { return &river.InsertOpts{Priority: 3} }

// retentionArgs is the periodic job that deletes what is old.
type retentionArgs struct{}

func (retentionArgs) Kind() string { return string(ports.JobRetention) }

func (retentionArgs) job() ports.Job { return ports.Job{Kind: ports.JobRetention} }

func (retentionArgs) delivery() string { return "" }

func (retentionArgs) options() *river.InsertOpts {
	return &river.InsertOpts{Priority: 4, UniqueOpts: onceAlive}
}

// issuesArgs is a job for a repository's issues. Nobody waits for it. Each
// merge gets its own; of the others one is enough.
type issuesArgs struct {
	Ask      ports.IssuesAsk `json:"ask"`
	Delivery string          `json:"delivery"`
}

func (issuesArgs) Kind() string { return string(ports.JobIssues) }

func (a issuesArgs) job() ports.Job {
	return ports.Job{Kind: ports.JobIssues, Issues: &a.Ask, Delivery: a.Delivery}
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

func (deliveriesArgs) Kind() string { return string(ports.JobDeliveries) }

func (deliveriesArgs) job() ports.Job { return ports.Job{Kind: ports.JobDeliveries} }

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

func (sweepArgs) Kind() string { return string(ports.JobSweep) }

func (a sweepArgs) job() ports.Job {
	return ports.Job{Kind: ports.JobSweep, Installation: a.Installation, Granted: a.Granted}
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
func targetJob(kind ports.JobKind, key string, seq int64) jobArgs {
	if kind == ports.JobPublish {
		return publishArgs{Key: key, Seq: seq}
	}
	return reviewArgs{Key: key, Seq: seq}
}
