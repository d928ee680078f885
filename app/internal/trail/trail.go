// Package trail puts the ids of a job into a context, so that the log lines and spans
// of one pull request can be joined. A delivery has a GUID and a target. A job has an id,
// its target or the delivery that asked for it, and its run. Stages, agents and calls of
// GitHub have the ids of job and run.
package trail

import (
	"context"
	"sync/atomic"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/ports"
)

// Trail holds the ids of a job. All of them may be logged.
type Trail struct {
	Kind     string // the kind of job
	Job      int64  // the queue's id; the same at each attempt
	Attempt  int    // from 1
	Target   string // the key of the job's target, or ""
	Delivery string // the GUID of the delivery that asked for the job; "" for periodic jobs and jobs of a target

	about  atomic.Pointer[ports.Target]
	run    atomic.Pointer[string]
	author atomic.Int64
}

type key struct{}

// With returns a context whose work belongs to the job.
func With(ctx context.Context, t *Trail) context.Context { return context.WithValue(ctx, key{}, t) }

// Of returns the trail of the context's job, or nil if there is none. All methods work
// on nil.
func Of(ctx context.Context) *Trail {
	t, _ := ctx.Value(key{}).(*Trail)
	return t
}

// SetRun sets the id of the job's current run. A job may have several runs, one after the
// other.
func (t *Trail) SetRun(id string) {
	if t != nil {
		t.run.Store(&id)
	}
}

// SetAbout sets the job's target once more than its key is known.
func (t *Trail) SetAbout(about ports.Target) {
	if t != nil {
		t.about.Store(&about)
	}
}

// About returns the job's target for a log line, as far as it is known.
func (t *Trail) About() zerolog.LogObjectMarshaler {
	return zerologFunc(func(e *zerolog.Event) {
		if t == nil {
			return
		}
		if about := t.about.Load(); about != nil {
			e.EmbedObject(*about)
		} else if t.Target != "" {
			e.Str("target", t.Target)
		}
	})
}

type zerologFunc func(e *zerolog.Event)

func (f zerologFunc) MarshalZerologObject(e *zerolog.Event) { f(e) }

// SetAuthor sets the id of the account whose pull request the job works on.
func (t *Trail) SetAuthor(id int64) {
	if t != nil {
		t.author.Store(id)
	}
}

// Author returns the id of the pull request's author, or 0 if it is unknown.
func (t *Trail) Author() int64 {
	if t == nil {
		return 0
	}
	return t.author.Load()
}

// Run returns the id of the job's current or last run.
func (t *Trail) Run() string {
	if t == nil {
		return ""
	}
	if id := t.run.Load(); id != nil {
		return *id
	}
	return ""
}

// MarshalZerologObject puts the ids into a log line.
func (t *Trail) MarshalZerologObject(e *zerolog.Event) {
	if t == nil {
		return
	}
	e.Str("job", t.Kind).Int64("job_id", t.Job)
	if id := t.Run(); id != "" {
		e.Str("run", id)
	}
	if t.Delivery != "" {
		e.Str("delivery", t.Delivery)
	}
}
