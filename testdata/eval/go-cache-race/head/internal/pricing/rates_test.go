package pricing

import (
	"context"
	"testing"
	"time"
)

type counting struct{ asked int }

func (c *counting) Rate(context.Context, string, string) (Rate, error) {
	c.asked++
	return 1_080_000, nil
}

func TestRateIsAskedOnce(t *testing.T) {
	source := &counting{}
	cache := NewRateCache(source, time.Minute)
	for range 3 {
		if _, err := cache.Get(t.Context(), "EUR", "USD"); err != nil {
			t.Fatal(err)
		}
	}
	if source.asked != 1 {
		t.Errorf("asked %d times, want once", source.asked)
	}
}
