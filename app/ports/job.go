package ports

import (
	"context"
	"encoding/json"
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

// EndedBy returns the Ended for work that returned err.
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

// AsError returns the error with which the work ended, for the queue.
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
	Others bool   // the process also had other work, which may be the cause
}

func (e *DiedError) Error() string { return "the child process ended: " + e.How }

// MarkDeliveries is the name of the mark that says how far the App's delivery log was read.
const MarkDeliveries = "deliveries"

// Job is a unit of queued work. Its args are mostly IDs; the rest is in the store.
type Job struct {
	Kind JobKind
	Args json.RawMessage
	// Priority replaces the kind's priority, unless it is 0. It counts when the job is
	// inserted.
	Priority int
	Attempt  int // from 1; counts each run of this job
}

// NewJob returns a job with the args of its kind.
func NewJob(kind JobKind, args any) Job {
	// Marshal can't fail: all args are plain structs.
	data, _ := json.Marshal(args)
	return Job{Kind: kind, Args: data}
}

// ArgsOf decodes the args of a job. They are zero if the job has none.
func ArgsOf[A any](j Job) (args A, err error) {
	if len(j.Args) == 0 {
		return args, nil
	}
	if err := json.Unmarshal(j.Args, &args); err != nil {
		return args, fmt.Errorf("read what a %s job is for: %w", j.Kind, err)
	}
	return args, nil
}

// Worker runs jobs. A *RetryError makes the queue try again after its delay; any other
// error is final.
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
