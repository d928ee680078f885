package pricing

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

type counting struct{ asked atomic.Int64 }

func (c *counting) Rate(context.Context, string, string) (int64, error) {
	c.asked.Add(1)
	return 1_080_000, nil
}

func TestManyAskOnce(t *testing.T) {
	source := &counting{}
	rates := NewRates(source, time.Minute)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if rate, err := rates.Get(t.Context(), "EUR", "USD"); err != nil || rate != 1_080_000 {
				t.Errorf("rate %d, %v", rate, err)
			}
		})
	}
	all.Wait()
	if n := source.asked.Load(); n != 1 {
		t.Errorf("asked %d times, want once", n)
	}
}
