package inforce

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
)

// seenChanges holds, by mark, the time of the last change that this process has handled.
type seenChanges struct {
	mu sync.Mutex
	m  map[string]time.Time
}

// changeMark returns the name of the mark for the organisation of a repository.
func changeMark(t ports.Target) string {
	return fmt.Sprintf("config %d/%s", t.Installation, strings.ToLower(t.Owner))
}

func (c *Configs) announceChange(ctx context.Context, t ports.Target) error {
	if err := c.Marks.SetMark(ctx, changeMark(t), c.Now()); err != nil {
		return fmt.Errorf("record that the organisation's config may have changed: %w", err)
	}
	return c.dropIfChanged(ctx, t)
}

// dropIfChanged drops the cached config of an organisation if it may have changed.
func (c *Configs) dropIfChanged(ctx context.Context, t ports.Target) error {
	name := changeMark(t)
	at, err := c.Marks.Mark(ctx, name)
	if err != nil {
		return fmt.Errorf("look for changes of the organisation's config: %w", err)
	}
	if at.IsZero() {
		return nil
	}
	h := c.seen
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
