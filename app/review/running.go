package review

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
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

// while calls look at an interval until stop is called, and ends the returned
// context with the first error that look returns.
func while(ctx context.Context, every time.Duration, look func(context.Context) error) (held context.Context, stop func()) {
	held, cancel := context.WithCancelCause(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-held.Done():
				return
			case <-tick.C:
			}
			if err := look(held); err != nil {
				cancel(err)
				return
			}
		}
	})
	return held, func() { cancel(nil); wg.Wait() }
}

// keep renews a lease until stop is called. The context it returns ends with
// ErrLeaseLost if another holder has taken it; a database that is slow for a
// moment is no reason to stop.
func (s *Service) keep(ctx context.Context, l ports.Lease) (held context.Context, stop func()) {
	return while(ctx, s.LeaseTTL/5, func(ctx context.Context) error {
		if err := s.Store.Renew(ctx, l, s.LeaseTTL); errors.Is(err, ports.ErrLeaseLost) {
			return err
		}
		return nil
	})
}

// watch ends a run when its head moves or its target is closed, by whichever
// process took the news in.
func (s *Service) watch(ctx context.Context, key, headSHA string) (watched context.Context, stop func()) {
	return while(ctx, min(time.Second, s.LeaseTTL/5), func(ctx context.Context) error {
		state, err := s.Store.Target(ctx, key)
		switch {
		case err != nil:
			return nil //nolint:nilerr // as for keep
		case state.Closed:
			return errClosed
		case headSHA != "" && state.HeadSHA != "" && state.HeadSHA != headSHA:
			return errSuperseded
		}
		return nil
	})
}

// followedHeads are the heads that reads showed and no event told of, by target,
// until the work on it is done.
type followedHeads struct {
	mu sync.Mutex
	m  map[string]string
}

// set notes a head, or with an empty one that there is none any more.
func (f *followedHeads) set(key, headSHA string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if headSHA == "" {
		delete(f.m, key)
		return
	}
	if f.m == nil {
		f.m = map[string]string{}
	}
	f.m[key] = headSHA
}

func (f *followedHeads) is(key, headSHA string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.m[key] == headSHA
}
