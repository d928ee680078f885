package gh

import (
	"fmt"
	"sync/atomic"
)

// budget counts the requests of one review, and bounds them. A nil budget has
// no bound.
type budget struct {
	most int64
	used atomic.Int64
}

// budgetError says that a review may make no more calls.
type budgetError struct{ most int64 }

func (e *budgetError) Error() string {
	return fmt.Sprintf("all %d calls that one review may make are used up", e.most)
}

// left returns how many more requests may be made.
func (b *budget) left() int { return int(b.most - b.used.Load()) }

// take counts one more request, or refuses it.
func (b *budget) take() error {
	if b == nil {
		return nil
	}
	if b.used.Add(1) > b.most {
		b.used.Add(-1)
		return &budgetError{b.most}
	}
	return nil
}
