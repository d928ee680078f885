package ports

// JobKind names what a job does.
type JobKind string

// The kinds of job.
const (
	JobReview     JobKind = "review"     // runs a target's review and stores it
	JobPublish    JobKind = "publish"    // writes a stored review to GitHub
	JobCommand    JobKind = "command"    // runs a slash command
	JobRerequest  JobKind = "rerequest"  // asks for reviews of all that has a head
	JobReport     JobKind = "report"     // asks for a review where a comment with a review report matters
	JobScans      JobKind = "scans"      // asks for a review where others' checks have something new
	JobDeliveries JobKind = "deliveries" // reads the App's delivery log for lost deliveries
	JobIssues     JobKind = "issues"     // brings a repository's issues up to date
	JobSweep      JobKind = "sweep"      // finds open pull requests without an answer
	JobConfig     JobKind = "config"     // reads config that was pushed, and asks for the reviews that it may change
	JobForget     JobKind = "forget"     // deletes what is stored of repositories that the App lost
	JobRetention  JobKind = "retention"  // deletes what has been kept for long enough
)

// JobRules say how the queue treats the jobs of one kind.
type JobRules struct {
	Kind     JobKind
	Priority int // from 1, which goes first, to 4
	// OwnWorkers says that the kind has workers of its own, so that its jobs never wait
	// for those of other kinds.
	OwnWorkers bool
	// Once says that no job is inserted while one with equal args waits or runs. A job for
	// a delivery is always inserted: the store takes each delivery once.
	Once bool
	// OfTarget says that the jobs are steps of a target's review, with TargetJob as args.
	OfTarget bool
	// Periodic are the args of the kind's periodic job, nil if it has none.
	Periodic any
}

// AllJobs has a row for each kind of job. What people ask for goes before reviews: it
// takes little time, and somebody waits. Nobody waits for what comes after reviews.
func AllJobs() []JobRules {
	return []JobRules{
		{Kind: JobCommand, Priority: 1},
		{Kind: JobRerequest, Priority: 1},
		{Kind: JobReport, Priority: 1},
		{Kind: JobDeliveries, Priority: 1, Once: true, Periodic: NoArgs{}},
		{Kind: JobPublish, Priority: 1, Once: true, OfTarget: true, OwnWorkers: true},
		{Kind: JobReview, Priority: 2, Once: true, OfTarget: true},
		{Kind: JobScans, Priority: 2},
		{Kind: JobConfig, Priority: 2},
		{Kind: JobSweep, Priority: 2, Once: true, Periodic: SweepJob{}},
		{Kind: JobIssues, Priority: 3, Once: true},
		// GitHub may report one removal in two events. Each gets its own job, since a
		// running one may already have looked past what the second reports.
		{Kind: JobForget, Priority: 3},
		{Kind: JobRetention, Priority: 4, Once: true, Periodic: NoArgs{}},
	}
}

// NoArgs are the args of JobDeliveries and JobRetention.
//
// Databases hold args as JSON, and older versions wrote some of it. So the fields of the
// args below, and of the asks in them, keep their names.
type NoArgs struct{}

// TargetJob are the args of JobReview and JobPublish. Seq tells the target's jobs apart: a
// new number makes a new job.
type TargetJob struct {
	Key string `json:"key"`
	Seq int64  `json:"seq"`
}

// CommandJob are the args of JobCommand. Place is empty in jobs from before there were
// several places, and is the conversation then.
type CommandJob struct {
	Place     CommentPlace `json:"place,omitempty"`
	CommentID int64        `json:"comment_id"`
	Delivery  string       `json:"delivery"`
}

// ScansJob are the args of JobScans: the target, and when its job was asked for, which
// tells one from the next.
type ScansJob struct {
	Key   string `json:"key"`
	Asked int64  `json:"asked"`
}

// IssuesJob are the args of JobIssues. Each merge gets a job of its own, which names its
// delivery.
type IssuesJob struct {
	Ask      IssuesAsk `json:"ask"`
	Delivery string    `json:"delivery"`
}

// Rerequest asks for a fresh review of every pull request that has the head.
type Rerequest struct {
	Installation int64
	RepoID       int64
	Owner        string
	Name         string
	HeadSHA      string
	Numbers      []int // of the pull requests that the event names; empty for forks
}

func (Rerequest) isAsk() {}

// RerequestJob are the args of JobRerequest.
type RerequestJob struct {
	Rerequest Rerequest `json:"rerequest"`
	Delivery  string    `json:"delivery"`
}

// Job implements JobAsk.
func (r Rerequest) Job(delivery string) Job { return NewJob(JobRerequest, RerequestJob{r, delivery}) }

// ReportNews says that a comment with a review report came, changed or went. It
// asks for a review where reviews of the pull request read such comments and the
// author's counts.
type ReportNews struct {
	Target Target
	Author string // of the comment
}

func (ReportNews) isAsk() {}

// ReportJob are the args of JobReport.
type ReportJob struct {
	Report   ReportNews `json:"report"`
	Delivery string     `json:"delivery"`
}

// Job implements JobAsk.
func (n ReportNews) Job(delivery string) Job { return NewJob(JobReport, ReportJob{n, delivery}) }

// ConfigNews says that a push, or another name, may have changed the config of a
// repository, and with it of all that it holds for.
type ConfigNews struct {
	Repository Target // without a number and a head
	Branch     string // that was pushed to; empty for the default branch
	// Was is the full name that the repository had before it was renamed or
	// transferred; empty for a push. All open pull requests are reviewed again
	// then, since config goes by names.
	Was string
}

func (ConfigNews) isAsk() {}

// ConfigJob are the args of JobConfig.
type ConfigJob struct {
	News     ConfigNews `json:"news"`
	Delivery string     `json:"delivery"`
}

// Job implements JobAsk.
func (n ConfigNews) Job(delivery string) Job { return NewJob(JobConfig, ConfigJob{n, delivery}) }

// Forget asks to delete what is stored of repositories that the App may not see
// any more: those of Repos, or where there are none all of the installation,
// which is gone for good then.
type Forget struct {
	Installation int64
	Repos        []int64
}

func (Forget) isAsk() {}

// ForgetJob are the args of JobForget.
type ForgetJob struct {
	Forget   Forget `json:"forget"`
	Delivery string `json:"delivery"`
}

// Job implements JobAsk.
func (f Forget) Job(delivery string) Job { return NewJob(JobForget, ForgetJob{f, delivery}) }

// Sweep asks to look for what was missed: open pull requests of an
// installation whose head has no completed check.
type Sweep struct {
	Installation int64
	// Granted says that permissions were granted: what was refused for want of
	// them is tried again.
	Granted bool
}

func (Sweep) isAsk() {}

// SweepJob are the args of JobSweep. Without an installation it is of all of them. Seq
// tells sweeps apart that no delivery asked for; see Recovery.AskSweep.
type SweepJob struct {
	Installation int64  `json:"installation"`
	Seq          int64  `json:"seq"`
	Delivery     string `json:"delivery"`
	Granted      bool   `json:"granted,omitempty"`
}

// Job implements JobAsk.
func (s Sweep) Job(delivery string) Job {
	return NewJob(JobSweep, SweepJob{Installation: s.Installation, Granted: s.Granted, Delivery: delivery})
}
