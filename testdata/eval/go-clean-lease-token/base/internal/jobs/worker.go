package jobs

import (
	"context"
	"log/slog"
	"time"
)

// do does a job while its lease is kept.
func do(ctx context.Context, s *Store, j Job, h Handler) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go keep(ctx, s, j, renewEvery, leaseFor)
	failure := ""
	if err := h(ctx, j.Payload); err != nil {
		failure = err.Error()
	}
	if err := s.Finish(context.WithoutCancel(ctx), j.ID, failure); err != nil {
		slog.ErrorContext(ctx, "a job is left to be done again", "job", j.ID, "error", err)
	}
}

// keep renews a job's lease until ctx ends.
func keep(ctx context.Context, s *Store, j Job, every, d time.Duration) {
	for pause(ctx, every) {
		if err := s.Renew(ctx, j.ID, d); err != nil && ctx.Err() == nil {
			slog.WarnContext(ctx, "lease not renewed", "job", j.ID, "error", err)
		}
	}
}
