package app

import (
	"time"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/app/internal/telemetry"
	"github.com/reviewgate/reviewgate/app/review"
)

// Inside is the part of a running App that tests inspect or change.
type Inside struct {
	Store        *store.Store
	Queue        *store.Queue
	Service      *review.Service
	Metrics      *telemetry.Metrics
	Log          zerolog.Logger
	DrainTimeout *time.Duration // Options.DrainTimeout
	Busy         func() bool    // whether a job runs
	Done         func() int64   // how many jobs were done
	KeepMemory   func()         // keeps memory from being given back; call it before Run
}

// Inside is for tests outside this package: those of app/apptest and app/conversations.
func (a *App) Inside() *Inside {
	return &Inside{
		Store: a.store, Queue: a.queue, Service: a.service, Metrics: a.metrics,
		Log: a.options.Log, DrainTimeout: &a.options.DrainTimeout,
		Busy:       a.rest.busy,
		Done:       a.done.Load,
		KeepMemory: func() { a.rest.give = func() {} },
	}
}
