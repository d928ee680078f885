package pricing

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// Source asks the treasury for a rate, in millionths.
type Source interface {
	Rate(ctx context.Context, from, to string) (int64, error)
}

type cached struct {
	rate int64
	at   time.Time
}

// Rates keeps the rates of a source for a while. Any number of goroutines may
// use it.
type Rates struct {
	source Source
	ttl    time.Duration
	now    func() time.Time
	asking singleflight.Group

	mu      sync.RWMutex
	entries map[string]cached
}

// NewRates returns rates that are kept for ttl.
func NewRates(s Source, ttl time.Duration) *Rates {
	return &Rates{source: s, ttl: ttl, now: time.Now, entries: map[string]cached{}}
}

// Get returns the rate from one currency to another. Who asks first goes on
// asking when its own caller gave up: others wait for the answer.
func (r *Rates) Get(ctx context.Context, from, to string) (int64, error) {
	pair := from + "/" + to
	if rate, ok := r.kept(pair); ok {
		return rate, nil
	}
	asked := r.asking.DoChan(pair, func() (any, error) {
		if rate, ok := r.kept(pair); ok { // somebody was faster
			return rate, nil
		}
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		rate, err := r.source.Rate(within, from, to)
		if err != nil {
			return nil, fmt.Errorf("ask for the rate %s: %w", pair, err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.entries[pair] = cached{rate, r.now()}
		return rate, nil
	})
	select {
	case answer := <-asked:
		if answer.Err != nil {
			return 0, answer.Err
		}
		return answer.Val.(int64), nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func (r *Rates) kept(pair string) (int64, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	entry, ok := r.entries[pair]
	return entry.rate, ok && r.now().Sub(entry.at) < r.ttl
}
