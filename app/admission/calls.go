package admission

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
)

const (
	// callShare is the percentage of an installation's hourly calls that one author's pull
	// requests may use once fewer than callReserve percent are left. They may use more
	// before that, or if no other author is active.
	callShare   = 10
	callReserve = 50
	// callStep is how often a review that waits for its share looks again.
	callStep = time.Minute
	// maxCallers bounds the authors that are counted for one installation.
	maxCallers = 10_000
	// maxCallTold is how many of an author's checks per hour say that they wait. Each such
	// update takes two calls.
	maxCallTold = 20
)

// Calls counts the calls of an installation by author. The zero value is ready to use.
type Calls struct {
	mu sync.Mutex
	of map[int64]*callHour // by installation
}

// callHour is one hour of GitHub's rate limit.
type callHour struct {
	ports.Quota
	shared  bool              // more than one author has been active in this or an earlier hour
	callers map[int64]*caller // by the author's account id
}

type caller struct {
	used      int                 // calls in this hour
	waitShown map[string]struct{} // targets and heads whose checks say that they wait
}

// Called counts a call for a pull request of an author. q is the rate limit that GitHub
// reported with it.
func (c *Calls) Called(installation, author int64, q ports.Quota) {
	if author == 0 || q.Limit <= 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = map[int64]*callHour{}
	}
	h := c.of[installation]
	if h == nil {
		h = &callHour{Quota: q, callers: map[int64]*caller{}}
		c.of[installation] = h
	}
	if q.Reset.After(h.Reset.Add(callStep)) { // GitHub's clock ticks in seconds
		h.begin()
		h.Quota = q
	}
	// Answers may arrive in another order than GitHub counted the calls.
	h.Left = min(h.Left, q.Left)
	by := h.callers[author]
	if by == nil {
		if len(h.callers) >= maxCallers {
			return
		}
		by = &caller{}
		h.callers[author] = by
		h.shared = h.shared || len(h.callers) > 1
	}
	by.used++
}

// begin starts the next hour. It forgets authors without a call in the last hour.
func (h *callHour) begin() {
	for author, by := range h.callers {
		if by.used == 0 {
			delete(h.callers, author)
			continue
		}
		*by = caller{}
	}
}

// CallWait says that an author's reviews have used up their share.
type CallWait struct {
	Used  int
	Quota ports.Quota
	after time.Duration
	Tell  bool // the check should say so
}

func (e *CallWait) Error() string {
	return fmt.Sprintf("the author's pull requests used %d of the installation's %d calls, and %d are left until %s", e.Used, e.Quota.Limit, e.Quota.Left, e.Quota.Reset.UTC().Format(time.RFC3339))
}

func (e *CallWait) again() time.Duration { return e.after }

// Wait returns nil if a review for the author may begin.
func (c *Calls) Wait(t ports.Target, author int64, now time.Time) *CallWait {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.of[t.Installation]
	if h == nil || author == 0 || !now.Before(h.Reset) || h.Left >= h.Limit*callReserve/100 {
		return nil
	}
	by := h.callers[author]
	if by == nil || by.used <= h.Limit*callShare/100 || !h.shared {
		return nil
	}
	id := t.Key() + " " + t.HeadSHA
	_, shown := by.waitShown[id]
	tell := !shown && len(by.waitShown) < maxCallTold
	if tell {
		if by.waitShown == nil {
			by.waitShown = map[string]struct{}{}
		}
		by.waitShown[id] = struct{}{}
	}
	return &CallWait{Used: by.used, Quota: h.Quota, after: min(callStep, h.Reset.Sub(now)), Tell: tell}
}

// waiter is an error that puts work off without counting as a failed attempt.
type waiter interface {
	error
	again() time.Duration
}

// Waits reports whether the error only means a wait, and when to try again.
func Waits(err error) (time.Duration, bool) {
	var w waiter
	if errors.As(err, &w) {
		return w.again(), true
	}
	return 0, false
}
