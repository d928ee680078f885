package store

import (
	"cmp"
	"encoding/json"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/reviewgate/reviewgate/app/ports"
)

// queues are all queues that jobs are inserted into. Each kind that has workers of its own has a
// queue of its own, named like the kind: publish jobs, so that a finished review never waits for
// running reviews, and requests, so that nothing waits for slow reviewers.
var queues = func() []string {
	all := []string{river.QueueDefault}
	for _, r := range ports.AllJobs() {
		if r.OwnWorkers {
			all = append(all, queueOf(r.Kind))
		}
	}
	return all
}()

// rules are the rules of ports.AllJobs by kind.
var rules = func() map[ports.JobKind]ports.JobRules {
	all := map[ports.JobKind]ports.JobRules{}
	for _, r := range ports.AllJobs() {
		all[r.Kind] = r
	}
	return all
}()

// riverArgs are the args of a job of any kind, in River's form.
type riverArgs struct {
	kind ports.JobKind
	text json.RawMessage
}

// Kind implements river.JobArgs.
func (a riverArgs) Kind() string { return string(a.kind) }

// MarshalJSON implements json.Marshaler. Workers read the args from River's row.
func (a riverArgs) MarshalJSON() ([]byte, error) { return a.text, nil }

// jobIDs are the args that jobs of several kinds have in common.
type jobIDs struct {
	Key      string `json:"key"`      // the key of the job's target, empty for kinds without one
	Delivery string `json:"delivery"` // the GUID of the delivery that asked for the job, if any; empty for jobs of targets: see targets.gave_up
}

// idsOf reads the ids from a job's args. It returns none if it can't read the args: then
// the job fails when it runs.
func idsOf(j ports.Job) (ids jobIDs) {
	_ = json.Unmarshal(j.Args, &ids)
	if !rules[j.Kind].OfTarget {
		ids.Key = ""
	}
	return ids
}

// onceAlive makes River insert no second job while one with equal arguments
// waits, runs or is put off.
var onceAlive = river.UniqueOpts{ByArgs: true, ByState: []rivertype.JobState{
	rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable,
	rivertype.JobStateRunning, rivertype.JobStateScheduled,
}}

func queueOf(kind ports.JobKind) string {
	if rules[kind].OwnWorkers {
		return string(kind)
	}
	return river.QueueDefault
}

// insertOptions returns a job's options for River.
func insertOptions(j ports.Job) *river.InsertOpts {
	r := rules[j.Kind]
	o := &river.InsertOpts{Queue: queueOf(j.Kind), Priority: cmp.Or(j.Priority, r.Priority)}
	if r.Once && idsOf(j).Delivery == "" {
		o.UniqueOpts = onceAlive
	}
	return o
}

// targetJob is a job of a kind for a target. line is the place in line of a review job:
// see jobInOrder.
func targetJob(kind ports.JobKind, key string, seq int64, line int) ports.Job {
	j := ports.NewJob(kind, ports.TargetJob{Key: key, Seq: seq})
	if kind == ports.JobReview {
		j.Priority = map[int]int{jobOverShare: 3, jobLow: 4}[line]
	}
	return j
}
