package admission

import (
	"fmt"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
)

// An author who used more than a tenth of an installation's calls waits when fewer than half
// are left, but only if other authors are active.
func TestAuthorWaitsForTheirShareOfCalls(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	const limit = 1000
	reset := now.Add(40 * time.Minute)
	for _, tt := range []struct {
		name  string
		used  map[int64]int // by author
		left  int
		at    time.Time
		waits bool
	}{
		{"many calls, few left", map[int64]int{1: 101, 2: 1}, 499, now, true},
		{"a tenth of all calls", map[int64]int{1: 100, 2: 1}, 499, now, false},
		{"half of all calls left", map[int64]int{1: 400, 2: 1}, 500, now, false},
		{"nobody else", map[int64]int{1: 900}, 10, now, false},
		{"the hour is over", map[int64]int{1: 900, 2: 1}, 10, reset, false},
		{"an unknown author", map[int64]int{0: 900, 2: 1}, 10, now, false},
		{"no limit", nil, 0, now, false},
	} {
		var c Calls
		for author, n := range tt.used {
			for range n {
				c.Called(5, author, ports.Quota{Limit: limit, Left: tt.left, Reset: reset})
			}
		}
		author := int64(1)
		if tt.used[0] > 0 {
			author = 0
		}
		wait := c.Wait(ports.Target{Kind: ports.TargetPull, Installation: 5, Number: 1}, author, tt.at)
		if (wait != nil) != tt.waits {
			t.Errorf("%s: wait %v, want one: %v", tt.name, wait, tt.waits)
		}
		for _, other := range []ports.Target{{Kind: ports.TargetPull, Installation: 6}} {
			if c.Wait(other, 1, now) != nil {
				t.Errorf("%s: the author waits in another installation", tt.name)
			}
		}
		if c.Wait(ports.Target{Kind: ports.TargetPull, Installation: 5, Number: 2}, 2, now) != nil {
			t.Errorf("%s: the other author waits", tt.name)
		}
	}
}

// A new hour starts with the first answer that shows it. The App remembers that others were
// active. Nobody may use all calls of an hour because the others were quiet in the last one.
func TestCallsCountForAnHour(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	g := ports.Target{Kind: ports.TargetPull, Installation: 5, Number: 1}
	var c Calls
	call := func(author int64, n, left int, reset time.Time) {
		for range n {
			c.Called(5, author, ports.Quota{Limit: 1000, Left: left, Reset: reset})
		}
	}
	first, second, third := now.Add(time.Hour), now.Add(2*time.Hour), now.Add(3*time.Hour)
	call(2, 1, 900, first)
	call(1, 600, 300, first)
	if c.Wait(g, 1, now) == nil {
		t.Fatal("no wait in the first hour")
	}
	call(1, 1, 999, second)
	if wait := c.Wait(g, 1, first); wait != nil {
		t.Errorf("wait in a fresh hour: %v", wait)
	}
	call(1, 600, 300, second)
	if c.Wait(g, 1, first) == nil {
		t.Error("no wait although the other author was active an hour ago")
	}
	call(1, 600, 300, third)
	if c.Wait(g, 1, second) == nil {
		t.Error("no wait although others were active before")
	}
	for range 600 {
		c.Called(6, 1, ports.Quota{Limit: 1000, Left: 300, Reset: first})
	}
	if wait := c.Wait(ports.Target{Kind: ports.TargetPull, Installation: 6, Number: 1}, 1, now); wait != nil {
		t.Errorf("wait although nobody else was ever active: %v", wait)
	}
}

// Each check says once that it waits for calls, and only a limited number of checks say so.
func TestFewChecksSayThatTheyWaitForCalls(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	var c Calls
	for range 200 {
		c.Called(5, 1, ports.Quota{Limit: 1000, Left: 100, Reset: now.Add(time.Hour)})
	}
	c.Called(5, 2, ports.Quota{Limit: 1000, Left: 100, Reset: now.Add(time.Hour)})
	told := 0
	for range 2 {
		for i := range 50 {
			wait := c.Wait(ports.Target{Kind: ports.TargetPull, Installation: 5, Number: i, HeadSHA: fmt.Sprint(i)}, 1, now)
			if wait == nil || wait.again() != callStep {
				t.Fatalf("wait %v", wait)
			}
			if wait.Tell {
				told++
			}
		}
	}
	if told != maxCallTold {
		t.Errorf("%d checks say so, want %d", told, maxCallTold)
	}
}
