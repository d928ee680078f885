package ports

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Jobs from databases are decoded as they were written, and encoded in the same way.
func TestArgsOfJobs(t *testing.T) {
	target := Target{Kind: TargetPull, Installation: 5, RepoID: 1, Owner: "acme", Name: "shop", Number: 7, HeadSHA: "aaa"}
	const targetText = `{"Kind":"pull","Installation":5,"RepoID":1,"Owner":"acme","Name":"shop","Number":7,"HeadSHA":"aaa","BaseSHA":"","HeadRef":""}`
	pinned := map[JobKind]struct {
		text string
		args any
		read func(Job) (any, error)
	}{
		JobReview:   {`{"key":"pull/1/7","seq":3}`, TargetJob{Key: "pull/1/7", Seq: 3}, readArgs[TargetJob]},
		JobPublish:  {`{"key":"pull/1/7","seq":4}`, TargetJob{Key: "pull/1/7", Seq: 4}, readArgs[TargetJob]},
		JobCommand:  {`{"place":"review","comment_id":9,"delivery":"d"}`, CommandJob{Place: PlaceReview, CommentID: 9, Delivery: "d"}, readArgs[CommandJob]},
		JobScans:    {`{"key":"pull/1/7","asked":5}`, ScansJob{Key: "pull/1/7", Asked: 5}, readArgs[ScansJob]},
		JobIssues:   {`{"ask":{"Target":` + targetText + `},"delivery":"d"}`, IssuesJob{IssuesAsk{target}, "d"}, readArgs[IssuesJob]},
		JobReport:   {`{"report":{"Target":` + targetText + `,"Author":"ann"},"delivery":"d"}`, ReportNews{target, "ann"}, readArgs[ReportJob]},
		JobConfig:   {`{"news":{"Repository":` + targetText + `,"Branch":"b","Was":"w"},"delivery":"d"}`, ConfigNews{target, "b", "w"}, readArgs[ConfigJob]},
		JobBacktest: {`{"key":"pull/1/7","head_sha":"aaa","proposal":"f00d"}`, BacktestJob{"pull/1/7", "aaa", "f00d"}, readArgs[BacktestJob]},
		JobForget:   {`{"forget":{"Installation":5,"Repos":[1]},"delivery":"d"}`, Forget{5, []int64{1}}, readArgs[ForgetJob]},
		JobRequest:  {`{"id":"r-1","asked":5}`, RequestJob{ID: "r-1", Asked: 5}, readArgs[RequestJob]},
		JobEvent: {
			`{"news":{"event":{"ID":"m-1","Kind":"milestone","Target":` + targetText + `,"Agent":"claude","Summary":"s","Files":["a"],"FocusAreas":["f"],"MaxWords":50}},"delivery":"d"}`,
			EventNews{SessionEvent{"m-1", "milestone", target, "claude", "s", []string{"a"}, []string{"f"}, 50}}, readArgs[EventJob],
		},
		JobSweep:      {`{"installation":5,"seq":0,"delivery":"d","granted":true}`, Sweep{5, true}, readArgs[SweepJob]},
		JobDeliveries: {`{}`, NoArgs{}, readArgs[NoArgs]},
		JobRetention:  {`{}`, NoArgs{}, readArgs[NoArgs]},
		JobProbation:  {`{}`, NoArgs{}, readArgs[NoArgs]},
		JobRerequest: {
			`{"rerequest":{"Installation":5,"RepoID":1,"Owner":"acme","Name":"shop","HeadSHA":"aaa","Numbers":[7]},"delivery":"d"}`,
			Rerequest{5, 1, "acme", "shop", "aaa", []int{7}}, readArgs[RerequestJob],
		},
	}
	for _, kind := range AllJobs() {
		if _, ok := pinned[kind.Kind]; !ok {
			t.Errorf("the stored args of %s are not pinned", kind.Kind)
		}
	}
	for kind, tt := range pinned {
		written := NewJob(kind, tt.args)
		if ask, ok := tt.args.(JobAsk); ok {
			written = ask.Job("d")
		}
		if written.Kind != kind || string(written.Args) != tt.text {
			t.Errorf("%s is written as %s %s, want %s", kind, written.Kind, written.Args, tt.text)
		}
		args, err := tt.read(Job{Kind: kind, Args: json.RawMessage(tt.text)})
		if diff := cmp.Diff(written.Args, NewJob(kind, args).Args); err != nil || diff != "" {
			t.Errorf("%s: %v; read and written again (-want +got):\n%s", kind, err, diff)
		}
	}
}

func readArgs[A any](j Job) (any, error) { return ArgsOf[A](j) }
