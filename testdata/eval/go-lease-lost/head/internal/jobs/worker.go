package jobs

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

const (
	leaseFor   = time.Minute
	renewEvery = 20 * time.Second
	idle       = time.Second
)

// Handler does jobs of one kind.
type Handler func(ctx context.Context, payload []byte) error

// Work does jobs until ctx ends.
func Work(ctx context.Context, s *Store, handlers map[string]Handler) {
	for ctx.Err() == nil {
		j, err := s.Lease(ctx, leaseFor)
		if err != nil {
			if !errors.Is(err, ErrNone) && ctx.Err() == nil {
				slog.ErrorContext(ctx, "no job could be leased", "error", err)
			}
			pause(ctx, idle)
			continue
		}
		failure := ""
		if err := do(ctx, s, j, handlers[j.Kind]); err != nil {
			failure = err.Error()
		}
		if err := s.Finish(context.WithoutCancel(ctx), j.ID, failure); err != nil {
			slog.ErrorContext(ctx, "a job is left to be done again", "job", j.ID, "error", err)
		}
	}
}

func do(ctx context.Context, s *Store, j Job, h Handler) error {
	if h == nil {
		return errors.New("there is no handler for jobs of the kind " + j.Kind)
	}
	ctx, stop := context.WithCancel(ctx)
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		for pause(ctx, renewEvery) {
			if err := s.Renew(ctx, j.ID, leaseFor); err != nil && ctx.Err() == nil {
				slog.WarnContext(ctx, "lease not renewed", "job", j.ID, "error", err)
			}
		}
	}()
	err := h(ctx, j.Payload)
	stop()
	<-renewed
	return err
}

// pause waits, and reports whether ctx is still going.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
