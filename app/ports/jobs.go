package ports

// JobKind names what a job does.
type JobKind string

// The kinds of job.
const (
	JobReview     JobKind = "review"     // runs a target's review and stores it
	JobPublish    JobKind = "publish"    // writes a stored review to GitHub
	JobCommand    JobKind = "command"    // runs a slash command
	JobRerequest  JobKind = "rerequest"  // asks for fresh reviews of the targets on a head
	JobReport     JobKind = "report"     // asks for a review where a comment with a review report matters
	JobScans      JobKind = "scans"      // asks for a review after an event about others' checks
	JobDeliveries JobKind = "deliveries" // reads the App's delivery log for lost deliveries
	JobIssues     JobKind = "issues"     // updates a repository's issues
	JobSweep      JobKind = "sweep"      // finds open pull requests without an answer
	JobConfig     JobKind = "config"     // reads config that was pushed, and asks for the reviews that it may change
	JobBacktest   JobKind = "backtest"   // computes stored reviews under the config that a pull request proposes
	JobForget     JobKind = "forget"     // deletes the data of repositories that the App lost access to
	JobRetention  JobKind = "retention"  // deletes old data
	JobRequest    JobKind = "request"    // sends a request to a remote reviewer
	JobEvent      JobKind = "event"      // stores an agent's event that came by repository_dispatch
	JobProbation  JobKind = "probation"  // finds rules and agents that people judge wrong too often
)

// JobRules say how the queue treats the jobs of one kind.
type JobRules struct {
	Kind     JobKind
	Priority int // from 1, which goes first, to 4
	// OwnWorkers gives the kind its own workers, so that its jobs never wait for those of
	// other kinds.
	OwnWorkers bool
	// Once means that no job is inserted while one with equal args waits or runs. A job for
	// a delivery is always inserted, because the store accepts each delivery only once.
	Once bool
	// OfTarget means that the jobs are steps of a target's review, with TargetJob as args.
	OfTarget bool
	// Periodic are the args of the kind's periodic job, nil if it has none.
	Periodic any
}

// AllJobs returns a row for each kind of job. Jobs that people ask for go before reviews,
// because they are short and somebody waits for them. Nobody waits for the jobs after
// reviews.
func AllJobs() []JobRules {
	return []JobRules{
		{Kind: JobCommand, Priority: 1},
		{Kind: JobRerequest, Priority: 1},
		{Kind: JobReport, Priority: 1},
		{Kind: JobEvent, Priority: 1},
		{Kind: JobRequest, Priority: 1, Once: true, OwnWorkers: true},
		{Kind: JobDeliveries, Priority: 1, Once: true, Periodic: NoArgs{}},
		{Kind: JobPublish, Priority: 1, Once: true, OfTarget: true, OwnWorkers: true},
		{Kind: JobReview, Priority: 2, Once: true, OfTarget: true},
		{Kind: JobScans, Priority: 2},
		{Kind: JobConfig, Priority: 2},
		{Kind: JobSweep, Priority: 2, Once: true, Periodic: SweepJob{}},
		{Kind: JobIssues, Priority: 3, Once: true},
		// GitHub may report one removal in two events. Each gets its own job, because a
		// running job may already be past the repositories of the second event.
		{Kind: JobForget, Priority: 3},
		{Kind: JobBacktest, Priority: 4, Once: true},
		{Kind: JobRetention, Priority: 4, Once: true, Periodic: NoArgs{}},
		{Kind: JobProbation, Priority: 4, Once: true, Periodic: NoArgs{}},
	}
}

// NoArgs are the args of JobDeliveries, JobRetention and JobProbation.
//
// Databases hold args as JSON, some of it written by older versions. So the fields of the
// args below, and of the asks in them, must keep their names.
type NoArgs struct{}

// TargetJob are the args of JobReview and JobPublish. Seq distinguishes the jobs of one
// target: a new number makes a new job.
type TargetJob struct {
	Key string `json:"key"`
	Seq int64  `json:"seq"`
}

// CommandJob are the args of JobCommand. Jobs from before there were several places have no
// Place; it then means the conversation.
type CommandJob struct {
	Place     CommentPlace `json:"place,omitempty"`
	CommentID int64        `json:"comment_id"`
	Delivery  string       `json:"delivery"`
}

// ScansJob are the args of JobScans: the target, and the time when the job was asked for,
// which distinguishes the target's jobs.
type ScansJob struct {
	Key   string `json:"key"`
	Asked int64  `json:"asked"`
}

// IssuesJob are the args of JobIssues. Each merge gets its own job, which has the merge's
// delivery. For what is on probation, Delivery holds the time instead.
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
	Numbers      []int // pull requests that the event names; empty for forks
}

func (Rerequest) isAsk() {}

// RerequestJob are the args of JobRerequest.
type RerequestJob struct {
	Rerequest Rerequest `json:"rerequest"`
	Delivery  string    `json:"delivery"`
}

// Job implements JobAsk.
func (r Rerequest) Job(delivery string) Job { return NewJob(JobRerequest, RerequestJob{r, delivery}) }

// ReportNews says that a comment with a review report was added, changed or removed. It
// asks for a review if reviews of the pull request read such comments and the author has
// write permission.
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

// EventNews is an agent's event that came by repository_dispatch, which needs write permission.
type EventNews struct {
	Event SessionEvent `json:"event"`
}

func (EventNews) isAsk() {}

// EventJob are the args of JobEvent.
type EventJob struct {
	News     EventNews `json:"news"`
	Delivery string    `json:"delivery"`
}

// Job implements JobAsk.
func (n EventNews) Job(delivery string) Job { return NewJob(JobEvent, EventJob{n, delivery}) }

// ConfigNews says that a push or a rename may have changed the config of a repository, and
// of every repository that uses this config.
type ConfigNews struct {
	Repository Target // without a number and a head
	Branch     string // the branch that was pushed to; empty for the default branch
	// Was is the full name that the repository had before it was renamed or transferred;
	// empty for a push. After a rename all open pull requests are reviewed again, because
	// config may depend on names.
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

// BacktestJob are the args of JobBacktest: the target, and the head and the config that it proposed.
type BacktestJob struct {
	Key      string `json:"key"`
	HeadSHA  string `json:"head_sha"`
	Proposal string `json:"proposal"`
}

// Forget asks to delete the data of repositories that the App may no longer access: those
// in Repos, or if there are none, all of the installation, which is then gone for good.
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

// Holding is the stored data of one repository. The repository's names are empty if only
// its ID is known.
type Holding struct {
	Repository Target   // without a number and a head
	Keys       []string // of its targets to delete
}

// Sweep asks to look for missed work: open pull requests of an installation whose head has
// no completed check.
type Sweep struct {
	Installation int64
	// Granted says that permissions were granted. What was refused because they were
	// missing is tried again.
	Granted bool
}

func (Sweep) isAsk() {}

// SweepJob are the args of JobSweep. Without an installation the sweep covers all of them.
// Seq distinguishes sweeps that no delivery asked for; see Recovery.AskSweep.
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
