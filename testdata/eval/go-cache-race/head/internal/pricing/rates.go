package pricing

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Source asks the treasury for a rate.
type Source interface {
	Rate(ctx context.Context, from, to string) (Rate, error)
}

// Rate is a rate in millionths.
type Rate int64

type cached struct {
	rate Rate
	at   time.Time
}

// RateCache keeps the rates of a source for a while.
type RateCache struct {
	source Source
	ttl    time.Duration
	now    func() time.Time

	mu      sync.RWMutex
	entries map[string]cached
}

// NewRateCache returns an empty cache.
func NewRateCache(s Source, ttl time.Duration) *RateCache {
	return &RateCache{source: s, ttl: ttl, now: time.Now, entries: map[string]cached{}}
}

// Get returns the rate from one currency to another.
func (c *RateCache) Get(ctx context.Context, from, to string) (Rate, error) {
	pair := from + "/" + to
	c.mu.RLock()
	defer c.mu.RUnlock()
	if entry, ok := c.entries[pair]; ok && c.now().Sub(entry.at) < c.ttl {
		return entry.rate, nil
	}
	rate, err := c.source.Rate(ctx, from, to)
	if err != nil {
		return 0, fmt.Errorf("ask for the rate %s: %w", pair, err)
	}
	entry := cached{rate: rate, at: c.now()}
	c.entries[pair] = entry
	return rate, nil
}

// Drop forgets all rates.
func (c *RateCache) Drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.entries)
}
