package inforce

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
)

// heededNews holds, by mark, the time of the news that this process has already reacted to.
type heededNews struct {
	mu sync.Mutex
	m  map[string]time.Time
}

// newsMark returns the name of the mark for the organisation of a repository.
func newsMark(t ports.Target) string {
	return fmt.Sprintf("config %d/%s", t.Installation, strings.ToLower(t.Owner))
}

func (c *Configs) spreadNews(ctx context.Context, t ports.Target) error {
	if err := c.Marks.SetMark(ctx, newsMark(t), c.Now()); err != nil {
		return fmt.Errorf("note that the organisation's config may have changed: %w", err)
	}
	return c.heedNews(ctx, t)
}

// heedNews drops the cached config of an organisation if there is news about it.
func (c *Configs) heedNews(ctx context.Context, t ports.Target) error {
	name := newsMark(t)
	at, err := c.Marks.Mark(ctx, name)
	if err != nil {
		return fmt.Errorf("look for news of the organisation's config: %w", err)
	}
	if at.IsZero() {
		return nil
	}
	h := c.heeded
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.m[name].Equal(at) {
		return nil
	}
	if h.m == nil {
		h.m = map[string]time.Time{}
	}
	c.ConfigReader.ForgetConfig(t)
	h.m[name] = at
	return nil
}
