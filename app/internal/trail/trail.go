// Package trail carries in a context which job some work belongs to, so that
// the log lines and spans of one pull request can be joined: a delivery has a
// GUID and a target, a job an id, a target or the delivery that asked for it,
// and the run that it does; stages, agents and calls of GitHub name job and run.
package trail

import (
	"context"
	"sync/atomic"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/ports"
)

// Trail is what a job is known by. All of it are ids, fit for a log.
type Trail struct {
	Kind     string // of job
	Job      int64  // the queue's id; the same at each attempt
	Attempt  int    // from 1
	Target   string // of the job, "" where it has none
	Delivery string // GUID of what asked for the job, "" for jobs of a target and periodic ones

	about  atomic.Pointer[ports.Target]
	run    atomic.Pointer[string]
	author atomic.Int64
}

type key struct{}

// With returns a context whose work belongs to the job.
func With(ctx context.Context, t *Trail) context.Context { return context.WithValue(ctx, key{}, t) }

// Of returns the trail of the context's job, nil where it belongs to none. All
// methods work on nil.
func Of(ctx context.Context) *Trail {
	t, _ := ctx.Value(key{}).(*Trail)
	return t
}

// SetRun names the run that the job does from now on. A job may do several,
// one after the other.
func (t *Trail) SetRun(id string) {
	if t != nil {
		t.run.Store(&id)
	}
}

// SetAbout names the target that the job works on, once it is known by more than its key.
func (t *Trail) SetAbout(about ports.Target) {
	if t != nil {
		t.about.Store(&about)
	}
}

// About is the target that the job works on, as far as it is known, for a log line.
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

// SetAuthor names the account whose pull request the job works on, by its id.
func (t *Trail) SetAuthor(id int64) {
	if t != nil {
		t.author.Store(id)
	}
}

// Author is that account's id, 0 if it is unknown.
func (t *Trail) Author() int64 {
	if t == nil {
		return 0
	}
	return t.author.Load()
}

// Run is the id of the run that the job does, or did last.
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
