package review

import (
	"context"
	"sync"
	"time"

	"github.com/reviewgate/reviewgate/app/lease"
	"github.com/reviewgate/reviewgate/app/publish"
)

// runs holds the targets that this process works on, so that it can cancel a moot run at
// once. Other processes notice it with their heartbeat.
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

// watch ends a run when its head moves or its target is closed, even if another process
// received the event.
func (s *Service) watch(ctx context.Context, key, headSHA string) (watched context.Context, stop func()) {
	return lease.While(ctx, min(time.Second, s.LeaseTTL/5), func(ctx context.Context) error {
		state, err := s.Store.Target(ctx, key)
		switch {
		case err != nil:
			return nil //nolint:nilerr // the next look may succeed
		case state.Closed:
			return publish.ErrClosed
		case headSHA != "" && state.HeadSHA != "" && state.HeadSHA != headSHA:
			return publish.ErrSuperseded
		}
		return nil
	})
}
