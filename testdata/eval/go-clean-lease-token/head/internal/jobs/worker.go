package jobs

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// do does a job while its lease is kept.
func do(ctx context.Context, s *Store, j Job, h Handler) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go keep(ctx, stop, s, j, renewEvery, leaseFor)
	failure := ""
	if err := h(ctx, j.Payload); err != nil {
		failure = err.Error()
	}
	err := s.Finish(context.WithoutCancel(ctx), j, failure)
	if errors.Is(err, ErrLost) { // whoever has it now says how it ends
		return
	}
	if err != nil {
		slog.ErrorContext(ctx, "a job is left to be done again", "job", j.ID, "error", err)
	}
}

// keep renews a job's lease until ctx ends.
// It stops the work where the lease was lost.
func keep(ctx context.Context, stop context.CancelFunc, s *Store, j Job, every, d time.Duration) {
	for pause(ctx, every) {
		err := s.Renew(ctx, j, d)
		if errors.Is(err, ErrLost) {
			slog.WarnContext(ctx, "lease lost, the work is stopped", "job", j.ID)
			stop()
			return
		}
		if err != nil && ctx.Err() == nil {
			slog.WarnContext(ctx, "lease not renewed", "job", j.ID, "error", err)
		}
	}
}
