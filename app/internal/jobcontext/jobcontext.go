// Package jobcontext puts the ids of a job into a context, so that the log lines and spans
// of one pull request can be joined. A delivery has a GUID and a target. A job has an id,
// its target or the delivery that asked for it, and its run. Stages, agents and calls of
// GitHub have the ids of job and run.
package jobcontext

import (
	"context"
	"sync/atomic"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/ports"
)

// Job holds the ids of a job. All of them may be logged.
type Job struct {
	Kind     string // the kind of job
	ID       int64  // the queue's id; the same at each attempt
	Attempt  int    // from 1
	Target   string // the key of the job's target, or ""
	Delivery string // the GUID of the delivery that asked for the job; "" for periodic jobs and jobs of a target

	about  atomic.Pointer[ports.Target]
	run    atomic.Pointer[string]
	author atomic.Int64
}

type key struct{}

// With returns a context whose work belongs to the job.
func With(ctx context.Context, j *Job) context.Context { return context.WithValue(ctx, key{}, j) }

// Of returns the job that the context belongs to, or nil if there is none. All methods work
// on nil.
func Of(ctx context.Context) *Job {
	j, _ := ctx.Value(key{}).(*Job)
	return j
}

// SetRun sets the id of the job's current run. A job may have several runs, one after the
// other.
func (j *Job) SetRun(id string) {
	if j != nil {
		j.run.Store(&id)
	}
}

// SetAbout sets the job's target once more than its key is known.
func (j *Job) SetAbout(about ports.Target) {
	if j != nil {
		j.about.Store(&about)
	}
}

// About returns the job's target for a log line, as far as it is known.
func (j *Job) About() zerolog.LogObjectMarshaler {
	return zerologFunc(func(e *zerolog.Event) {
		if j == nil {
			return
		}
		if about := j.about.Load(); about != nil {
			e.EmbedObject(*about)
		} else if j.Target != "" {
			e.Str("target", j.Target)
		}
	})
}

type zerologFunc func(e *zerolog.Event)

func (f zerologFunc) MarshalZerologObject(e *zerolog.Event) { f(e) }

// SetAuthor sets the id of the account whose pull request the job works on.
func (j *Job) SetAuthor(id int64) {
	if j != nil {
		j.author.Store(id)
	}
}

// Author returns the id of the pull request's author, or 0 if it is unknown.
func (j *Job) Author() int64 {
	if j == nil {
		return 0
	}
	return j.author.Load()
}

// Run returns the id of the job's current or last run.
func (j *Job) Run() string {
	if j == nil {
		return ""
	}
	if id := j.run.Load(); id != nil {
		return *id
	}
	return ""
}

// MarshalZerologObject puts the ids into a log line.
func (j *Job) MarshalZerologObject(e *zerolog.Event) {
	if j == nil {
		return
	}
	e.Str("job", j.Kind).Int64("job_id", j.ID)
	if id := j.Run(); id != "" {
		e.Str("run", id)
	}
	if j.Delivery != "" {
		e.Str("delivery", j.Delivery)
	}
}
