package review

import (
	"context"
	"errors"
	"sync"
	"time"
)

// runs are the targets that this process works on, so that a run which became
// moot is cancelled at once. Other processes see it by their heartbeat.
type runs struct {
	mu sync.Mutex
	m  map[string]context.CancelCauseFunc
}

func (r *runs) start(key string, cancel context.CancelCauseFunc) (stop func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.m == nil {
		r.m = map[string]context.CancelCauseFunc{}
	}
	r.m[key] = cancel
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.m, key)
	}
}

func (r *runs) cancel(key string, cause error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if cancel := r.m[key]; cancel != nil {
		cancel(cause)
	}
}

// heartbeat keeps the lease alive until stop is called and cancels the run
// when the lease is lost, the head moves or the target is closed.
func (s *Service) heartbeat(ctx context.Context, l Lease, headSHA string, cancel context.CancelCauseFunc) (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(s.LeaseTTL / 5)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if err := s.beat(ctx, l, headSHA); err != nil {
				cancel(err)
				return
			}
		}
	})
	return func() { close(done); wg.Wait() }
}

// beat returns an error only if the run must stop: a database that is slow
// for a moment is no reason.
func (s *Service) beat(ctx context.Context, l Lease, headSHA string) error {
	if err := s.Store.Renew(ctx, l, s.LeaseTTL); errors.Is(err, ErrLeaseLost) {
		return err
	}
	state, err := s.Store.Target(ctx, l.Key)
	switch {
	case err != nil:
		return nil //nolint:nilerr // see above
	case state.Closed:
		return errClosed
	case headSHA != "" && state.HeadSHA != "" && state.HeadSHA != headSHA:
		return errSuperseded
	}
	return nil
}

// offRepositories remembers which repositories switched reviewgate off, so
// that their pull requests don't get a check run opened before their config
// has been read again.
type offRepositories struct {
	mu sync.Mutex
	m  map[int64]bool
}

func (o *offRepositories) set(repoID int64, off bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.m == nil {
		o.m = map[int64]bool{}
	}
	if off {
		o.m[repoID] = true
	} else {
		delete(o.m, repoID)
	}
}

func (o *offRepositories) is(repoID int64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.m[repoID]
}
